//! The working set on the rows that matter: what the steps of a round see.

use super::descent::{Line, shift, slope};
use super::intercept::minimise_intercept;
use super::newton::NewtonBuffers;
use super::ray::Ray;
use super::rounding::round_to;
use super::state::{Row, Scaled, Workspace};
use super::support::{NONE, Support};

/// Rows this far beyond their margin, or farther, are left out: far fewer stay
/// than the working set reaches, and they seldom come back within a round.
const SLACK: f64 = 0.1;

/// Columns between two looks at the cancel flag.
const COLUMNS_PER_CHECK: usize = 256;

/// The objective over the features of the working set, on the rows whose hinge
/// is positive or nearly so, with ids of their own.
///
/// A row left out adds nothing as long as its hinge stays negative, so this
/// objective bounds the true one from below and equals it at the start. All
/// untouched rows together are the last row.
#[derive(Debug, Default)]
pub(super) struct Compact {
    /// The working set.
    features: Vec<u32>,
    weights: Vec<f64>,
    intercept: f64,
    /// Entries by column, row ids compact; there may be more room than entries.
    starts: Vec<usize>,
    ids: Vec<u32>,
    values: Vec<f32>,
    rows: Vec<Row>,
    /// Touched rows that are not in.
    left_out: Vec<u32>,
    /// Coordinates still to be swept.
    list: Vec<u32>,
    /// Coordinates with a weight: those of a Newton step.
    nonzero: Vec<u32>,
    // Of the way from the state's point to this one, touched row by touched row,
    // and coordinate by coordinate.
    hinge: Vec<f64>,
    fall: Vec<f64>,
    row_weight: Vec<f64>,
    old: Vec<f64>,
    way: Vec<f64>,
    alpha: Vec<f64>,
    ridge: Vec<f64>,
    kinks: Vec<(f64, usize)>,
    gained: Vec<f64>,
}

impl Compact {
    /// Gather the working set at the state's point. Cost: one pass over its columns.
    pub(super) fn build(&mut self, problem: &Scaled<'_>, state: &mut Workspace) {
        self.features.clear();
        self.features.extend_from_slice(&state.working_set);
        for &j in &self.features {
            state.see(problem.design, j);
        }
        state.gather_touched();
        let compact_of = &mut state.support.compact_of;
        self.rows.clear();
        self.left_out.clear();
        for (&i, row) in state.touched.iter().zip(&state.gathered) {
            if row.hinge(state.intercept) > -SLACK {
                compact_of[i as usize] = self.rows.len() as u32;
                self.rows.push(*row);
            } else {
                self.left_out.push(i);
            }
        }
        self.weights.clear();
        self.starts.clear();
        self.starts.push(0);
        self.list.clear();
        let mut end = 0;
        for (k, &j) in (0..).zip(&self.features) {
            let (ids, values) = problem.design.column(j as usize);
            let room = end + ids.len();
            if self.ids.len() < room {
                self.ids.resize(room, 0);
                self.values.resize(room, 0.0);
            }
            let (to_ids, to_values) = (&mut self.ids[end..room], &mut self.values[end..room]);
            let mut n_kept = 0;
            // Without a branch: which rows are in is not predictable.
            for (&i, &x) in ids.iter().zip(values) {
                let r = compact_of[i as usize];
                to_ids[n_kept] = r;
                to_values[n_kept] = x;
                n_kept += usize::from(r != NONE);
            }
            end += n_kept;
            self.starts.push(end);
            self.weights.push(state.weights[j as usize]);
            self.list.push(k);
        }
        for &i in &state.touched {
            compact_of[i as usize] = NONE;
        }
        self.rows.push(Row {
            margin: 0.0,
            signed_weight: -state.untouched_weight(),
        });
        self.intercept = state.intercept;
    }

    fn column(&self, k: usize) -> std::ops::Range<usize> {
        self.starts[k]..self.starts[k + 1]
    }

    /// Minimise over the intercept, in at most `max_steps`.
    pub(super) fn solve_intercept(&mut self, problem: &Scaled<'_>, max_steps: usize) {
        let Some(alpha) = problem.intercept_alpha else {
            return;
        };
        let rows = &self.rows;
        self.intercept = minimise_intercept(self.intercept, alpha, max_steps, |b| {
            let (mut g, mut h) = (0.0, 0.0);
            for row in rows {
                let hinge = row.hinge(b);
                let active = f64::from(u8::from(hinge > 0.0));
                g -= row.signed_weight * hinge.max(0.0);
                h += active * row.weight();
            }
            (2.0 * g, 2.0 * h)
        });
    }

    /// One step along each coordinate left in the list; those at zero that do
    /// not want to move leave it. Returns the largest violation met.
    pub(super) fn sweep(&mut self, problem: &Scaled<'_>) -> f64 {
        let mut list = std::mem::take(&mut self.list);
        let mut largest: f64 = 0.0;
        let mut kept = 0;
        for at in 0..list.len() {
            if at % COLUMNS_PER_CHECK == 0 && problem.control.is_cancelled() {
                break;
            }
            let k = list[at];
            let violation = self.descend(problem, k as usize);
            largest = largest.max(violation);
            if violation > 0.0 || self.weights[k as usize] != 0.0 {
                list[kept] = k;
                kept += 1;
            }
        }
        list.truncate(kept);
        self.list = list;
        largest
    }

    /// As [`Workspace::sweep`]'s step, on the compact rows.
    fn descend(&mut self, problem: &Scaled<'_>, k: usize) -> f64 {
        let span = self.column(k);
        let (ids, values) = (&self.ids[span.clone()], &self.values[span]);
        let slope = slope(&self.rows, self.intercept, ids, values);
        let line = Line::new(problem, self.features[k] as usize, self.weights[k], slope);
        let violation = line.violation();
        if violation > 0.0 {
            let (rows, intercept) = (&mut self.rows, self.intercept);
            self.weights[k] = line.step(|d| shift(rows, intercept, ids, values, d));
        }
        violation
    }

    /// Newton steps on the non-zero weights; see [`NewtonBuffers::run`].
    pub(super) fn newton(
        &mut self,
        problem: &Scaled<'_>,
        support: &mut Support,
        buffers: &mut NewtonBuffers,
        target: f64,
        max_steps: u64,
    ) -> u64 {
        self.nonzero.clear();
        let nonzero = (0..self.weights.len() as u32).filter(|&k| self.weights[k as usize] != 0.0);
        self.nonzero.extend(nonzero);
        support.fill(&self.rows, &self.nonzero, |k| {
            let span = self.starts[k as usize]..self.starts[k as usize + 1];
            (&self.ids[span.clone()], &self.values[span])
        });
        let weights = self.nonzero.iter().map(|&k| self.weights[k as usize]);
        buffers.load(problem, support, weights, self.intercept);
        let steps = buffers.run(support, target, max_steps, problem.control);
        if steps > 0 {
            for (&k, &w) in self.nonzero.iter().zip(&buffers.w) {
                self.weights[k as usize] = w;
            }
            self.intercept = buffers.w[self.nonzero.len()];
            for (row, &margin) in self.rows.iter_mut().zip(&buffers.margin) {
                row.margin = margin;
            }
        }
        steps
    }

    /// Move the state to this point, or where rows left out have become active
    /// and the objective would rise, to the best point on the way. Returns
    /// whether it went all the way. Weights that will be rounded are so here: the
    /// margins are then those of the next proof.
    pub(super) fn release(
        &mut self,
        problem: &Scaled<'_>,
        weight_bits: Option<u32>,
        state: &mut Workspace,
    ) -> bool {
        let old_intercept = state.intercept;
        self.old.clear();
        self.way.clear();
        for (&j, &w) in self.features.iter().zip(&self.weights) {
            let old = state.weights[j as usize];
            let w = weight_bits.map_or(w, |bits| round_to(w, bits));
            self.old.push(old);
            self.way.push(w - old);
            state.weights[j as usize] = w;
        }
        state.renew(problem.design);
        state.intercept = self.intercept;
        let comes_back = |&i: &u32| state.rows[i as usize].hinge(self.intercept) > 0.0;
        if !self.left_out.iter().any(comes_back) {
            return true;
        }
        self.hinge.clear();
        self.row_weight.clear();
        self.fall.clear();
        for (&i, before) in state.touched.iter().zip(&state.gathered) {
            let hinge = before.hinge(old_intercept);
            self.hinge.push(hinge);
            self.row_weight.push(before.weight());
            let after = state.rows[i as usize].hinge(self.intercept);
            self.fall.push(hinge - after);
        }
        self.hinge.push(1.0 + old_intercept);
        self.fall.push(old_intercept - self.intercept);
        self.row_weight.push(state.untouched_weight());
        let n = self.features.len();
        self.old.push(old_intercept);
        self.way.push(self.intercept - old_intercept);
        self.alpha.clear();
        self.alpha.resize(n, problem.alpha);
        self.alpha.push(problem.intercept_alpha.unwrap_or(0.0));
        self.ridge.clear();
        self.ridge.resize(n, problem.ridge);
        self.ridge.push(0.0);
        let ray = Ray {
            hinge: &self.hinge,
            fall: &self.fall,
            weight: &self.row_weight,
            w: &self.old,
            d: &self.way,
            alpha: &self.alpha,
            ridge: &self.ridge,
        };
        if ray.change(1.0) <= 0.0 {
            return true;
        }
        state.is_fresh = false;
        let (t, on_kink) = ray.minimise(&mut self.kinks, &mut self.gained);
        let t = if ray.change(t) < 0.0 { t } else { 0.0 };
        for (k, &j) in self.features.iter().enumerate() {
            let (old, way) = (self.old[k], self.way[k]);
            if way != 0.0 {
                let at_zero = on_kink == Some(k) && t > 0.0;
                let moved = if at_zero { 0.0 } else { old + t * way };
                state.weights[j as usize] = moved;
            }
        }
        state.intercept = old_intercept + t * self.way[n];
        for ((&i, &hinge), &fall) in state.touched.iter().zip(&self.hinge).zip(&self.fall) {
            let row = &mut state.rows[i as usize];
            row.margin = row.sign() * (1.0 - (hinge - t * fall)) - state.intercept;
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parallel::Control;
    use crate::solver::{Design, Intercept, Problem};
    use crate::testing::csr;

    /// Feature 0 has pushed the negative row far beyond its margin: it is left out.
    /// Feature 1 goes to `w`; the weights and the margins that [`Compact::release`]
    /// leaves, and what it says.
    fn released(w: f64, weight_bits: Option<u32>) -> ([f64; 2], [f64; 2], bool, bool) {
        let x = csr(&[[0.0, 0.25], [1.0, 1.0]]);
        let control = Control::default();
        let design = Design::new(x.view(), None, &control).unwrap();
        let problem = Problem {
            design: &design,
            positives: &[0],
            alpha: 0.01,
            ridge: 0.0,
            class_weight: (1.0, 1.0),
            intercept: Intercept::None,
        };
        let mut state = Workspace::new(&design);
        state.begin(&problem, None);
        state.set_weight(&design, 0, -2.0);
        state.refresh(&design);
        state.working_set.extend([0, 1]);
        let scaled = Scaled::new(&problem, &control);
        let mut compact = Compact::default();
        compact.build(&scaled, &mut state);
        assert_eq!(compact.left_out, [1]);
        compact.weights[1] = w;
        let all = compact.release(&scaled, weight_bits, &mut state);
        let margins = [state.rows[0].margin, state.rows[1].margin];
        let weights = [state.weights[0], state.weights[1]];
        (weights, margins, all, state.is_fresh)
    }

    #[test]
    fn a_step_that_brings_no_row_back_is_taken_rounded_with_its_margins() {
        // Hinge of the row left out: 1 - 2 + w < 0.
        let expected = ([-2.0, 0.75], [0.1875, -1.25], true, true);
        assert_eq!(released(0.75, None), expected);
        // 0.7501 in two significant bits.
        assert_eq!(released(0.7501, Some(2)), expected);
    }

    #[test]
    fn a_step_that_lowers_the_objective_is_taken_whoever_comes_back() {
        // (1 - w/4)^2 + max(0, w - 1)^2 + 0.01 w is 1 at 0 and 0.6025 at 1.1.
        let (weights, _, all, fresh) = released(1.1, None);
        assert_eq!((weights, all, fresh), ([-2.0, 1.1], true, true));
    }

    #[test]
    fn a_step_that_goes_too_far_ends_at_the_best_point_on_the_way() {
        // The best without the row left out is w = 3.92, where it costs 8.5. Beyond
        // w = 1 the derivative is 2.125 w - 2.49.
        let (weights, margins, all, fresh) = released(3.92, Some(24));
        let best = 2.49 / 2.125;
        assert!((weights[1] - best).abs() < 1e-12, "{weights:?}");
        assert_eq!(weights[0], -2.0);
        assert!((margins[0] - 0.25 * best).abs() < 1e-12);
        assert!((margins[1] - (best - 2.0)).abs() < 1e-12);
        // Neither rounded nor computed from nothing: the proof does that.
        assert!(!all && !fresh);
    }
}
