//! Adding up rows into a dense vector: what a full gradient costs.

use super::Design;
use crate::instructions::prefetch;
use crate::parallel::Control;
use crate::sparse::CsrView;

/// Rows between two looks at the cancel flag.
const ROWS_PER_CHECK: usize = 1 << 10;

/// How many rows ahead their entries are asked for. The rows of a list lie anywhere
/// in X, each behind a few cache lines that no hardware foresees.
const AHEAD: usize = 6;

/// Entries of a cache line, and lines asked for: the rest of a long row streams.
const LINE: usize = 16;
const LINES: usize = 8;

/// `sum += 2 residual x_i` for each `(i, residual)` of `list`, in its order.
///
/// Cost: the stored values of those rows.
pub(super) fn scatter(rows: CsrView<'_>, list: &[(u32, f64)], sum: &mut [f64], control: &Control) {
    for_each_row(rows, list, control, |ids, values, twice| {
        for (&j, &x) in ids.iter().zip(values) {
            sum[j as usize] += twice * f64::from(x);
        }
    });
}

/// [`scatter`] on top of `factor` times the column sums, written for the features of
/// these rows alone: they are appended to `listed`, and flagged.
pub(super) fn scatter_listed(
    design: &Design<'_>,
    factor: f64,
    list: &[(u32, f64)],
    (sum, listed, is_listed): (&mut [f64], &mut Vec<u32>, &mut [bool]),
    control: &Control,
) {
    let column_sum = design.column_sum();
    for_each_row(design.rows(), list, control, |ids, values, twice| {
        let mut end = listed.len();
        listed.resize(end + ids.len(), 0);
        for (&j, &x) in ids.iter().zip(values) {
            let is_new = !std::mem::replace(&mut is_listed[j as usize], true);
            // Without a branch: which features are new is not predictable.
            listed[end] = j;
            end += usize::from(is_new);
            let (old, first) = (sum[j as usize], factor * column_sum[j as usize]);
            sum[j as usize] = if is_new { first } else { old } + twice * f64::from(x);
        }
        listed.truncate(end);
    });
}

/// Call `add` with ids, values and twice the residual of each row.
#[inline]
fn for_each_row(
    rows: CsrView<'_>,
    list: &[(u32, f64)],
    control: &Control,
    mut add: impl FnMut(&[u32], &[f32], f64),
) {
    for (at, &(i, residual)) in list.iter().enumerate() {
        // What is left half done then counts as cancelled, not as a proof.
        if at % ROWS_PER_CHECK == 0 && control.is_cancelled() {
            break;
        }
        // Where a row starts is behind a cache line of its own.
        if let Some(&(later, _)) = list.get(at + 2 * AHEAD) {
            prefetch(&rows.pattern().indptr()[later as usize]);
        }
        if let Some(&(next, _)) = list.get(at + AHEAD) {
            let (ids, values) = rows.row(next as usize);
            prefetch_lines(ids);
            prefetch_lines(values);
        }
        let (ids, values) = rows.row(i as usize);
        add(ids, values, 2.0 * residual);
    }
}

/// Ask for the first lines of `entries`.
#[inline]
fn prefetch_lines<T>(entries: &[T]) {
    entries.iter().step_by(LINE).take(LINES).for_each(prefetch);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sparse::{CsrMatrix, Pattern};

    /// Row i holds the feature 3 i mod 7 with the value i, and i mod 3 copies of
    /// features behind 7, so that rows are short, long and of length one.
    fn rows(n: u32) -> CsrMatrix {
        let (mut indptr, mut indices, mut data) = (vec![0], Vec::new(), Vec::new());
        for i in 0..n {
            if i % 5 != 4 {
                indices.push(3 * i % 7);
                data.push(i as f32);
            }
            indices.extend((0..i % 3).map(|k| 7 + k));
            data.extend((0..i % 3).map(|_| 0.5));
            indptr.push(indices.len() as u64);
        }
        let pattern = Pattern {
            n_cols: 9,
            indptr,
            indices,
        };
        CsrMatrix { pattern, data }
    }

    #[test]
    fn rows_add_up_as_in_a_dense_product() {
        let n = 40;
        let x = rows(n);
        let list: Vec<(u32, f64)> = (0..n).rev().map(|i| (i, 0.25 - f64::from(i))).collect();
        let mut sum = vec![1.0; 9];
        scatter(x.view(), &list, &mut sum, &Control::default());
        let mut expected = [1.0; 9];
        for i in 0..n {
            let twice = 2.0 * (0.25 - f64::from(i));
            if i % 5 != 4 {
                expected[(3 * i % 7) as usize] += twice * f64::from(i);
            }
            for k in 0..i % 3 {
                expected[(7 + k) as usize] += twice * 0.5;
            }
        }
        // Halves and quarters: every sum is exact.
        assert_eq!(sum, expected);
    }

    #[test]
    fn a_cancelled_sum_stays_as_it_is() {
        let x = rows(12);
        let control = Control::default();
        control.cancel();
        let mut sum = vec![0.0; 9];
        scatter(x.view(), &[(1, 1.0)], &mut sum, &control);
        assert_eq!(sum, [0.0; 9]);
    }
}
