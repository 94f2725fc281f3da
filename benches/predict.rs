//! Prediction on generated models: Zipf features, rows like short texts.
//!
//! Throughput is in rows a second, on one thread.
#![allow(clippy::unwrap_used, missing_docs)]

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use proxtree_core::model::{
    ChildWeights, Description, LinearTreeModel, NodeClassifiers, Scoring, TrainedTree, from_bytes,
    to_bytes,
};
use proxtree_core::parallel::Control;
use proxtree_core::predict::{Predictor, Query};
use proxtree_core::tree::LabelTree;

mod draw;

use draw::Draw;

const N_LABELS: usize = 18_000;
const N_FEATURES: usize = 40_000;
const N_ROWS: usize = 1_000;
const ROW_FEATURES: usize = 30;
const LABEL_WEIGHTS: usize = 16;
const CHILDREN: usize = 100;

fn classifiers(draw: &mut Draw, n_children: usize) -> NodeClassifiers {
    let problems: Vec<_> = (0..n_children)
        .map(|_| {
            let ids = draw.features(N_FEATURES, LABEL_WEIGHTS);
            let values = draw.values(ids.len());
            (ids, values, -draw.unit())
        })
        .collect();
    NodeClassifiers::from_problems(problems.iter().map(|(ids, values, b)| ChildWeights {
        indices: ids,
        values,
        intercept: *b,
    }))
    .unwrap()
}

fn model(draw: &mut Draw, tree: LabelTree, scoring: Scoring) -> LinearTreeModel {
    let nodes = (0..tree.n_nodes())
        .map(|i| classifiers(draw, tree.children(i).len()))
        .collect();
    let trained = TrainedTree::new(tree, nodes).unwrap();
    LinearTreeModel::new(N_FEATURES, vec![trained], scoring, true, vec![]).unwrap()
}

/// Three levels of `CHILDREN`-ary nodes.
fn deep_tree() -> LabelTree {
    let n_leaves = N_LABELS.div_ceil(CHILDREN) as u32;
    let n_inner = n_leaves.div_ceil(CHILDREN as u32);
    let mut children: Vec<u32> = (1..=n_inner + n_leaves).collect();
    children.extend((0..N_LABELS as u32).map(|l| l | 1 << 31));
    let mut child_ptr = vec![0, n_inner];
    for (first, n) in [(n_inner, n_leaves), (n_inner + n_leaves, N_LABELS as u32)] {
        let steps = (1..=n.div_ceil(CHILDREN as u32)).map(|i| n.min(i * CHILDREN as u32));
        child_ptr.extend(steps.map(|end| first + end));
    }
    LabelTree::from_parts(N_LABELS, child_ptr, children).unwrap()
}

fn predict(c: &mut Criterion) {
    let mut draw = Draw(1);
    let x = draw.rows(N_ROWS, N_FEATURES, ROW_FEATURES);
    let flat = model(
        &mut draw,
        LabelTree::flat(N_LABELS).unwrap(),
        Scoring::Margin,
    );
    let deep = model(&mut draw, deep_tree(), Scoring::Squared);
    let query = Query {
        beam_size: 10,
        allowed: None,
    };
    let mut group = c.benchmark_group("predict_top5");
    group.throughput(Throughput::Elements(N_ROWS as u64));
    for (name, model) in [("one_vs_rest", &flat), ("beam10", &deep)] {
        let predictor = Predictor::new(model.clone()).unwrap();
        group.bench_function(name, |b| {
            b.iter(|| predictor.top_k(black_box(x.view()), 5, query, &Control::default()));
        });
    }
    group.finish();

    let mut group = c.benchmark_group("model_file");
    for (name, model) in [("one_vs_rest", &flat), ("tree", &deep)] {
        let bytes = to_bytes(model, &Description::default()).unwrap();
        group.throughput(Throughput::Bytes(bytes.len() as u64));
        group.bench_function(format!("read_{name}"), |b| b.iter(|| from_bytes(&bytes)));
        group.bench_function(format!("write_{name}"), |b| {
            b.iter(|| to_bytes(model, &Description::default()));
        });
    }
    group.finish();
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(20);
    targets = predict
}
criterion_main!(benches);
