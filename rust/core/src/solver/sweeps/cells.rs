//! Samples in 8 bytes each, and the passes over a column that sweeps consist of.
//!
//! Sums run in eight lanes of `f32`, entry k of a column in lane k mod 8, and go
//! to `f64` every [`BATCH`] entries: the bits do not depend on the instruction set.

/// One sample, for problems whose numbers `f32` holds well.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(8))]
pub(super) struct Cell {
    /// `1 - s x_i . w`: the intercept stays outside, so that its steps write nothing.
    pub(super) base: f32,
    /// `s_i c_i`; the sign bit is the class, also of a sample that weighs nothing.
    pub(super) signed_weight: f32,
}

impl Cell {
    /// `1 - s (x_i . w + intercept)`.
    #[inline]
    pub(super) fn hinge(self, intercept: f32) -> f32 {
        self.base - signed(intercept, self.signed_weight)
    }
}

/// `x` times the sign of `of`.
#[inline]
pub(super) fn signed(x: f32, of: f32) -> f32 {
    f32::from_bits(x.to_bits() ^ (of.to_bits() & SIGN))
}

const SIGN: u32 = 1 << 31;

/// Entries after which lanes are added up in `f64`.
pub(super) const BATCH: usize = 512;

/// Sum of eight lanes in a fixed order.
#[inline]
fn total(lanes: [f32; 8]) -> f64 {
    let [a, b, c, d, e, f, g, h] = lanes.map(f64::from);
    ((a + e) + (c + g)) + ((b + f) + (d + h))
}

/// What a column's passes read: ids below the number of cells, and values.
pub(super) type Column<'a> = (&'a [u32], &'a [f32]);

/// First and second derivative of the loss along a column.
#[inline]
pub(super) fn slope(cells: &[Cell], intercept: f32, column: Column<'_>) -> (f64, f64) {
    let (mut g, mut h) = (0.0, 0.0);
    for (ids, values) in column.0.chunks(BATCH).zip(column.1.chunks(BATCH)) {
        let (a, b) = slope_lanes(cells, intercept, ids, values);
        g += total(a);
        h += total(b);
    }
    (-2.0 * g, 2.0 * h)
}

#[inline]
fn slope_lanes(
    cells: &[Cell],
    intercept: f32,
    ids: &[u32],
    values: &[f32],
) -> ([f32; 8], [f32; 8]) {
    let (mut g, mut h);
    let done;
    #[cfg(target_arch = "x86_64")]
    {
        if std::arch::is_x86_feature_detected!("avx2") {
            done = ids.len() / 8 * 8;
            // SAFETY: the processor has AVX2; ids are below the number of cells.
            (g, h) = unsafe { avx2::slope(cells, intercept, &ids[..done], values) };
        } else {
            (done, g, h) = (0, [0.0; 8], [0.0; 8]);
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        (done, g, h) = (0, [0.0; 8], [0.0; 8]);
    }
    for (k, (&i, &x)) in ids[done..].iter().zip(&values[done..]).enumerate() {
        let cell = cells[i as usize];
        let hinge = cell.hinge(intercept);
        let cx = cell.signed_weight * x;
        // Without a branch: which rows are active is not predictable.
        let active = f32::from(u8::from(hinge > 0.0));
        g[k % 8] += hinge.max(0.0) * cx;
        h[k % 8] += active * (cx * x).abs();
    }
    (g, h)
}

/// Add `d` times the column to the margins; the change of the loss.
#[inline]
pub(super) fn shift(cells: &mut [Cell], intercept: f32, column: Column<'_>, d: f32) -> f64 {
    let mut change = 0.0;
    for (ids, values) in column.0.chunks(BATCH).zip(column.1.chunks(BATCH)) {
        change += total(shift_lanes(cells, intercept, ids, values, d));
    }
    change
}

#[inline]
fn shift_lanes(
    cells: &mut [Cell],
    intercept: f32,
    ids: &[u32],
    values: &[f32],
    d: f32,
) -> [f32; 8] {
    let mut change;
    let done;
    #[cfg(target_arch = "x86_64")]
    {
        if std::arch::is_x86_feature_detected!("avx2") {
            done = ids.len() / 8 * 8;
            // SAFETY: the processor has AVX2; ids are below the number of cells.
            change = unsafe { avx2::shift(cells, intercept, &ids[..done], values, d) };
        } else {
            (done, change) = (0, [0.0; 8]);
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        (done, change) = (0, [0.0; 8]);
    }
    for (k, (&i, &x)) in ids[done..].iter().zip(&values[done..]).enumerate() {
        let cell = &mut cells[i as usize];
        let before = cell.hinge(intercept).max(0.0);
        cell.base -= signed(d * x, cell.signed_weight);
        let after = cell.hinge(intercept).max(0.0);
        change[k % 8] += cell.signed_weight.abs() * ((after - before) * (after + before));
    }
    change
}

/// `sums[i] += d x_i` over the column.
#[inline]
pub(super) fn add(sums: &mut [f32], column: Column<'_>, d: f32) {
    for (&i, &x) in column.0.iter().zip(column.1) {
        sums[i as usize] += d * x;
    }
}

/// Product of the column with a vector over the rows.
#[inline]
pub(super) fn dot(vector: &[f32], column: Column<'_>) -> f64 {
    let mut sum = 0.0;
    for (ids, values) in column.0.chunks(BATCH).zip(column.1.chunks(BATCH)) {
        sum += total(dot_lanes(vector, ids, values));
    }
    sum
}

#[inline]
fn dot_lanes(vector: &[f32], ids: &[u32], values: &[f32]) -> [f32; 8] {
    let (done, mut lanes);
    #[cfg(target_arch = "x86_64")]
    {
        if std::arch::is_x86_feature_detected!("avx2") {
            done = ids.len() / 8 * 8;
            // SAFETY: the processor has AVX2; ids are below the number of rows.
            lanes = unsafe { avx2::dot(vector, &ids[..done], values) };
        } else {
            (done, lanes) = (0, [0.0; 8]);
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        (done, lanes) = (0, [0.0; 8]);
    }
    for (k, (&i, &x)) in ids[done..].iter().zip(&values[done..]).enumerate() {
        lanes[k % 8] += vector[i as usize] * x;
    }
    lanes
}

/// Define a function over rows that is compiled once more for AVX2: plain loops,
/// whose sums run in eight lanes, so both versions give the same bits.
macro_rules! compiled_twice {
    ($(#[$doc:meta])* fn $name:ident($($arg:ident: $type:ty),*) $(-> $out:ty)? $body:block) => {
        $(#[$doc])*
        pub(super) fn $name($($arg: $type),*) $(-> $out)? {
            #[inline(always)]
            #[expect(clippy::inline_always, reason = "compiled inside its callers")]
            fn plain($($arg: $type),*) $(-> $out)? $body
            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx2")]
                fn wide($($arg: $type),*) $(-> $out)? {
                    plain($($arg),*)
                }
                if std::arch::is_x86_feature_detected!("avx2") {
                    // SAFETY: the processor has AVX2, which is all that it asks.
                    return unsafe { wide($($arg),*) };
                }
            }
            plain($($arg),*)
        }
    };
}

compiled_twice! {
    /// First and second derivative of the loss in the intercept.
    fn intercept_slope(cells: &[Cell], intercept: f32) -> (f64, f64) {
        let (mut g, mut h) = (0.0, 0.0);
        for cells in cells.chunks(BATCH) {
            let (mut a, mut c) = ([0.0_f32; 8], [0.0_f32; 8]);
            let (eights, rest) = cells.as_chunks::<8>();
            for eight in eights {
                for k in 0..8 {
                    let hinge = eight[k].hinge(intercept);
                    let weight = eight[k].signed_weight;
                    a[k] += weight * hinge.max(0.0);
                    c[k] += if hinge > 0.0 { weight.abs() } else { 0.0 };
                }
            }
            for (k, cell) in rest.iter().enumerate() {
                let hinge = cell.hinge(intercept);
                a[k] += cell.signed_weight * hinge.max(0.0);
                c[k] += if hinge > 0.0 { cell.signed_weight.abs() } else { 0.0 };
            }
            g += total(a);
            h += total(c);
        }
        (-2.0 * g, 2.0 * h)
    }
}

compiled_twice! {
    /// `2 c_i` of active rows, else 0.
    fn set_curvature(cells: &[Cell], intercept: f32, curvature: &mut Vec<f32>) {
        curvature.clear();
        curvature.extend(cells.iter().map(|cell| {
            if cell.hinge(intercept) > 0.0 {
                2.0 * cell.signed_weight.abs()
            } else {
                0.0
            }
        }));
    }
}

compiled_twice! {
    /// `vector_i *= factor_i`; the sum of the products.
    fn scale(vector: &mut [f32], factors: &[f32]) -> f64 {
        let mut sum = 0.0;
        for (vector, factors) in vector.chunks_mut(BATCH).zip(factors.chunks(BATCH)) {
            let mut lanes = [0.0_f32; 8];
            let (eights, rest) = vector.as_chunks_mut::<8>();
            let (factors, last) = factors.as_chunks::<8>();
            for (eight, factors) in eights.iter_mut().zip(factors) {
                for k in 0..8 {
                    eight[k] *= factors[k];
                    lanes[k] += eight[k];
                }
            }
            for ((lane, v), f) in lanes.iter_mut().zip(rest).zip(last) {
                *v *= f;
                *lane += *v;
            }
            sum += total(lanes);
        }
        sum
    }
}

compiled_twice! {
    /// The change of the loss if `along_i + d` were added to each margin.
    fn change(cells: &[Cell], intercept: f32, along: &[f32], d: f32) -> f64 {
        let mut sum = 0.0;
        for (cells, along) in cells.chunks(BATCH).zip(along.chunks(BATCH)) {
            let mut lanes = [0.0_f32; 8];
            let (eights, rest) = cells.as_chunks::<8>();
            let (along, last) = along.as_chunks::<8>();
            for (eight, along) in eights.iter().zip(along) {
                for k in 0..8 {
                    lanes[k] += fall(eight[k], intercept, along[k] + d);
                }
            }
            for ((lane, &cell), &t) in lanes.iter_mut().zip(rest).zip(last) {
                *lane += fall(cell, intercept, t + d);
            }
            sum += total(lanes);
        }
        sum
    }
}

/// The change of a row's loss if `z` were added to its margin.
#[inline]
fn fall(cell: Cell, intercept: f32, z: f32) -> f32 {
    let hinge = cell.hinge(intercept);
    let after = (hinge - signed(z, cell.signed_weight)).max(0.0);
    let before = hinge.max(0.0);
    cell.signed_weight.abs() * ((after - before) * (after + before))
}

compiled_twice! {
    /// Add `length * along_i` to each margin.
    fn advance(cells: &mut [Cell], along: &[f32], length: f32) {
        for (cell, &z) in cells.iter_mut().zip(along) {
            cell.base -= signed(length * z, cell.signed_weight);
        }
    }
}

#[cfg(target_arch = "x86_64")]
mod avx2 {
    //! The same sums, eight entries at a time.

    #[allow(
        clippy::wildcard_imports,
        reason = "the names of instructions are long and many"
    )]
    use std::arch::x86_64::*;

    use super::{Cell, SIGN};

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
}
