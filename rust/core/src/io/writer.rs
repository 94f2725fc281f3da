//! Matrices to XMC repository text.

use std::io::Write;
use std::ops::Range;
use std::path::Path;

use rayon::prelude::*;

use crate::parallel::Control;
use crate::sparse::{CsrView, PatternView};
use crate::{Error, Result};

/// Entries formatted by one thread at a time: about a millisecond.
const BLOCK_ENTRIES: u64 = 1 << 14;

/// Entries formatted before they are written: bounds the text held in memory.
const WINDOW_ENTRIES: u64 = 1 << 20;

/// Format rows as XMC repository text, without header.
///
/// Values are the shortest decimals that read back as the same `f32`. A row
/// without labels starts with a blank, so that one without features too is not
/// an empty line. Stored zeros are left out.
///
/// Cost: one pass over the rows. Parallel; the text does not depend on threads.
///
/// # Errors
/// [`Error::Data`] where the matrices differ in rows; [`Error::Cancelled`].
///
/// # Panics
/// Where `rows` reaches beyond the matrices.
pub fn format_rows(
    x: CsrView<'_>,
    y: PatternView<'_>,
    rows: Range<usize>,
    control: &Control,
) -> Result<Vec<u8>> {
    same_rows(x, y)?;
    let blocks: Vec<Range<usize>> = cut(x, y, rows, BLOCK_ENTRIES);
    let texts: Vec<Result<Vec<u8>>> = blocks
        .into_par_iter()
        .map(|block| {
            control.check()?;
            let mut text = Vec::new();
            for i in block {
                // Writing to memory cannot fail.
                let _ = format_row(&mut text, x, y, i);
            }
            Ok(text)
        })
        .collect();
    let mut all = Vec::with_capacity(texts.iter().flatten().map(Vec::len).sum());
    for text in texts {
        all.extend_from_slice(&text?);
    }
    Ok(all)
}

/// Write `x` and `y` as an XMC repository file, header included.
///
/// `name` stands for the writer in errors. [`super::parse_xmc`] gives back the
/// same matrices bit for bit (less stored zeros).
///
/// # Errors
/// As [`format_rows`]; [`Error::Io`] where writing fails.
pub fn write_xmc(
    writer: &mut impl Write,
    name: &Path,
    x: CsrView<'_>,
    y: PatternView<'_>,
    control: &Control,
) -> Result<()> {
    same_rows(x, y)?;
    let failed = |e| Error::io(name, e);
    writeln!(writer, "{} {} {}", x.n_rows(), x.n_cols(), y.n_cols()).map_err(failed)?;
    for rows in cut(x, y, 0..x.n_rows(), WINDOW_ENTRIES) {
        let text = format_rows(x, y, rows, control)?;
        writer.write_all(&text).map_err(failed)?;
    }
    writer.flush().map_err(failed)
}

fn same_rows(x: CsrView<'_>, y: PatternView<'_>) -> Result<()> {
    if x.n_rows() == y.n_rows() {
        return Ok(());
    }
    Err(Error::data(format!(
        "X has {} rows, Y has {}",
        x.n_rows(),
        y.n_rows()
    )))
}

/// Consecutive ranges of rows with about `entries` labels and features each.
fn cut(x: CsrView<'_>, y: PatternView<'_>, rows: Range<usize>, entries: u64) -> Vec<Range<usize>> {
    let before = |i: usize| x.pattern().indptr()[i] + y.indptr()[i] + i as u64;
    let mut ranges = Vec::new();
    let mut start = rows.start;
    for end in rows.start + 1..=rows.end {
        if end == rows.end || before(end) - before(start) >= entries {
            ranges.push(start..end);
            start = end;
        }
    }
    ranges
}

fn format_row(
    text: &mut Vec<u8>,
    x: CsrView<'_>,
    y: PatternView<'_>,
    i: usize,
) -> std::io::Result<()> {
    let start = text.len();
    for (k, label) in y.row(i).iter().enumerate() {
        write!(text, "{}{label}", if k == 0 { "" } else { "," })?;
    }
    let (ids, values) = x.row(i);
    for (id, &value) in ids.iter().zip(values) {
        // Outside this range the exponent form is the shorter one.
        if (1e-4..1e9).contains(&value.abs()) {
            write!(text, " {id}:{value}")?;
        } else if value != 0.0 {
            write!(text, " {id}:{value:e}")?;
        }
    }
    if text.len() == start {
        text.push(b' ');
    }
    text.push(b'\n');
    Ok(())
}
