//! The same in `f64`, for numbers that `f32` does not hold, and given starts.

use super::{INTERCEPT_STEPS, NEWTON_TARGET, SWEEPS_PER_NEWTON};
use crate::parallel::Control;
use crate::solver::certificate::prove;
use crate::solver::intercept::solve_intercept;
use crate::solver::newton::newton;
use crate::solver::state::{Scaled, Workspace};
use crate::solver::{Certificate, Problem, Settings, Status};

/// As [`super::run`]; a proof at the start too.
pub(super) fn run(
    problem: &Problem<'_>,
    settings: &Settings,
    share: f64,
    state: &mut Workspace,
    control: &Control,
) -> Certificate {
    let problem = Scaled::new(problem, control);
    let proof = prove(&problem, settings, state);
    if proof.is_within(settings.tol) || settings.max_iter == 0 {
        return proof.certificate(state, 0, proof.status_within(settings.tol));
    }
    let mut list = std::mem::take(&mut state.sweep_list);
    list.clear();
    let steepness = |j: &u32| state.gradient.at(problem.design, *j).abs();
    list.extend(
        (0..problem.design.n_features() as u32)
            .filter(|j| steepness(j) > problem.alpha || state.weights[*j as usize] != 0.0),
    );
    list.sort_unstable_by(|a, b| steepness(b).total_cmp(&steepness(a)).then(a.cmp(b)));
    let (mut n_iter, mut first) = (0, f64::INFINITY);
    while n_iter < settings.max_iter && !control.is_cancelled() {
        state.gather_touched();
        solve_intercept(&problem, state, INTERCEPT_STEPS);
        let sum = state.sweep(&problem, &mut list).sum;
        if n_iter == 0 {
            first = sum;
        }
        n_iter += 1;
        // The violations above are those before the step: it never ends the loop.
        let unfinished = sum > share * first && n_iter < settings.max_iter;
        if n_iter % SWEEPS_PER_NEWTON == 0 && unfinished {
            n_iter += newton(&problem, state, NEWTON_TARGET * problem.alpha, 1);
        }
        if sum <= share * first {
            break;
        }
    }
    state.sweep_list = list;
    let proof = prove(&problem, settings, state);
    let status = if control.is_cancelled() {
        Status::Cancelled
    } else {
        proof.status_within(settings.tol)
    };
    proof.certificate(state, n_iter, status)
}
