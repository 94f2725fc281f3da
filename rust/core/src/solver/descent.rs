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
        let slope = slope(&self.rows, self.intercept, ids, values);
        let line = Line::new(problem, j, self.weights[j], slope);
        let violation = line.violation();
        if violation > 0.0 {
            self.see(problem.design, j as u32);
            let (rows, intercept) = (&mut self.rows, self.intercept);
            self.weights[j] = line.step(|d| shift(rows, intercept, ids, values, d));
        }
        violation
    }
}

/// The objective along one weight.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line<'a> {
    problem: &'a Scaled<'a>,
    j: usize,
    w: f64,
    /// First and second derivative of loss and ridge.
    g: f64,
    h: f64,
}

impl<'a> Line<'a> {
    /// The line through weight `w` of feature `j`; `(g, h)` are the derivatives of
    /// the loss along it.
    #[inline]
    pub(super) fn new(problem: &'a Scaled<'a>, j: usize, w: f64, (g, h): (f64, f64)) -> Self {
        Self {
            problem,
            j,
            w,
            g: g + problem.ridge * w,
            h: h + problem.ridge,
        }
    }

    /// How far the weight is from optimality.
    #[inline]
    pub(super) fn violation(&self) -> f64 {
        let &Self { problem, w, g, .. } = self;
        if w > 0.0 {
            (g + problem.alpha).abs()
        } else if w < 0.0 {
            (g - problem.alpha).abs()
        } else {
            (g.abs() - problem.alpha).max(0.0)
        }
    }

    /// The weight after a step that lowers the objective, or as it was where
    /// rounding is larger than any fall that is left. `shift` adds so many times
    /// the column to the margins and returns the change of the loss.
    #[inline]
    pub(super) fn step(&self, mut shift: impl FnMut(f64) -> f64) -> f64 {
        let &Self {
            problem,
            j,
            w,
            g,
            h,
        } = self;
        let (alpha, ridge) = (problem.alpha, problem.ridge);
        let newton = model_step(g, h, w, alpha);
        // The column's square sum bounds the second derivative anywhere.
        let bound =
            2.0 * problem.positive_weight.max(1.0) * problem.design.column_square(j) + ridge;
        let safe = model_step(g, bound, w, alpha);
        let halved = (0..=HALVINGS).map(|k| newton * 0.5_f64.powi(k as i32));
        let (mut done, mut change) = (0.0, 0.0);
        for d in halved.chain([safe]) {
            // A step to zero must end on it exactly.
            let moved = if d == -w { 0.0 } else { w + d };
            change += shift(moved - w - done);
            done = moved - w;
            let penalty = alpha * (moved.abs() - w.abs()) + 0.5 * ridge * (moved - w) * (moved + w);
            let model = g * done + alpha * (moved.abs() - w.abs());
            let total = change + penalty;
            if total <= SUFFICIENT * model && total < 0.0 {
                return moved;
            }
        }
        shift(-done);
        w
    }
}

/// The minimiser of `g d + h d^2 / 2 + alpha |w + d|`.
fn model_step(g: f64, h: f64, w: f64, alpha: f64) -> f64 {
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
pub(super) fn slope(rows: &[Row], intercept: f64, ids: &[u32], values: &[f32]) -> (f64, f64) {
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
pub(super) fn shift(rows: &mut [Row], intercept: f64, ids: &[u32], values: &[f32], d: f64) -> f64 {
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
