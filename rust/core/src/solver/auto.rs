//! The default method: working sets, column sweeps, Newton on the support.

use super::compact::Compact;
use super::newton::CAUTION;
use super::rounds::until_proved;
use super::state::{Scaled, Workspace};
use super::{Certificate, Problem, Settings};
use crate::parallel::Control;

/// First size of the working set; later ones are twice the support, three times
/// once that is no longer small.
const FIRST_SET: usize = 8;
const SMALL: usize = 100;

/// Most sweeps between two looks at the gap.
const SWEEPS: u64 = 50;

/// Sweeps before the first Newton step and between two.
const SWEEPS_PER_NEWTON: u64 = 4;

/// Steps of the intercept before a sweep; it is exact at every look at the gap.
const INTERCEPT_STEPS: usize = 3;

/// Newton steps in a row.
const NEWTON_STEPS: u64 = 5;

/// Inner work stops at this share of the worst violation outside the set.
const INNER_SHARE: f64 = 0.5;

/// Most times a round gathers its rows anew, once some left out became active.
const BUILDS: usize = 4;

/// Rounds without progress after which the solve has stalled.
const PATIENCE: u32 = 4;

/// Solve by growing working sets; the workspace holds start and result.
///
/// Each round proves a gap over all features, adds the worst violators to the
/// working set, and lowers the objective on it by coordinate descent (Yuan,
/// Chang, Hsieh, Lin, "A comparison of optimization methods and software for
/// large-scale L1-regularized linear classification", JMLR 2010, section 4.1)
/// and Newton steps on the support. No step raises the objective.
pub(super) fn run(
    problem: &Problem<'_>,
    settings: &Settings,
    state: &mut Workspace,
    control: &Control,
) -> Certificate {
    let problem = Scaled::new(problem, control);
    state.begin_working_set();
    state.newton.caution = Some(CAUTION);
    until_proved(&problem, settings, state, PATIENCE, |state, round| {
        let outside = grow(&problem, state);
        let exact = 0.5 * settings.tol.min(0.1) * 0.1_f64.powi(round.waited as i32);
        let target = (INNER_SHARE * outside).max(exact * problem.alpha);
        inner(&problem, settings, state, target, round.budget)
    })
}

/// Drop zero weights from the working set, then add the worst violators. Returns
/// the worst violation that lay outside.
fn grow(problem: &Scaled<'_>, state: &mut Workspace) -> f64 {
    let alpha = problem.alpha;
    let mut set = std::mem::take(&mut state.working_set);
    for &j in &set {
        state.in_working_set[j as usize] = false;
    }
    let slope = |j: u32| state.gradient.at(problem.design, j).abs();
    set.retain(|&j| state.weights[j as usize] != 0.0 || slope(j) > alpha);
    for &j in &set {
        state.in_working_set[j as usize] = true;
    }
    let n_support = set
        .iter()
        .filter(|&&j| state.weights[j as usize] != 0.0)
        .count();
    let mut candidates = std::mem::take(&mut state.candidates);
    candidates.clear();
    state.gradient.for_each_above(problem.design, alpha, |j| {
        if !state.in_working_set[j as usize] {
            candidates.push(j);
        }
    });
    let growth = if n_support < SMALL { 2 } else { 3 };
    let room = (growth * n_support)
        .max(FIRST_SET)
        .saturating_sub(n_support);
    let steeper = |a: &u32, b: &u32| slope(*b).total_cmp(&slope(*a)).then(a.cmp(b));
    if candidates.len() > room {
        candidates.select_nth_unstable_by(room, steeper);
        candidates.truncate(room);
    }
    candidates.sort_unstable_by(steeper);
    let violation = candidates.first().map_or(0.0, |&j| slope(j) - alpha);
    for &j in &candidates {
        state.in_working_set[j as usize] = true;
    }
    set.extend_from_slice(&candidates);
    state.working_set = set;
    state.candidates = candidates;
    violation
}

/// Lower the objective on the working set until no violation on the rows that
/// matter exceeds `target`. Returns the iterations used.
fn inner(
    problem: &Scaled<'_>,
    settings: &Settings,
    state: &mut Workspace,
    target: f64,
    budget: u64,
) -> u64 {
    let bits = settings.round_weights.then(|| settings.weight_bits());
    let mut compact = std::mem::take(&mut state.compact);
    let mut used = 0;
    for _ in 0..BUILDS {
        compact.build(problem, state);
        used += lower(problem, state, &mut compact, target, budget - used);
        if compact.release(problem, bits, state) || used >= budget || problem.control.is_cancelled()
        {
            break;
        }
    }
    state.compact = compact;
    used
}

/// Sweeps and Newton steps on the gathered rows.
fn lower(
    problem: &Scaled<'_>,
    state: &mut Workspace,
    compact: &mut Compact,
    target: f64,
    budget: u64,
) -> u64 {
    let mut used = 0;
    for sweep in 1..=SWEEPS {
        if used >= budget || problem.control.is_cancelled() {
            break;
        }
        compact.solve_intercept(problem, INTERCEPT_STEPS);
        let worst = compact.sweep(problem);
        used += 1;
        if worst <= target {
            break;
        }
        if sweep % SWEEPS_PER_NEWTON == 0 {
            let steps = NEWTON_STEPS.min(budget - used);
            used += compact.newton(
                problem,
                &mut state.support,
                &mut state.newton,
                0.5 * target,
                steps,
            );
        }
    }
    used
}
