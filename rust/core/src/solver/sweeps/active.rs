//! The active rows of a problem with the columns that have a weight, side by side.

use super::cells::Cell;
use super::columns::Column;
use crate::solver::Design;

/// In place of the number of a row that is not active.
const NONE: u32 = u32::MAX;

/// Largest share of a node's values that a problem's active rows hold in the columns
/// of the support, and what it grows with the root of: the smaller class's share of
/// the rows. At the roots of four data sets 0.23 to 0.49 for the largest problem, and
/// 0.5 to 1.2 times that root for those that follow.
const MOST: f64 = 0.5;
const GROWTH: f64 = 1.1;

/// Bytes that a problem with so many positives is expected to copy at most.
pub(crate) fn copied_bytes(design: &Design<'_>, n_positives: usize) -> u64 {
    let n = design.n_samples();
    let minority = n_positives.min(n - n_positives) as f64 / n.max(1) as f64;
    let share = (GROWTH * minority.sqrt()).min(MOST);
    (share * 8.0 * design.rows().nnz() as f64) as u64
}

/// Active rows, numbered anew, and what columns store there.
///
/// Only they have a second derivative. On four data sets they hold 22 to 29 % of the
/// entries of the support at a Newton step, which passes over them some 15 times.
#[derive(Debug, Default)]
pub(super) struct Active {
    /// New numbers of all rows, [`NONE`] for those left out.
    number: Vec<u32>,
    cells: Vec<Cell>,
    ends: Vec<usize>,
    ids: Vec<u32>,
    values: Vec<f32>,
}

impl Active {
    /// Hold the rows of positive hinge, and no column yet; `n_values` are to come at
    /// most.
    pub(super) fn begin(&mut self, cells: &[Cell], intercept: f32, n_values: usize) {
        // At once and with some to spare: growing step by step leaves holes of half
        // the size behind, while room that is never written to takes no memory.
        if self.ids.capacity() < n_values {
            let room = n_values + n_values / 4;
            (self.ids, self.values) = (Vec::new(), Vec::new());
            self.ids.reserve_exact(room);
            self.values.reserve_exact(room);
        }
        self.number.clear();
        self.number.resize(cells.len(), NONE);
        self.cells.clear();
        for (number, cell) in self.number.iter_mut().zip(cells) {
            if cell.hinge(intercept) > 0.0 {
                *number = self.cells.len() as u32;
                self.cells.push(*cell);
            }
        }
        self.ends.clear();
        self.ids.clear();
        self.values.clear();
    }

    /// Append the entries of a column that lie in active rows.
    pub(super) fn push(&mut self, (ids, values): Column<'_>) {
        let start = self.ids.len();
        self.ids.resize(start + ids.len(), 0);
        self.values.resize(start + ids.len(), 0.0);
        let (new_ids, new_values) = (&mut self.ids[start..], &mut self.values[start..]);
        let mut kept = 0;
        for (&i, &x) in ids.iter().zip(values) {
            let number = self.number[i as usize];
            // Without a branch: which rows are active is not predictable.
            new_ids[kept] = number;
            new_values[kept] = x;
            kept += usize::from(number != NONE);
        }
        self.ids.truncate(start + kept);
        self.values.truncate(start + kept);
        self.ends.push(start + kept);
    }

    /// The active rows.
    pub(super) fn cells(&self) -> &[Cell] {
        &self.cells
    }

    /// What the column pushed after `k` others holds.
    pub(super) fn column(&self, k: usize) -> Column<'_> {
        let start = if k == 0 { 0 } else { self.ends[k - 1] };
        let span = start..self.ends[k];
        (&self.ids[span.clone()], &self.values[span])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parallel::Control;
    use crate::sparse::{CsrMatrix, Pattern};

    #[test]
    fn copies_grow_with_the_smaller_class_up_to_half_the_values() {
        let (pattern, data) = (
            Pattern {
                n_cols: 1,
                indptr: (0..=100).collect(),
                indices: vec![0; 100],
            },
            vec![1.0; 100],
        );
        let x = CsrMatrix { pattern, data };
        let design = Design::new(x.view(), None, &Control::default()).unwrap();
        // 800 bytes: 1.1 sqrt(0.04) of them, and half.
        assert_eq!([4, 96].map(|n| copied_bytes(&design, n)), [176, 176]);
        assert_eq!([30, 50].map(|n| copied_bytes(&design, n)), [400, 400]);
        assert_eq!([0, 100].map(|n| copied_bytes(&design, n)), [0, 0]);
    }

    #[test]
    fn columns_keep_what_lies_in_rows_of_positive_hinge() {
        // Hinges at intercept 0.5: positives lose it, negatives gain it.
        let cell = |base, signed_weight| Cell {
            base,
            signed_weight,
        };
        let cells = [
            cell(1.0, 1.0),
            cell(0.4, 1.0),
            cell(-0.4, -2.0),
            cell(-0.5, -1.0),
            cell(3.0, -0.0),
        ];
        let mut active = Active::default();
        let columns: [Column<'_>; 3] = [
            (&[0, 1, 2, 3, 4], &[1.0, 2.0, 3.0, 4.0, 5.0]),
            (&[1, 3], &[6.0, 7.0]),
            (&[3, 4], &[8.0, 9.0]),
        ];
        let expected: [Column<'_>; 3] =
            [(&[0, 1, 2], &[1.0, 3.0, 5.0]), (&[], &[]), (&[2], &[9.0])];
        // In another order the second time, to see that nothing stays behind.
        for order in [[0, 1, 2], [2, 0, 1]] {
            active.begin(&cells, 0.5, 9);
            let bases: Vec<f32> = active.cells().iter().map(|c| c.base).collect();
            assert_eq!(bases, [1.0, -0.4, 3.0]);
            for column in order.map(|k| columns[k]) {
                active.push(column);
            }
            for (k, of) in order.into_iter().enumerate() {
                assert_eq!(active.column(k), expected[of]);
            }
        }
    }
}
