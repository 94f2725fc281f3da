//! Sizes of nodes against a naive count; sampled problems against whole trainings.

use std::collections::BTreeSet;

use proptest::prelude::*;
use proxtree_core::parallel::{Control, with_pool};
use proxtree_core::size::measure;
use proxtree_core::solver::{Intercept, Method, Settings, Stop};
use proxtree_core::sparse::{CsrMatrix, Pattern, transpose_pattern};
use proxtree_core::train::{Chosen, ClassWeight, Recipe, RootRows, train, train_sample};
use proxtree_core::tree::{Child, LabelTree};

fn matrix(rows: &[Vec<(u32, f32)>], n_cols: usize) -> CsrMatrix {
    let mut out = CsrMatrix {
        pattern: Pattern {
            n_cols,
            indptr: vec![0],
            indices: Vec::new(),
        },
        data: Vec::new(),
    };
    for row in rows {
        out.pattern.indices.extend(row.iter().map(|&(j, _)| j));
        out.data.extend(row.iter().map(|&(_, x)| x));
        out.pattern.indptr.push(out.data.len() as u64);
    }
    out
}

fn pattern(rows: &[Vec<u32>], n_cols: usize) -> Pattern {
    let plain: Vec<Vec<(u32, f32)>> = rows
        .iter()
        .map(|row| row.iter().map(|&j| (j, 1.0)).collect())
        .collect();
    matrix(&plain, n_cols).pattern
}

/// Root over node 1 and label 4; node 1 over node 2 and label 3; node 2 over 0, 1, 2.
fn tree() -> LabelTree {
    use Child::{Label as L, Node as N};
    let nodes = [vec![N(1), L(4)], vec![N(2), L(3)], vec![L(0), L(1), L(2)]];
    LabelTree::from_children(5, &nodes, 0).expect("a tree")
}

fn below(tree: &LabelTree, node: usize) -> BTreeSet<u32> {
    tree.children(node)
        .flat_map(|child| match child {
            Child::Label(label) => BTreeSet::from([label]),
            Child::Node(id) => below(tree, id as usize),
        })
        .collect()
}

/// Features 0 and 1 cancel in the sum of label 0's rows; both occur.
#[test]
fn values_that_cancel_are_counted() {
    let x = matrix(
        &[
            vec![(0, 1.0), (1, -2.0)],
            vec![(0, -1.0), (1, 2.0)],
            vec![(2, 1.0)],
            vec![],
        ],
        4,
    );
    let y = pattern(&[vec![0], vec![0], vec![], vec![1]], 2);
    let control = Control::default();
    let label_rows = transpose_pattern(y.view(), &control).unwrap();
    let tree = LabelTree::flat(2).unwrap();
    let sizes = measure(x.view(), label_rows.view(), &tree, &control).unwrap();
    let root = sizes.nodes[0];
    // Rows 0, 1 and the empty row 3 carry labels; row 2 does not.
    assert_eq!((root.n_rows, root.nnz, root.n_features), (3, 4, 2));
    let whole = sizes.whole_root;
    assert_eq!((whole.n_rows, whole.nnz, whole.n_features), (4, 5, 3));
    assert_eq!((root.depth, root.n_children), (0, 2));
}

fn recipe() -> Recipe {
    Recipe {
        alpha: 0.05,
        alpha_exponent: 0.1,
        propensity_weight: 0.1,
        ridge: 0.0,
        class_weight: ClassWeight::Fixed(1.0, 1.0),
        intercept: Intercept::Penalized(1.0),
    }
}

fn settings() -> Settings {
    Settings {
        method: Method::Auto,
        tol: 1e-3,
        stop: Stop::Violation(0.01),
        max_iter: 12,
        prune: 0.0,
        round_weights: true,
        round_intercept: false,
        history: false,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn nodes_are_as_counted_naively_and_bound_what_is_trained(
        rows in prop::collection::vec(
            (prop::collection::btree_map(0u32..9, -2.0f32..2.0, 0..5),
             prop::collection::btree_set(0u32..5, 0..3)), 3..20),
        labelled_root in any::<bool>(),
        n_threads in 1usize..4,
    ) {
        let x: Vec<Vec<(u32, f32)>> = rows
            .iter()
            .map(|(x, _)| x.iter().map(|(&j, &v)| (j, v)).collect())
            .collect();
        let y: Vec<Vec<u32>> = rows.iter().map(|(_, y)| y.iter().copied().collect()).collect();
        prop_assume!(y.iter().any(|labels| !labels.is_empty()));
        let (x, y) = (matrix(&x, 9), pattern(&y, 5));
        let tree = tree();
        let control = Control::default();
        let label_rows = transpose_pattern(y.view(), &control).unwrap();
        let sizes = with_pool(n_threads, || {
            measure(x.view(), label_rows.view(), &tree, &control)
        }).unwrap();
        for v in 0..tree.n_nodes() {
            let labels = below(&tree, v);
            let own: Vec<usize> = (0..rows.len())
                .filter(|&i| rows[i].1.iter().any(|l| labels.contains(l)))
                .collect();
            let features: BTreeSet<u32> = own.iter().flat_map(|&i| rows[i].0.keys().copied()).collect();
            let nnz: usize = own.iter().map(|&i| rows[i].0.len()).sum();
            let size = sizes.nodes[v];
            prop_assert_eq!(
                (size.n_rows, size.nnz, size.n_features),
                (own.len() as u64, nnz as u64, features.len() as u64)
            );
            prop_assert_eq!(size.n_children, tree.children(v).len() as u64);
        }
        let root_rows = if labelled_root { RootRows::Labelled } else { RootRows::All };
        let (recipe, settings) = (recipe(), settings());
        let trained = with_pool(n_threads, || train(
            x.view(), label_rows.view(), None, tree.clone(), root_rows, &recipe,
            &Settings { round_intercept: true, ..settings }, &control,
        )).unwrap();
        for (v, node) in trained.tree.nodes().iter().enumerate() {
            let size = if v == 0 && !labelled_root { sizes.whole_root } else { sizes.nodes[v] };
            prop_assert!(node.entries().len() as u64 <= size.n_children * size.n_features);
        }
        // The second and the first child of the root, the last one of node 2.
        let chosen = [(2, vec![2]), (0, vec![1, 0])];
        let some = with_pool(n_threads, || train_sample(
            x.view(), label_rows.view(), None, &tree, root_rows, &recipe, &settings,
            Chosen { whole: &chosen, thinned: &[(2, 2)] }, &control,
        )).unwrap();
        for ((node, positions), sampled) in chosen.iter().zip(&some) {
            let coef = sampled.classifiers.coef(9);
            let whole = trained.tree.nodes()[*node].coef(9);
            let first = tree.child_ptr()[*node] as usize;
            for (at, &position) in positions.iter().enumerate() {
                prop_assert_eq!(coef.view().row(at), whole.view().row(position));
                let (a, b) = (&sampled.records[at], &trained.records[first + position]);
                prop_assert_eq!(a.nnz, b.nnz);
                prop_assert_eq!(a.certificate.objective.to_bits(), b.certificate.objective.to_bits());
            }
        }
        // So few rows are all kept.
        prop_assert_eq!(some.len(), 3);
        let (thinned, whole) = (&some[2].classifiers, &some[0].classifiers);
        prop_assert_eq!(thinned.coef(9), whole.coef(9));
        prop_assert_eq!(thinned.intercepts(), whole.intercepts());
    }
}
