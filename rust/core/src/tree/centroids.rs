//! Centroids as sparse vectors, and the scores of points against them.

use rayon::prelude::*;

use super::accumulator::AccumulatorPool;
use super::points::Points;
use super::products::{Lane, Table, dots};
use super::seeding::Chosen;
use crate::Result;
use crate::instructions::compiled_twice;
use crate::parallel::Control;

/// Rows a task works on; sums over rows are added block by block.
pub(super) const BLOCK: usize = 128;

/// Columns of one table: bounds its size at 512 bytes a feature.
const MAX_COLUMNS: usize = 128;

/// A centroid: sorted features, values, and what it takes off a product.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Centroid {
    pub(super) ids: Vec<u32>,
    pub(super) values: Vec<f32>,
    /// `||c||^2 / 2`; zero in spherical clustering, where all lengths agree.
    pub(super) half_norm: f32,
}

impl Centroid {
    /// From sorted (feature, sum) pairs: their mean over `n`, or direction.
    fn new(drain: impl FnOnce(&mut dyn FnMut(u32, f64)), n: usize, spherical: bool) -> Self {
        let mut ids = Vec::new();
        let mut sums = Vec::new();
        drain(&mut |id, sum| {
            if sum != 0.0 {
                ids.push(id);
                sums.push(sum);
            }
        });
        let length = sums.iter().map(|s| s * s).sum::<f64>().sqrt();
        let scale = match spherical {
            true if length > 0.0 => 1.0 / length,
            true => 0.0,
            false => 1.0 / n as f64,
        };
        let values: Vec<f32> = sums.iter().map(|s| (s * scale) as f32).collect();
        let square: f64 = values.iter().map(|&v| f64::from(v).powi(2)).sum();
        Self {
            ids,
            values,
            half_norm: if spherical {
                0.0
            } else {
                (square / 2.0) as f32
            },
        }
    }

    /// Its features and values.
    pub(super) fn column(&self) -> (&[u32], &[f32]) {
        (&self.ids, &self.values)
    }

    /// `||self - other||^2`.
    pub(super) fn squared_distance(&self, other: &Self) -> f64 {
        let (mut i, mut j, mut sum) = (0, 0, 0.0);
        while i < self.ids.len() || j < other.ids.len() {
            let a = self.ids.get(i).copied().unwrap_or(u32::MAX);
            let b = other.ids.get(j).copied().unwrap_or(u32::MAX);
            let mut difference = 0.0;
            if a <= b {
                difference += f64::from(self.values[i]);
                i += 1;
            }
            if b <= a {
                difference -= f64::from(other.values[j]);
                j += 1;
            }
            sum += difference * difference;
        }
        sum
    }
}

/// Means (or mean directions) of sets of points, in parallel over the sets.
///
/// Each is summed afresh in float64 in the order given, never updated: nothing
/// drifts, and equal sets have equal centroids.
pub(super) fn means(
    points: &Points,
    sets: &[&[u32]],
    spherical: bool,
    pool: &AccumulatorPool,
    control: &Control,
) -> Result<Vec<Centroid>> {
    sets.par_iter()
        .map(|&set| {
            control.check()?;
            Ok(pool.with(|sums| {
                for &i in set {
                    let (ids, values) = points.row(i as usize);
                    sums.add(ids, values);
                }
                Centroid::new(|take| sums.drain(take), set.len(), spherical)
            }))
        })
        .collect()
}

compiled_twice! {
    /// Where the largest number of `row` stands first; 0 if there is none.
    fn first_largest(row: &[f32]) -> usize {
        let (eights, rest) = row.as_chunks::<8>();
        let mut most = [f32::NEG_INFINITY; 8];
        for eight in eights {
            for (a, &b) in most.iter_mut().zip(eight) {
                *a = if b > *a { b } else { *a };
            }
        }
        let most = most.iter().chain(rest).fold(f32::NEG_INFINITY, |a, &b| a.max(b));
        let holds = |eight: &[f32; 8]| eight.iter().any(|&b| b >= most);
        let before = 8 * eights.iter().position(holds).unwrap_or(eights.len());
        let at = row[before..].iter().position(|&b| b >= most);
        at.map_or(0, |at| before + at)
    }
}

/// `x_i . c_j - half_norm_j`, row after row; the nearest centroid's is largest.
///
/// Scores are kept, so that only the columns of centroids that changed are
/// computed again: after a few rounds of K-means these are few. A kept score
/// and a computed one have the same bits, which makes the shortcut exact.
#[derive(Debug)]
pub(super) struct Scores<'a> {
    points: &'a Points,
    n_columns: usize,
    values: Vec<f32>,
    table: Table,
}

impl<'a> Scores<'a> {
    pub(super) fn new(points: &'a Points, n_columns: usize) -> Self {
        Self {
            points,
            n_columns,
            values: vec![0.0; points.len() * n_columns],
            table: Table::default(),
        }
    }

    /// All scores of `centroids` at the rows of `start`.
    ///
    /// Seeding has multiplied all points with these rows, and the mean of one row is
    /// that row, so its products are taken: the bits are those of computing them. At
    /// unit length a mean is another vector.
    pub(super) fn start(
        points: &'a Points,
        start: Chosen,
        centroids: &[Centroid],
        spherical: bool,
        control: &Control,
    ) -> Result<Self> {
        let k = centroids.len();
        let mut scores = Self {
            points,
            n_columns: k,
            values: start.into_products(),
            table: Table::default(),
        };
        if spherical || scores.values.len() != points.len() * k {
            scores.values.resize(points.len() * k, 0.0);
            scores.update(centroids, &(0..k).collect::<Vec<_>>(), control)?;
            return Ok(scores);
        }
        scores
            .values
            .par_chunks_mut(BLOCK * k)
            .try_for_each(|block| {
                control.check()?;
                for row in block.chunks_exact_mut(k) {
                    for (score, centroid) in row.iter_mut().zip(centroids) {
                        *score -= centroid.half_norm;
                    }
                }
                Ok(())
            })?;
        Ok(scores)
    }

    /// Compute the columns `changed` from `centroids` (all of them).
    pub(super) fn update(
        &mut self,
        centroids: &[Centroid],
        changed: &[usize],
        control: &Control,
    ) -> Result<()> {
        for changed in changed.chunks(MAX_COLUMNS) {
            let columns: Vec<_> = changed.iter().map(|&c| centroids[c].column()).collect();
            self.table.fill(self.points.n_features(), &columns);
            let (points, table, n) = (self.points, &self.table, self.points.len());
            self.values
                .par_chunks_mut(BLOCK * self.n_columns)
                .enumerate()
                .try_for_each(|(block, scores)| {
                    control.check()?;
                    let start = block * BLOCK;
                    let rows = start..(start + BLOCK).min(n);
                    let mut out = vec![Lane::default(); rows.len() * table.n_lanes()];
                    dots(points, rows, table, &mut out);
                    let products = out.chunks_exact(table.n_lanes());
                    for (row, products) in scores.chunks_exact_mut(self.n_columns).zip(products) {
                        for (c, &column) in changed.iter().enumerate() {
                            row[column] = products[c / 8].0[c % 8] - centroids[column].half_norm;
                        }
                    }
                    Ok(())
                })?;
        }
        Ok(())
    }

    /// The scores of point `i`, one per centroid.
    pub(super) fn row(&self, i: usize) -> &[f32] {
        &self.values[i * self.n_columns..(i + 1) * self.n_columns]
    }

    /// The nearest centroid of each point; ties to the lower id.
    pub(super) fn nearest(&self) -> Vec<u32> {
        self.values
            .par_chunks(self.n_columns)
            .with_min_len(BLOCK)
            .map(|row| first_largest(row) as u32)
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_of_the_largest_is_found() {
        for n in [1, 7, 8, 9, 30] {
            for first in 0..n {
                let mut row = vec![-3.0f32; n];
                row[first] = -0.5;
                row[n - 1] = -0.5;
                if first > 0 {
                    row[0] = f32::NAN;
                }
                assert_eq!(first_largest(&row), first, "{first} of {n}");
            }
        }
        assert_eq!(first_largest(&[f32::NAN; 9]), 0);
    }
}
