//! Where clustering starts: greedy k-means++.

use rayon::prelude::*;

use super::accumulator::AccumulatorPool;
use super::centroids::{BLOCK, Centroid, means};
use super::points::Points;
use super::products::{Lane, Table, dots};
use crate::Result;
use crate::parallel::Control;
use crate::rng::SplitMix64;

/// Steps whose candidates are drawn and multiplied together.
const STEPS: usize = 5;

/// Rows to start from, and the products of all points with them.
#[derive(Debug)]
pub(super) struct Chosen {
    pub(super) rows: Vec<u32>,
    /// Point after point, of `width` places each.
    products: Vec<f32>,
    width: usize,
}

impl Chosen {
    fn new(n_points: usize, width: usize) -> Self {
        Self {
            rows: Vec::with_capacity(width),
            products: vec![0.0; n_points * width],
            width,
        }
    }

    /// Count these candidates of the pool among the rows.
    fn keep(&mut self, pool: &Pool<'_>, taken: &[usize]) {
        let at = self.rows.len()..self.rows.len() + taken.len();
        for (i, products) in self.products.chunks_exact_mut(self.width).enumerate() {
            for (product, &candidate) in products[at.clone()].iter_mut().zip(taken) {
                *product = pool.product(i, candidate);
            }
        }
        self.rows.extend(taken.iter().map(|&c| pool.rows[c] as u32));
    }

    /// These rows, products unknown.
    pub(super) fn of(rows: &[u32]) -> Self {
        Self {
            rows: rows.to_vec(),
            products: Vec::new(),
            width: rows.len(),
        }
    }

    /// The products point after point, a place a row; empty if they are not known.
    pub(super) fn into_products(mut self) -> Vec<f32> {
        let k = self.rows.len();
        if k < self.width {
            for i in 0..self.products.len() / self.width {
                self.products
                    .copy_within(i * self.width..i * self.width + k, i * k);
            }
            self.products.truncate(self.products.len() / self.width * k);
        }
        self.products
    }
}

/// Choose up to `k` rows as first centroids: greedy k-means++.
///
/// The first is uniform. Each further one is the best of 2 + ln k candidates
/// drawn with probability proportional to the squared distance to the nearest
/// row chosen so far: the one that leaves the least sum of these distances, ties
/// to the one drawn first. Fewer than `k` come back only when the rows have
/// fewer than `k` different values: no row at distance zero is ever drawn.
///
/// Candidates are drawn for several steps at once and multiplied with all
/// points in one pass. A later step takes a candidate with probability
/// (distance now / distance when drawn), which makes its distribution that of a
/// fresh draw; one step changes few distances, so nearly all are taken.
///
/// Cost: about k / 5 passes over the points, each five steps wide.
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
) -> Result<Chosen> {
    let n = points.len();
    let trials = 2 + (k as f64).ln() as usize;
    let mut pool = Pool::new(points);
    let mut nearest = vec![f32::INFINITY; n];
    let mut chosen = Chosen::new(n, k);
    let mut taken = Vec::new();
    pool.draw(vec![rng.below(n)], &nearest, control)?;
    let mut step = vec![0];
    loop {
        let best = pool.best(&step, &nearest);
        pool.shorten(best, &mut nearest);
        taken.push(best);
        if chosen.rows.len() + taken.len() == k {
            chosen.keep(&pool, &taken);
            return Ok(chosen);
        }
        step = pool.take(trials, &nearest, rng);
        if step.len() < trials {
            let blocks: Vec<f64> = nearest.chunks(BLOCK).map(sum).collect();
            let total: f64 = blocks.iter().sum();
            chosen.keep(&pool, &taken);
            taken.clear();
            if total <= 0.0 {
                return Ok(chosen);
            }
            let width = (trials * STEPS.min(k - chosen.rows.len())).next_multiple_of(8);
            let rows = (0..width).map(|_| draw(&nearest, &blocks, rng.uniform() * total));
            pool.draw(rows.collect(), &nearest, control)?;
            step = pool.take(trials, &nearest, rng);
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

/// Candidates of several steps and their products with all points.
struct Pool<'a> {
    points: &'a Points,
    norms: Vec<f32>,
    rows: Vec<usize>,
    /// The distance of each candidate when it was drawn.
    drawn_at: Vec<f32>,
    /// The first candidate that no step has looked at.
    next: usize,
    sums: AccumulatorPool,
    table: Table,
    products: Vec<Lane>,
}

impl<'a> Pool<'a> {
    fn new(points: &'a Points) -> Self {
        // In the arithmetic of `dots`, so that equal rows are at distance exactly 0.
        let norm = |i| points.row(i).1.iter().fold(0.0, |sum, v| sum + v * v);
        Self {
            points,
            norms: (0..points.len()).map(norm).collect(),
            rows: Vec::new(),
            drawn_at: Vec::new(),
            next: 0,
            sums: AccumulatorPool::new(points.n_features()),
            table: Table::default(),
            products: Vec::new(),
        }
    }

    /// Take in new candidates: one pass over all points.
    fn draw(&mut self, rows: Vec<usize>, nearest: &[f32], control: &Control) -> Result<()> {
        let sets: Vec<[u32; 1]> = rows.iter().map(|&row| [row as u32]).collect();
        let sets: Vec<&[u32]> = sets.iter().map(|set| &set[..]).collect();
        let columns = means(self.points, &sets, false, &self.sums, control)?;
        let columns: Vec<_> = columns.iter().map(Centroid::column).collect();
        self.table.fill(self.points.n_features(), &columns);
        let (points, table) = (self.points, &self.table);
        let lanes = table.n_lanes();
        self.products.resize(points.len() * lanes, Lane::default());
        self.drawn_at = rows.iter().map(|&row| nearest[row]).collect();
        self.rows = rows;
        self.next = 0;
        self.products
            .par_chunks_mut(BLOCK * lanes)
            .enumerate()
            .try_for_each(|(block, out)| {
                control.check()?;
                let start = block * BLOCK;
                dots(points, start..start + out.len() / lanes, table, out);
                Ok(())
            })
    }

    /// Candidates of one step, `trials` of them unless the pool runs out.
    fn take(&mut self, trials: usize, nearest: &[f32], rng: &mut SplitMix64) -> Vec<usize> {
        let mut step = Vec::with_capacity(trials);
        while step.len() < trials && self.next < self.rows.len() {
            let candidate = self.next;
            self.next += 1;
            let (now, then) = (nearest[self.rows[candidate]], self.drawn_at[candidate]);
            if now >= then || rng.uniform() * f64::from(then) < f64::from(now) {
                step.push(candidate);
            }
        }
        step
    }

    /// `||x_i - candidate||^2`
    fn distance(&self, i: usize, candidate: usize) -> f32 {
        let product = self.product(i, candidate);
        (self.norms[i] + self.norms[self.rows[candidate]] - 2.0 * product).max(0.0)
    }

    /// `x_i . candidate`
    fn product(&self, i: usize, candidate: usize) -> f32 {
        self.products[i * self.table.n_lanes() + candidate / 8].0[candidate % 8]
    }

    /// The candidate of `step` that leaves the least sum of distances.
    fn best(&self, step: &[usize], nearest: &[f32]) -> usize {
        let blocks: Vec<Vec<f64>> = nearest
            .par_chunks(BLOCK)
            .enumerate()
            .map(|(block, nearest)| {
                let mut sums = vec![0.0; step.len()];
                for (i, &d) in nearest.iter().enumerate() {
                    for (sum, &candidate) in sums.iter_mut().zip(step) {
                        *sum += f64::from(self.distance(block * BLOCK + i, candidate).min(d));
                    }
                }
                sums
            })
            .collect();
        let total = |c: usize| blocks.iter().map(|block| block[c]).sum::<f64>();
        let totals: Vec<f64> = (0..step.len()).map(total).collect();
        let best = (1..totals.len()).fold(0, |b, c| if totals[c] < totals[b] { c } else { b });
        step[best]
    }

    /// Count `candidate` among the chosen.
    fn shorten(&self, candidate: usize, nearest: &mut [f32]) {
        for (i, d) in nearest.iter_mut().enumerate() {
            *d = d.min(self.distance(i, candidate));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::centroids::Scores;
    use super::*;
    use crate::sparse::CsrView;

    #[test]
    fn no_value_is_chosen_twice() {
        // Twelve rows of three values: 1, 2 and none.
        let indptr: Vec<u64> = (0..=12).map(|i| i - i / 3).collect();
        let data: Vec<f32> = (0..8).map(|i| [1.0, 2.0][i % 2]).collect();
        let x = CsrView::new(12, 1, &indptr, &[0; 8], &data).unwrap();
        let all: Vec<u32> = (0..12).collect();
        let points = Points::from_rows(x, &all);
        for seed in 0..50 {
            let mut rng = SplitMix64::new(seed);
            let chosen = choose(&points, 9, &mut rng, &Control::default()).unwrap();
            let mut values: Vec<u32> = chosen.rows.iter().map(|row| row % 3).collect();
            values.sort_unstable();
            assert_eq!(values, [0, 1, 2], "seed {seed}");
        }
    }

    #[test]
    fn kept_products_are_the_scores_of_the_start() {
        // 50 rows of 20 different values: more clusters than values stop short.
        let data: Vec<f32> = (0..150)
            .map(|i| ((i % 60) as f32 * 0.37).sin() + 1.5)
            .collect();
        let indptr: Vec<u64> = (0..=50).map(|i| 3 * i).collect();
        let indices: Vec<u32> = (0..50).flat_map(|i| [i % 2, 2, 3 + i % 4]).collect();
        let x = CsrView::new(50, 7, &indptr, &indices, &data).unwrap();
        let all: Vec<u32> = (0..50).collect();
        let points = Points::from_rows(x, &all);
        let (pool, control) = (AccumulatorPool::new(7), Control::default());
        for k in [1, 12, 40] {
            let chosen = choose(&points, k, &mut SplitMix64::new(3), &control).unwrap();
            assert_eq!(chosen.rows.len(), k.min(20));
            let rows: Vec<&[u32]> = chosen.rows.iter().map(std::slice::from_ref).collect();
            let centroids = means(&points, &rows, false, &pool, &control).unwrap();
            let of = Chosen::of(&chosen.rows);
            let kept = Scores::start(&points, chosen, &centroids, false, &control).unwrap();
            let computed = Scores::start(&points, of, &centroids, false, &control).unwrap();
            for i in 0..50 {
                let bits = |scores: &Scores<'_>| -> Vec<u32> {
                    scores.row(i).iter().map(|s| s.to_bits()).collect()
                };
                assert_eq!(bits(&kept), bits(&computed), "k {k}, row {i}");
            }
        }
    }

    #[test]
    fn a_draw_falls_where_the_running_sum_passes() {
        let mut nearest = vec![0.0; BLOCK + 3];
        nearest[1] = 2.0;
        nearest[BLOCK] = 1.0;
        nearest[BLOCK + 1] = 4.0;
        let blocks = [2.0, 5.0];
        let drawn = |target| draw(&nearest, &blocks, target);
        assert_eq!(drawn(0.0), 1);
        assert_eq!(drawn(1.9), 1);
        assert_eq!(drawn(2.0), BLOCK);
        assert_eq!(drawn(3.0), BLOCK + 1);
        // Rounding may carry a target to the very end: never a row at distance 0.
        assert_eq!(drawn(7.0), BLOCK + 1);
        assert_eq!(draw(&nearest[..3], &blocks[..1], 2.0), 1);
    }
}
