//! Label features, K-means and whole trees on made-up labels, one thread.
//!
//! Rows have features by Zipf's law; a label has the rows that hold its rare
//! feature. Throughput is in non-zeros of the label features.
#![allow(clippy::unwrap_used, missing_docs)]

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use proxtree_core::parallel::{Control, with_pool};
use proxtree_core::tree::{
    BuildSettings, Clustering, KMeansSettings, Start, build, kmeans, label_features,
};

mod draw;

use draw::Draw;

const N_LABELS: usize = 2_000;
const N_ROWS: usize = 5_000;
const N_FEATURES: usize = 20_000;

fn bench(c: &mut Criterion) {
    let x = Draw(5).rows(N_ROWS, N_FEATURES, 40);
    let y = draw::labels(&x, N_LABELS);
    let control = Control::default();
    let one_thread = |work: &mut (dyn FnMut() + Send)| {
        with_pool(1, || {
            work();
            Ok(())
        })
        .unwrap();
    };
    let v = label_features(x.view(), y.view(), &control).unwrap();
    let mut group = c.benchmark_group("kmeans");
    group.sample_size(10);
    group.throughput(Throughput::Elements(v.data.len() as u64));
    group.bench_function("label_features", |b| {
        one_thread(&mut || {
            b.iter(|| black_box(label_features(x.view(), y.view(), &control).unwrap()));
        });
    });
    let start = Start::PlusPlus {
        n_clusters: 100,
        seed: 0,
    };
    for (name, max_iter) in [("seeding", 0), ("root", 300)] {
        let settings = KMeansSettings {
            max_iter,
            ..KMeansSettings::default()
        };
        group.bench_function(name, |b| {
            one_thread(&mut || {
                b.iter(|| black_box(kmeans(v.view(), start, &settings, &control).unwrap()));
            });
        });
    }
    for (name, clustering) in Clustering::NAMES {
        let settings = BuildSettings {
            n_clusters: 100,
            max_depth: 6,
            clustering,
            max_iter: 300,
            seed: 0,
        };
        group.bench_function(format!("tree/{name}"), |b| {
            one_thread(&mut || {
                b.iter(|| black_box(build(v.view(), &settings, &control).unwrap()));
            });
        });
    }
    group.finish();
}

criterion_group!(benches, bench);
criterion_main!(benches);
