//! A few sweeps and hardly more: what the nodes of a deep tree need.

mod active;
#[cfg(target_arch = "x86_64")]
mod avx2;
mod cells;
mod columns;
mod narrow;
mod newton;
mod rows;
mod violators;
mod wide;

use super::state::Workspace;
use super::{Certificate, Problem, Settings};
use crate::parallel::Control;

pub(crate) use active::copied_bytes;
pub(super) use narrow::Buffers;

/// Steps of the intercept before a sweep.
const INTERCEPT_STEPS: usize = 2;

/// One Newton step on the support after this many sweeps: P@5 +0.11 on debdeps,
/// +0.07 on debtags, +0.01 on `gutenberg_lcsh`.
const SWEEPS_PER_NEWTON: u64 = 4;

/// Derivatives below this share of alpha are not worth a Newton step.
const NEWTON_TARGET: f64 = 0.02;

/// Coordinate descent over the features that violate optimality most, the worst first;
/// after two sweeps all are looked at once more and those that violate then are
/// added. Sweeps keep the non-zero and the still violating.
///
/// Stops once violations add up to `share` of the first sweep's; the gap is
/// proved at the end and reported as it is. Where `f32` holds the problem's
/// numbers, steps are computed in it; proofs never are.
/// Source: Yuan, Chang, Hsieh, Lin, JMLR 2010, section 4.1. Differs: order,
/// choice of coordinates, stop rule, as measured to be enough for ranking.
pub(super) fn run(
    problem: &Problem<'_>,
    settings: &Settings,
    share: f64,
    state: &mut Workspace,
    control: &Control,
) -> Certificate {
    if narrow::fits(problem, share) && state.nonzero().next().is_none() {
        narrow::run(problem, settings, share, state, control)
    } else {
        wide::run(problem, settings, share, state, control)
    }
}
