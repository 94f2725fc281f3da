//! Clusters of equal size: balanced K-means, balanced bisection.

use rayon::prelude::*;

use super::accumulator::AccumulatorPool;
use super::centroids::{Scores, means};
use super::kmeans::Members;
use super::points::Points;
use super::seeding;
use crate::Result;
use crate::parallel::Control;
use crate::rng::SplitMix64;

/// Rounds at most; the objective is kept from falling, so few are used.
const MAX_ITER: usize = 50;

/// Bisection stops when the mean cosine gains no more than this (Parabel's).
const BISECTION_TOL: f64 = 1e-4;

/// Balanced K-means: `k` clusters whose sizes differ by at most one.
///
/// As K-means from the same start, but the rows choose in order of how much
/// they would lose with their second choice (largest first), each the nearest
/// centroid with room. Rounds go on while the sum of squares falls; the best
/// round is the result. `k <= points.len()`.
///
/// Cost of a round: as K-means, and rows x clusters for the choice.
pub(super) fn balanced(
    points: &Points,
    k: usize,
    rng: &mut SplitMix64,
    control: &Control,
) -> Result<Vec<u32>> {
    let pool = AccumulatorPool::new(points.n_features());
    let chosen = seeding::choose(points, k, rng, control)?;
    // With fewer different rows than clusters, equal centroids share them.
    let start: Vec<&[u32]> = (0..k)
        .map(|c| std::slice::from_ref(&chosen.rows[c % chosen.rows.len()]))
        .collect();
    let mut centroids = means(points, &start, false, &pool, control)?;
    let mut scores = Scores::start(points, chosen, &centroids, false, control)?;
    let (mut assignment, mut value) = choose_with_room(points.len(), k, &scores);
    let mut averaged = Vec::new();
    for _ in 0..MAX_ITER {
        let members = Members::new(&assignment, k);
        let changed = members.changed(&averaged, &assignment);
        let sets: Vec<&[u32]> = changed.iter().map(|&c| members.of(c)).collect();
        for (&c, centroid) in changed
            .iter()
            .zip(means(points, &sets, false, &pool, control)?)
        {
            centroids[c] = centroid;
        }
        scores.update(&centroids, &changed, control)?;
        let (next, next_value) = choose_with_room(points.len(), k, &scores);
        if next == assignment || (!averaged.is_empty() && next_value <= value) {
            break;
        }
        averaged = std::mem::replace(&mut assignment, next);
        value = next_value;
    }
    Ok(assignment)
}

/// Assign every row under the size limits; also the sum of its scores.
fn choose_with_room(n: usize, k: usize, scores: &Scores<'_>) -> (Vec<u32>, f64) {
    let margin = |i: usize| {
        let (mut best, mut second) = (f32::NEG_INFINITY, f32::NEG_INFINITY);
        for &s in scores.row(i) {
            second = second.max(s.min(best));
            best = best.max(s);
        }
        best - second
    };
    let mut order: Vec<(f32, usize)> = (0..n).into_par_iter().map(|i| (margin(i), i)).collect();
    order.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    let mut room = vec![n / k; k];
    // So many clusters may take one row more.
    let mut larger = n % k;
    let mut closed = vec![false; k];
    let mut assignment = vec![0; n];
    let mut value = 0.0;
    for (_, i) in order {
        let mut best: Option<usize> = None;
        let row = scores.row(i);
        for c in 0..k {
            let open = !closed[c] && (room[c] > 0 || larger > 0);
            if open && best.is_none_or(|b| row[c] > row[b]) {
                best = Some(c);
            }
        }
        // Rooms add up to n, so one is open.
        let Some(c) = best else { break };
        if room[c] > 0 {
            room[c] -= 1;
        } else {
            larger -= 1;
            closed[c] = true;
        }
        assignment[i] = c as u32;
        value += f64::from(row[c]);
    }
    (assignment, value)
}

/// `k` clusters whose sizes differ by at most one, by repeated bisection.
///
/// Each step splits a set in two by balanced spherical 2-means: from two rows
/// by k-means++, rows are ranked by the difference of their cosines to the two
/// centroids and cut where the sizes must be. `k` need not be a power of two.
///
/// Cost: about log2(k) times that of a 2-means; sets are split in parallel.
///
/// Source: Prabhu et al., "Parabel", WWW 2018, section 3.1. Differs: k-means++
/// instead of two random rows, which may be equal; levels are joined until there
/// are k sets, so that K means the same as with the other methods.
pub(super) fn balanced_2means(
    points: &Points,
    k: usize,
    seed: u64,
    control: &Control,
) -> Result<Vec<u32>> {
    struct Part {
        rows: Vec<u32>,
        first: usize,
        k: usize,
        // Position in the binary tree: the random stream of its split.
        id: u64,
    }
    let mut assignment = vec![0; points.len()];
    let mut parts = vec![Part {
        rows: (0..points.len() as u32).collect(),
        first: 0,
        k,
        id: 1,
    }];
    while !parts.is_empty() {
        let halves: Vec<[Part; 2]> = parts
            .into_par_iter()
            .map(|part| {
                let k0 = part.k / 2;
                let n = part.rows.len();
                let n0 = k0 * (n / part.k) + k0.min(n % part.k);
                let sub = points.subset(&part.rows);
                let mut rng = SplitMix64::stream(seed, part.id);
                let order = bisect(&sub, n0, &mut rng, control)?;
                let half = |order: &[u32], first, k, id| {
                    let mut rows: Vec<u32> = order.iter().map(|&i| part.rows[i as usize]).collect();
                    rows.sort_unstable();
                    Part { rows, first, k, id }
                };
                Ok([
                    half(&order[..n0], part.first, k0, 2 * part.id),
                    half(&order[n0..], part.first + k0, part.k - k0, 2 * part.id + 1),
                ])
            })
            .collect::<Result<_>>()?;
        parts = Vec::new();
        for part in halves.into_iter().flatten() {
            if part.k > 1 {
                parts.push(part);
            } else {
                for row in part.rows {
                    assignment[row as usize] = part.first as u32;
                }
            }
        }
    }
    Ok(assignment)
}

/// The rows ordered so that the first `n0` are one half, the rest the other.
fn bisect(points: &Points, n0: usize, rng: &mut SplitMix64, control: &Control) -> Result<Vec<u32>> {
    let n = points.len();
    let pool = AccumulatorPool::new(points.n_features());
    let start = seeding::choose(points, 2, rng, control)?.rows;
    if start.len() < 2 {
        return Ok((0..n as u32).collect());
    }
    let mut centroids = means(points, &[&start[..1], &start[1..]], true, &pool, control)?;
    let mut scores = Scores::new(points, 2);
    let mut order: Vec<u32> = (0..n as u32).collect();
    let mut value = f64::NEG_INFINITY;
    for _ in 0..MAX_ITER {
        scores.update(&centroids, &[0, 1], control)?;
        let difference = |i: u32| {
            let row = scores.row(i as usize);
            row[0] - row[1]
        };
        order.sort_unstable_by(|&i, &j| difference(j).total_cmp(&difference(i)).then(i.cmp(&j)));
        let (first, second) = order.split_at_mut(n0);
        // Ascending, so that equal halves have equal sums.
        first.sort_unstable();
        second.sort_unstable();
        let gained = |half: &[u32], c: usize| -> f64 {
            half.iter()
                .map(|&i| f64::from(scores.row(i as usize)[c]))
                .sum()
        };
        let next = (gained(first, 0) + gained(second, 1)) / n as f64;
        if next - value <= BISECTION_TOL {
            break;
        }
        value = next;
        centroids = means(points, &[first, second], true, &pool, control)?;
    }
    Ok(order)
}
