//! The differentiable part of the objective at dense weights.

use super::state::{Row, Scaled, Workspace};
use super::{Intercept, Problem};
use crate::Result;
use crate::memory::check_room;

/// Rows, or columns, between two looks at the cancel flag.
const LINES_PER_CHECK: usize = 1 << 10;

/// Columns are used once they hold less than one in so many of the stored values.
const ROWS_BEFORE_COLUMNS: u64 = 2;

/// Arrays of one entry a weight, and of one entry a sample, that live in a solve.
const WEIGHT_ARRAYS: u64 = 4;
const SAMPLE_ARRAYS: u64 = 5;

/// `F(w) = sum_i c_i max(0, 1 - s_i z_i)^2 + ridge/2 ||w||^2` with `z = X w`,
/// where the intercept's column, if there is one, comes last in `w`.
#[derive(Debug)]
pub(super) struct Smooth<'a> {
    problem: &'a Scaled<'a>,
    /// Their `s_i c_i` alone is used here.
    rows: Vec<Row>,
    /// The value of the intercept's column.
    column: Option<f64>,
    /// L1 weight on that column's weight.
    column_alpha: f64,
}

impl<'a> Smooth<'a> {
    /// # Errors
    /// [`Error::Memory`](crate::Error::Memory) without room for dense weights.
    pub(super) fn new(
        problem: &Problem<'_>,
        scaled: &'a Scaled<'a>,
        state: &Workspace,
    ) -> Result<Self> {
        let (n, d) = (scaled.design.n_samples(), scaled.design.n_features());
        check_room(
            format!("dense weights of {d} features and {n} samples"),
            8 * (WEIGHT_ARRAYS * (d as u64 + 1) + SAMPLE_ARRAYS * n as u64),
        )?;
        let (column, column_alpha) = match problem.intercept {
            Intercept::None => (None, 0.0),
            Intercept::Penalized(scale) => (Some(scale), scaled.alpha),
            Intercept::Free => (Some(1.0), 0.0),
        };
        Ok(Self {
            problem: scaled,
            rows: state.rows.clone(),
            column,
            column_alpha,
        })
    }

    /// Number of weights, the intercept's column included.
    pub(super) fn n_weights(&self) -> usize {
        self.n_features() + usize::from(self.column.is_some())
    }

    pub(super) fn problem(&self) -> &'a Scaled<'a> {
        self.problem
    }

    fn n_features(&self) -> usize {
        self.problem.design.n_features()
    }

    /// What the column adds to every score.
    pub(super) fn intercept(&self, w: &[f64]) -> f64 {
        self.column.map_or(0.0, |b| b * w[self.n_features()])
    }

    /// L1 weight of weight `j`.
    pub(super) fn alpha(&self, j: usize) -> f64 {
        if j < self.n_features() {
            self.problem.alpha
        } else {
            self.column_alpha
        }
    }

    /// Fill `next_z` with the margins of `next` and say whether
    ///
    /// ```text
    /// F(next) - F(w) - <grad F(w), next - w> <= limit
    /// ```
    ///
    /// where `z` are the margins of `w`. The left side is a sum of terms that are
    /// not negative, each computed without a difference of losses: rounding does
    /// not decide, however short the step, and a step that is far too long is
    /// found out after a few rows, `next_z` left half done.
    ///
    /// Cost: the stored values of `X`, or of the columns with a weight if those
    /// are fewer. Both give the same bits: a row adds its terms in the same order.
    pub(super) fn rises_at_most(
        &self,
        limit: f64,
        (w, z): (&[f64], &[f64]),
        next: &[f64],
        next_z: &mut Vec<f64>,
    ) -> bool {
        let by_rows = !self.is_sparse(next);
        let intercept = self.intercept(next);
        if by_rows {
            next_z.clear();
        } else {
            self.add_columns(next, next_z);
        }
        let n_features = self.n_features();
        let moves = next[..n_features].iter().zip(w);
        let mut rise =
            0.5 * self.problem.ridge * moves.fold(0.0, |s, (a, b)| s + (a - b) * (a - b));
        for (i, row) in self.rows.iter().enumerate() {
            if i.is_multiple_of(LINES_PER_CHECK) && self.problem.control.is_cancelled() {
                return false;
            }
            if by_rows {
                next_z.push(self.dot(i, next));
            }
            next_z[i] += intercept;
            rise += row.weight() * bend(row.sign() * z[i], row.sign() * next_z[i]);
            if rise > limit || rise.is_nan() {
                return false;
            }
        }
        true
    }

    /// The margins of `w`.
    pub(super) fn margins(&self, w: &[f64]) -> Vec<f64> {
        let mut z = Vec::new();
        self.add_columns(w, &mut z);
        let intercept = self.intercept(w);
        for z in &mut z {
            *z += intercept;
        }
        z
    }

    /// Whether the columns with a weight hold few of the stored values.
    fn is_sparse(&self, w: &[f64]) -> bool {
        let design = self.problem.design;
        let used = (0..self.n_features()).filter(|&j| w[j] != 0.0);
        let stored = used.map(|j| design.column(j).0.len() as u64).sum::<u64>();
        ROWS_BEFORE_COLUMNS * stored < design.rows().nnz() as u64
    }

    /// Fill `z` with the margins of `w` without the intercept, column by column.
    fn add_columns(&self, w: &[f64], z: &mut Vec<f64>) {
        z.clear();
        z.resize(self.rows.len(), 0.0);
        for (j, &weight) in w[..self.n_features()].iter().enumerate() {
            if weight != 0.0 {
                let (ids, values) = self.problem.design.column(j);
                for (&i, &x) in ids.iter().zip(values) {
                    z[i as usize] += weight * f64::from(x);
                }
            }
        }
    }

    fn dot(&self, i: usize, w: &[f64]) -> f64 {
        let (ids, values) = self.problem.design.rows().row(i);
        let terms = ids.iter().zip(values);
        terms.fold(0.0, |sum, (&j, &x)| sum + w[j as usize] * f64::from(x))
    }

    /// Write the gradient at `w`, whose margins are `z`.
    /// Cost: the stored values of active rows.
    pub(super) fn gradient(&self, w: &[f64], z: &[f64], gradient: &mut [f64]) {
        let n_features = self.n_features();
        for (g, &weight) in gradient.iter_mut().zip(&w[..n_features]) {
            *g = self.problem.ridge * weight;
        }
        let mut sum = 0.0;
        for (i, (row, &z)) in self.rows.iter().zip(z).enumerate() {
            if i.is_multiple_of(LINES_PER_CHECK) && self.problem.control.is_cancelled() {
                return;
            }
            let hinge = 1.0 - row.sign() * z;
            if hinge > 0.0 {
                let q = -2.0 * row.signed_weight * hinge;
                sum += q;
                let (ids, values) = self.problem.design.rows().row(i);
                for (&j, &x) in ids.iter().zip(values) {
                    gradient[j as usize] += q * f64::from(x);
                }
            }
        }
        if let Some(value) = self.column {
            gradient[n_features] = value * sum;
        }
    }
}

/// `l(next) - l(m) - l'(m) (next - m)` of the loss `l(m) = max(0, 1 - m)^2`.
fn bend(m: f64, next: f64) -> f64 {
    let (hinge, next_hinge) = ((1.0 - m).max(0.0), (1.0 - next).max(0.0));
    if hinge == 0.0 {
        next_hinge * next_hinge
    } else if next_hinge == 0.0 {
        hinge * (hinge + 2.0 * (next - 1.0))
    } else {
        (next - m) * (next - m)
    }
}
