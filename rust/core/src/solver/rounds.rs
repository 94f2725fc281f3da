//! Prove, lower, prove again: the outer loop of every method that goes for the gap.

use super::certificate::{Proof, prove};
use super::state::{Scaled, Workspace};
use super::{Certificate, Settings, Status};
use crate::parallel::Control;

/// What a round may do.
#[derive(Clone, Copy, Debug)]
pub(super) struct Round {
    /// Rounds since objective or gap last fell: work must become more exact.
    pub(super) waited: u32,
    /// Iterations left.
    pub(super) budget: u64,
}

/// Alternate proofs and calls of `lower`, which lowers the objective and says how
/// many iterations it used, until the gap is small enough or a limit is reached.
/// After `patience` rounds without any fall the solve has stalled.
pub(super) fn until_proved(
    problem: &Scaled<'_>,
    settings: &Settings,
    state: &mut Workspace,
    patience: u32,
    mut lower: impl FnMut(&mut Workspace, Round) -> u64,
) -> Certificate {
    let mut n_iter = 0;
    let mut waited = 0;
    let (mut best_objective, mut best_gap) = (f64::INFINITY, f64::INFINITY);
    loop {
        let proof = prove(problem, settings, state);
        if let Some(status) = end(&proof, settings, n_iter, problem.control) {
            return proof.certificate(state, n_iter, status);
        }
        // Slow progress is progress: either number counts.
        let falls = best_objective - proof.objective > 1e-12 * proof.objective
            || proof.gap() < 0.999 * best_gap;
        waited = if falls { 0 } else { waited + 1 };
        if waited >= patience {
            return proof.certificate(state, n_iter, Status::Stalled);
        }
        best_objective = best_objective.min(proof.objective);
        best_gap = best_gap.min(proof.gap());
        let budget = settings.max_iter - n_iter;
        n_iter += lower(state, Round { waited, budget });
    }
}

fn end(proof: &Proof, settings: &Settings, n_iter: u64, control: &Control) -> Option<Status> {
    // Passes end early once cancelled: no proof counts then.
    if control.is_cancelled() {
        Some(Status::Cancelled)
    } else if proof.is_within(settings.tol) {
        Some(Status::Converged)
    } else if n_iter >= settings.max_iter {
        Some(Status::MaxIter)
    } else {
        None
    }
}
