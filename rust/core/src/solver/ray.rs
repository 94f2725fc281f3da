//! The exact minimum of the objective along a direction.

/// The objective as a function of the step `t >= 0` along one direction: convex
/// and piecewise quadratic, with kinks where a coordinate passes zero.
#[derive(Debug)]
pub(super) struct Ray<'a> {
    /// `hinge_i` at t = 0.
    pub(super) hinge: &'a [f64],
    /// Fall of `hinge_i` per unit of t.
    pub(super) fall: &'a [f64],
    /// `c_i`.
    pub(super) weight: &'a [f64],
    /// Coordinates at t = 0 and the direction.
    pub(super) w: &'a [f64],
    pub(super) d: &'a [f64],
    /// L1 weight of each coordinate, and ridge of each.
    pub(super) alpha: &'a [f64],
    pub(super) ridge: &'a [f64],
}

/// The first derivative is zero once it is this small beside its start.
const FLAT: f64 = 1e-9;

impl Ray<'_> {
    /// Objective at `t` minus objective at 0.
    pub(super) fn change(&self, t: f64) -> f64 {
        let mut loss = 0.0;
        for ((&b, &v), &c) in self.hinge.iter().zip(self.fall).zip(self.weight) {
            let (before, after) = (b.max(0.0), (b - t * v).max(0.0));
            loss += c * (after - before) * (after + before);
        }
        let mut penalty = 0.0;
        for k in 0..self.w.len() {
            let (w, moved) = (self.w[k], self.w[k] + t * self.d[k]);
            penalty += self.alpha[k] * (moved.abs() - w.abs())
                + 0.5 * self.ridge[k] * (moved - w) * (moved + w);
        }
        loss + penalty
    }

    /// First and second derivative of loss and ridge at `t`.
    fn smooth(&self, t: f64) -> (f64, f64) {
        let (mut slope, mut curvature) = (0.0, 0.0);
        for ((&b, &v), &c) in self.hinge.iter().zip(self.fall).zip(self.weight) {
            let hinge = b - t * v;
            if hinge > 0.0 {
                slope -= c * v * hinge;
                curvature += c * v * v;
            }
        }
        slope *= 2.0;
        curvature *= 2.0;
        for k in 0..self.w.len() {
            let (d, r) = (self.d[k], self.ridge[k]);
            slope += r * (self.w[k] + t * d) * d;
            curvature += r * d * d;
        }
        (slope, curvature)
    }

    /// The minimising step and, if it lies on a kink, the coordinate that is
    /// zero there. `kinks` and `gained` are scratch.
    pub(super) fn minimise(
        &self,
        kinks: &mut Vec<(f64, usize)>,
        gained: &mut Vec<f64>,
    ) -> (f64, Option<usize>) {
        kinks.clear();
        let mut penalty = 0.0;
        for (k, (&w, &d)) in self.w.iter().zip(self.d).enumerate() {
            penalty += self.alpha[k] * if w == 0.0 { d.abs() } else { w.signum() * d };
            if self.alpha[k] > 0.0 && w * d < 0.0 {
                kinks.push((-w / d, k));
            }
        }
        kinks.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        // `gained[m]`: what the L1 term adds to the derivative past m kinks.
        gained.clear();
        gained.push(penalty);
        for &(_, k) in kinks.iter() {
            gained.push(gained[gained.len() - 1] + 2.0 * self.alpha[k] * self.d[k].abs());
        }
        let rises_by = |m: usize| self.smooth(kinks[m].0).0 + gained[m] >= 0.0;
        // Kinks passed: usually none, so look there before bisecting.
        let (mut passed, mut end) = (0, kinks.len());
        if end > 0 && rises_by(0) {
            end = 0;
        }
        while passed < end {
            let middle = usize::midpoint(passed, end);
            if rises_by(middle) {
                end = middle;
            } else {
                passed = middle + 1;
            }
        }
        let low = if passed == 0 {
            0.0
        } else {
            kinks[passed - 1].0
        };
        if passed > 0 && self.smooth(low).0 + gained[passed] >= 0.0 {
            return (low, Some(kinks[passed - 1].1));
        }
        let high = kinks.get(passed).map_or(f64::INFINITY, |kink| kink.0);
        (self.root(low, high, gained[passed]), None)
    }

    /// Where the derivative is zero in (low, high), no kink of a coordinate between.
    fn root(&self, mut low: f64, mut high: f64, penalty: f64) -> f64 {
        let start = (self.smooth(low).0 + penalty).abs();
        let mut t = if high.is_finite() {
            low + (high - low).min(1.0)
        } else {
            low + 1.0
        };
        for _ in 0..100 {
            let (slope, curvature) = self.smooth(t);
            let slope = slope + penalty;
            if slope.abs() <= FLAT * start {
                break;
            }
            if slope > 0.0 {
                high = t;
            } else {
                low = t;
            }
            let newton = if curvature > 0.0 {
                t - slope / curvature
            } else {
                f64::INFINITY
            };
            t = if newton > low && newton < high {
                newton
            } else if high.is_finite() {
                f64::midpoint(low, high)
            } else {
                2.0 * low.max(1.0)
            };
            if high - low <= f64::EPSILON * high {
                break;
            }
        }
        t
    }
}
