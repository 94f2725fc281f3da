//! Plain coordinate descent over all features: slow, obvious, the one to check against.

use super::rounds::until_proved;
use super::state::{Row, Scaled, Workspace};
use super::{Certificate, Problem, Settings};
use crate::parallel::Control;

/// LIBLINEAR's line search: sufficient share, shortening, most trials.
const SIGMA: f64 = 0.01;
const BETA: f64 = 0.5;
const TRIALS: usize = 20;

/// Sweeps after which shrunken features come back and the gap is looked at.
const SWEEPS_PER_PROOF: u64 = 100;

/// Rounds without progress after which the solve has stalled.
const PATIENCE: u32 = 50;

/// Coordinate descent with shrinking, dense margins and a cyclic order.
///
/// Features that stay zero by a margin are left out of sweeps as LIBLINEAR
/// does, but all come back before every look at the gap, and only the gap ends
/// the solve: LIBLINEAR itself ([`super::liblinear`]) returns with features still
/// left out once its 1000 sweeps are over. Shares with [`super::auto`] only the
/// certificate. Sweeps before the first look end at violations of `eps alpha`.
///
/// Source: Yuan, Chang, Hsieh, Lin, JMLR 2010, section 4.1 (LIBLINEAR `-s 5`).
/// Differs: cyclic order, restoration, stop rule.
pub(super) fn run(
    problem: &Problem<'_>,
    settings: &Settings,
    eps: f64,
    state: &mut Workspace,
    control: &Control,
) -> Certificate {
    let problem = Scaled::new(problem, control);
    let n_features = problem.design.n_features();
    let mut inner_tol = eps;
    until_proved(&problem, settings, state, PATIENCE, |state, round| {
        let mut used = 0;
        let mut margins = Margins::new(&problem, state);
        let mut active: Vec<usize> = (0..n_features).collect();
        let mut previous = f64::INFINITY;
        for _ in 0..SWEEPS_PER_PROOF.min(round.budget) {
            used += 1;
            let slack = previous / problem.design.n_samples() as f64;
            let mut worst: f64 = 0.0;
            active.retain(|&j| {
                if control.is_cancelled() {
                    return true;
                }
                let (violation, depth) = margins.descend(&problem, state, j);
                worst = worst.max(violation);
                // How far inside [-alpha, alpha] a zero weight's derivative is.
                depth <= slack
            });
            worst = worst.max(margins.descend_intercept(&problem, state));
            if worst <= inner_tol * problem.alpha || control.is_cancelled() {
                break;
            }
            previous = worst;
        }
        inner_tol = (inner_tol * 0.1).max(1e-15);
        used
    })
}

/// `x_i . w + intercept` of every sample, kept up to date step by step.
struct Margins {
    z: Vec<f64>,
    sign: Vec<f64>,
    weight: Vec<f64>,
}

impl Margins {
    fn new(problem: &Scaled<'_>, state: &Workspace) -> Self {
        let z = (0..problem.design.n_samples())
            .map(|i| {
                let (ids, values) = problem.design.rows().row(i);
                let dot = ids.iter().zip(values).fold(0.0, |s, (&j, &x)| {
                    s + f64::from(x) * state.weights[j as usize]
                });
                dot + state.intercept
            })
            .collect();
        Self {
            z,
            sign: state.rows.iter().map(Row::sign).collect(),
            weight: state.rows.iter().map(Row::weight).collect(),
        }
    }

    /// One coordinate; returns its violation and how far inside the L1 ball's
    /// face its derivative lies if its weight is (still) zero, else -inf.
    fn descend(&mut self, problem: &Scaled<'_>, state: &mut Workspace, j: usize) -> (f64, f64) {
        let (ids, values) = problem.design.column(j);
        let column = || {
            ids.iter()
                .zip(values)
                .map(|(&i, &x)| (i as usize, f64::from(x)))
        };
        let old = state.weights[j];
        let step = self.line_search(column, old, problem.alpha, problem.ridge);
        if step.moved != old {
            state.see(problem.design, j as u32);
            state.weights[j] = step.moved;
        }
        (step.violation, step.depth)
    }

    fn descend_intercept(&mut self, problem: &Scaled<'_>, state: &mut Workspace) -> f64 {
        let Some(alpha) = problem.intercept_alpha else {
            return 0.0;
        };
        let n = self.z.len();
        let step = self.line_search(|| (0..n).map(|i| (i, 1.0)), state.intercept, alpha, 0.0);
        state.intercept = step.moved;
        step.violation
    }

    /// Newton step of the quadratic model with Armijo's rule.
    fn line_search<I: Iterator<Item = (usize, f64)>>(
        &mut self,
        column: impl Fn() -> I,
        w: f64,
        alpha: f64,
        ridge: f64,
    ) -> Step {
        let (mut g, mut h) = (ridge * w, ridge);
        for (i, x) in column() {
            let hinge = 1.0 - self.sign[i] * self.z[i];
            if hinge > 0.0 {
                g -= 2.0 * self.weight[i] * self.sign[i] * hinge * x;
                h += 2.0 * self.weight[i] * x * x;
            }
        }
        let h = h.max(1e-12);
        let (violation, depth) = if w > 0.0 {
            ((g + alpha).abs(), f64::NEG_INFINITY)
        } else if w < 0.0 {
            ((g - alpha).abs(), f64::NEG_INFINITY)
        } else {
            ((g.abs() - alpha).max(0.0), alpha - g.abs())
        };
        let mut d = if g + alpha < h * w {
            -(g + alpha) / h
        } else if g - alpha > h * w {
            -(g - alpha) / h
        } else {
            -w
        };
        let stay = Step {
            moved: w,
            violation,
            depth,
        };
        if d.abs() < 1e-300 {
            return stay;
        }
        for _ in 0..TRIALS {
            let moved = if d == -w { 0.0 } else { w + d };
            let l1 = alpha * (moved.abs() - w.abs());
            let mut change = l1 + 0.5 * ridge * (moved - w) * (moved + w);
            for (i, x) in column() {
                let before = (1.0 - self.sign[i] * self.z[i]).max(0.0);
                let after = (1.0 - self.sign[i] * (self.z[i] + d * x)).max(0.0);
                change += self.weight[i] * (after - before) * (after + before);
            }
            if change <= SIGMA * (g * d + l1) && change < 0.0 {
                for (i, x) in column() {
                    self.z[i] += d * x;
                }
                return Step {
                    moved,
                    violation,
                    depth: f64::NEG_INFINITY,
                };
            }
            d *= BETA;
        }
        stay
    }
}

struct Step {
    moved: f64,
    violation: f64,
    depth: f64,
}
