//! Arithmetic on a number for each of the problems that are solved together.
//!
//! Each operation is rounded by itself, whatever the instruction set: the bits of a
//! model do not depend on it.

#[cfg(target_arch = "x86_64")]
#[allow(
    clippy::wildcard_imports,
    reason = "the names of instructions are long and many"
)]
use std::arch::x86_64::*;
use std::array::from_fn;

/// Problems that are solved together: their weights of a feature fill a cache line.
pub const LANES: usize = 16;

/// One number for each problem.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub(super) struct Line(pub(super) [f32; LANES]);

/// The same in `f64`: two cache lines.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub(super) struct WideLine(pub(super) [f64; LANES]);

impl WideLine {
    pub(super) const ZERO: Self = Self([0.0; LANES]);
}

const SIGN: u32 = 1 << 31;

/// Ask for what will be read soon.
#[inline(always)]
pub(super) fn prefetch<T>(at: &T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: part of every x86-64; it reads nothing.
    unsafe {
        _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(at).cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = at;
}

/// A line in registers.
///
/// # Safety
/// Whoever calls a method of an implementation has made sure of its instruction set.
pub(super) trait Lanes: Copy {
    /// Which lanes, one bit each.
    type Mask: Copy;

    unsafe fn load(line: &Line) -> Self;
    unsafe fn store(self, line: &mut Line);
    unsafe fn splat(x: f32) -> Self;
    unsafe fn add(self, other: Self) -> Self;
    unsafe fn sub(self, other: Self) -> Self;
    unsafe fn mul(self, other: Self) -> Self;
    unsafe fn div(self, other: Self) -> Self;
    /// `self < other ? self : other`.
    unsafe fn min(self, other: Self) -> Self;
    /// `self > other ? self : other`.
    unsafe fn max(self, other: Self) -> Self;
    /// The sign bits alone.
    unsafe fn sign(self) -> Self;
    unsafe fn xor(self, other: Self) -> Self;
    unsafe fn greater(self, other: Self) -> Self::Mask;
    unsafe fn negative(self) -> Self::Mask;
    unsafe fn mask(bits: u16) -> Self::Mask;
    unsafe fn bits(mask: Self::Mask) -> u16;
    unsafe fn both(a: Self::Mask, b: Self::Mask) -> Self::Mask;
    /// `a` without `b`.
    unsafe fn without(a: Self::Mask, b: Self::Mask) -> Self::Mask;
    unsafe fn select(mask: Self::Mask, yes: Self, no: Self) -> Self;
}

impl Lanes for Line {
    type Mask = u16;

    #[inline(always)]
    unsafe fn load(line: &Line) -> Self {
        *line
    }
    #[inline(always)]
    unsafe fn store(self, line: &mut Line) {
        *line = self;
    }
    #[inline(always)]
    unsafe fn splat(x: f32) -> Self {
        Self([x; LANES])
    }
    #[inline(always)]
    unsafe fn add(self, other: Self) -> Self {
        Self(from_fn(|k| self.0[k] + other.0[k]))
    }
    #[inline(always)]
    unsafe fn sub(self, other: Self) -> Self {
        Self(from_fn(|k| self.0[k] - other.0[k]))
    }
    #[inline(always)]
    unsafe fn mul(self, other: Self) -> Self {
        Self(from_fn(|k| self.0[k] * other.0[k]))
    }
    #[inline(always)]
    unsafe fn div(self, other: Self) -> Self {
        Self(from_fn(|k| self.0[k] / other.0[k]))
    }
    #[inline(always)]
    unsafe fn min(self, other: Self) -> Self {
        let (a, b) = (self.0, other.0);
        Self(from_fn(|k| if a[k] < b[k] { a[k] } else { b[k] }))
    }
    #[inline(always)]
    unsafe fn max(self, other: Self) -> Self {
        let (a, b) = (self.0, other.0);
        Self(from_fn(|k| if a[k] > b[k] { a[k] } else { b[k] }))
    }
    #[inline(always)]
    unsafe fn sign(self) -> Self {
        Self(self.0.map(|x| f32::from_bits(x.to_bits() & SIGN)))
    }
    #[inline(always)]
    unsafe fn xor(self, other: Self) -> Self {
        let xor = |k: usize| f32::from_bits(self.0[k].to_bits() ^ other.0[k].to_bits());
        Self(from_fn(xor))
    }
    #[inline(always)]
    unsafe fn greater(self, other: Self) -> u16 {
        (0..LANES).fold(0, |m, k| m | u16::from(self.0[k] > other.0[k]) << k)
    }
    #[inline(always)]
    unsafe fn negative(self) -> u16 {
        (0..LANES).fold(0, |m, k| m | u16::from(self.0[k].is_sign_negative()) << k)
    }
    #[inline(always)]
    unsafe fn mask(bits: u16) -> u16 {
        bits
    }
    #[inline(always)]
    unsafe fn bits(mask: u16) -> u16 {
        mask
    }
    #[inline(always)]
    unsafe fn both(a: u16, b: u16) -> u16 {
        a & b
    }
    #[inline(always)]
    unsafe fn without(a: u16, b: u16) -> u16 {
        a & !b
    }
    #[inline(always)]
    unsafe fn select(mask: u16, yes: Self, no: Self) -> Self {
        let at = |k: usize| if mask >> k & 1 == 1 { yes.0[k] } else { no.0[k] };
        Self(from_fn(at))
    }
}

/// Two registers of AVX2.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy)]
pub(super) struct Avx2(__m256, __m256);

#[cfg(target_arch = "x86_64")]
macro_rules! lanewise {
    ($($name:ident => $instruction:ident),*) => {$(
        #[inline(always)]
        unsafe fn $name(self, other: Self) -> Self {
            // SAFETY: the caller has seen to AVX2.
            unsafe { Self($instruction(self.0, other.0), $instruction(self.1, other.1)) }
        }
    )*};
}

#[cfg(target_arch = "x86_64")]
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
