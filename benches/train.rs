//! Whole models on generated rows, one thread; throughput in problems.
#![allow(
    clippy::unwrap_used,
    missing_docs,
    reason = "a bench that cannot build its input must fail; criterion generates items"
)]

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use proxtree_core::parallel::{Control, with_pool};
use proxtree_core::solver::{Intercept, Method, Settings, Stop};
use proxtree_core::sparse::transpose_pattern;
use proxtree_core::train::{ClassWeight, Recipe, RootRows, train};
use proxtree_core::tree::{BuildSettings, Clustering, LabelTree, build, label_features};

mod draw;

use draw::problems::settings;

const N_LABELS: usize = 1_000;

fn bench(criterion: &mut Criterion) {
    let control = Control::default();
    let x = draw::Draw(3).rows(4_000, 10_000, 40);
    let y = draw::labels(&x, N_LABELS);
    let features = label_features(x.view(), y.view(), &control).unwrap();
    let shape = BuildSettings {
        n_clusters: 30,
        max_depth: 6,
        clustering: Clustering::NAMES[0].1,
        max_iter: 300,
        seed: 0,
    };
    let tree = build(features.view(), &shape, &control).unwrap();
    let label_rows = transpose_pattern(y.view(), &control).unwrap();
    let recipe = Recipe {
        alpha: 1.0,
        alpha_exponent: 0.0,
        propensity_weight: 0.0,
        ridge: 0.0,
        class_weight: ClassWeight::Fixed(1.0, 1.0),
        intercept: Intercept::Penalized(1.0),
    };
    let certified = settings(Method::Auto);
    // As the tree estimator stops.
    let early = Settings {
        stop: Stop::Violation(0.01),
        max_iter: 12,
        round_intercept: true,
        ..certified
    };
    let dual = settings(Method::DualCoordinateDescent {
        c: 1.0,
        eps: 0.1,
        seed: 0,
    });
    let mut group = criterion.benchmark_group("train");
    group.sample_size(10);
    for (name, tree, settings) in [
        ("tree", &tree, early),
        ("tree, L2", &tree, dual),
        (
            "one_vs_rest",
            &LabelTree::flat(N_LABELS).unwrap(),
            certified,
        ),
    ] {
        group.throughput(Throughput::Elements(tree.n_problems() as u64));
        group.bench_function(name, |bencher| {
            with_pool(1, || {
                bencher.iter(|| {
                    black_box(
                        train(
                            x.view(),
                            label_rows.view(),
                            None,
                            tree.clone(),
                            RootRows::All,
                            &recipe,
                            &settings,
                            &control,
                        )
                        .unwrap(),
                    )
                });
                Ok(())
            })
            .unwrap();
        });
    }
    group.finish();
}

criterion_group!(benches, bench);
criterion_main!(benches);
