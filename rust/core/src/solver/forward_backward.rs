//! Forward-backward splitting as PRoXML runs it, and accelerated.

use super::certificate::{Proof, prove_as_is};
use super::proximal::Path;
use super::smooth::Smooth;
use super::state::{Scaled, Workspace};
use super::{Certificate, Problem, Settings};
use crate::parallel::Control;
use crate::{Error, Result};

/// Looks at the gap: after so many iterations, then each time the count has grown
/// by one part in `GROWTH`.
const FIRST_LOOK: u64 = 10;
const GROWTH: u64 = 20;

/// Looks without any fall of objective or gap after which the solve has stalled.
const PATIENCE: u32 = 40;

/// The constants of the method; [`ForwardBackward::PAPER`] are those of the
/// released code.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ForwardBackward {
    /// Nesterov's momentum, dropped whenever it points uphill.
    pub accelerated: bool,
    /// What ends the solve before `max_iter`.
    pub rule: Rule,
    /// The step that each search begins with, > 0.
    pub first_step: f64,
    /// What a step that is too long is multiplied by, in (0, 1).
    pub step_shrink: f64,
}

/// What ends [`ForwardBackward`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Rule {
    /// `||w' - w|| <= step_tol max(1e-13, ||w||)` once `min_iter` iterations are done.
    Step {
        /// Iterations that are always done.
        min_iter: u64,
        /// The relative change, >= 0.
        step_tol: f64,
    },
    /// The relative duality gap, looked at now and then.
    Gap,
}

impl ForwardBackward {
    /// As released: xmc-aalto/proxml, solver `-s 8`.
    pub const PAPER: Self = Self {
        accelerated: false,
        rule: Rule::Step {
            min_iter: 300,
            step_tol: 1e-4,
        },
        first_step: 0.1,
        step_shrink: 0.1,
    };

    pub(super) fn check(self) -> Result<()> {
        let Self {
            first_step,
            step_shrink,
            rule,
            ..
        } = self;
        if !(first_step > 0.0 && first_step.is_finite()) {
            return Err(Error::data(format!(
                "first_step is {first_step}, expected a finite value > 0"
            )));
        }
        if !(step_shrink > 0.0 && step_shrink < 1.0) {
            return Err(Error::data(format!(
                "step_shrink is {step_shrink}, expected a value in (0, 1)"
            )));
        }
        match rule {
            Rule::Step { step_tol, .. } if !(step_tol >= 0.0 && step_tol.is_finite()) => {
                Err(Error::data(format!(
                    "step_tol is {step_tol}, expected a finite value >= 0"
                )))
            }
            _ => Ok(()),
        }
    }
}

/// Minimise by steps `w' = soft(w - step grad F(w), step alpha)`, where `F` is
/// the loss with the ridge and `w` ends with the weight of the intercept's
/// column, which is treated like all others.
///
/// Every iteration begins with `first_step` and shrinks it until
///
/// ```text
/// F(w') <= F(w) + <grad F(w), w' - w> + ||w' - w||^2 / (2 step)
/// ```
///
/// so no iteration raises the objective. Accelerated, the gradient is taken at
/// `v = w + (t - 1) / t' (w - w_before)`; momentum ends, and the step search begins
/// anew, when `<v - w', w' - w> > 0`; between such restarts a step is never longer
/// than the last one, as the momentum's theory needs.
///
/// The intercept stays as the method left it, also in the certificate: solving for
/// it would make another, better method of it.
///
/// Cost of an iteration: the stored values of active rows (gradient), those of `X`
/// or of the columns with a weight (each trial of a step; one that is far too long
/// ends after a few rows), and some passes over dense weights and margins.
/// Deterministic.
///
/// Source: Babbar and Schölkopf, Machine Learning 108, 2019, Algorithm 1, and the
/// code at xmc-aalto/proxml. Differs from that code: no gradient is computed at
/// trial points (it was not used); the bound is computed so that rounding does not
/// decide; the L1 weight is `alpha`, not fixed at 0.1 with the loss weighted instead.
/// Acceleration: Beck and Teboulle, SIAM J. Imaging Sciences 2, 2009; restart:
/// O'Donoghue and Candès, Foundations of Computational Mathematics 15, 2015, gradient
/// scheme.
pub(super) fn run(
    problem: &Problem<'_>,
    options: ForwardBackward,
    settings: &Settings,
    state: &mut Workspace,
    control: &Control,
) -> Result<Certificate> {
    let scaled = Scaled::new(problem, control);
    let smooth = Smooth::new(problem, &scaled, state)?;
    // Inside, negatives weigh 1; steps are the caller's.
    let first_step = options.first_step * problem.class_weight.1;
    let mut path = Path::new(&smooth, &options, first_step, state);
    let mut looks = Looks::default();
    let mut n_iter = 0;
    let mut ended = false;
    while n_iter < settings.max_iter && !ended {
        if looks.is_due(n_iter) {
            match options.rule {
                Rule::Step { .. } => {
                    state.watch(&scaled, settings, |state| path.hand_over(&smooth, state));
                }
                Rule::Gap => {
                    path.hand_over(&smooth, state);
                    let proof = prove_as_is(&scaled, settings, state);
                    if looks.is_enough(&proof, settings.tol) {
                        let status = proof.status_of_own_rule(settings.tol, true, control);
                        return Ok(proof.certificate(state, n_iter, status));
                    }
                }
            }
        }
        let Some(change) = path.advance(&smooth, control) else {
            ended = true;
            break;
        };
        n_iter += 1;
        ended = match options.rule {
            Rule::Step { min_iter, step_tol } => n_iter >= min_iter && change <= step_tol,
            Rule::Gap => change == 0.0,
        };
    }
    path.hand_over(&smooth, state);
    let proof = prove_as_is(&scaled, settings, state);
    let status = proof.status_of_own_rule(settings.tol, ended, control);
    Ok(proof.certificate(state, n_iter, status))
}

/// When to look at the gap, and whether that still shows progress.
#[derive(Debug)]
struct Looks {
    next: u64,
    waited: u32,
    objective: f64,
    gap: f64,
}

impl Default for Looks {
    fn default() -> Self {
        Self {
            next: 0,
            waited: 0,
            objective: f64::INFINITY,
            gap: f64::INFINITY,
        }
    }
}

impl Looks {
    fn is_due(&mut self, n_iter: u64) -> bool {
        let is_due = n_iter >= self.next;
        if is_due {
            self.next = n_iter + (n_iter / GROWTH).max(FIRST_LOOK);
        }
        is_due
    }

    /// Whether the gap holds, or nothing has fallen for too long.
    fn is_enough(&mut self, proof: &Proof, tol: f64) -> bool {
        let falls = self.objective - proof.objective > 1e-12 * proof.objective
            || proof.gap() < 0.999 * self.gap;
        self.waited = if falls { 0 } else { self.waited + 1 };
        self.objective = self.objective.min(proof.objective);
        self.gap = self.gap.min(proof.gap());
        self.waited >= PATIENCE || proof.is_within(tol)
    }
}
