//! Rounding to what is stored.

use super::{Settings, Stop};

/// Significant bits of a weight that ends on violations: those of bfloat16.
const COARSE_WEIGHT: u32 = 8;

/// Significant bits of its intercept, whose gradient sums over all rows.
const COARSE_INTERCEPT: u32 = 12;

/// Significant bits of `f32`.
const FULL: u32 = 24;

impl Settings {
    /// Significant bits that weights keep when they are rounded.
    ///
    /// The nodes of a deep tree that end on violations are far from their optimum,
    /// and ranking does not see the rest of an `f32`; a solve for the gap keeps it.
    pub(super) fn weight_bits(&self) -> u32 {
        if self.is_coarse() {
            COARSE_WEIGHT
        } else {
            FULL
        }
    }

    /// Significant bits that an intercept keeps when it is rounded.
    pub(super) fn intercept_bits(&self) -> u32 {
        if self.is_coarse() {
            COARSE_INTERCEPT
        } else {
            FULL
        }
    }

    fn is_coarse(&self) -> bool {
        self.round_intercept && matches!(self.stop, Stop::Violation(tol) if tol > 0.0)
    }
}

/// The `f32` of `n_bits <= 24` significant bits next to `value`, ties to even.
///
/// One that overflows by it keeps all its bits; subnormal ones have fewer.
pub(super) fn round_to(value: f64, n_bits: u32) -> f64 {
    let full = value as f32;
    let n_dropped = FULL - n_bits;
    let bits = full.to_bits();
    let is_odd = bits >> n_dropped & 1;
    let half = (1 << n_dropped >> 1) as u32;
    let rounded = (bits + half.saturating_sub(1 - is_odd)) >> n_dropped << n_dropped;
    let rounded = f32::from_bits(rounded);
    f64::from(if rounded.is_finite() { rounded } else { full })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_go_to_the_nearest_with_ties_to_even() {
        // 8 bits: steps of 1/128 in [1, 2).
        let step = 1.0 / 128.0;
        for (value, expected) in [
            (1.0, 1.0),
            (-1.0 - 0.4 * step, -1.0),
            (1.0 + 0.6 * step, 1.0 + step),
            (1.0 + 0.5 * step, 1.0),
            (1.0 + 1.5 * step, 1.0 + 2.0 * step),
            (2.0 - 0.4 * step, 2.0),
            (0.0, 0.0),
            (f64::from(f32::MAX), f64::from(f32::MAX)),
            (1e-45, 0.0),
        ] {
            assert_eq!(round_to(value, 8), expected, "{value}");
        }
        for value in [0.1, -3.7e30, 1e-40] {
            assert_eq!(round_to(value, 24), f64::from(value as f32));
        }
    }
}
