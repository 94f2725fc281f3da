//! The same in `f64`, for numbers that `f32` does not hold, and given starts.

use super::violators::{FEW, FIRST_SWEEPS, STEEP};
use super::{INTERCEPT_STEPS, NEWTON_TARGET, SWEEPS_PER_NEWTON};
use crate::parallel::Control;
use crate::solver::certificate::{prove, prove_as_is};
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
    let mut put_off = settings.max_iter > FIRST_SWEEPS && is_worth_putting_off(&problem, state);
    let mut list = std::mem::take(&mut state.sweep_list);
    list.clear();
    let least = if put_off { STEEP } else { 1.0 };
    append_steep(&problem, state, least * problem.alpha, &mut list);
    let (mut n_iter, mut first) = (0, f64::INFINITY);
    while n_iter < settings.max_iter && !control.is_cancelled() {
        if put_off && n_iter >= FIRST_SWEEPS {
            let as_is = Settings {
                round_weights: false,
                round_intercept: false,
                ..*settings
            };
            prove_as_is(&problem, &as_is, state);
            append_steep(&problem, state, problem.alpha, &mut list);
            put_off = false;
        }
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
        if sum <= share * first && !put_off {
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

/// Whether many features violate optimality, and some of them much.
fn is_worth_putting_off(problem: &Scaled<'_>, state: &Workspace) -> bool {
    let mut n_violators = 0;
    let gradient = &state.gradient;
    gradient.for_each_above(problem.design, problem.alpha, |_| n_violators += 1);
    n_violators > FEW && gradient.largest(problem.design) > STEEP * problem.alpha
}

/// Append to `list` the features that have a weight or whose derivative exceeds `least`,
/// the steepest first, unless it holds them already.
fn append_steep(problem: &Scaled<'_>, state: &Workspace, least: f64, list: &mut Vec<u32>) {
    let design = problem.design;
    let listed = list.len();
    let mut seen = vec![false; design.n_features()];
    for &j in &list[..] {
        seen[j as usize] = true;
    }
    let steepness = |j: u32| state.gradient.at(design, j).abs();
    let is_new = |j: &u32| !seen[*j as usize];
    let is_wanted = |j: &u32| steepness(*j) > least || state.weights[*j as usize] != 0.0;
    list.extend(
        (0..design.n_features() as u32)
            .filter(is_new)
            .filter(is_wanted),
    );
    list[listed..].sort_unstable_by(|&a, &b| steepness(b).total_cmp(&steepness(a)).then(a.cmp(&b)));
}
