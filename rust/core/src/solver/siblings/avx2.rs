//! [`Lanes`] in two registers of AVX2.

#[allow(
    clippy::wildcard_imports,
    reason = "the names of instructions are long and many"
)]
use std::arch::x86_64::*;

use super::lanes::{Lanes, Line};

/// Two registers of AVX2.
#[derive(Clone, Copy)]
pub(super) struct Avx2(__m256, __m256);

macro_rules! lanewise {
    ($($name:ident => $instruction:ident),*) => {$(
        #[inline(always)]
        unsafe fn $name(self, other: Self) -> Self {
            // SAFETY: the caller has seen to AVX2.
            unsafe { Self($instruction(self.0, other.0), $instruction(self.1, other.1)) }
        }
    )*};
}

#[allow(
    clippy::undocumented_unsafe_blocks,
    reason = "instructions of AVX2, to which the caller of each method has seen"
)]
impl Lanes for Avx2 {
    type Mask = Self;

    lanewise!(
        add => _mm256_add_ps, sub => _mm256_sub_ps, mul => _mm256_mul_ps,
        div => _mm256_div_ps, min => _mm256_min_ps, max => _mm256_max_ps,
        xor => _mm256_xor_ps
    );

    #[inline(always)]
    unsafe fn load(line: &Line) -> Self {
        let at = line.0.as_ptr();
        unsafe { Self(_mm256_load_ps(at), _mm256_load_ps(at.add(8))) }
    }
    #[inline(always)]
    unsafe fn store(self, line: &mut Line) {
        let at = line.0.as_mut_ptr();
        unsafe {
            _mm256_store_ps(at, self.0);
            _mm256_store_ps(at.add(8), self.1);
        }
    }
    #[inline(always)]
    unsafe fn splat(x: f32) -> Self {
        let x = unsafe { _mm256_set1_ps(x) };
        Self(x, x)
    }
    #[inline(always)]
    unsafe fn sign(self) -> Self {
        unsafe {
            let sign = _mm256_set1_ps(-0.0);
            Self(_mm256_and_ps(self.0, sign), _mm256_and_ps(self.1, sign))
        }
    }
    #[inline(always)]
    unsafe fn greater(self, other: Self) -> Self {
        unsafe {
            Self(
                _mm256_cmp_ps::<_CMP_GT_OQ>(self.0, other.0),
                _mm256_cmp_ps::<_CMP_GT_OQ>(self.1, other.1),
            )
        }
    }
    #[inline(always)]
    unsafe fn negative(self) -> Self {
        // What `select` and `bits` look at is the sign bit.
        self
    }
    #[inline(always)]
    unsafe fn mask(bits: u16) -> Self {
        unsafe {
            let bits = _mm256_set1_epi32(i32::from(bits));
            let low = _mm256_setr_epi32(31, 30, 29, 28, 27, 26, 25, 24);
            let high = _mm256_setr_epi32(23, 22, 21, 20, 19, 18, 17, 16);
            Self(
                _mm256_castsi256_ps(_mm256_sllv_epi32(bits, low)),
                _mm256_castsi256_ps(_mm256_sllv_epi32(bits, high)),
            )
        }
    }
    #[inline(always)]
    unsafe fn bits(mask: Self) -> u16 {
        unsafe { (_mm256_movemask_ps(mask.0) | _mm256_movemask_ps(mask.1) << 8) as u16 }
    }
    #[inline(always)]
    unsafe fn both(a: Self, b: Self) -> Self {
        unsafe { Self(_mm256_and_ps(a.0, b.0), _mm256_and_ps(a.1, b.1)) }
    }
    #[inline(always)]
    unsafe fn without(a: Self, b: Self) -> Self {
        unsafe { Self(_mm256_andnot_ps(b.0, a.0), _mm256_andnot_ps(b.1, a.1)) }
    }
    #[inline(always)]
    unsafe fn select(mask: Self, yes: Self, no: Self) -> Self {
        unsafe {
            Self(
                _mm256_blendv_ps(no.0, yes.0, mask.0),
                _mm256_blendv_ps(no.1, yes.1, mask.1),
            )
        }
    }
}
