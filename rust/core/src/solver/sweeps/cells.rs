//! Samples in 8 bytes each, for problems whose numbers `f32` holds well.

/// One sample.
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

pub(super) const SIGN: u32 = 1 << 31;

/// Entries after which lanes are added up in `f64`.
pub(super) const BATCH: usize = 512;

/// Sum of eight lanes in a fixed order.
#[inline]
pub(super) fn total(lanes: [f32; 8]) -> f64 {
    let [a, b, c, d, e, f, g, h] = lanes.map(f64::from);
    ((a + e) + (c + g)) + ((b + f) + (d + h))
}
