//! Trees from label features: shape, degenerate labels, reproducibility.
#![allow(clippy::unwrap_used)]

#[path = "tree/sparse_rows.rs"]
mod sparse_rows;

use proptest::prelude::*;
use proxtree_core::Error;
use proxtree_core::parallel::{Control, with_pool};
use proxtree_core::tree::{BuildSettings, Child, Clustering, LabelTree, build};
use sparse_rows::{Draw, csr};

const ALL: [Clustering; 4] = [
    Clustering::KMeans,
    Clustering::Spherical,
    Clustering::Balanced,
    Clustering::Balanced2Means,
];

fn settings(n_clusters: usize, max_depth: usize, clustering: Clustering) -> BuildSettings {
    BuildSettings {
        n_clusters,
        max_depth,
        clustering,
        max_iter: 300,
        seed: 0,
    }
}

fn grown(rows: &[Vec<f32>], settings: &BuildSettings) -> LabelTree {
    build(csr(rows).view(), settings, &Control::default()).unwrap()
}

/// The labels below each child of the root, sorted; the longest list last.
fn root_sets(tree: &LabelTree) -> Vec<Vec<u32>> {
    let mut sets: Vec<Vec<u32>> = Vec::new();
    for child in tree.children(0) {
        let (mut queue, mut labels) = (vec![child], Vec::new());
        while let Some(child) = queue.pop() {
            match child {
                Child::Label(label) => labels.push(label),
                Child::Node(node) => queue.extend(tree.children(node as usize)),
            }
        }
        labels.sort_unstable();
        sets.push(labels);
    }
    sets.sort();
    sets
}

/// Each label once and no empty node hold by construction of a [`LabelTree`];
/// these are the promises of `build`.
fn check_shape(tree: &LabelTree, n_labels: usize, s: &BuildSettings) {
    assert_eq!(tree.n_labels(), n_labels);
    assert!(tree.depth() <= s.max_depth);
    for (node, depth) in tree.node_depths().into_iter().enumerate() {
        let children = tree.children(node);
        let last = depth as usize == s.max_depth - 1;
        let most = s.n_clusters + usize::from(node == 0 && s.n_clusters == 2);
        assert!(last || children.len() <= most, "{s:?}");
        assert!(node == 0 || children.len() > 1, "a chain: {s:?}");
    }
}

#[test]
fn separate_topics_become_the_children_of_the_root() {
    // Label j has features of topic j % 5 only.
    let rows: Vec<Vec<f32>> = (0..60)
        .map(|j| {
            let mut row = vec![0.0; 20];
            row[j % 5 * 4] = 0.98;
            row[j % 5 * 4 + 1 + j / 5 % 3] = 0.2;
            row
        })
        .collect();
    let topics: Vec<Vec<u32>> = (0..5)
        .map(|t| (0..12).map(|i| t + 5 * i).collect())
        .collect();
    for clustering in [
        Clustering::KMeans,
        Clustering::Spherical,
        Clustering::Balanced,
    ] {
        let tree = grown(&rows, &settings(5, 2, clustering));
        assert_eq!(root_sets(&tree), topics, "{clustering:?}");
    }
}

#[test]
fn two_opposite_groups_are_bisected() {
    let row = |j: usize| {
        if j.is_multiple_of(2) {
            [1.0, 0.1]
        } else {
            [0.1, 1.0]
        }
    };
    let rows: Vec<Vec<f32>> = (0..40).map(|j| row(j).to_vec()).collect();
    let even_odd: Vec<Vec<u32>> = (0..2)
        .map(|t| (0..20).map(|i| t + 2 * i).collect())
        .collect();
    for seed in 0..10 {
        let s = BuildSettings {
            seed,
            ..settings(2, 2, Clustering::Balanced2Means)
        };
        assert_eq!(root_sets(&grown(&rows, &s)), even_odd);
    }
}

/// Short rows in two directions, and one long row in each: by distance the long
/// ones stand apart, by direction each joins its own.
#[test]
fn spherical_trees_look_at_directions() {
    let rows: Vec<Vec<f32>> = (0..20)
        .map(|j| {
            let length = if j < 2 { 50.0 } else { 1.0 };
            if j % 2 == 0 {
                vec![length, 0.0]
            } else {
                vec![0.0, length]
            }
        })
        .collect();
    let by_parity = |j: u32| (0..10).map(|i| 2 * i + j).collect::<Vec<u32>>();
    for seed in 0..10 {
        let s = BuildSettings {
            seed,
            ..settings(2, 2, Clustering::Spherical)
        };
        assert_eq!(root_sets(&grown(&rows, &s)), [by_parity(0), by_parity(1)]);
        let s = BuildSettings {
            seed,
            ..settings(2, 2, Clustering::KMeans)
        };
        assert_ne!(root_sets(&grown(&rows, &s)), [by_parity(0), by_parity(1)]);
    }
}

#[test]
fn two_hundred_seeds_on_small_label_sets() {
    for seed in 0..200 {
        let mut draw = Draw(seed);
        let n = 1 + draw.below(40) as usize;
        let rows = draw.topics(n, 12, 5);
        for n_clusters in 2..=32 {
            let s = BuildSettings {
                seed,
                ..settings(n_clusters, 6, ALL[(seed as usize + n_clusters) % 4])
            };
            check_shape(&grown(&rows, &s), n, &s);
        }
    }
}

#[test]
fn balanced_sizes_differ_by_at_most_one() {
    for n in [33, 64, 100, 101, 199] {
        let rows = Draw(n as u64).topics(n, 30, 4);
        for n_clusters in [2, 3, 7, 32] {
            for clustering in [Clustering::Balanced, Clustering::Balanced2Means] {
                let sets = root_sets(&grown(&rows, &settings(n_clusters, 2, clustering)));
                let sizes: Vec<_> = sets.iter().map(Vec::len).collect();
                let (least, most) = (sizes.iter().min().unwrap(), sizes.iter().max().unwrap());
                assert_eq!(sets.len(), n_clusters);
                assert!(
                    most - least <= 1,
                    "{n} {n_clusters} {clustering:?} {sizes:?}"
                );
            }
        }
    }
}

#[test]
fn equal_labels_are_cut_into_even_runs() {
    for rows in [vec![vec![0.6, 0.8]; 50], vec![vec![0.0, 0.0]; 50]] {
        for clustering in [Clustering::KMeans, Clustering::Spherical] {
            let s = settings(4, 3, clustering);
            let tree = grown(&rows, &s);
            check_shape(&tree, 50, &s);
            // Run c of 4 is [50 c / 4, 50 (c + 1) / 4).
            let run = |a: u32, b: u32| (a..b).collect::<Vec<_>>();
            let runs = vec![run(0, 12), run(12, 25), run(25, 37), run(37, 50)];
            assert_eq!(root_sets(&tree), runs);
        }
    }
    // Pairs of equal labels: each pair stays together while K clusters suffice.
    let pairs: Vec<Vec<f32>> = (0..12)
        .map(|j| (0..6).map(|f| f32::from(u8::from(f == j / 2))).collect())
        .collect();
    let tree = grown(&pairs, &settings(6, 2, Clustering::KMeans));
    let together: Vec<Vec<u32>> = (0..6).map(|p| vec![2 * p, 2 * p + 1]).collect();
    assert_eq!(root_sets(&tree), together);
}

#[test]
fn labels_without_features_form_one_child_of_the_root() {
    let mut rows = Draw(1).topics(40, 20, 5);
    for j in [0, 7, 8, 39] {
        rows[j] = vec![0.0; 20];
    }
    for clustering in ALL {
        for n_clusters in [2, 3, 10] {
            let s = settings(n_clusters, 4, clustering);
            let tree = grown(&rows, &s);
            check_shape(&tree, 40, &s);
            let sets = root_sets(&tree);
            assert!(sets.contains(&vec![0, 7, 8, 39]), "{clustering:?} {sets:?}");
            assert_eq!(sets.len(), n_clusters.max(3));
        }
    }
    // One label with features among many without.
    let mut rows = vec![vec![0.0; 3]; 9];
    rows[4][1] = 1.0;
    let sets = root_sets(&grown(&rows, &settings(3, 2, Clustering::KMeans)));
    assert_eq!(sets, [vec![0, 1, 2, 3, 5, 6, 7, 8], vec![4]]);
}

#[test]
fn a_tree_clipped_is_the_tree_built_less_deep() {
    let rows = Draw(9).topics(300, 60, 20);
    for clustering in ALL {
        let deep = grown(&rows, &settings(3, 9, clustering));
        assert!(deep.depth() >= 5);
        for max_depth in 1..9 {
            let built = grown(&rows, &settings(3, max_depth, clustering));
            assert_eq!(
                deep.clip(max_depth).unwrap(),
                built,
                "{clustering:?} {max_depth}"
            );
        }
    }
}

#[test]
fn any_number_of_threads_builds_the_same_tree() {
    let rows = Draw(2).topics(900, 70, 40);
    let x = csr(&rows);
    for clustering in ALL {
        let s = settings(6, 5, clustering);
        let with =
            |threads| with_pool(threads, || build(x.view(), &s, &Control::default())).unwrap();
        let one = with(1);
        for threads in [2, 8, 64] {
            assert_eq!(one, with(threads), "{clustering:?} {threads} threads");
        }
        let other_seed = BuildSettings { seed: 1, ..s };
        assert_ne!(one, grown(&rows, &other_seed), "{clustering:?}");
    }
}

#[test]
fn small_cases_are_flat_and_wrong_ones_named() {
    let rows = Draw(4).topics(10, 8, 3);
    let flat = LabelTree::flat(10).unwrap();
    for (n_clusters, max_depth) in [(10, 6), (11, 6), (1000, 6), (2, 1)] {
        let s = settings(n_clusters, max_depth, Clustering::KMeans);
        assert_eq!(grown(&rows, &s), flat);
    }
    let one = grown(&rows[..1], &settings(2, 6, Clustering::KMeans));
    assert_eq!(one, LabelTree::flat(1).unwrap());
    let error = |rows: &[Vec<f32>], n_clusters, max_depth| {
        let s = settings(n_clusters, max_depth, Clustering::KMeans);
        let e = build(csr(rows).view(), &s, &Control::default()).unwrap_err();
        e.to_string()
    };
    assert!(error(&rows, 1, 6).contains("n_clusters must be at least 2"));
    assert!(error(&rows, 2, 0).contains("max_depth must be at least 1"));
    assert!(error(&[], 2, 6).contains("not 0"));
    assert!(
        "ward"
            .parse::<Clustering>()
            .unwrap_err()
            .to_string()
            .contains("balanced_2means")
    );
}

#[test]
fn a_cancelled_build_says_so() {
    let control = Control::default();
    control.cancel();
    let rows = Draw(4).topics(50, 8, 3);
    for clustering in ALL {
        let result = build(csr(&rows).view(), &settings(3, 4, clustering), &control);
        assert!(matches!(result, Err(Error::Cancelled)));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    /// Few values, so that equal rows, zero rows and ties abound.
    #[test]
    fn odd_labels_still_make_a_tree(
        rows in prop::collection::vec(prop::collection::vec(-1i8..=1, 4), 1..60),
        n_clusters in 2usize..12,
        max_depth in 1usize..6,
        which in 0usize..4,
        seed: u64,
    ) {
        let rows: Vec<Vec<f32>> = rows
            .iter()
            .map(|r| r.iter().map(|&v| f32::from(v)).collect())
            .collect();
        let s = BuildSettings { seed, ..settings(n_clusters, max_depth, ALL[which]) };
        check_shape(&grown(&rows, &s), rows.len(), &s);
    }
}
