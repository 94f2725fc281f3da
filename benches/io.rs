//! Parsing speed in bytes of text a second, on one thread and on all.
//!
//! `PROXTREE_DATA=folder cargo bench --bench io` adds eurlex57k.

#![allow(
    missing_docs,
    clippy::print_stderr,
    clippy::unwrap_used,
    reason = "a bench, not a library"
)]

use std::fmt::Write;
use std::hint::black_box;
use std::path::Path;
use std::process::Command;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use proxtree_core::io::{Options, format_rows, parse_xmc};
use proxtree_core::parallel::{Control, available_threads, with_pool};

/// 2,000 rows of 60 features with six decimals: 1.9 MB.
fn generated() -> Vec<u8> {
    let mut text = String::from("2000 40000 500\n");
    let mut state = 1u64;
    let mut draw = |below: u64| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 33) % below
    };
    for _ in 0..2_000 {
        write!(text, "{},{}", draw(250), 250 + draw(250)).unwrap();
        for k in 0..60 {
            write!(text, " {}:0.{:06}", 600 * k + draw(600), 1 + draw(999_999)).unwrap();
        }
        text.push('\n');
    }
    text.into_bytes()
}

/// The training text of eurlex57k, plain or through `xz`.
fn eurlex57k() -> Option<Vec<u8>> {
    let folder = std::env::var_os("PROXTREE_DATA")?;
    let file = Path::new(&folder).join("eurlex57k/train.txt");
    if let Ok(text) = std::fs::read(&file) {
        return Some(text);
    }
    let output = Command::new("xz")
        .arg("-dc")
        .arg(file.with_extension("txt.xz"))
        .output()
        .ok()?;
    output.status.success().then_some(output.stdout)
}

fn bench(c: &mut Criterion) {
    let mut texts = vec![("generated", generated())];
    match eurlex57k() {
        Some(text) => texts.push(("eurlex57k", text)),
        None => eprintln!("eurlex57k skipped: PROXTREE_DATA does not lead to it"),
    }
    let control = Control::default();
    for (name, text) in &texts {
        let mut group = c.benchmark_group("io");
        group
            .throughput(Throughput::Bytes(text.len() as u64))
            .sample_size(10);
        let mut threads = vec![1, available_threads()];
        threads.dedup();
        for n in threads {
            let id = BenchmarkId::new(format!("parse_xmc/{name}"), format!("{n}-threads"));
            group.bench_function(id, |b| {
                with_pool(n, || {
                    b.iter(|| parse_xmc(black_box(text), &Options::default(), &control).unwrap());
                    Ok(())
                })
                .unwrap();
            });
        }
        let (x, y) = parse_xmc(text, &Options::default(), &control).unwrap();
        group.bench_function(BenchmarkId::new("format_rows", name), |b| {
            with_pool(1, || {
                let rows = 0..x.pattern.n_rows();
                b.iter(|| format_rows(x.view(), y.view(), rows.clone(), &control).unwrap());
                Ok(())
            })
            .unwrap();
        });
        group.finish();
    }
}

criterion_group!(benches, bench);
criterion_main!(benches);
