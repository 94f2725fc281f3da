//! Text I/O as a user of the crate sees it.

#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]

use std::fmt::Write;
use std::path::Path;

use proptest::prelude::*;
use proxtree_core::Error;
use proxtree_core::io::{Format, Options, Reader, parse_xmc, write_xmc};
use proxtree_core::parallel::{Control, with_pool};
use proxtree_core::sparse::{CsrMatrix, Pattern};

type Matrices = (CsrMatrix, Pattern);
type Row = (Vec<u32>, Vec<(u32, f32)>);

fn matrices(rows: &[Row], n_features: usize, n_labels: usize) -> Matrices {
    let pattern = |n_cols| Pattern {
        n_cols,
        indptr: vec![0],
        indices: Vec::new(),
    };
    let mut x = CsrMatrix {
        pattern: pattern(n_features),
        data: Vec::new(),
    };
    let mut y = pattern(n_labels);
    for (labels, entries) in rows {
        y.indices.extend(labels);
        y.indptr.push(y.indices.len() as u64);
        x.pattern.indices.extend(entries.iter().map(|e| e.0));
        x.data.extend(entries.iter().map(|e| e.1));
        x.pattern.indptr.push(x.data.len() as u64);
    }
    (x, y)
}

fn in_blocks(text: &[u8], size: usize, options: Options) -> proxtree_core::Result<Matrices> {
    let control = Control::default();
    let mut reader = Reader::new(options)?;
    for block in text.chunks(size) {
        reader.push(block, &control)?;
    }
    reader.finish(&control)
}

fn written((x, y): &Matrices) -> Vec<u8> {
    let mut text = Vec::new();
    let control = Control::default();
    write_xmc(&mut text, Path::new("memory"), x.view(), y.view(), &control).unwrap();
    text
}

/// More than two chunks of text; row `i` has label `i % 7` and two features, but
/// every hundredth row is empty.
fn long(empty_row: &str) -> (String, Matrices) {
    let mut text = String::from("60000 2000 7\n");
    let mut rows = Vec::new();
    for i in 0..60_000u32 {
        if i % 100 == 50 {
            text += empty_row;
            rows.push((vec![], vec![]));
        } else {
            writeln!(
                text,
                "{} {}:0.5 {}:0.0123456789",
                i % 7,
                i % 1000,
                1000 + i % 999
            )
            .unwrap();
            rows.push((
                vec![i % 7],
                vec![(i % 1000, 0.5), (1000 + i % 999, 0.012_345_679)],
            ));
        }
    }
    (text, matrices(&rows, 2000, 7))
}

#[test]
fn neither_threads_nor_blocks_change_the_matrices() {
    for empty_row in [" \n", "\n"] {
        let (text, expected) = long(empty_row);
        assert!(text.len() > 3 << 19, "needs several chunks");
        let parse = || parse_xmc(text.as_bytes(), &Options::default(), &Control::default());
        for n_threads in [1, 3] {
            assert_eq!(with_pool(n_threads, parse).unwrap(), expected);
        }
        for size in [1 << 10, 99_991, text.len()] {
            let read = in_blocks(text.as_bytes(), size, Options::default()).unwrap();
            assert_eq!(read, expected, "blocks of {size} bytes");
        }
    }
}

#[test]
fn an_error_far_down_names_its_line() {
    let (mut text, _) = long("\n");
    text += "3 0:1 oops 5:1\n";
    for size in [4_096, text.len()] {
        let error = in_blocks(text.as_bytes(), size, Options::default()).unwrap_err();
        let Error::Format { line, message, .. } = &error else {
            panic!("{error}");
        };
        // One header, 60,000 rows.
        assert_eq!(*line, Some(60_002), "{error}");
        assert!(message.contains("'oops'"), "{error}");
    }
}

#[test]
fn the_first_of_two_errors_is_reported() {
    let (text, _) = long("\n");
    let text = text.replacen("0:0.5", "0:first", 1) + "0 0:second\n";
    for n_threads in [1, 3] {
        let error = with_pool(n_threads, || {
            parse_xmc(text.as_bytes(), &Options::default(), &Control::default())
        })
        .unwrap_err();
        assert!(error.to_string().contains("line 2: "), "{error}");
    }
}

#[test]
fn without_a_header_an_empty_line_in_the_middle_is_named() {
    let options = Options {
        format: Format::XmcWithoutHeader,
        ..Options::default()
    };
    let (text, _) = long("\n");
    let body = text.split_once('\n').unwrap().1;
    let error = in_blocks(body.as_bytes(), 4_096, options).unwrap_err();
    assert!(error.to_string().contains("line 51: empty line"), "{error}");
}

#[test]
fn a_header_that_lies_costs_no_memory() {
    let most = u64::from(u32::MAX);
    let text = format!("1000000000000000000 {most} {most}\n0 1:1\n");
    let error = parse_xmc(text.as_bytes(), &Options::default(), &Control::default()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "line 1: the header says 1000000000000000000 rows, the file has 1"
    );
}

#[test]
fn a_cancelled_parse_stops() {
    let control = Control::default();
    control.cancel();
    let (text, (x, y)) = long("\n");
    let error = parse_xmc(text.as_bytes(), &Options::default(), &control).unwrap_err();
    assert!(matches!(error, Error::Cancelled));
    let sink = &mut std::io::sink();
    let error = write_xmc(sink, Path::new("x"), x.view(), y.view(), &control).unwrap_err();
    assert!(matches!(error, Error::Cancelled));
}

#[test]
fn a_writer_that_fails_is_named() {
    struct Full;
    impl std::io::Write for Full {
        fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
            Err(std::io::ErrorKind::StorageFull.into())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let (x, y) = matrices(&[(vec![0], vec![])], 1, 1);
    let name = Path::new("full.txt");
    let error = write_xmc(&mut Full, name, x.view(), y.view(), &Control::default()).unwrap_err();
    assert!(error.to_string().starts_with("full.txt: "), "{error}");
}

#[test]
fn a_mapped_file_reads_as_its_bytes_do() {
    let (text, _) = long("\n");
    let body = text.split_once('\n').unwrap().1.repeat(4);
    let text = format!("240000 2000 7\n{body}");
    assert!(text.len() > 1 << 22, "needs several windows of one thread");
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), &text).unwrap();
    let control = Control::default();
    let mut reader = Reader::new(Options::default()).unwrap();
    with_pool(1, || reader.push_file(file.path(), &control)).unwrap();
    let expected = in_blocks(text.as_bytes(), text.len(), Options::default()).unwrap();
    assert_eq!(reader.finish(&control).unwrap(), expected);
}

#[test]
fn empty_lines_at_the_end_are_no_rows_however_they_arrive() {
    let text = b"1 2 1\n0 1:1\n\n\n\r\n";
    let expected = matrices(&[(vec![0], vec![(1, 1.0)])], 2, 1);
    for size in 1..=text.len() {
        let read = in_blocks(text, size, Options::default()).unwrap();
        assert_eq!(read, expected, "blocks of {size} bytes");
    }
}

#[test]
fn what_is_written_is_short_and_fixed() {
    let entries = vec![
        (0, 1.0),
        (1, -0.1),
        (2, 1e-5),
        (3, 3.4e38),
        (4, f32::from_bits(1)),
    ];
    let m = matrices(
        &[
            (vec![1, 3], entries),
            (vec![], vec![(4, 0.25)]),
            (vec![], vec![]),
        ],
        5,
        4,
    );
    assert_eq!(
        String::from_utf8(written(&m)).unwrap(),
        "3 5 4\n1,3 0:1 1:-0.1 2:1e-5 3:3.4e38 4:1e-45\n 4:0.25\n \n"
    );
}

fn finite() -> impl Strategy<Value = f32> {
    any::<u32>()
        .prop_map(f32::from_bits)
        .prop_filter("stored", |v| v.is_finite() && *v != 0.0)
}

fn rows() -> impl Strategy<Value = Vec<Row>> {
    let labels = prop::collection::btree_set(0u32..9, 0..4);
    let entries = prop::collection::btree_map(0u32..50, finite(), 0..6);
    let row = (labels, entries).prop_map(|(labels, entries)| {
        (labels.into_iter().collect(), entries.into_iter().collect())
    });
    prop::collection::vec(row, 0..12)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn written_matrices_come_back_bit_for_bit(rows in rows(), size in 1usize..64) {
        let expected = matrices(&rows, 50, 9);
        let (x, y) = in_blocks(&written(&expected), size, Options::default()).unwrap();
        prop_assert_eq!(x.pattern, expected.0.pattern);
        prop_assert_eq!(y, expected.1);
        let bits = |data: &[f32]| data.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
        prop_assert_eq!(bits(&x.data), bits(&expected.0.data));
    }

    #[test]
    fn no_bytes_panic(
        text in prop::collection::vec(prop::sample::select(&b"0123 \t\n\r:,.-e#qid\xff"[..]), 0..60),
        size in 1usize..8,
        format in prop::sample::select(vec![Format::Xmc, Format::XmcWithoutHeader, Format::Svmlight]),
    ) {
        let options = Options { format, ..Options::default() };
        let whole = in_blocks(&text, 1 << 10, options).map_err(|e| e.to_string());
        let split = in_blocks(&text, size, options).map_err(|e| e.to_string());
        prop_assert_eq!(&whole, &split);
        if let Ok((x, y)) = whole {
            let (px, n) = (&x.pattern, x.pattern.n_rows());
            let checked = proxtree_core::sparse::CsrView::new(n, px.n_cols, &px.indptr, &px.indices, &x.data);
            prop_assert!(checked.is_ok());
            let checked = proxtree_core::sparse::PatternView::new(n, y.n_cols, &y.indptr, &y.indices);
            prop_assert!(checked.is_ok());
        }
    }
}
