//! One problem at a time: what a label costs, by its number of positives.
//!
//! On generated rows; `benches/peers/liblinear.py` measures real labels.
#![allow(
    clippy::unwrap_used,
    missing_docs,
    reason = "a bench that cannot build its input must fail; criterion generates items"
)]

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use proxtree_core::parallel::Control;
use proxtree_core::solver::{
    DEFAULT_MAX_ITER, Design, Intercept, Method, Problem, Settings, Stop, Workspace, solve,
};

mod draw;

fn bench(criterion: &mut Criterion) {
    let matrix = draw::Draw(1).rows(20_000, 20_000, 30);
    let design = Design::new(matrix.view(), None, &Control::default()).unwrap();
    let mut workspace = Workspace::new(&design);
    let mut group = criterion.benchmark_group("solve");
    group.sample_size(10);
    for n_positives in [2, 20, 200, 2_000] {
        // Rows of a feature about as frequent, and some strays.
        let feature = (0..design.n_features())
            .min_by_key(|&j| design.column(j).0.len().abs_diff(n_positives))
            .unwrap();
        let mut positives = design.column(feature).0.to_vec();
        positives.push((positives[0] + 101) % 20_000);
        positives.sort_unstable();
        positives.dedup();
        for (name, method, stop) in [
            ("auto", Method::Auto, Stop::Gap),
            ("auto, 12 sweeps", Method::Auto, Stop::Violation(0.01)),
            ("coordinate_descent", Method::CoordinateDescent, Stop::Gap),
        ] {
            if method == Method::CoordinateDescent && n_positives > 20 {
                continue;
            }
            let problem = Problem {
                design: &design,
                positives: &positives,
                alpha: 1.0,
                ridge: 0.0,
                class_weight: (1.0, 1.0),
                intercept: Intercept::Penalized(1.0),
            };
            let settings = Settings {
                method,
                tol: 1e-3,
                max_iter: if stop == Stop::Gap {
                    DEFAULT_MAX_ITER
                } else {
                    12
                },
                stop,
                prune: 0.0,
                round_weights: true,
                round_intercept: false,
                history: false,
            };
            group.bench_function(BenchmarkId::new(name, n_positives), |bencher| {
                bencher.iter(|| {
                    let control = Control::default();
                    black_box(solve(&problem, &settings, &[], &mut workspace, &control).unwrap())
                });
            });
        }
    }
    group.finish();
}

/// Several alphas, each from the weights of the one before, and each from nothing.
fn path(criterion: &mut Criterion) {
    let matrix = draw::Draw(1).rows(20_000, 20_000, 30);
    let design = Design::new(matrix.view(), None, &Control::default()).unwrap();
    let mut workspace = Workspace::new(&design);
    let positives = (0..design.n_features())
        .map(|j| design.column(j).0)
        .min_by_key(|ids| ids.len().abs_diff(200))
        .unwrap();
    let settings = Settings {
        method: Method::Auto,
        tol: 1e-3,
        max_iter: DEFAULT_MAX_ITER,
        stop: Stop::Gap,
        prune: 0.0,
        round_weights: false,
        round_intercept: false,
        history: false,
    };
    let mut group = criterion.benchmark_group("path of 5 alphas");
    group.sample_size(10);
    for warm in [true, false] {
        group.bench_function(if warm { "warm" } else { "cold" }, |bencher| {
            bencher.iter(|| {
                let mut start = Vec::new();
                for alpha in [4.0, 2.0, 1.0, 0.5, 0.25] {
                    let problem = Problem {
                        design: &design,
                        positives,
                        alpha,
                        ridge: 0.0,
                        class_weight: (1.0, 1.0),
                        intercept: Intercept::Penalized(1.0),
                    };
                    let control = Control::default();
                    solve(&problem, &settings, &start, &mut workspace, &control).unwrap();
                    if warm {
                        start = workspace.weights().to_vec();
                    }
                }
            });
        });
    }
    group.finish();
}

criterion_group!(benches, bench, path);
criterion_main!(benches);
