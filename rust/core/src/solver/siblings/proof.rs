//! The proofs of a block's problems, in `f64`.

use super::lanes::{LANES, Line, WideLine};
use super::{Siblings, scale};
use crate::instructions::compiled_twice;
use crate::parallel::Control;
use crate::solver::certificate::Proof;
use crate::solver::squared::ROWS_PER_CHECK;
use crate::solver::{Design, Problem, Settings};
use crate::sparse::CsrView;

/// `C` of each problem's positives and negatives of weight 1.
#[derive(Clone, Debug)]
pub(super) struct Classes {
    pub(super) positive: WideLine,
    pub(super) negative: WideLine,
}

impl Classes {
    pub(super) fn new(problems: &[Problem<'_>], c: f64) -> Self {
        let mut classes = Self {
            positive: WideLine([c; LANES]),
            negative: WideLine([c; LANES]),
        };
        for (k, problem) in problems.iter().enumerate() {
            classes.positive.0[k] = c * problem.class_weight.0;
            classes.negative.0[k] = c * problem.class_weight.1;
        }
        classes
    }

    /// `C` of a sample of problem `k` whose weight is 1, the class being the sign.
    #[inline(always)]
    fn of(&self, k: usize, dual: f32) -> f64 {
        if dual.is_sign_positive() {
            self.positive.0[k]
        } else {
            self.negative.0[k]
        }
    }
}

impl Siblings {
    /// Weights as they will be stored, summed anew from the dual variables, with the
    /// proof of those and the intercept.
    ///
    /// Methods that end by a rule of their own keep all bits of an `f32`.
    pub(super) fn prove(
        &mut self,
        first: &Problem<'_>,
        classes: &Classes,
        settings: &Settings,
        control: &Control,
    ) -> [(Proof, f64); LANES] {
        let design = first.design;
        let scale = scale(first.intercept);
        self.summed.clear();
        self.summed.resize(design.n_features(), WideLine::ZERO);
        let rows = design.rows();
        sum_weights(rows, &self.state.duals, &mut self.summed, control);
        let sums = self.dual_sums(design, classes);
        let (square, kept) = self.round(settings.prune);
        let intercepts = WideLine(sums.imbalance.0.map(|imbalance| {
            let b = scale * scale * imbalance;
            if settings.round_intercept {
                f64::from(b as f32)
            } else {
                b
            }
        }));
        let stored = Stored {
            design,
            duals: &self.state.duals,
            classes,
            weights: &self.summed,
            intercepts,
        };
        let losses = losses(&stored, control);
        std::array::from_fn(|k| {
            let bias = scale * sums.imbalance.0[k];
            let quadratic = sums.quadratic.0[k] + 0.5 * (square.0[k] + bias * bias);
            let linear = sums.linear.0[k];
            let column = if scale > 0.0 {
                intercepts.0[k] / scale
            } else {
                0.0
            };
            let proof = Proof {
                objective: 0.5 * (kept.0[k] + column * column) + losses.0[k],
                // The best on the ray through the dual variables.
                dual_objective: if quadratic > 0.0 {
                    0.25 * linear * linear / quadratic
                } else {
                    0.0
                },
            };
            (proof, intercepts.0[k])
        })
    }

    fn dual_sums(&self, design: &Design<'_>, classes: &Classes) -> DualSums {
        let mut sums = DualSums {
            linear: WideLine::ZERO,
            quadratic: WideLine::ZERO,
            imbalance: WideLine::ZERO,
        };
        for (i, duals) in self.state.duals.iter().enumerate() {
            let weight = design.weight(i);
            if weight == 0.0 {
                continue;
            }
            for k in 0..LANES {
                let signed = f64::from(duals.0[k]);
                let c = weight * classes.of(k, duals.0[k]);
                sums.linear.0[k] += signed.abs();
                sums.quadratic.0[k] += 0.25 * signed * signed / c;
                sums.imbalance.0[k] += signed;
            }
        }
        sums
    }

    /// Round to `f32` and prune; the squared lengths before and after.
    fn round(&mut self, prune: f64) -> (WideLine, WideLine) {
        let (mut before, mut after) = (WideLine::ZERO, WideLine::ZERO);
        let (mut n_weights, mut n_pruned) = ([0; LANES], [0; LANES]);
        for (line, stored) in self.summed.iter_mut().zip(&mut self.state.weights) {
            for k in 0..LANES {
                let w = line.0[k];
                let rounded = w as f32;
                let is_small = f64::from(rounded).abs() < prune;
                let kept = if is_small { 0.0 } else { rounded };
                n_pruned[k] += u64::from(is_small && rounded != 0.0);
                n_weights[k] += u64::from(kept != 0.0);
                stored.0[k] = kept;
                let wide = f64::from(kept);
                line.0[k] = wide;
                before.0[k] += w * w;
                after.0[k] += wide * wide;
            }
        }
        (self.n_weights, self.n_pruned) = (n_weights, n_pruned);
        (before, after)
    }
}

/// Sums over the dual variables.
struct DualSums {
    /// `sum_i a_i`.
    linear: WideLine,
    /// `sum_i a_i^2 / (4 C_i)`.
    quadratic: WideLine,
    /// `sum_i s_i a_i`.
    imbalance: WideLine,
}

compiled_twice! {
    /// Weights summed anew from the dual variables.
    fn sum_weights(
        rows: CsrView<'_>,
        duals: &[Line],
        weights: &mut [WideLine],
        control: &Control,
    ) {
        for (i, duals) in duals.iter().enumerate() {
            if i % ROWS_PER_CHECK == 0 && control.is_cancelled() {
                break;
            }
            if duals.0.iter().all(|&a| a == 0.0) {
                continue;
            }
            let wide = duals.0.map(f64::from);
            let (ids, values) = rows.row(i);
            for (&j, &x) in ids.iter().zip(values) {
                let w = &mut weights[j as usize].0;
                let x = f64::from(x);
                for k in 0..LANES {
                    w[k] += x * wide[k];
                }
            }
        }
    }
}

/// The problems of a block, and their solutions as stored.
struct Stored<'a> {
    design: &'a Design<'a>,
    /// Their signs are the classes.
    duals: &'a [Line],
    classes: &'a Classes,
    weights: &'a [WideLine],
    intercepts: WideLine,
}

compiled_twice! {
    /// Sum of `C_i hinge_i^2` of each problem.
    fn losses(stored: &Stored<'_>, control: &Control) -> WideLine {
        let mut loss = WideLine::ZERO;
        for (i, duals) in stored.duals.iter().enumerate() {
            if i % ROWS_PER_CHECK == 0 && control.is_cancelled() {
                break;
            }
            let (ids, values) = stored.design.rows().row(i);
            let weight = stored.design.weight(i);
            let mut z = stored.intercepts;
            for (&j, &x) in ids.iter().zip(values) {
                let w = &stored.weights[j as usize].0;
                let x = f64::from(x);
                for (z, w) in z.0.iter_mut().zip(w) {
                    *z += x * w;
                }
            }
            for k in 0..LANES {
                let positive = duals.0[k].is_sign_positive();
                let hinge = 1.0 - if positive { z.0[k] } else { -z.0[k] };
                let hinge = if hinge > 0.0 { hinge } else { 0.0 };
                loss.0[k] += weight * stored.classes.of(k, duals.0[k]) * hinge * hinge;
            }
        }
        loss
    }
}
