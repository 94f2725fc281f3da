//! From a label's positives to its problem.

use crate::solver::{Design, Intercept, Problem};

/// How classes are weighed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ClassWeight {
    /// These weights for (positives, negatives).
    Fixed(f64, f64),
    /// `n / (2 n_class)`, n the number of rows, as scikit-learn's "balanced".
    Balanced,
}

/// What turns a label's positives into a [`Problem`].
#[derive(Clone, Copy, Debug)]
pub struct Recipe {
    /// L1 weight at 100 positives.
    pub alpha: f64,
    /// A problem with n positives gets `alpha clip((n / 100)^alpha_exponent, 1/4, 4)`.
    pub alpha_exponent: f64,
    /// Positives weigh `1 + propensity_weight (1/p - 1)` times as much, `p` the
    /// propensity of a label with as many positives (A = 0.55, B = 1.5) among
    /// these rows.
    pub propensity_weight: f64,
    /// Weight of the squared l2 term.
    pub ridge: f64,
    /// Weights of the classes.
    pub class_weight: ClassWeight,
    /// The intercept's kind.
    pub intercept: Intercept,
}

impl Recipe {
    /// The problem of these positives.
    pub fn problem<'a>(&self, design: &'a Design<'a>, positives: &'a [u32]) -> Problem<'a> {
        let n = positives.len() as f64;
        let class_weight = self.class_weights(n, design.n_samples() as f64);
        Problem {
            design,
            positives,
            alpha: self.alpha_of(n),
            ridge: self.ridge,
            class_weight,
            intercept: self.intercept,
        }
    }

    /// The L1 weight of a label with `n` positives.
    pub(super) fn alpha_of(&self, n: f64) -> f64 {
        if self.alpha_exponent == 0.0 {
            return self.alpha;
        }
        self.alpha * (n / 100.0).powf(self.alpha_exponent).clamp(0.25, 4.0)
    }

    /// What each positive and each negative weigh, of a label with `n` of `n_rows`.
    pub(super) fn class_weights(&self, n: f64, n_rows: f64) -> (f64, f64) {
        let (mut positive, negative) = match self.class_weight {
            ClassWeight::Fixed(positive, negative) => (positive, negative),
            // An empty class has no rows to weigh.
            ClassWeight::Balanced => (
                n_rows.max(1.0) / (2.0 * n.max(1.0)),
                n_rows.max(1.0) / (2.0 * (n_rows - n).max(1.0)),
            ),
        };
        if self.propensity_weight > 0.0 {
            positive *= 1.0 + self.propensity_weight * inverse_propensity_excess(n, n_rows);
        }
        (positive, negative)
    }
}

/// `1/p - 1 = C (n + B)^-A` with `C = (ln N - 1) (B + 1)^A`, never negative.
///
/// Source: Jain, Prabhu, Varma, "Extreme multi-label loss functions for
/// recommendation, tagging, ranking and other missing label applications", KDD 2016.
fn inverse_propensity_excess(n_positives: f64, n_rows: f64) -> f64 {
    const A: f64 = 0.55;
    const B: f64 = 1.5;
    (n_rows.ln() - 1.0).max(0.0) * (B + 1.0).powf(A) * (n_positives + B).powf(-A)
}
