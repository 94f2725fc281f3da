//! What all problems over the same rows share, computed once.

use std::sync::OnceLock;

use crate::memory::check_room;
use crate::parallel::Control;
use crate::sparse::{CsrMatrix, CsrView, transpose};
use crate::{Error, Result};

/// A column's place (twice while transposing), sum and square sum.
const COLUMN_BYTES: u64 = 4 * 8;

/// Of a column, once problems ask for it: its places in two orders, its square sum and
/// values in the second. Sorting takes no more: the square sums come after it.
pub(super) const LIST_BYTES: u64 = 4 + 4 + 8 + 8;

/// Columns between two looks at the cancel flag.
const COLUMNS_PER_CHECK: usize = 1 << 10;

/// Sample weights may differ by this factor: beyond it the light ones drown in
/// the rounding of sums over the heavy ones, and with them the certificate.
const WIDEST: f64 = 1e9;

/// The rows of a node in both orders, with the sums that every problem starts from.
///
/// Built once for a node (or for one-vs-rest, once for the data) and shared by
/// all children and threads. Cost: three passes over the stored values.
#[derive(Debug)]
pub struct Design<'a> {
    rows: CsrView<'a>,
    columns: CsrMatrix,
    sample_weight: Option<Vec<f64>>,
    total_weight: f64,
    column_sum: Vec<f64>,
    column_square: Vec<f64>,
    largest_value: f64,
    heaviest_column: OnceLock<f64>,
    steep_columns: OnceLock<Vec<u32>>,
    long_columns: OnceLock<LongColumns>,
    row_square: OnceLock<Vec<f64>>,
    largest_weight: f64,
}

impl<'a> Design<'a> {
    /// Take `rows` of shape (n_samples, n_features) and a weight per sample.
    ///
    /// # Errors
    /// [`Error::Data`] for a wrong number of weights, one that is negative or not
    /// finite, or weights too far apart; [`Error::Memory`]; [`Error::Cancelled`].
    pub fn new(
        rows: CsrView<'a>,
        sample_weight: Option<&[f64]>,
        control: &Control,
    ) -> Result<Self> {
        let (n, d) = (rows.n_rows(), rows.n_cols());
        check_room(
            format!("X of shape ({n}, {d}) by columns"),
            COLUMN_BYTES * (d as u64 + 1) + 8 * (rows.nnz() + n) as u64,
        )?;
        let sample_weight = sample_weight
            .map(|weights| checked_weights(weights, rows.n_rows()))
            .transpose()?;
        let columns = transpose(rows, control)?;
        let weight = |i: u32| sample_weight.as_ref().map_or(1.0, |w| w[i as usize]);
        let mut column_sum = Vec::with_capacity(d);
        let mut column_square = Vec::with_capacity(d);
        for j in 0..rows.n_cols() {
            if j % COLUMNS_PER_CHECK == 0 {
                control.check()?;
            }
            let (ids, values) = columns.view().row(j);
            let (mut sum, mut square) = (0.0, 0.0);
            for (&i, &x) in ids.iter().zip(values) {
                let cx = weight(i) * f64::from(x);
                sum += cx;
                square += cx * f64::from(x);
            }
            column_sum.push(sum);
            column_square.push(square);
        }
        let total_weight = match &sample_weight {
            None => rows.n_rows() as f64,
            Some(w) => w.iter().fold(0.0, |a, b| a + b),
        };
        let largest_weight = match &sample_weight {
            None => 1.0,
            Some(w) => w.iter().copied().fold(0.0, f64::max),
        };
        let largest_value = rows
            .data()
            .iter()
            .fold(0.0, |a: f64, &x| a.max(f64::from(x).abs()));
        Ok(Self {
            rows,
            columns,
            sample_weight,
            total_weight,
            column_sum,
            column_square,
            largest_value,
            heaviest_column: OnceLock::new(),
            steep_columns: OnceLock::new(),
            long_columns: OnceLock::new(),
            row_square: OnceLock::new(),
            largest_weight,
        })
    }

    /// The rows.
    pub fn rows(&self) -> CsrView<'a> {
        self.rows
    }

    /// Number of samples.
    pub fn n_samples(&self) -> usize {
        self.rows.n_rows()
    }

    /// Number of features.
    pub fn n_features(&self) -> usize {
        self.rows.n_cols()
    }

    /// Sample ids and values of feature `j`.
    #[inline]
    pub fn column(&self, j: usize) -> (&[u32], &[f32]) {
        self.columns.view().row(j)
    }

    /// Weight of sample `i`.
    #[inline]
    pub fn weight(&self, i: usize) -> f64 {
        self.sample_weight.as_ref().map_or(1.0, |w| w[i])
    }

    /// The weights of all samples, where they are not all 1.
    pub fn sample_weight(&self) -> Option<&[f64]> {
        self.sample_weight.as_deref()
    }

    /// Sum of all sample weights.
    pub fn total_weight(&self) -> f64 {
        self.total_weight
    }

    /// `sum_i weight_i x_ij` for each feature.
    pub fn column_sum(&self) -> &[f64] {
        &self.column_sum
    }

    /// `sum_i weight_i x_ij^2` of feature `j`.
    pub fn column_square(&self, j: usize) -> f64 {
        self.column_square[j]
    }

    /// The same of all features.
    pub(super) fn column_squares(&self) -> &[f64] {
        &self.column_square
    }

    /// `sum_j x_ij^2` of every sample, computed when first asked for.
    pub(super) fn row_square(&self) -> &[f64] {
        self.row_square.get_or_init(|| {
            let square = |i: usize| {
                let values = self.rows.row(i).1.iter();
                values.fold(0.0, |sum, &x| sum + f64::from(x) * f64::from(x))
            };
            (0..self.rows.n_rows()).map(square).collect()
        })
    }

    /// The largest `sum_i weight_i |x_ij|`, computed when first asked for.
    pub(super) fn heaviest_column(&self) -> f64 {
        *self.heaviest_column.get_or_init(|| {
            let column = |j: usize| {
                let (ids, values) = self.column(j);
                let entries = ids.iter().zip(values);
                entries.fold(0.0, |sum, (&i, &x)| {
                    sum + self.weight(i as usize) * f64::from(x).abs()
                })
            };
            (0..self.n_features()).map(column).fold(0.0, f64::max)
        })
    }

    /// All features, largest `|column_sum|` first, sorted when first asked for.
    pub(super) fn steep_columns(&self) -> &[u32] {
        self.steep_columns
            .get_or_init(|| largest_first(self.column_sum.iter().map(|sum| sum.abs())))
    }

    /// All features by their square sums, sorted when first asked for.
    pub(super) fn long_columns(&self) -> &LongColumns {
        self.long_columns.get_or_init(|| LongColumns::new(self))
    }

    /// The largest sample weight.
    pub fn largest_weight(&self) -> f64 {
        self.largest_weight
    }

    /// The largest `|x_ij|`.
    pub fn largest_value(&self) -> f64 {
        self.largest_value
    }
}

/// Features by [`Design::column_square`], largest first.
#[derive(Debug)]
pub(super) struct LongColumns {
    ids: Vec<u32>,
    squares: Vec<f64>,
    /// Stored values of all columns up to here, this one included.
    n_values: Vec<usize>,
}

impl LongColumns {
    fn new(design: &Design<'_>) -> Self {
        let ids = largest_first(design.column_square.iter().copied());
        let mut n_values = 0;
        let add = |&j: &u32| {
            n_values += design.column(j as usize).0.len();
            n_values
        };
        Self {
            squares: ids
                .iter()
                .map(|&j| design.column_square(j as usize))
                .collect(),
            n_values: ids.iter().map(add).collect(),
            ids,
        }
    }

    pub(super) fn ids(&self) -> &[u32] {
        &self.ids
    }

    /// Stored values of the columns whose square sum exceeds `square`.
    pub(super) fn n_values(&self, square: f64) -> usize {
        let n = self.squares.partition_point(|&s| s > square);
        n.checked_sub(1).map_or(0, |last| self.n_values[last])
    }
}

/// The order of numbers >= 0, the largest first, and of equal ones the first.
fn largest_first(numbers: impl Iterator<Item = f64>) -> Vec<u32> {
    let numbers: Vec<u64> = numbers.map(f64::to_bits).collect();
    // Numbers >= 0 sort as their bits do: half of these and the place, in one word.
    let keys = (0..).zip(&numbers).map(|(j, bits)| (!bits >> 32) << 32 | j);
    let mut keys: Vec<u64> = keys.collect();
    keys.sort_unstable();
    for near in keys.chunk_by_mut(|a, b| a >> 32 == b >> 32) {
        near.sort_by_key(|&key| std::cmp::Reverse(numbers[key as u32 as usize]));
    }
    keys.into_iter().map(|key| key as u32).collect()
}

fn checked_weights(weights: &[f64], n_samples: usize) -> Result<Vec<f64>> {
    if weights.len() != n_samples {
        return Err(Error::data(format!(
            "sample_weight has {} entries for {n_samples} samples",
            weights.len()
        )));
    }
    if let Some((i, w)) = (0..)
        .zip(weights)
        .find(|(_, w)| !(**w >= 0.0 && w.is_finite()))
    {
        return Err(Error::data(format!(
            "sample_weight[{i}] is {w}, expected a finite value >= 0"
        )));
    }
    let positive = || weights.iter().copied().filter(|&w| w > 0.0);
    let (least, most) = (
        positive().fold(f64::INFINITY, f64::min),
        positive().fold(0.0, f64::max),
    );
    if most > WIDEST * least {
        return Err(Error::data(format!(
            "sample_weight runs from {least} to {most}, expected a ratio of at most {WIDEST:e}"
        )));
    }
    Ok(weights.to_vec())
}
