//! One feature vector per label: the mean direction of its examples.

use rayon::prelude::*;

use super::accumulator::AccumulatorPool;
use crate::parallel::Control;
use crate::sparse::{CsrMatrix, CsrView, Pattern, PatternView, transpose_pattern};
use crate::{Error, Result};

/// Labels summed by one task: fixed, so that blocks do not follow the threads.
const BLOCK: usize = 32;

/// `v_j = v'_j / ||v'_j||` with `v'_j = sum of x_i over the rows i of label j`.
///
/// The result is (`n_labels`, `n_features`), row j of unit length; a label without
/// rows, or whose rows add up to zero, has an empty row. No stored zeros.
///
/// Sums are taken in float64 in ascending row order and rounded once after the
/// division. Cost: O(sum over labels of the non-zeros of their rows); memory:
/// the result, the transpose of `y`, and one dense vector per thread. The same
/// bits for any number of threads.
///
/// Source: equation (2) of "Exploring Space Efficiency in a Tree-based Linear
/// Model for Extreme Multi-label Classification", EMNLP 2024.
///
/// # Errors
/// [`Error::Data`] where `x` and `y` have different numbers of rows;
/// [`Error::Cancelled`].
pub fn label_features(x: CsrView<'_>, y: PatternView<'_>, control: &Control) -> Result<CsrMatrix> {
    if x.n_rows() != y.n_rows() {
        return Err(Error::data(format!(
            "X has {} rows, Y has {}: they must agree",
            x.n_rows(),
            y.n_rows()
        )));
    }
    let rows_of_label = transpose_pattern(y, control)?;
    let rows_of_label = rows_of_label.view();
    let pool = AccumulatorPool::new(x.n_cols());
    let blocks: Vec<Block> = (0..y.n_cols().div_ceil(BLOCK))
        .into_par_iter()
        .map(|block| {
            let labels = block * BLOCK..((block + 1) * BLOCK).min(y.n_cols());
            pool.with(|sums| {
                let mut out = Block::default();
                for label in labels {
                    for &row in rows_of_label.row(label) {
                        control.check()?;
                        let (ids, values) = x.row(row as usize);
                        sums.add(ids, values);
                    }
                    out.push(|take| sums.drain(take));
                }
                Ok(out)
            })
        })
        .collect::<Result<_>>()?;
    Ok(join(x.n_cols(), &blocks))
}

/// The rows of one block of labels.
#[derive(Default)]
struct Block {
    lengths: Vec<usize>,
    ids: Vec<u32>,
    values: Vec<f32>,
    sums: Vec<(u32, f64)>,
}

impl Block {
    fn push(&mut self, drain: impl FnOnce(&mut dyn FnMut(u32, f64))) {
        self.sums.clear();
        let mut squares = 0.0;
        drain(&mut |id, sum| {
            squares += sum * sum;
            self.sums.push((id, sum));
        });
        let norm = squares.sqrt();
        let before = self.ids.len();
        for &(id, sum) in &self.sums {
            let value = (sum / norm) as f32;
            // Sums that cancel, or vanish beside the others, are no entries.
            if value != 0.0 && norm > 0.0 {
                self.ids.push(id);
                self.values.push(value);
            }
        }
        self.lengths.push(self.ids.len() - before);
    }
}

fn join(n_features: usize, blocks: &[Block]) -> CsrMatrix {
    let nnz = blocks.iter().map(|b| b.ids.len()).sum();
    let mut indptr = vec![0u64];
    let mut indices = Vec::with_capacity(nnz);
    let mut data = Vec::with_capacity(nnz);
    let mut end = 0;
    for block in blocks {
        for &length in &block.lengths {
            end += length as u64;
            indptr.push(end);
        }
        indices.extend_from_slice(&block.ids);
        data.extend_from_slice(&block.values);
    }
    CsrMatrix {
        pattern: Pattern {
            n_cols: n_features,
            indptr,
            indices,
        },
        data,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_unit_sums_and_empty_labels_are_empty_rows() {
        let x = CsrView::new(
            3,
            4,
            &[0, 2, 4, 5],
            &[0, 2, 0, 1, 3],
            &[1.0, 2.0, 2.0, 4.0, 7.0],
        )
        .unwrap();
        // Label 0: rows 0 and 1; label 1: none; label 2: row 2.
        let y = PatternView::new(3, 3, &[0, 1, 2, 3], &[0, 0, 2]).unwrap();
        let v = label_features(x, y, &Control::default()).unwrap();
        let norm = 29.0f64.sqrt(); // (3, 4, 2, 0)
        assert_eq!(v.pattern.indptr, [0, 3, 3, 4]);
        assert_eq!(v.pattern.indices, [0, 1, 2, 3]);
        let expected = [3.0 / norm, 4.0 / norm, 2.0 / norm, 1.0].map(|v| v as f32);
        assert_eq!(v.data, expected);
    }

    #[test]
    fn sums_that_cancel_leave_nothing() {
        let x = CsrView::new(2, 2, &[0, 1, 2], &[1, 1], &[3.0, -3.0]).unwrap();
        let y = PatternView::new(2, 1, &[0, 1, 2], &[0, 0]).unwrap();
        let v = label_features(x, y, &Control::default()).unwrap();
        assert_eq!((v.pattern.indptr, v.data.len()), (vec![0, 0], 0));
    }

    #[test]
    fn row_counts_must_agree() {
        let x = CsrView::new(1, 1, &[0, 0], &[], &[]).unwrap();
        let y = PatternView::new(2, 1, &[0, 0, 0], &[]).unwrap();
        let e = label_features(x, y, &Control::default()).unwrap_err();
        assert!(e.to_string().contains("X has 1 rows, Y has 2"), "{e}");
    }
}
