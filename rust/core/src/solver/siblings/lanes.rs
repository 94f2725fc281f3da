//! Arithmetic on a number for each of the problems that are solved together.
//!
//! Each operation is rounded by itself, whatever the instruction set: the bits of a
//! model do not depend on it.

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
        let at = |k: usize| {
            if mask >> k & 1 == 1 {
                yes.0[k]
            } else {
                no.0[k]
            }
        };
        Self(from_fn(at))
    }
}
