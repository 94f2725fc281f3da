//! Kernels to be counted, not timed: `instructions.py` runs this under callgrind.
//!
//! `instructions KERNEL N` does the kernel's work N times after its set-up, on one
//! thread; without arguments it lists the kernels.
#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a bench, not a library"
)]

use std::hint::black_box;

use proxtree_core::model::{ChildWeights, LinearTreeModel, NodeClassifiers, Scoring, TrainedTree};
use proxtree_core::parallel::{Control, with_pool};
use proxtree_core::predict::{Predictor, Query};
use proxtree_core::solver::{Design, Method, Settings, Stop, Workspace, solve};
use proxtree_core::tree::{
    BuildSettings, Clustering, KMeansSettings, LabelTree, Start, build, kmeans, label_features,
};

mod draw;

use draw::Draw;
use draw::problems::{positives, problem, settings};

/// A name, and what runs it so many times.
type Kernel = (&'static str, fn(u32));

const KERNELS: [Kernel; 4] = [
    ("certified_label", |n| labels(settings(Method::Auto), n)),
    ("tree_problem", |n| {
        let early = Settings {
            stop: Stop::Violation(0.01),
            max_iter: 12,
            ..settings(Method::Auto)
        };
        labels(early, n);
    }),
    ("kmeans", clusters),
    ("predict", predictions),
];

/// A rare and a frequent label.
fn labels(settings: Settings, n: u32) {
    let control = Control::default();
    let x = Draw(1).rows(4_000, 4_000, 30);
    let design = Design::new(x.view(), None, &control).unwrap();
    let mut workspace = Workspace::new(&design);
    let rare = positives(&design, 5);
    let frequent = positives(&design, 200);
    for _ in 0..n {
        for positives in [&rare, &frequent] {
            let problem = problem(&design, positives);
            black_box(solve(&problem, &settings, &[], &mut workspace, &control).unwrap());
        }
    }
}

fn clusters(n: u32) {
    let control = Control::default();
    let x = Draw(5).rows(2_000, 5_000, 30);
    let y = draw::labels(&x, 400);
    let features = label_features(x.view(), y.view(), &control).unwrap();
    let start = Start::PlusPlus {
        n_clusters: 20,
        seed: 0,
    };
    let settings = KMeansSettings::default();
    for _ in 0..n {
        black_box(kmeans(features.view(), start, &settings, &control).unwrap());
    }
}

/// Rows through a tree with a beam.
fn predictions(n: u32) {
    let control = Control::default();
    let mut draw = Draw(1);
    let x = draw.rows(300, 5_000, 30);
    let y = draw::labels(&x, 400);
    let features = label_features(x.view(), y.view(), &control).unwrap();
    let shape = BuildSettings {
        n_clusters: 20,
        max_depth: 3,
        clustering: Clustering::NAMES[0].1,
        max_iter: 300,
        seed: 0,
    };
    let tree = build(features.view(), &shape, &control).unwrap();
    let predictor = Predictor::new(model(&mut draw, tree)).unwrap();
    let query = Query {
        beam_size: 10,
        allowed: None,
    };
    for _ in 0..n {
        black_box(predictor.top_k(x.view(), 5, query, &control).unwrap());
    }
}

/// Made-up weights, 16 a problem.
fn model(draw: &mut Draw, tree: LabelTree) -> LinearTreeModel {
    let nodes = (0..tree.n_nodes()).map(|i| {
        let problems: Vec<_> = (0..tree.children(i).len())
            .map(|_| {
                let ids = draw.features(5_000, 16);
                let values = draw.values(ids.len());
                (ids, values, -draw.unit())
            })
            .collect();
        let weights = problems.iter().map(|(ids, values, b)| ChildWeights {
            indices: ids,
            values,
            intercept: *b,
        });
        NodeClassifiers::from_problems(weights).unwrap()
    });
    let nodes = nodes.collect();
    let trained = TrainedTree::new(tree, nodes).unwrap();
    LinearTreeModel::new(5_000, vec![trained], Scoring::Squared, true, vec![]).unwrap()
}

fn main() {
    // `cargo bench` passes flags of its own; they ask for nothing here.
    let words: Vec<String> = std::env::args().skip(1).collect();
    let Some((_, kernel)) = words
        .first()
        .and_then(|name| KERNELS.iter().find(|(known, _)| known == name))
    else {
        for (name, _) in KERNELS {
            println!("{name}");
        }
        return;
    };
    let n = words.get(1).and_then(|n| n.parse().ok()).unwrap_or(1);
    with_pool(1, || {
        kernel(n);
        Ok(())
    })
    .unwrap();
}
