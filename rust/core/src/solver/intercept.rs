//! The exact intercept for given weights.

use super::state::{Scaled, Workspace};

/// More than any convex piecewise quadratic here has needed.
pub(super) const EXACT: usize = 100;

/// Minimise the objective over the intercept alone, in at most `max_steps`, given
/// the rows that [`Workspace::gather_touched`] left.
///
/// The function is convex and piecewise quadratic: Newton steps, kept inside a
/// bracket, end on the exact minimum after a few passes over touched rows. It
/// matters because the intercept's gradient sums over all rows: one out of
/// tune spoils the dual point and so the gap.
pub(super) fn solve_intercept(problem: &Scaled<'_>, state: &mut Workspace, max_steps: usize) {
    if let Some(alpha) = problem.intercept_alpha {
        state.intercept =
            minimise_intercept(state.intercept, alpha, max_steps, |b| derivatives(state, b));
    }
}

/// The same from `b`, given the loss's first and second derivative.
pub(super) fn minimise_intercept(
    mut b: f64,
    alpha: f64,
    max_steps: usize,
    derivatives: impl Fn(f64) -> (f64, f64),
) -> f64 {
    let (mut low, mut high) = (f64::NEG_INFINITY, f64::INFINITY);
    for _ in 0..max_steps {
        let (g, h) = derivatives(b);
        let slope = slope(b, g, alpha);
        if slope == 0.0 {
            break;
        }
        if slope > 0.0 {
            high = b;
        } else {
            low = b;
        }
        let mut next = if h > 0.0 { b - slope / h } else { 0.0 };
        // Past the kink the slope is another: stop on it first.
        if alpha > 0.0 && next * b < 0.0 {
            next = 0.0;
        }
        if next <= low || next >= high {
            if next == b || high - low <= f64::EPSILON * b.abs() {
                break;
            }
            // A bracket is open on one side only before its first bounce.
            next = match (low.is_finite(), high.is_finite()) {
                (true, true) => f64::midpoint(low, high),
                _ => break,
            };
        }
        if next == b {
            break;
        }
        b = next;
    }
    b
}

/// The objective's derivative in the intercept, given the loss's: the smallest in
/// absolute value over the kink of `|b|`.
#[inline]
pub(super) fn slope(b: f64, g: f64, alpha: f64) -> f64 {
    if b > 0.0 {
        g + alpha
    } else if b < 0.0 {
        g - alpha
    } else {
        (g - alpha).max(0.0) + (g + alpha).min(0.0)
    }
}

/// First and second derivative of the loss in the intercept.
fn derivatives(state: &Workspace, b: f64) -> (f64, f64) {
    let (mut g, mut h) = (0.0, 0.0);
    for row in &state.gathered {
        let hinge = row.hinge(b);
        // Without a branch: which rows are active is not predictable.
        let active = f64::from(u8::from(hinge > 0.0));
        g -= row.signed_weight * hinge.max(0.0);
        h += active * row.weight();
    }
    if 1.0 + b > 0.0 {
        g += state.untouched_weight() * (1.0 + b);
        h += state.untouched_weight();
    }
    (2.0 * g, 2.0 * h)
}
