//! Coordinate descent: one feature's step on its column, and sweeps of them.

use super::state::{Row, Scaled, Workspace};

/// Share of the predicted fall that a step must reach (LIBLINEAR's sigma).
const SUFFICIENT: f64 = 0.01;

/// Halvings of the step before the safe one is taken.
const HALVINGS: usize = 2;

/// Columns between two looks at the cancel flag.
const COLUMNS_PER_CHECK: usize = 64;

/// Violations of optimality met in a sweep, each before its coordinate's step.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Violations {
    pub(super) sum: f64,
    pub(super) largest: f64,
}

impl Workspace {
    /// [Descend](Self::descend) along each feature of `list` in order; those at
    /// zero that do not want to move leave the list.
    pub(super) fn sweep(&mut self, problem: &Scaled<'_>, list: &mut Vec<u32>) -> Violations {
        let mut found = Violations::default();
        let mut kept = 0;
        for at in 0..list.len() {
            if at % COLUMNS_PER_CHECK == 0 && problem.control.is_cancelled() {
                break;
            }
            let j = list[at];
            let violation = self.descend(problem, j);
            found.sum += violation;
            found.largest = found.largest.max(violation);
            if violation > 0.0 || self.weights[j as usize] != 0.0 {
                list[kept] = j;
                kept += 1;
            }
        }
        list.truncate(kept);
        found
    }

    /// Lower the objective over the weight of feature `j` alone: a Newton step
    /// of the L1-penalised quadratic model, with a line search. Returns the
    /// violation of optimality before the step.
    ///
    /// Cost: one pass over the column, two if the weight moves.
    ///
    /// Source: Yuan, Chang, Hsieh, Lin, JMLR 2010, section 4.1.1. Differs: the
    /// change of the loss is measured while the margins are written, and the
    /// last resort is the step of the quadratic that bounds the loss from above,
    /// which always lowers it.
    fn descend(&mut self, problem: &Scaled<'_>, j: u32) -> f64 {
        let j = j as usize;
        let (ids, values) = problem.design.column(j);
        let w = self.weights[j];
        let (mut g, mut h) = slope(&self.rows, self.intercept, ids, values);
        g += problem.ridge * w;
        h += problem.ridge;
        let alpha = problem.alpha;
        let violation = if w > 0.0 {
            (g + alpha).abs()
        } else if w < 0.0 {
            (g - alpha).abs()
        } else {
            (g.abs() - alpha).max(0.0)
        };
        if violation == 0.0 {
            return 0.0;
        }
        self.see(problem.design, j as u32);
        let mut done = 0.0;
        let newton = model_step(g, h, w, alpha);
        // The column's square sum bounds the second derivative anywhere.
        let bound = 2.0 * problem.positive_weight.max(1.0) * problem.design.column_square(j)
            + problem.ridge;
        let safe = model_step(g, bound, w, alpha);
        let halved = (0..=HALVINGS).map(|k| newton * 0.5_f64.powi(k as i32));
        let mut change = 0.0;
        for d in halved.chain([safe]) {
            // A step to zero must end on it exactly.
            let moved = if d == -w { 0.0 } else { w + d };
            change += shift(
                &mut self.rows,
                self.intercept,
                ids,
                values,
                moved - w - done,
            );
            done = moved - w;
            let penalty =
                alpha * (moved.abs() - w.abs()) + 0.5 * problem.ridge * (moved - w) * (moved + w);
            let model = g * done + alpha * (moved.abs() - w.abs());
            let total = change + penalty;
            if total <= SUFFICIENT * model && total < 0.0 {
                self.weights[j] = moved;
                return violation;
            }
        }
        // Rounding is larger than any fall that is left.
        shift(&mut self.rows, self.intercept, ids, values, -done);
        violation
    }
}

/// The minimiser of `g d + h d^2 / 2 + alpha |w + d|`.
pub(super) fn model_step(g: f64, h: f64, w: f64, alpha: f64) -> f64 {
    let h = h.max(f64::MIN_POSITIVE);
    if g + alpha < h * w {
        -(g + alpha) / h
    } else if g - alpha > h * w {
        -(g - alpha) / h
    } else {
        -w
    }
}

/// First and second derivative of the loss along a column.
#[inline]
fn slope(rows: &[Row], intercept: f64, ids: &[u32], values: &[f32]) -> (f64, f64) {
    let (mut g, mut h) = (0.0, 0.0);
    for (&i, &x) in ids.iter().zip(values) {
        let row = &rows[i as usize];
        let hinge = row.hinge(intercept);
        let cx = row.signed_weight * f64::from(x);
        // Without a branch: which rows are active is not predictable.
        let active = f64::from(u8::from(hinge > 0.0));
        g -= hinge.max(0.0) * cx;
        h += active * cx.abs() * f64::from(x).abs();
    }
    (2.0 * g, 2.0 * h)
}

/// Add `d` times the column to the margins; the change of the loss.
#[inline]
fn shift(rows: &mut [Row], intercept: f64, ids: &[u32], values: &[f32], d: f64) -> f64 {
    let mut change = 0.0;
    for (&i, &x) in ids.iter().zip(values) {
        let row = &mut rows[i as usize];
        let before = row.hinge(intercept).max(0.0);
        row.margin += d * f64::from(x);
        let after = row.hinge(intercept).max(0.0);
        change += row.weight() * (after - before) * (after + before);
    }
    change
}
