//! Arrays with a number for each of the problems that are solved together.

/// Problems that are solved together: their weights of a feature fill a cache line.
pub const LANES: usize = 16;

/// One number for each problem.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub(super) struct Line(pub(super) [f32; LANES]);

impl Line {
    pub(super) const ZERO: Self = Self([0.0; LANES]);
}

/// The same in `f64`: two cache lines.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub(super) struct WideLine(pub(super) [f64; LANES]);

impl WideLine {
    pub(super) const ZERO: Self = Self([0.0; LANES]);
}

pub(super) const SIGN: u32 = 1 << 31;
