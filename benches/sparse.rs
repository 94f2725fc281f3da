//! Matrices turned and scaled; throughput in non-zeros, one thread.
#![allow(
    clippy::unwrap_used,
    missing_docs,
    reason = "a bench that cannot build its input must fail; criterion generates items"
)]

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use proxtree_core::parallel::Control;
use proxtree_core::sparse::{normalize_rows, transpose, transpose_pattern};

mod draw;

fn bench(criterion: &mut Criterion) {
    let control = Control::default();
    let x = draw::Draw(2).rows(20_000, 40_000, 60);
    let mut group = criterion.benchmark_group("sparse");
    group.sample_size(20);
    group.throughput(Throughput::Elements(x.data.len() as u64));
    group.bench_function("transpose", |bencher| {
        bencher.iter(|| black_box(transpose(x.view(), &control).unwrap()));
    });
    group.bench_function("transpose_pattern", |bencher| {
        bencher.iter(|| black_box(transpose_pattern(x.pattern.view(), &control).unwrap()));
    });
    group.bench_function("normalize_rows", |bencher| {
        bencher.iter(|| black_box(normalize_rows(x.view())));
    });
    group.finish();
}

criterion_group!(benches, bench);
criterion_main!(benches);
