//! The passes over a column, eight entries at a time: see `columns` for the sums.

#[allow(
    clippy::wildcard_imports,
    reason = "the names of instructions are long and many"
)]
use std::arch::x86_64::*;

use super::cells::{Cell, SIGN};

/// Place of each gathered entry: the two halves of a pair of gathers interleave.
const PLACE: [usize; 8] = [0, 1, 4, 5, 2, 3, 6, 7];

#[inline]
#[target_feature(enable = "avx2")]
fn in_order(lanes: __m256) -> [f32; 8] {
    let mut stored = [0.0; 8];
    // SAFETY: there are eight places to store to.
    unsafe { _mm256_storeu_ps(stored.as_mut_ptr(), lanes) };
    let mut out = [0.0; 8];
    for (at, &k) in PLACE.iter().enumerate() {
        out[k] = stored[at];
    }
    out
}

/// Bases and signed weights of eight cells, and their values, in the order of
/// [`PLACE`].
///
/// # Safety
/// `ids` and `values` point to eight entries, the ids lie in the cells.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn load(
    cells: *const Cell,
    ids: *const u32,
    values: *const f32,
) -> (__m256, __m256, __m256) {
    // SAFETY: as the caller promises; a cell is as large as the f64 it is read as.
    unsafe {
        let cells = cells.cast::<f64>();
        let i = _mm256_loadu_si256(ids.cast());
        let low = _mm256_i32gather_pd::<8>(cells, _mm256_castsi256_si128(i));
        let high = _mm256_i32gather_pd::<8>(cells, _mm256_extracti128_si256::<1>(i));
        let (low, high) = (_mm256_castpd_ps(low), _mm256_castpd_ps(high));
        let base = _mm256_shuffle_ps::<0b10_00_10_00>(low, high);
        let weight = _mm256_shuffle_ps::<0b11_01_11_01>(low, high);
        let order = _mm256_setr_epi32(0, 1, 4, 5, 2, 3, 6, 7);
        let x = _mm256_permutevar8x32_ps(_mm256_loadu_ps(values), order);
        (base, weight, x)
    }
}

/// # Safety
/// The ids lie in the cells, their number is a multiple of eight, and there
/// are as many values.
#[target_feature(enable = "avx2")]
pub(super) unsafe fn slope(
    cells: &[Cell],
    intercept: f32,
    ids: &[u32],
    values: &[f32],
) -> ([f32; 8], [f32; 8]) {
    let zero = _mm256_setzero_ps();
    let sign = _mm256_castsi256_ps(_mm256_set1_epi32(SIGN.cast_signed()));
    let intercept = _mm256_set1_ps(intercept);
    let (mut g, mut h) = (zero, zero);
    for (ids, values) in ids.chunks_exact(8).zip(values.chunks_exact(8)) {
        // SAFETY: chunks of eight; the ids as the caller promises.
        let (base, weight, x) = unsafe { load(cells.as_ptr(), ids.as_ptr(), values.as_ptr()) };
        let b = _mm256_xor_ps(intercept, _mm256_and_ps(weight, sign));
        let hinge = _mm256_sub_ps(base, b);
        let cx = _mm256_mul_ps(weight, x);
        g = _mm256_add_ps(g, _mm256_mul_ps(_mm256_max_ps(hinge, zero), cx));
        let active = _mm256_cmp_ps::<_CMP_GT_OQ>(hinge, zero);
        let square = _mm256_andnot_ps(sign, _mm256_mul_ps(cx, x));
        h = _mm256_add_ps(h, _mm256_and_ps(square, active));
    }
    (in_order(g), in_order(h))
}

/// # Safety
/// The ids lie in the vector, their number is a multiple of eight, and there
/// are as many values.
#[target_feature(enable = "avx2")]
pub(super) unsafe fn dot(vector: &[f32], ids: &[u32], values: &[f32]) -> [f32; 8] {
    let mut sum = _mm256_setzero_ps();
    for (ids, values) in ids.chunks_exact(8).zip(values.chunks_exact(8)) {
        // SAFETY: chunks of eight; the ids as the caller promises.
        let product = unsafe {
            let i = _mm256_loadu_si256(ids.as_ptr().cast());
            let v = _mm256_i32gather_ps::<4>(vector.as_ptr(), i);
            _mm256_mul_ps(v, _mm256_loadu_ps(values.as_ptr()))
        };
        sum = _mm256_add_ps(sum, product);
    }
    let mut out = [0.0; 8];
    // SAFETY: there are eight places to store to.
    unsafe { _mm256_storeu_ps(out.as_mut_ptr(), sum) };
    out
}

/// # Safety
/// The ids lie in the sums; there are as many values.
#[target_feature(enable = "avx2")]
pub(super) unsafe fn add(sums: &mut [f32], ids: &[u32], values: &[f32], d: f32) {
    let ((eights, ids), (eight_values, values)) = (ids.as_chunks::<8>(), values.as_chunks::<8>());
    for (ids, values) in eights.iter().zip(eight_values) {
        let products = values.map(|x| d * x);
        for (&i, product) in ids.iter().zip(products) {
            // SAFETY: the ids lie in the sums.
            *unsafe { sums.get_unchecked_mut(i as usize) } += product;
        }
    }
    for (&i, &x) in ids.iter().zip(values) {
        sums[i as usize] += d * x;
    }
}

/// # Safety
/// As [`slope`], and no id occurs twice.
#[target_feature(enable = "avx2")]
pub(super) unsafe fn shift(
    cells: &mut [Cell],
    intercept: f32,
    ids: &[u32],
    values: &[f32],
    d: f32,
) -> [f32; 8] {
    let zero = _mm256_setzero_ps();
    let sign = _mm256_castsi256_ps(_mm256_set1_epi32(SIGN.cast_signed()));
    let (intercept, d) = (_mm256_set1_ps(intercept), _mm256_set1_ps(d));
    let mut change = zero;
    for (ids, values) in ids.chunks_exact(8).zip(values.chunks_exact(8)) {
        // SAFETY: chunks of eight; the ids as the caller promises.
        let (base, weight, x) = unsafe { load(cells.as_ptr(), ids.as_ptr(), values.as_ptr()) };
        let s = _mm256_and_ps(weight, sign);
        let b = _mm256_xor_ps(intercept, s);
        let before = _mm256_max_ps(_mm256_sub_ps(base, b), zero);
        let base = _mm256_sub_ps(base, _mm256_xor_ps(_mm256_mul_ps(d, x), s));
        let after = _mm256_max_ps(_mm256_sub_ps(base, b), zero);
        let c = _mm256_andnot_ps(sign, weight);
        let fall = _mm256_mul_ps(_mm256_sub_ps(after, before), _mm256_add_ps(after, before));
        change = _mm256_add_ps(change, _mm256_mul_ps(c, fall));
        for (&i, base) in ids.iter().zip(in_order(base)) {
            // SAFETY: the ids lie in the cells.
            unsafe { cells.get_unchecked_mut(i as usize) }.base = base;
        }
    }
    in_order(change)
}
