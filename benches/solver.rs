//! One problem at a time: what a label costs, by its number of positives.
//!
//! On generated rows; `benches/peers/run.py` measures real labels. Throughput is in
//! non-zeros of the matrix, touched or not: work that grows with what a label
//! touches shows as throughput that falls with its positives.
#![allow(
    clippy::unwrap_used,
    missing_docs,
    reason = "a bench that cannot build its input must fail; criterion generates items"
)]

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use proxtree_core::parallel::Control;
use proxtree_core::solver::{
    Design, ForwardBackward, LANES, Method, Problem, Settings, Siblings, Stop, Workspace, solve,
};

mod draw;

use draw::problems::{positives, problem, settings};

/// Name and settings of each kernel; the last number is the most positives it gets.
fn kernels() -> Vec<(&'static str, Settings, usize)> {
    let eps = 0.01;
    let auto = settings(Method::Auto);
    let sweeps = |n| Settings {
        stop: Stop::Violation(0.01),
        max_iter: n,
        ..auto
    };
    let dual = Method::DualCoordinateDescent {
        c: 1.0,
        eps: 0.1,
        seed: 0,
    };
    let plain = settings(Method::CoordinateDescent { eps });
    let liblinear = settings(Method::Liblinear { eps, seed: 0 });
    let proximal = ForwardBackward::PAPER;
    let fista = ForwardBackward {
        accelerated: true,
        ..proximal
    };
    let proximal = settings(Method::ForwardBackward(proximal));
    let fista = settings(Method::ForwardBackward(fista));
    vec![
        ("auto", auto, 2_000),
        ("auto, 12 sweeps", sweeps(12), 2_000),
        ("one sweep", sweeps(1), 2_000),
        ("coordinate_descent", plain, 20),
        ("coordinate_descent, liblinear", liblinear, 2_000),
        ("dual_coordinate_descent", settings(dual), 2_000),
        ("forward_backward", proximal, 2_000),
        ("forward_backward, fista", fista, 2_000),
    ]
}

fn bench(criterion: &mut Criterion) {
    let matrix = draw::Draw(1).rows(20_000, 20_000, 30);
    let control = Control::default();
    let design = Design::new(matrix.view(), None, &control).unwrap();
    let mut workspace = Workspace::new(&design);
    let mut group = criterion.benchmark_group("solve");
    group.sample_size(10);
    group.throughput(Throughput::Elements(matrix.data.len() as u64));
    group.bench_function("design", |bencher| {
        bencher.iter(|| black_box(Design::new(matrix.view(), None, &control).unwrap()));
    });
    for n in [2, 20, 200, 2_000] {
        let positives = positives(&design, n);
        let problem = problem(&design, &positives);
        for (name, settings, most) in kernels() {
            if n > most {
                continue;
            }
            group.bench_function(BenchmarkId::new(name, n), |bencher| {
                bencher.iter(|| {
                    black_box(solve(&problem, &settings, &[], &mut workspace, &control).unwrap())
                });
            });
        }
        // From the solution on: its margins and its certificate.
        let settings = settings(Method::Auto);
        solve(&problem, &settings, &[], &mut workspace, &control).unwrap();
        let solution = workspace.weights().to_vec();
        group.bench_function(BenchmarkId::new("certify", n), |bencher| {
            bencher.iter(|| {
                black_box(solve(&problem, &settings, &solution, &mut workspace, &control).unwrap())
            });
        });
    }
    group.finish();
}

/// Sixteen L2 problems together, one sweep and to their rule; throughput in non-zeros
/// of the matrix times problems.
fn siblings(criterion: &mut Criterion) {
    let matrix = draw::Draw(1).rows(20_000, 20_000, 30);
    let control = Control::default();
    let design = Design::new(matrix.view(), None, &control).unwrap();
    let mut siblings = Siblings::default();
    let positives: Vec<Vec<u32>> = (1..=LANES).map(|k| positives(&design, 20 * k)).collect();
    let problems: Vec<Problem<'_>> = positives.iter().map(|p| problem(&design, p)).collect();
    let dual = Method::DualCoordinateDescent {
        c: 1.0,
        eps: 0.1,
        seed: 0,
    };
    let mut group = criterion.benchmark_group("siblings");
    group.sample_size(10);
    group.throughput(Throughput::Elements((matrix.data.len() * LANES) as u64));
    for (name, max_iter) in [("one sweep and proof", 1), ("to eps 0.1", 1_000)] {
        let settings = Settings {
            max_iter,
            ..settings(dual)
        };
        group.bench_function(name, |bencher| {
            bencher.iter(|| {
                black_box(
                    siblings
                        .solve(&problems, &settings, None, &control)
                        .unwrap(),
                )
            });
        });
    }
    group.finish();
}

/// Several alphas, each from the weights of the one before, and each from nothing.
fn path(criterion: &mut Criterion) {
    let matrix = draw::Draw(1).rows(20_000, 20_000, 30);
    let design = Design::new(matrix.view(), None, &Control::default()).unwrap();
    let mut workspace = Workspace::new(&design);
    let positives = positives(&design, 200);
    let settings = settings(Method::Auto);
    let mut group = criterion.benchmark_group("path of 5 alphas");
    group.sample_size(10);
    for warm in [true, false] {
        group.bench_function(if warm { "warm" } else { "cold" }, |bencher| {
            bencher.iter(|| {
                let mut start = Vec::new();
                for alpha in [4.0, 2.0, 1.0, 0.5, 0.25] {
                    let problem = Problem {
                        alpha,
                        ..problem(&design, &positives)
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

criterion_group!(benches, bench, siblings, path);
criterion_main!(benches);
