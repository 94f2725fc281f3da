//! Where clustering starts: greedy k-means++.

use rayon::prelude::*;

use super::points::Points;
use super::products::{Lane, Table, dots};
use crate::Result;
use crate::parallel::Control;
use crate::rng::SplitMix64;

/// Rows a task works on; sums over rows are added block by block.
pub(super) const BLOCK: usize = 128;

/// Choose up to `k` rows as first centroids: greedy k-means++.
///
/// The first is uniform. Each further one is the best of 2 + ln k candidates
/// drawn with probability proportional to the squared distance to the nearest
/// row chosen so far: the one that leaves the least sum of these distances, ties
/// to the one drawn first. Fewer than `k` come back only when the rows have
/// fewer than `k` different values: no row at distance zero is ever drawn.
///
/// Cost: `k` passes over the points, all candidates at once.
///
/// Source: Arthur, Vassilvitskii, "k-means++: the Advantages of Careful
/// Seeding", SODA 2007, with the greedy trials of its section 5, as
/// scikit-learn and sparsekmeans have them.
///
/// # Errors
/// [`crate::Error::Cancelled`].
pub(super) fn choose(
    points: &Points,
    k: usize,
    rng: &mut SplitMix64,
    control: &Control,
) -> Result<Vec<u32>> {
    let n = points.len();
    // In the arithmetic of `dots`, so that equal rows are at distance exactly 0.
    let norms: Vec<f32> = (0..n)
        .map(|i| points.row(i).1.iter().fold(0.0, |sum, v| sum + v * v))
        .collect();
    let trials = 2 + (k as f64).ln() as usize;
    let mut chosen = Vec::with_capacity(k);
    let mut candidates = vec![rng.below(n)];
    let mut nearest = vec![f32::INFINITY; n];
    let mut table = Table::default();
    table.reset(points.n_features(), trials);
    let mut products = vec![Lane::default(); n * table.n_lanes()];
    loop {
        let best = {
            set_columns(&mut table, points, &candidates, None);
            let step = Step {
                points,
                norms: &norms,
                candidates: &candidates,
                table: &table,
            };
            let best = step.best(&nearest, &mut products, control)?;
            step.shorten(best, &mut nearest, &products);
            best
        };
        chosen.push(candidates[best] as u32);
        set_columns(&mut table, points, &candidates, Some(0.0));
        if chosen.len() == k {
            return Ok(chosen);
        }
        let blocks: Vec<f64> = nearest.chunks(BLOCK).map(sum).collect();
        let total: f64 = blocks.iter().sum();
        if total <= 0.0 {
            return Ok(chosen);
        }
        candidates.clear();
        candidates.extend((0..trials).map(|_| draw(&nearest, &blocks, rng.uniform() * total)));
    }
}

/// Write the candidates into the table's columns, or `value` in their places.
fn set_columns(table: &mut Table, points: &Points, candidates: &[usize], value: Option<f32>) {
    for (column, &row) in candidates.iter().enumerate() {
        let (ids, values) = points.row(row);
        for (&f, &v) in ids.iter().zip(values) {
            table.set(f as usize, column, value.unwrap_or(v));
        }
    }
}

fn sum(distances: &[f32]) -> f64 {
    distances.iter().map(|&d| f64::from(d)).sum()
}

/// The row at which the running sum of `nearest` passes `target`.
///
/// A target that rounding put at the very end falls on the last row at a
/// distance above zero.
fn draw(nearest: &[f32], blocks: &[f64], mut target: f64) -> usize {
    let mut last = 0;
    for (block, &sum) in blocks.iter().enumerate() {
        let start = block * BLOCK;
        let end = (start + BLOCK).min(nearest.len());
        if target >= sum && block + 1 < blocks.len() {
            target -= sum;
            if sum > 0.0 {
                last = start
                    + nearest[start..end]
                        .iter()
                        .rposition(|&d| d > 0.0)
                        .unwrap_or(0);
            }
            continue;
        }
        for (i, &d) in nearest[start..end].iter().enumerate() {
            if d > 0.0 {
                last = start + i;
                if target < f64::from(d) {
                    return last;
                }
                target -= f64::from(d);
            }
        }
        // Rounding carried the target past this block: the next one has it.
        target = 0.0;
    }
    last
}

/// One step of the choice: its candidates against all points.
struct Step<'a> {
    points: &'a Points,
    norms: &'a [f32],
    candidates: &'a [usize],
    table: &'a Table,
}

impl Step<'_> {
    /// `||x_i - candidate||^2` from the products of row i.
    fn distance(&self, i: usize, candidate: usize, products: &[Lane]) -> f32 {
        let product = products[candidate / 8].0[candidate % 8];
        (self.norms[i] + self.norms[self.candidates[candidate]] - 2.0 * product).max(0.0)
    }

    /// The candidate that leaves the least sum of distances.
    fn best(&self, nearest: &[f32], products: &mut [Lane], control: &Control) -> Result<usize> {
        let lanes = self.table.n_lanes();
        let sums: Vec<Vec<f64>> = products
            .par_chunks_mut(BLOCK * lanes)
            .enumerate()
            .map(|(block, out)| {
                control.check()?;
                let start = block * BLOCK;
                let rows = start..(start + BLOCK).min(nearest.len());
                dots(self.points, rows.clone(), self.table, out);
                let mut sums = vec![0.0; self.candidates.len()];
                for (i, row) in rows.zip(out.chunks_exact(lanes)) {
                    for (c, sum) in sums.iter_mut().enumerate() {
                        *sum += f64::from(self.distance(i, c, row).min(nearest[i]));
                    }
                }
                Ok(sums)
            })
            .collect::<Result<_>>()?;
        let total = |c: usize| sums.iter().map(|block| block[c]).sum::<f64>();
        let totals: Vec<f64> = (0..self.candidates.len()).map(total).collect();
        Ok((1..totals.len()).fold(0, |best, c| if totals[c] < totals[best] { c } else { best }))
    }

    /// Count `candidate` among the chosen.
    fn shorten(&self, candidate: usize, nearest: &mut [f32], products: &[Lane]) {
        let rows = products.chunks_exact(self.table.n_lanes());
        for (i, (d, row)) in nearest.iter_mut().zip(rows).enumerate() {
            *d = d.min(self.distance(i, candidate, row));
        }
    }
}
