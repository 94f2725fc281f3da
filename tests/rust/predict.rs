//! Prediction against brute force on dense weights.
//!
//! All numbers are small multiples of powers of two, so that `f32` sums are
//! exact and the oracle, in `f64`, must agree to the last tie.
#![allow(clippy::unwrap_used)]

use proptest::prelude::*;
use proxtree_core::model::{ChildWeights, LinearTreeModel, NodeClassifiers, Scoring, TrainedTree};
use proxtree_core::parallel::{Control, with_pool};
use proxtree_core::predict::{Predictor, Query, TopLabels};
use proxtree_core::sparse::{CsrMatrix, Pattern};
use proxtree_core::tree::{Child, LabelTree};

const ALL: Query<'_> = Query {
    beam_size: usize::MAX,
    allowed: None,
};
const TREE_RULES: [Scoring; 3] = [Scoring::Squared, Scoring::Cubed, Scoring::LogSigmoid];

/// A small linear congruential generator.
struct Draw(u64);

impl Draw {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (self.0 >> 33) % n
    }

    /// A multiple of 1/4 in [-1, 1], zero two times in three.
    fn value(&mut self) -> f32 {
        if self.below(3) > 0 {
            0.0
        } else {
            self.below(9) as f32 / 4.0 - 1.0
        }
    }
}

/// A tree by depth-first splitting, renumbered breadth first.
fn tree(draw: &mut Draw, n_labels: usize) -> LabelTree {
    const LABEL: u32 = 1 << 31;
    let mut nodes = vec![(0..n_labels as u32).collect::<Vec<_>>()];
    let (mut ptr, mut children, mut at) = (vec![0u32], Vec::new(), 0);
    while at < nodes.len() {
        let mut rest = nodes[at].clone();
        while !rest.is_empty() {
            let take = if rest.len() < 3 || draw.below(3) == 0 {
                1
            } else {
                2 + draw.below(rest.len() as u64 / 2) as usize
            };
            let part: Vec<_> = rest.drain(..take).collect();
            if let [label] = part[..] {
                children.push(label | LABEL);
            } else {
                children.push(nodes.len() as u32);
                nodes.push(part);
            }
        }
        ptr.push(children.len() as u32);
        at += 1;
    }
    LabelTree::from_parts(n_labels, ptr, children).unwrap()
}

fn classifiers(draw: &mut Draw, n_children: usize, n_features: usize) -> NodeClassifiers {
    let all: Vec<u32> = (0..n_features as u32).collect();
    let weights: Vec<Vec<f32>> = (0..n_children)
        .map(|_| (0..n_features).map(|_| draw.value()).collect())
        .collect();
    let children = weights.iter().map(|values| ChildWeights {
        indices: &all,
        values,
        intercept: f64::from(draw.value()) / 4.0,
    });
    NodeClassifiers::from_problems(children).unwrap()
}

fn trained(draw: &mut Draw, tree: LabelTree, n_features: usize) -> TrainedTree {
    let nodes = (0..tree.n_nodes())
        .map(|i| classifiers(draw, tree.children(i).len(), n_features))
        .collect();
    TrainedTree::new(tree, nodes).unwrap()
}

fn matrix(draw: &mut Draw, n_rows: usize, n_cols: usize) -> CsrMatrix {
    let mut x = CsrMatrix::default();
    x.pattern.n_cols = n_cols;
    x.pattern.indptr.push(0);
    for _ in 0..n_rows {
        for j in 0..n_cols as u32 {
            let v = draw.value();
            if v != 0.0 {
                x.pattern.indices.push(j);
                x.data.push(v);
            }
        }
        x.pattern.indptr.push(x.data.len() as u64);
    }
    x
}

/// Margins of a node's children for row `i`, from its dense weights.
fn dense_margins(node: &NodeClassifiers, x: &CsrMatrix, i: usize) -> Vec<f64> {
    let coef = node.coef(x.pattern.n_cols);
    let mut row = vec![0.0; x.pattern.n_cols];
    let (indices, values) = x.view().row(i);
    for (&j, &v) in indices.iter().zip(values) {
        row[j as usize] = f64::from(v);
    }
    (0..node.n_children())
        .map(|c| {
            let (indices, values) = coef.view().row(c);
            let products = indices.iter().zip(values);
            products.fold(node.intercepts()[c], |z, (&j, &w)| {
                z + row[j as usize] * f64::from(w)
            })
        })
        .collect()
}

fn step(scoring: Scoring, z: f64) -> f64 {
    match scoring {
        Scoring::Margin => z,
        Scoring::Squared => -(1.0 - z).max(0.0).powi(2),
        Scoring::Cubed => -(1.0 - z).max(0.0).powi(3),
        Scoring::LogSigmoid => -(-3.0 * z).exp().ln_1p(),
    }
}

/// (label, path score, leaf margin) of what a beam reaches, by the definition.
fn reached(
    model: &LinearTreeModel,
    t: usize,
    x: &CsrMatrix,
    i: usize,
    beam: usize,
) -> Vec<(u32, f64, f64)> {
    let trained = &model.trees()[t];
    let mut found = Vec::new();
    let mut level = vec![(0u32, 0.0, 0.0)];
    while !level.is_empty() {
        level.sort_by(rank);
        level.truncate(beam);
        let mut next = Vec::new();
        for (node, path, _) in level {
            let z = dense_margins(&trained.nodes()[node as usize], x, i);
            for (child, z) in trained.tree().children(node as usize).zip(z) {
                let path = path + step(model.scoring(), z);
                match child {
                    Child::Node(id) => next.push((id, path, z)),
                    Child::Label(id) => found.push((id, path, z)),
                }
            }
        }
        level = next;
    }
    found
}

/// Better first: score, then leaf margin, then smaller id.
fn rank(a: &(u32, f64, f64), b: &(u32, f64, f64)) -> std::cmp::Ordering {
    (b.1.total_cmp(&a.1))
        .then(b.2.total_cmp(&a.2))
        .then(a.0.cmp(&b.0))
}

fn top_k(predictor: &Predictor, x: &CsrMatrix, k: usize, query: Query<'_>) -> TopLabels {
    predictor
        .top_k(x.view(), k, query, &Control::default())
        .unwrap()
}

fn check(top: &TopLabels, i: usize, k: usize, mut expected: Vec<(u32, f64, f64)>, exact: bool) {
    expected.sort_by(rank);
    expected.truncate(k);
    for at in 0..k {
        let (label, score) = (top.labels[i * k + at], top.scores[i * k + at]);
        if let Some(&(id, expected, _)) = expected.get(at) {
            if exact {
                assert_eq!(label, id as i32, "row {i}, place {at}");
            }
            let error = (f64::from(score) - expected).abs();
            assert!(error <= 2e-6, "row {i}, place {at}: {score} / {expected}");
        } else {
            assert_eq!((label, score), (-1, f32::NEG_INFINITY));
        }
    }
}

fn config() -> ProptestConfig {
    ProptestConfig {
        cases: 64,
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn depth_one_is_brute_force(
        seed: u64, n_labels in 1usize..200, n_features in 1usize..40, k in 1usize..12,
    ) {
        let mut draw = Draw(seed);
        let flat = trained(&mut draw, LabelTree::flat(n_labels).unwrap(), n_features);
        let untrained: Vec<u32> = (0..n_labels as u32).filter(|_| draw.below(4) == 0).collect();
        let allowed: Vec<u32> = (0..n_labels as u32).filter(|_| draw.below(2) == 0).collect();
        let x = matrix(&mut draw, 5, n_features);
        let margin = LinearTreeModel::new(
            n_features, vec![flat.clone()], Scoring::Margin, false, untrained.clone(),
        ).unwrap();
        let predictor = Predictor::new(margin).unwrap();
        let top = top_k(&predictor, &x, k, ALL);
        let some = top_k(&predictor, &x, k, Query { allowed: Some(&allowed), ..ALL });
        let control = Control::default();
        let above = predictor.above(x.view(), 0.25, 1, &control).unwrap();
        let all = predictor.decision_function(x.view(), &control).unwrap();
        for i in 0..5 {
            let z = dense_margins(&flat.nodes()[0], &x, i);
            let kept = |l: &u32| !untrained.contains(l);
            let rows = |ids: Vec<u32>| ids.into_iter()
                .map(|l| (l, z[l as usize], z[l as usize])).collect::<Vec<_>>();
            let trained: Vec<u32> = (0..n_labels as u32).filter(kept).collect();
            check(&top, i, k, rows(trained.clone()), true);
            check(&some, i, k, rows(allowed.iter().copied().filter(kept).collect()), true);
            let over: Vec<u32> = trained.into_iter().filter(|&l| z[l as usize] > 0.25).collect();
            prop_assert_eq!(above.view().row(i), &over[..]);
            let expected: Vec<f32> = z.iter().map(|&z| z as f32).collect();
            prop_assert_eq!(&all[i * n_labels..(i + 1) * n_labels], &expected[..]);
        }
        // The same weights as a tree of depth one: same labels in the same order.
        let squared = LinearTreeModel::new(
            n_features, vec![flat], Scoring::Squared, false, untrained,
        ).unwrap();
        let tree = top_k(&Predictor::new(squared).unwrap(), &x, k, ALL);
        prop_assert_eq!(&tree.labels, &top.labels);
        for (&score, &z) in tree.scores.iter().zip(&top.scores) {
            let expected = step(Scoring::Squared, f64::from(z)).exp();
            prop_assert!((f64::from(score) - expected).abs() < 1e-6 || z == f32::NEG_INFINITY);
        }
    }

    #[test]
    fn a_beam_follows_its_definition(
        seed: u64, n_labels in 2usize..60, n_features in 1usize..12, k in 1usize..20,
        beam in 1usize..8, rule in 0usize..3, wide: bool,
    ) {
        let mut draw = Draw(seed);
        let tree = tree(&mut draw, n_labels);
        let n_nodes = tree.n_nodes();
        let one = trained(&mut draw, tree, n_features);
        let scoring = TREE_RULES[rule];
        let model = LinearTreeModel::new(n_features, vec![one], scoring, false, vec![]).unwrap();
        let x = matrix(&mut draw, 4, n_features);
        let beam = if wide { n_nodes } else { beam };
        let predictor = Predictor::new(model.clone()).unwrap();
        let query = Query { beam_size: beam, allowed: None };
        let top = top_k(&predictor, &x, k, query);
        let control = Control::default();
        let threshold = scoring.neutral();
        let above = predictor.above(x.view(), threshold, beam, &control).unwrap();
        for i in 0..4 {
            // Rounded path scores of the sigmoid may tie or not as the oracle's.
            let exact = scoring != Scoring::LogSigmoid;
            let mut paths = reached(&model, 0, &x, i, beam);
            prop_assert!(!wide || paths.len() == n_labels);
            if !exact && !wide { continue; }
            let scores = |paths: &[(u32, f64, f64)]| paths.iter()
                .map(|&(l, path, z)| (l, path.exp(), z)).collect::<Vec<_>>();
            if exact {
                // Below 1e-7 scores no longer tell paths apart, so rank by path.
                paths.sort_by(rank);
                let ids: Vec<i32> = paths.iter().take(k).map(|p| p.0 as i32).collect();
                prop_assert_eq!(&top.labels[i * k..i * k + ids.len()], &ids[..]);
                let mut over: Vec<u32> = paths.iter().filter(|p| p.1 > -1.0).map(|p| p.0).collect();
                over.sort_unstable();
                prop_assert_eq!(above.view().row(i), &over[..]);
            }
            check(&top, i, k, scores(&paths), false);
        }
    }

    #[test]
    fn pairs_masks_and_ensembles_agree_with_all_paths(
        seed: u64, n_labels in 2usize..40, n_trees in 1usize..4,
    ) {
        let (mut draw, n_features) = (Draw(seed), 8);
        let trees: Vec<_> = (0..n_trees)
            .map(|_| { let t = tree(&mut draw, n_labels); trained(&mut draw, t, n_features) })
            .collect();
        let untrained: Vec<u32> = (0..n_labels as u32).filter(|_| draw.below(5) == 0).collect();
        let allowed: Vec<u32> = (0..n_labels as u32).filter(|_| draw.below(2) == 0).collect();
        let model = LinearTreeModel::new(
            n_features, trees, Scoring::Squared, false, untrained.clone(),
        ).unwrap();
        let x = matrix(&mut draw, 3, n_features);
        let mut dense = vec![(0.0, 0.0); 3 * n_labels];
        for i in 0..3 {
            for t in 0..n_trees {
                for (l, path, z) in reached(&model, t, &x, i, usize::MAX) {
                    dense[i * n_labels + l as usize].0 += path.exp() / n_trees as f64;
                    dense[i * n_labels + l as usize].1 += z;
                }
            }
        }
        let predictor = Predictor::new(model).unwrap();
        let (mut rows, mut labels) = (Vec::new(), Vec::new());
        for _ in 0..30 {
            rows.push(draw.below(3) as u32);
            labels.push(draw.below(n_labels as u64) as u32);
        }
        let scores = predictor.score_pairs(x.view(), &rows, &labels, &Control::default()).unwrap();
        for ((&i, &l), &score) in rows.iter().zip(&labels).zip(&scores) {
            let expected = dense[i as usize * n_labels + l as usize].0;
            prop_assert!((f64::from(score) - expected).abs() < 2e-6);
        }
        let top = top_k(&predictor, &x, 6, Query { allowed: Some(&allowed), ..ALL });
        for i in 0..3 {
            let kept = allowed.iter().filter(|l| !untrained.contains(l));
            let expected: Vec<_> = kept
                .map(|&l| { let (s, z) = dense[i * n_labels + l as usize]; (l, s, z) })
                .collect();
            check(&top, i, 6, expected, false);
            for &l in &top.labels[i * 6..(i + 1) * 6] {
                prop_assert!(l == -1 || allowed.contains(&(l as u32)));
                prop_assert!(!untrained.contains(&(l as u32)));
            }
        }
    }
}

/// The same bits alone, in a pool, and row by row; for both roads.
#[test]
fn threads_and_batches_change_nothing() {
    let mut draw = Draw(7);
    let (n_labels, n_features, n_rows) = (150, 60, 300);
    let mut x = matrix(&mut draw, n_rows, n_features);
    for v in &mut x.data {
        *v *= 1.0 + 0.1 * draw.below(1000) as f32 / 1000.0;
    }
    let flat = trained(&mut draw, LabelTree::flat(n_labels).unwrap(), n_features);
    let trees: Vec<_> = (0..3)
        .map(|_| {
            let tree = tree(&mut draw, n_labels);
            trained(&mut draw, tree, n_features)
        })
        .collect();
    let query = Query {
        beam_size: 4,
        allowed: None,
    };
    for (trees, scoring) in [
        (vec![flat], Scoring::Margin),
        (trees[..1].to_vec(), Scoring::LogSigmoid),
        (trees, Scoring::Cubed),
    ] {
        let model = LinearTreeModel::new(n_features, trees, scoring, true, vec![3]).unwrap();
        let predictor = Predictor::new(model).unwrap();
        let alone = top_k(&predictor, &x, 5, query);
        for n_threads in [1, 2, 5] {
            let pooled = with_pool(n_threads, || {
                predictor.top_k(x.view(), 5, query, &Control::default())
            });
            assert_eq!(pooled.unwrap(), alone, "{n_threads} threads");
        }
        let control = Control::default();
        let above = predictor.above(x.view(), 0.1, 4, &control).unwrap();
        for i in 0..n_rows {
            let (indices, values) = x.view().row(i);
            let row = CsrMatrix {
                pattern: Pattern {
                    n_cols: n_features,
                    indptr: vec![0, indices.len() as u64],
                    indices: indices.to_vec(),
                },
                data: values.to_vec(),
            };
            let one = top_k(&predictor, &row, 5, query);
            assert_eq!(one.labels, alone.labels[5 * i..5 * i + 5]);
            assert_eq!(one.scores, alone.scores[5 * i..5 * i + 5]);
            let one = predictor.above(row.view(), 0.1, 4, &control).unwrap();
            assert_eq!(one.indices, above.view().row(i));
        }
    }
}

#[test]
fn normalizing_inside_equals_normalizing_before() {
    let mut draw = Draw(11);
    let x = matrix(&mut draw, 20, 10);
    let unit = proxtree_core::sparse::normalize_rows(x.view());
    let flat = trained(&mut draw, LabelTree::flat(30).unwrap(), 10);
    let of = |normalize| {
        let model =
            LinearTreeModel::new(10, vec![flat.clone()], Scoring::Margin, normalize, vec![]);
        Predictor::new(model.unwrap()).unwrap()
    };
    let inside = top_k(&of(true), &x, 4, ALL);
    assert_eq!(inside, top_k(&of(false), &unit, 4, ALL));
    assert_ne!(inside, top_k(&of(false), &x, 4, ALL));
}
