//! Sweeps in `f32`, each sum gathered in `f64`.

use super::cells::Cell;
use super::columns::{shift, slope};
use super::rows::intercept_slope;
use super::violators::{FEW, FIRST_SWEEPS, STEEP, loss_gradient, sort_steep};
use super::{INTERCEPT_STEPS, SWEEPS_PER_NEWTON, newton};
use crate::parallel::Control;
use crate::solver::certificate::{prove, prove_nearby};
use crate::solver::descent::Line;
use crate::solver::intercept;
use crate::solver::state::{Scaled, Workspace};
use crate::solver::{Certificate, Problem, Settings, Status};

/// Values and weights up to this, and an alpha of at least its inverse, keep
/// squares and sums of a billion rows far inside the range of `f32`.
const WIDEST: f64 = 1e6;

/// Least share of the first violations to stop at: rounding in `f32` leaves about
/// a hundredth of it.
const LEAST_SHARE: f64 = 1e-3;

/// Columns between two looks at the cancel flag.
const COLUMNS_PER_CHECK: usize = 64;

/// A feature in the list of those that are swept, and its weight.
#[derive(Clone, Copy, Debug)]
pub(super) struct Coordinate {
    pub(super) feature: u32,
    pub(super) w: f64,
}

/// What is kept between problems.
#[derive(Debug, Default)]
pub(in crate::solver) struct Buffers {
    cells: Vec<Cell>,
    list: Vec<Coordinate>,
    /// (steepness, feature) of what is to be listed, packed to be sorted.
    steep: Vec<u64>,
    newton: newton::Buffers,
}

/// Whether `f32` holds the problem's numbers well enough to stop at this share.
pub(super) fn fits(problem: &Problem<'_>, share: f64) -> bool {
    let design = problem.design;
    let alpha = problem.alpha / problem.class_weight.1;
    let heaviest =
        design.largest_weight() * (problem.class_weight.0 / problem.class_weight.1).max(1.0);
    share >= LEAST_SHARE
        && design.largest_value() <= WIDEST
        && heaviest <= WIDEST
        && (1.0 / WIDEST..=WIDEST).contains(&alpha)
}

/// As [`super::run`].
pub(super) fn run(
    problem: &Problem<'_>,
    settings: &Settings,
    share: f64,
    state: &mut Workspace,
    control: &Control,
) -> Certificate {
    let problem = Scaled::new(problem, control);
    let mut buffers = std::mem::take(&mut state.sweeps);
    let n_iter = buffers.descend(&problem, settings, share, state);
    state.sweeps = buffers;
    let proof = if n_iter == 0 {
        prove(&problem, settings, state)
    } else {
        prove_nearby(&problem, settings, state)
    };
    let status = if control.is_cancelled() {
        Status::Cancelled
    } else {
        proof.status_within(settings.tol)
    };
    proof.certificate(state, n_iter, status)
}

impl Buffers {
    /// Sweep until it is enough; leaves weights and intercept in `state`, whose
    /// margins follow with the proof. Returns the sweeps and Newton steps.
    fn descend(
        &mut self,
        problem: &Scaled<'_>,
        settings: &Settings,
        share: f64,
        state: &mut Workspace,
    ) -> u64 {
        if settings.max_iter == 0 {
            return 0;
        }
        let (positive, negative) = state.class_totals();
        let mut intercept = best_constant(positive, negative, problem.intercept_alpha);
        let may_put_off = settings.max_iter > FIRST_SWEEPS;
        let mut put_off = self.begin(problem, state, intercept, may_put_off);
        let (mut n_iter, mut first) = (0, f64::INFINITY);
        while n_iter < settings.max_iter
            && (put_off || !self.list.is_empty())
            && !problem.control.is_cancelled()
        {
            if n_iter > 0 {
                intercept = step_intercept(problem, &self.cells, intercept);
            }
            if put_off && n_iter >= FIRST_SWEEPS {
                self.extend(problem, state, intercept);
                put_off = false;
            }
            let sum = self.sweep(problem, intercept);
            if n_iter == 0 {
                first = sum;
            }
            n_iter += 1;
            // The violations above are those before the step: it never ends the loop.
            let unfinished = sum > share * first && n_iter < settings.max_iter;
            if n_iter % SWEEPS_PER_NEWTON == 0 && unfinished {
                let Self {
                    cells,
                    list,
                    newton,
                    ..
                } = self;
                n_iter += u64::from(newton.step(problem, cells, list, &mut intercept));
            }
            if sum <= share * first && !put_off {
                break;
            }
        }
        for &Coordinate { feature, w } in &self.list {
            state.put_weight(feature, w);
        }
        state.intercept = intercept;
        n_iter
    }

    /// Zero weights and this intercept; list the features that violate
    /// optimality there, the worst first. True if those that are not steep were put off.
    ///
    /// Cost: the positives' values, and a few passes over rows and features.
    fn begin(
        &mut self,
        problem: &Scaled<'_>,
        state: &mut Workspace,
        intercept: f64,
        may_put_off: bool,
    ) -> bool {
        let Workspace {
            gradient,
            rows,
            touched,
            residuals,
            ..
        } = state;
        let design = problem.design;
        self.cells.clear();
        self.cells.extend(rows.iter().map(|row| Cell {
            base: 1.0,
            signed_weight: row.signed_weight as f32,
        }));
        // Every row as if it were negative, then the difference for the positives.
        let negative = 2.0 * (1.0 + intercept).max(0.0);
        let positive = 2.0 * (1.0 - intercept).max(0.0);
        residuals.clear();
        residuals.extend(touched.iter().map(|&i| {
            let weight = rows[i as usize].weight();
            let residual = positive * weight + negative * design.weight(i as usize);
            (i, -0.5 * residual)
        }));
        gradient.set(design, negative, residuals, false, problem.control);
        sort_steep(gradient, design, problem.alpha, &mut self.steep);
        let is_steep = |key: &u64| gradient.at(design, *key as u32).abs() > STEEP * problem.alpha;
        let put_off =
            may_put_off && self.steep.len() > FEW && self.steep.first().is_some_and(is_steep);
        if put_off {
            self.steep.retain(is_steep);
        }
        self.list.clear();
        self.list_steep();
        put_off
    }

    /// List the features that violate optimality now, the worst first, behind those
    /// listed already.
    fn extend(&mut self, problem: &Scaled<'_>, state: &mut Workspace, intercept: f64) {
        let Workspace {
            gradient,
            residuals,
            ..
        } = state;
        loss_gradient(problem, &self.cells, intercept, residuals, gradient);
        for coordinate in &self.list {
            gradient.forget(coordinate.feature);
        }
        sort_steep(gradient, problem.design, problem.alpha, &mut self.steep);
        self.list_steep();
    }

    fn list_steep(&mut self) {
        self.list.extend(self.steep.iter().map(|&key| Coordinate {
            feature: key as u32,
            w: 0.0,
        }));
    }

    /// [Descend](descend) along each feature of the list in order; those at zero
    /// that do not want to move leave the list. Returns the sum of violations, each
    /// before its step.
    fn sweep(&mut self, problem: &Scaled<'_>, intercept: f64) -> f64 {
        let Self { cells, list, .. } = self;
        let (mut sum, mut kept) = (0.0, 0);
        for at in 0..list.len() {
            if at % COLUMNS_PER_CHECK == 0 && problem.control.is_cancelled() {
                break;
            }
            let mut coordinate = list[at];
            let violation = descend(problem, cells, intercept, &mut coordinate);
            sum += violation;
            if violation > 0.0 || coordinate.w != 0.0 {
                list[kept] = coordinate;
                kept += 1;
            }
        }
        list.truncate(kept);
        sum
    }
}

/// Lower the objective over one weight, as [`Workspace::sweep`] does in `f64`.
fn descend(
    problem: &Scaled<'_>,
    cells: &mut [Cell],
    intercept: f64,
    coordinate: &mut Coordinate,
) -> f64 {
    let j = coordinate.feature as usize;
    let column = problem.design.column(j);
    let b = intercept as f32;
    let line = Line::new(problem, j, coordinate.w, slope(cells, b, column));
    let violation = line.violation();
    if violation > 0.0 {
        coordinate.w = line.step(|d| shift(cells, b, column, d as f32));
    }
    violation
}

/// The best intercept without any weights.
///
/// With weights p and q of the classes it minimises, over b in [-1, 1],
/// `p (1 - b)^2 + q (1 + b)^2 + alpha |b|`.
fn best_constant(positive: f64, negative: f64, alpha: Option<f64>) -> f64 {
    let Some(alpha) = alpha else {
        return 0.0;
    };
    let pull = 2.0 * (positive - negative);
    let left = (pull.abs() - alpha).max(0.0);
    if left == 0.0 {
        return 0.0;
    }
    left.copysign(pull) / (2.0 * (positive + negative))
}

/// Newton steps of the intercept alone.
fn step_intercept(problem: &Scaled<'_>, cells: &[Cell], mut b: f64) -> f64 {
    let Some(alpha) = problem.intercept_alpha else {
        return b;
    };
    for _ in 0..INTERCEPT_STEPS {
        let (g, h) = intercept_slope(cells, b as f32);
        let slope = intercept::slope(b, g, alpha);
        if slope == 0.0 || h <= 0.0 {
            break;
        }
        let next = b - slope / h;
        // Past the kink the slope is another: stop on it first.
        b = if alpha > 0.0 && next * b < 0.0 {
            0.0
        } else {
            next
        };
    }
    b
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_intercept_is_the_best_of_a_fine_grid() {
        for (p, q, alpha) in [
            (3.0, 40.0, 1.0),
            (40.0, 3.0, 1.0),
            (5.0, 5.2, 1.0),
            (4.0, 0.0, 0.5),
        ] {
            let value = |b: f64| p * (1.0 - b).powi(2) + q * (1.0 + b).powi(2) + alpha * b.abs();
            let found = best_constant(p, q, Some(alpha));
            let least = (-20_000..=20_000)
                .map(|k| value(f64::from(k) * 1e-4))
                .fold(f64::INFINITY, f64::min);
            assert!(value(found) <= least + 1e-12, "{p} {q} {alpha}: {found}");
        }
        assert_eq!(best_constant(3.0, 4.0, None), 0.0);
    }
}
