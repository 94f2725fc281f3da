//! Prediction in the cases worked out by hand: ties, overflow, wrong arguments.
#![allow(clippy::float_cmp, clippy::unwrap_used)]

use proxtree_core::model::{ChildWeights, LinearTreeModel, NodeClassifiers, Scoring, TrainedTree};
use proxtree_core::parallel::Control;
use proxtree_core::predict::{Predictor, Query, TopLabels};
use proxtree_core::sparse::{CsrMatrix, Pattern};
use proxtree_core::tree::LabelTree;

const ALL: Query<'_> = Query {
    beam_size: usize::MAX,
    allowed: None,
};

fn top_k(predictor: &Predictor, x: &CsrMatrix, k: usize, query: Query<'_>) -> TopLabels {
    predictor
        .top_k(x.view(), k, query, &Control::default())
        .unwrap()
}

/// Weights on feature 0 alone: one (weight, intercept) per child.
fn one_feature(children: &[(f32, f64)]) -> NodeClassifiers {
    let problems = children.iter().map(|(weight, intercept)| ChildWeights {
        indices: &[0],
        values: std::slice::from_ref(weight),
        intercept: *intercept,
    });
    NodeClassifiers::from_problems(problems).unwrap()
}

fn one_row(n_cols: usize, value: f32) -> CsrMatrix {
    CsrMatrix {
        pattern: Pattern {
            n_cols,
            indptr: vec![0, 1],
            indices: vec![0],
        },
        data: vec![value],
    }
}

/// Label 5 reaches by its feature what label 170 has without any.
#[test]
fn a_touched_label_ties_with_an_untouched_one() {
    let mut children = vec![(0.0, 0.0); 200];
    children[5] = (0.25, 0.25);
    children[170] = (0.0, 0.5);
    let flat = TrainedTree::new(LabelTree::flat(200).unwrap(), vec![one_feature(&children)]);
    let model =
        LinearTreeModel::new(1, vec![flat.unwrap()], Scoring::Margin, false, vec![]).unwrap();
    let predictor = Predictor::new(model).unwrap();
    let top = top_k(&predictor, &one_row(1, 1.0), 1, ALL);
    assert_eq!((top.labels, top.scores), (vec![5], vec![0.5]));
    let top = top_k(&predictor, &one_row(1, 1.0), 3, ALL);
    assert_eq!(top.labels, [5, 170, 0]);
}

/// All margins above 1 score the same: exp(0). The greater sum of margins wins.
#[test]
fn ensembles_break_ties_by_leaf_margins() {
    let flat = |children: &[(f32, f64)]| {
        TrainedTree::new(LabelTree::flat(3).unwrap(), vec![one_feature(children)]).unwrap()
    };
    let trees = vec![
        flat(&[(2.0, 0.0), (2.0, 0.0), (1.0, 0.0)]),
        flat(&[(1.0, 0.0), (2.0, 0.0), (4.0, 0.0)]),
    ];
    let model = LinearTreeModel::new(1, trees, Scoring::Squared, false, vec![]).unwrap();
    let top = top_k(&Predictor::new(model).unwrap(), &one_row(1, 1.0), 3, ALL);
    assert_eq!((top.labels, top.scores), (vec![2, 1, 0], vec![1.0; 3]));
}

#[test]
fn extreme_margins_are_finite_and_ordered() {
    let big = |values, intercept| ChildWeights {
        indices: &[0, 1],
        values,
        intercept,
    };
    let node = NodeClassifiers::from_problems([
        big(&[f32::MAX, -f32::MAX], 1.0),
        big(&[f32::MAX, f32::MAX], 0.0),
        big(&[1.0, 1.0], 0.0),
    ])
    .unwrap();
    let flat = TrainedTree::new(LabelTree::flat(3).unwrap(), vec![node]).unwrap();
    let model = LinearTreeModel::new(2, vec![flat], Scoring::Margin, false, vec![]).unwrap();
    let x = CsrMatrix {
        pattern: Pattern {
            n_cols: 2,
            indptr: vec![0, 2],
            indices: vec![0, 1],
        },
        data: vec![f32::MAX, f32::MAX],
    };
    // Label 0 sums +inf and -inf: no number, so the worst margin.
    let top = top_k(&Predictor::new(model).unwrap(), &x, 3, ALL);
    assert_eq!(top.labels, [1, 2, 0]);
    assert_eq!(top.scores, [f32::MAX, f32::MAX, f32::MIN]);
}

#[test]
fn wrong_arguments_are_named() {
    const LABEL: u32 = 1 << 31;
    let tree = LabelTree::from_parts(2, vec![0, 2, 3], vec![1, LABEL, LABEL | 1]).unwrap();
    let nodes = vec![
        one_feature(&[(1.0, 0.0), (1.0, 0.0)]),
        one_feature(&[(1.0, 0.0)]),
    ];
    let deep = TrainedTree::new(tree, nodes).unwrap();
    let model = LinearTreeModel::new(6, vec![deep], Scoring::Squared, false, vec![]).unwrap();
    let predictor = Predictor::new(model).unwrap();
    let control = Control::default();
    let (x, wide) = (one_row(6, 1.0), one_row(7, 1.0));
    let allowed = Query {
        allowed: Some(&[1, 20]),
        ..ALL
    };
    let beam = Query {
        beam_size: 0,
        ..ALL
    };
    let errors = [
        predictor.top_k(x.view(), 0, ALL, &control).map(drop),
        predictor.top_k(wide.view(), 1, ALL, &control).map(drop),
        predictor.top_k(x.view(), 1, allowed, &control).map(drop),
        predictor.top_k(x.view(), 1, beam, &control).map(drop),
        predictor
            .top_k(x.view(), usize::MAX / 4, ALL, &control)
            .map(drop),
        predictor.above(x.view(), f32::NAN, 1, &control).map(drop),
        predictor.decision_function(x.view(), &control).map(drop),
        predictor
            .score_pairs(x.view(), &[0, 2], &[0, 0], &control)
            .map(drop),
        predictor
            .score_pairs(x.view(), &[0], &[20], &control)
            .map(drop),
        predictor
            .score_pairs(x.view(), &[0], &[1, 0], &control)
            .map(drop),
    ];
    let texts = [
        "k must be",
        "X has 7 features",
        "label 20",
        "beam_size must",
        "no memory",
        "threshold",
        "depth one",
        "row 2",
        "label 20",
        "1 rows for 2",
    ];
    for (error, text) in errors.into_iter().zip(texts) {
        let error = error.unwrap_err().to_string();
        assert!(error.contains(text), "{error} / {text}");
    }
    control.cancel();
    let cancelled = predictor.top_k(x.view(), 1, ALL, &control);
    assert!(matches!(cancelled, Err(proxtree_core::Error::Cancelled)));
}
