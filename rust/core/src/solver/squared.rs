//! The L2-regularised squared hinge: its problem, and the proof of a solution.

use super::certificate::Proof;
use super::rounding::round_to;
use super::state::Workspace;
use super::{Design, Intercept, Problem, Settings};
use crate::parallel::Control;

/// Rows between two looks at the cancel flag.
pub(super) const ROWS_PER_CHECK: usize = 256;

/// `1/2 ||w||^2 + 1/2 (b / scale)^2 + sum_i C_i hinge_i^2`, its dual
///
/// ```text
/// max over a >= 0 of sum_i (a_i - a_i^2 / (4 C_i)) - 1/2 ||A^T a||^2
/// ```
///
/// with the rows `s_i x_i` of `A`, `s_i scale` beside them for a penalised
/// intercept; a free one adds the constraint `sum_i s_i a_i = 0`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Squared<'a> {
    pub(super) design: &'a Design<'a>,
    pub(super) control: &'a Control,
    pub(super) intercept: Intercept,
    /// What a row's weight in the workspace is multiplied by to give `C_i`.
    unit: f64,
}

impl<'a> Squared<'a> {
    pub(super) fn new(problem: &Problem<'a>, c: f64, control: &'a Control) -> Self {
        Self {
            design: problem.design,
            control,
            intercept: problem.intercept,
            unit: c * problem.class_weight.1,
        }
    }

    /// `C_i`.
    pub(super) fn weight(&self, state: &Workspace, i: usize) -> f64 {
        self.unit * state.rows[i].weight()
    }

    /// Value of the intercept's column in the squared term, 0 without one.
    pub(super) fn scale(&self) -> f64 {
        match self.intercept {
            Intercept::Penalized(scale) => scale,
            Intercept::None | Intercept::Free => 0.0,
        }
    }

    /// The objective at weights and intercept of the workspace.
    ///
    /// Cost: the stored values.
    pub(super) fn objective(&self, state: &Workspace) -> f64 {
        let square: f64 = state.weights.iter().map(|w| w * w).fold(0.0, |a, b| a + b);
        let bias = match self.intercept {
            Intercept::Penalized(scale) => state.intercept / scale,
            Intercept::None | Intercept::Free => 0.0,
        };
        let mut loss = 0.0;
        for i in 0..self.design.n_samples() {
            if i % ROWS_PER_CHECK == 0 && self.control.is_cancelled() {
                break;
            }
            let hinge = self.hinge(state, i);
            if hinge > 0.0 {
                loss += self.weight(state, i) * hinge * hinge;
            }
        }
        0.5 * (square + bias * bias) + loss
    }

    fn hinge(&self, state: &Workspace, i: usize) -> f64 {
        let (ids, values) = self.design.rows().row(i);
        let z = dot(ids, values, &state.weights) + state.intercept;
        1.0 - state.rows[i].sign() * z
    }

    /// The largest dual objective on the ray through `duals`, where
    /// `square = ||A^T a||^2` is known.
    pub(super) fn on_ray(&self, state: &Workspace, duals: &[f64], square: f64) -> f64 {
        let (mut linear, mut quadratic) = (0.0, 0.5 * square);
        for (i, &a) in duals.iter().enumerate() {
            if a > 0.0 {
                linear += a;
                quadratic += 0.25 * a * a / self.weight(state, i);
            }
        }
        if quadratic > 0.0 {
            0.25 * linear * linear / quadratic
        } else {
            0.0
        }
    }

    /// The largest dual objective on the ray through `duals`, made feasible for a
    /// free intercept: the heavier class is scaled down to the lighter one's sum.
    ///
    /// Cost: the stored values.
    pub(super) fn dual_objective(&self, state: &mut Workspace, duals: &mut [f64]) -> f64 {
        let mut sums = [0.0; 2];
        let class = |state: &Workspace, i: usize| usize::from(state.rows[i].sign() > 0.0);
        for (i, a) in duals.iter().enumerate() {
            sums[class(state, i)] += a;
        }
        if self.intercept == Intercept::Free {
            let least = sums[0].min(sums[1]);
            for (i, a) in duals.iter_mut().enumerate() {
                let sum = sums[class(state, i)];
                if sum > least {
                    *a *= least / sum;
                }
            }
        }
        let Workspace { gradient, rows, .. } = state;
        let gradient = gradient.all_mut();
        gradient.fill(0.0);
        for (i, &a) in duals.iter().enumerate() {
            if i % ROWS_PER_CHECK == 0 && self.control.is_cancelled() {
                break;
            }
            if a > 0.0 {
                let (ids, values) = self.design.rows().row(i);
                add(ids, values, rows[i].sign() * a, gradient);
            }
        }
        let square: f64 = gradient.iter().map(|g| g * g).fold(0.0, |a, b| a + b);
        let bias = self.scale() * (sums[1] - sums[0]);
        self.on_ray(state, duals, square + bias * bias)
    }

    /// No weights and the best intercept: what a label without positives gets.
    pub(super) fn without_weights(&self, settings: &Settings, state: &mut Workspace) -> Proof {
        state.weights.fill(0.0);
        let (positive, negative) = state.class_totals();
        let ridge = match self.intercept {
            Intercept::Penalized(scale) => 1.0 / (scale * scale),
            Intercept::None => f64::INFINITY,
            Intercept::Free => 0.0,
        };
        // Both classes' hinges are positive between -1 and 1, where this lies.
        let total = 2.0 * self.unit * (positive + negative);
        let pull = 2.0 * self.unit * (positive - negative);
        state.intercept = if pull == 0.0 {
            0.0
        } else {
            pull / (ridge + total)
        };
        if settings.round_intercept {
            state.intercept = round_to(state.intercept, settings.intercept_bits());
        }
        let mut duals: Vec<f64> = (0..self.design.n_samples())
            .map(|i| {
                let hinge = 1.0 - state.rows[i].sign() * state.intercept;
                2.0 * self.weight(state, i) * hinge.max(0.0)
            })
            .collect();
        Proof {
            objective: self.objective(state),
            dual_objective: self.dual_objective(state, &mut duals),
        }
    }
}

/// `sum_k values_k w[ids_k]`, in an order that never changes.
#[inline]
pub(super) fn dot(ids: &[u32], values: &[f32], w: &[f64]) -> f64 {
    // Four sums: additions need not wait for each other.
    let mut sums = [0.0; 4];
    let (ids4, values4) = (ids.chunks_exact(4), values.chunks_exact(4));
    let rest = ids4.remainder().iter().zip(values4.remainder());
    let tail = rest.fold(0.0, |sum, (&j, &x)| sum + w[j as usize] * f64::from(x));
    for (ids, values) in ids4.zip(values4) {
        for k in 0..4 {
            sums[k] += w[ids[k] as usize] * f64::from(values[k]);
        }
    }
    (sums[0] + sums[1]) + (sums[2] + sums[3]) + tail
}

/// Add `d` times a row to `w`.
#[inline]
pub(super) fn add(ids: &[u32], values: &[f32], d: f64, w: &mut [f64]) {
    for (&j, &x) in ids.iter().zip(values) {
        w[j as usize] += d * f64::from(x);
    }
}
