//! K-means against naive Lloyd in float64, and cases worked by hand.
#![allow(clippy::unwrap_used)]

#[path = "tree/sparse_rows.rs"]
mod sparse_rows;

use proxtree_core::parallel::{Control, with_pool};
use proxtree_core::tree::{KMeans, KMeansSettings, Start, kmeans};
use sparse_rows::{Draw, csr};

fn run(rows: &[Vec<f32>], start: Start<'_>, settings: &KMeansSettings) -> KMeans {
    kmeans(csr(rows).view(), start, settings, &Control::default()).unwrap()
}

fn column(values: &[f32]) -> Vec<Vec<f32>> {
    values.iter().map(|&v| vec![v]).collect()
}

fn after(max_iter: usize) -> KMeansSettings {
    KMeansSettings {
        max_iter,
        ..KMeansSettings::default()
    }
}

/// The nearest centroid, ties to the lower id, and its squared distance.
fn nearest(x: &[f32], centroids: &[Vec<f64>]) -> (usize, f64) {
    let distance = |c: &Vec<f64>| -> f64 {
        let pairs = x.iter().zip(c);
        pairs.map(|(&a, &b)| (f64::from(a) - b).powi(2)).sum()
    };
    let mut best = (0, distance(&centroids[0]));
    for (c, centroid) in centroids.iter().enumerate().skip(1) {
        let d = distance(centroid);
        if d < best.1 {
            best = (c, d);
        }
    }
    best
}

/// Lloyd's algorithm on dense rows; None if a cluster ever runs empty.
fn naive_lloyd(rows: &[Vec<f32>], start: &[u32]) -> Option<(Vec<u32>, f64)> {
    let wide = |r: u32| rows[r as usize].iter().map(|&v| f64::from(v)).collect();
    let mut centroids: Vec<Vec<f64>> = start.iter().map(|&r| wide(r)).collect();
    let mut assignment: Vec<usize> = Vec::new();
    loop {
        let found: Vec<_> = rows.iter().map(|x| nearest(x, &centroids)).collect();
        let next: Vec<usize> = found.iter().map(|f| f.0).collect();
        if next == assignment {
            let objective = found.iter().map(|f| f.1).sum();
            return Some((next.iter().map(|&c| c as u32).collect(), objective));
        }
        assignment = next;
        for (c, centroid) in centroids.iter_mut().enumerate() {
            let members: Vec<_> = (0..rows.len()).filter(|&i| assignment[i] == c).collect();
            if members.is_empty() {
                return None;
            }
            for (j, v) in centroid.iter_mut().enumerate() {
                let sum: f64 = members.iter().map(|&i| f64::from(rows[i][j])).sum();
                *v = sum / members.len() as f64;
            }
        }
    }
}

#[test]
fn results_are_those_of_naive_lloyd() {
    let mut compared = 0;
    for seed in 0..30 {
        let mut draw = Draw(seed);
        let (n, k) = (40 + draw.below(200) as usize, 2 + draw.below(20) as usize);
        let rows = draw.topics(n, 30, 8);
        let start: Vec<u32> = (0..k as u32).collect();
        let Some((assignment, objective)) = naive_lloyd(&rows, &start) else {
            continue;
        };
        let found = run(&rows, Start::Rows(&start), &after(300));
        assert_eq!(found.assignment, assignment, "seed {seed}");
        assert!((found.objective - objective).abs() < 1e-4 * objective);
        assert!(found.n_iter < 300);
        compared += 1;
    }
    assert!(compared > 20, "{compared}");
}

#[test]
fn without_rounds_each_row_takes_its_nearest_start_the_lower_of_two() {
    // Small integers: float32 has no rounding to excuse a difference.
    let mut draw = Draw(7);
    for _ in 0..50 {
        let rows: Vec<Vec<f32>> = (0..60)
            .map(|_| (0..5).map(|_| draw.below(3) as f32).collect())
            .collect();
        let start: Vec<u32> = (0..9).map(|_| draw.below(60) as u32).collect();
        let centroids: Vec<Vec<f64>> = start
            .iter()
            .map(|&r| rows[r as usize].iter().map(|&v| f64::from(v)).collect())
            .collect();
        let expected: Vec<_> = rows.iter().map(|x| nearest(x, &centroids)).collect();
        let found = run(&rows, Start::Rows(&start), &after(0));
        let assignment: Vec<_> = expected.iter().map(|e| e.0 as u32).collect();
        assert_eq!(found.assignment, assignment);
        let objective: f64 = expected.iter().map(|e| e.1).sum();
        assert!((found.objective - objective).abs() < 1e-9);
    }
}

#[test]
fn two_pairs_on_a_line() {
    let found = run(
        &column(&[0.0, 1.0, 10.0, 11.0]),
        Start::Rows(&[0, 1]),
        &after(300),
    );
    assert_eq!(found.assignment, [0, 0, 1, 1]);
    // Each row is 1/2 from its mean.
    assert!((found.objective - 1.0).abs() < 1e-6);
}

#[test]
fn an_empty_cluster_restarts_at_the_farthest_row() {
    // Both start at 5, so the second is empty and restarts at 40. Then the means
    // are 31/3 and 40, and nothing moves: 20 is 9.67 from the one, 20 from the other.
    let found = run(
        &column(&[5.0, 6.0, 20.0, 40.0]),
        Start::Rows(&[0, 0]),
        &after(300),
    );
    assert_eq!(found.assignment, [0, 0, 0, 1]);
    // Far is far on either side.
    let below = run(
        &column(&[5.0, 6.0, 20.0, -40.0]),
        Start::Rows(&[0, 0]),
        &after(1),
    );
    assert_eq!(below.assignment, [0, 0, 0, 1]);
    let mean = 31.0 / 3.0;
    let objective: f64 = [5.0, 6.0, 20.0]
        .iter()
        .map(|x: &f64| (x - mean).powi(2))
        .sum();
    assert!((found.objective - objective).abs() < 1e-3);
}

#[test]
fn equal_rows_end_in_one_cluster_at_once() {
    for rows in [column(&[3.0; 7]), column(&[0.0; 7])] {
        let found = run(&rows, Start::Rows(&[0, 1, 2]), &after(300));
        assert_eq!(found.assignment, [0; 7]);
        assert!(found.n_iter <= 2, "{}", found.n_iter);
    }
}

#[test]
fn spherical_clusters_look_at_directions_only() {
    let rows = [[1.0, 0.1], [90.0, 0.0], [0.0, 2.0], [3.0, 70.0]].map(Vec::from);
    let settings = KMeansSettings {
        spherical: true,
        ..KMeansSettings::default()
    };
    let found = run(&rows, Start::Rows(&[0, 2]), &settings);
    assert_eq!(found.assignment, [0, 0, 1, 1]);
    // In the plane, row 0 is far from row 1 and joins the two short ones.
    let found = run(&rows, Start::Rows(&[1, 2]), &after(300));
    assert_eq!(found.assignment[0], 1);
}

#[test]
fn plus_plus_never_starts_twice_at_one_value() {
    // Seven values, each many times: seven clusters of equal rows, whatever the seed.
    let mut draw = Draw(3);
    let values = draw.topics(7, 12, 7);
    let rows: Vec<_> = (0..91).map(|i| values[i % 7].clone()).collect();
    for seed in 0..50 {
        for n_clusters in [7, 20] {
            let found = run(&rows, Start::PlusPlus { n_clusters, seed }, &after(300));
            let mut clusters: Vec<u32> = found.assignment[..7].to_vec();
            assert!((0..91).all(|i| found.assignment[i] == clusters[i % 7]));
            clusters.sort_unstable();
            assert_eq!(clusters, [0, 1, 2, 3, 4, 5, 6], "seed {seed}");
        }
    }
}

#[test]
fn plus_plus_draws_by_squared_distance() {
    // 2,000 rows around one point, 1 far off with 10^4 times their sum of squares.
    let mut rows: Vec<Vec<f32>> = (0..2000)
        .map(|i| vec![100.0 + (i % 10) as f32 * 0.01])
        .collect();
    rows.push(vec![900.0]);
    for seed in 0..20 {
        let start = Start::PlusPlus {
            n_clusters: 2,
            seed,
        };
        let found = run(&rows, start, &after(0));
        let far = found.assignment[2000];
        assert!(
            found.assignment[..2000].iter().all(|&c| c != far),
            "seed {seed}"
        );
    }
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    let rows = Draw(11).topics(1_500, 80, 30);
    let x = csr(&rows);
    let start = Start::PlusPlus {
        n_clusters: 25,
        seed: 5,
    };
    let with = |threads| {
        with_pool(threads, || {
            kmeans(x.view(), start, &after(300), &Control::default())
        })
        .unwrap()
    };
    let one = with(1);
    assert!(one.n_iter > 2);
    for threads in [2, 3, 8, 64] {
        let many = with(threads);
        assert_eq!(one.objective.to_bits(), many.objective.to_bits());
        assert_eq!(one, many, "{threads} threads");
    }
}

#[test]
fn impossible_arguments_are_named() {
    let x = csr(&column(&[1.0, 2.0]));
    let empty = csr(&[]);
    let error = |x: proxtree_core::sparse::CsrView<'_>, start| {
        kmeans(x, start, &after(1), &Control::default())
            .unwrap_err()
            .to_string()
    };
    let none = Start::PlusPlus {
        n_clusters: 0,
        seed: 0,
    };
    assert!(error(x.view(), none).contains("n_clusters"));
    assert!(error(x.view(), Start::Rows(&[])).contains("n_clusters"));
    assert!(error(x.view(), Start::Rows(&[0, 2])).contains("start row 2"));
    assert!(error(empty.view(), Start::Rows(&[0])).contains("at least one row"));
}
