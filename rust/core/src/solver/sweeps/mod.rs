//! A few sweeps and hardly more: what the nodes of a deep tree need.

#[cfg(target_arch = "x86_64")]
mod avx2;
mod cells;
mod columns;
mod narrow;
mod newton;
mod rows;
mod wide;

use super::state::Workspace;
use super::{Certificate, Problem, Settings};
use crate::parallel::Control;

pub(super) use narrow::Buffers;

/// Coordinate descent over all features that violate optimality at the start,
/// the worst first; later sweeps keep the non-zero and the still violating.
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
