//! K-means on sparse rows: Lloyd's results without most of Lloyd's work.

use super::accumulator::AccumulatorPool;
use super::centroids::{Centroid, Scores, means};
use super::points::Points;
use super::seeding::{self, Chosen};
use crate::parallel::Control;
use crate::rng::SplitMix64;
use crate::sparse::CsrView;
use crate::{Error, Result};

/// How K-means runs; [`Default`] is LibMultiLabel's and scikit-learn's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KMeansSettings {
    /// Rounds of moving centroids and points.
    pub max_iter: usize,
    /// Stop when the squared movements of the centroids add up to at most
    /// `tol` times the mean variance of the features.
    pub tol: f64,
    /// Centroids of unit length: spherical K-means, for rows of unit length.
    pub spherical: bool,
}

impl Default for KMeansSettings {
    fn default() -> Self {
        Self {
            max_iter: 300,
            tol: 1e-4,
            spherical: false,
        }
    }
}

/// Where K-means starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start<'a> {
    /// Greedy k-means++ for so many clusters, by the generator of this seed.
    PlusPlus {
        /// Number of clusters, at least 1.
        n_clusters: usize,
        /// Seed of the choice.
        seed: u64,
    },
    /// These rows are the first centroids.
    Rows(&'a [u32]),
}

/// A partition found by K-means.
#[derive(Clone, Debug, PartialEq)]
pub struct KMeans {
    /// The cluster of each row. One without rows is possible where rows have
    /// fewer different values than clusters were asked for.
    pub assignment: Vec<u32>,
    /// `sum_i ||x_i - c(i)||^2` over the final centroids.
    pub objective: f64,
    /// Rounds done.
    pub n_iter: usize,
}

/// Minimise `sum_i ||x_i - c_(a_i)||^2` over centroids c and assignments a.
///
/// Lloyd's rounds: centroids become the means of their rows (float64 sums,
/// stored in float32), rows go to the nearest centroid, ties to the lower id. A
/// cluster that lost its rows restarts at the row farthest from its centroid.
/// Ends when no row moves, at `tol`, or after `max_iter` rounds.
///
/// Scores of rows against centroids are kept and only those of centroids that
/// changed are computed again, which is exact and, beyond the first rounds,
/// nearly free. Cost of a round: non-zeros of `x` times changed centroids / 8;
/// memory: 4 (rows x clusters + features x clusters) bytes.
///
/// The same bits for any number of threads and any instruction set.
///
/// Source: Lloyd, "Least squares quantization in PCM", 1982; conventions of
/// scikit-learn's `KMeans(n_init=1)`, which LibMultiLabel's trees use.
///
/// # Errors
/// [`Error::Data`] for no rows, no clusters, or a start row outside `x`;
/// [`Error::Cancelled`].
pub fn kmeans(
    x: CsrView<'_>,
    start: Start<'_>,
    settings: &KMeansSettings,
    control: &Control,
) -> Result<KMeans> {
    let all: Vec<u32> = (0..x.n_rows() as u32).collect();
    if all.is_empty() {
        return Err(Error::data("K-means needs at least one row"));
    }
    let points = Points::from_rows(x, &all);
    match start {
        Start::PlusPlus { n_clusters: 0, .. } | Start::Rows([]) => {
            Err(Error::data("n_clusters must be at least 1, not 0"))
        }
        Start::PlusPlus { n_clusters, seed } => {
            let mut rng = SplitMix64::new(seed);
            let start = seeding::choose(&points, n_clusters, &mut rng, control)?;
            lloyd(&points, start, settings, control)
        }
        Start::Rows(rows) => match rows.iter().find(|&&r| r as usize >= all.len()) {
            Some(row) => Err(Error::data(format!(
                "start row {row} is outside [0, {})",
                all.len()
            ))),
            None => lloyd(&points, Chosen::of(rows), settings, control),
        },
    }
}

/// As [`kmeans`], from rows of `points`.
pub(super) fn lloyd(
    points: &Points,
    start: Chosen,
    settings: &KMeansSettings,
    control: &Control,
) -> Result<KMeans> {
    let k = start.rows.len();
    let pool = AccumulatorPool::new(points.n_features());
    let tol = settings.tol * points.mean_variance();
    let rows: Vec<&[u32]> = start.rows.iter().map(std::slice::from_ref).collect();
    let mut centroids = means(points, &rows, settings.spherical, &pool, control)?;
    let mut scores = Scores::start(points, start, &centroids, settings.spherical, control)?;
    let mut assignment = scores.nearest();
    let mut averaged: Vec<u32> = Vec::new();
    let mut n_iter = 0;
    while n_iter < settings.max_iter {
        n_iter += 1;
        fill_empty(points, &scores, &mut assignment, k);
        let members = Members::new(&assignment, k);
        let changed = members.changed(&averaged, &assignment);
        let sets: Vec<&[u32]> = changed.iter().map(|&c| members.of(c)).collect();
        let moved = means(points, &sets, settings.spherical, &pool, control)?;
        let mut shift = 0.0;
        for (&c, centroid) in changed.iter().zip(moved) {
            shift += centroids[c].squared_distance(&centroid);
            centroids[c] = centroid;
        }
        scores.update(&centroids, &changed, control)?;
        averaged = std::mem::replace(&mut assignment, scores.nearest());
        if averaged == assignment || shift <= tol {
            break;
        }
    }
    let objective = objective(points, &scores, &centroids, &assignment, settings.spherical);
    Ok(KMeans {
        assignment,
        objective,
        n_iter,
    })
}

fn objective(
    points: &Points,
    scores: &Scores<'_>,
    centroids: &[Centroid],
    assignment: &[u32],
    spherical: bool,
) -> f64 {
    let of_point = |(i, &c): (usize, &u32)| {
        let c = c as usize;
        let unit = spherical && !centroids[c].column().0.is_empty();
        let square = if unit { 1.0 } else { 0.0 };
        points.squared_norm(i) - 2.0 * f64::from(scores.row(i)[c]) + square
    };
    assignment.iter().enumerate().map(of_point).sum()
}

/// Restart clusters without rows at the rows farthest from their centroids.
///
/// A row at distance zero (up to rounding) or alone in its cluster stays.
fn fill_empty(points: &Points, scores: &Scores<'_>, assignment: &mut [u32], k: usize) {
    let mut counts = vec![0usize; k];
    for &c in &*assignment {
        counts[c as usize] += 1;
    }
    let mut empty = (0..k).filter(|&c| counts[c] == 0).collect::<Vec<_>>();
    if empty.is_empty() {
        return;
    }
    empty.reverse();
    let mut far: Vec<(f64, usize)> = (0..points.len())
        .map(|i| {
            let norm = points.squared_norm(i);
            let score = f64::from(scores.row(i)[assignment[i] as usize]);
            (norm - 2.0 * score, i)
        })
        .filter(|&(d, i)| d > 1e-5 * points.squared_norm(i))
        .collect();
    far.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    for (_, i) in far {
        let home = assignment[i] as usize;
        if counts[home] > 1
            && let Some(c) = empty.pop()
        {
            counts[home] -= 1;
            assignment[i] = c as u32;
        }
    }
}

/// The rows of each cluster, ascending.
#[derive(Debug)]
pub(super) struct Members {
    ptr: Vec<usize>,
    rows: Vec<u32>,
}

impl Members {
    pub(super) fn new(assignment: &[u32], k: usize) -> Self {
        let mut ptr = vec![0; k + 1];
        for &c in assignment {
            ptr[c as usize + 1] += 1;
        }
        for c in 0..k {
            ptr[c + 1] += ptr[c];
        }
        let mut next = ptr.clone();
        let mut rows = vec![0; assignment.len()];
        for (i, &c) in assignment.iter().enumerate() {
            rows[next[c as usize]] = i as u32;
            next[c as usize] += 1;
        }
        Self { ptr, rows }
    }

    pub(super) fn of(&self, c: usize) -> &[u32] {
        &self.rows[self.ptr[c]..self.ptr[c + 1]]
    }

    /// Clusters with rows whose rows differ from those in `before` (empty: all).
    pub(super) fn changed(&self, before: &[u32], now: &[u32]) -> Vec<usize> {
        let mut changed = vec![before.is_empty(); self.ptr.len() - 1];
        for (&a, &b) in before.iter().zip(now) {
            if a != b {
                changed[a as usize] = true;
                changed[b as usize] = true;
            }
        }
        (0..changed.len())
            .filter(|&c| changed[c] && !self.of(c).is_empty())
            .collect()
    }
}
