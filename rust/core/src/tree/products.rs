//! Sparse rows times a narrow dense table: where clustering spends its time.

use std::ops::Range;

use rayon::prelude::*;

use super::points::Points;
use crate::instructions::{compiled_twice, prefetch};

/// Eight columns of a table: one AVX register, never across two cache lines.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(32))]
pub(crate) struct Lane(pub(crate) [f32; 8]);

/// So many entries ahead the table is asked for where it is wide: a row of eight lanes
/// or more comes from beyond the nearest caches, a narrow one costs less than asking.
const AHEAD: usize = 16;
const WIDE: usize = 8;

/// Sparse columns (centroids, candidates) as a table with a row per feature.
///
/// One entry of a point meets all columns in consecutive memory, padded to whole
/// lanes. Features that no column has share one row of zeros: a few columns
/// leave a table small enough for the nearest cache.
#[derive(Debug, Default)]
pub(crate) struct Table {
    n_lanes: usize,
    /// The row of each feature; row 0 is zero.
    slots: Vec<u32>,
    lanes: Vec<Lane>,
}

impl Table {
    /// Hold these columns of (ascending features, values), in the memory it has.
    pub(crate) fn fill(&mut self, n_features: usize, columns: &[(&[u32], &[f32])]) {
        const ROWS: usize = 2048;
        self.slots.clear();
        self.slots.resize(n_features, 0);
        for (ids, _) in columns {
            for &f in *ids {
                self.slots[f as usize] = 1;
            }
        }
        let mut n_rows = 1;
        for slot in &mut self.slots {
            let used = *slot;
            *slot *= n_rows;
            n_rows += used;
        }
        let n_lanes = columns.len().div_ceil(8);
        self.n_lanes = n_lanes;
        // Zeros come with the values, part by part, while the part is at hand.
        self.lanes
            .resize(n_rows as usize * n_lanes, Lane::default());
        let slots = &self.slots;
        let parts = self.lanes.par_chunks_mut(ROWS * n_lanes).enumerate();
        parts.for_each(|(part, lanes)| {
            lanes.fill(Lane::default());
            let first = part * ROWS;
            let end = first + lanes.len() / n_lanes;
            // Slots ascend with features, so each part takes a run of a column.
            let before = |f: &u32, end| (slots[*f as usize] as usize) < end;
            for (c, (ids, values)) in columns.iter().enumerate() {
                let from = ids.partition_point(|f| before(f, first));
                let to = ids.partition_point(|f| before(f, end));
                for (&f, &v) in ids[from..to].iter().zip(&values[from..to]) {
                    let row = slots[f as usize] as usize - first;
                    lanes[row * n_lanes + c / 8].0[c % 8] = v;
                }
            }
        });
    }

    /// Lanes a row.
    pub(crate) fn n_lanes(&self) -> usize {
        self.n_lanes
    }
}

compiled_twice! {
    /// `out[i] = row i . each column`, for the rows in `rows`, `n_lanes` lanes each,
    /// as far as `out` reaches.
    ///
    /// Each product sums in float32 in the row's order, multiply and add apart: the
    /// bits depend neither on the instruction set nor on the column's place.
    pub(crate) fn dots(points: &Points, rows: Range<usize>, table: &Table, out: &mut [Lane]) {
        macro_rules! panels {
            ($row:expr, $at:expr, $out:expr, $($n:literal)*) => {
                match table.n_lanes - $at {
                    $($n => panel::<$n>($row, table, $at, $out),)*
                    _ => panel::<8>($row, table, $at, $out),
                }
            };
        }
        for (i, out) in rows.zip(out.chunks_exact_mut(table.n_lanes)) {
            let row = points.row(i);
            let mut at = 0;
            while at < table.n_lanes {
                // As many sums at once as there are registers: 13 of 16, or 8 and
                // more to come.
                at += panels!(row, at, out, 1 2 3 4 5 6 7 8 9 10 11 12 13);
            }
        }
    }
}

/// `N` lanes, from `at` on, of one row's products.
#[inline(always)]
#[expect(clippy::inline_always, reason = "as its caller")]
fn panel<const N: usize>(
    (ids, values): (&[u32], &[f32]),
    table: &Table,
    at: usize,
    out: &mut [Lane],
) -> usize {
    let mut sums = [Lane::default(); N];
    for (at_entry, (&f, &v)) in ids.iter().zip(values).enumerate() {
        if N >= WIDE
            && let Some(&later) = ids.get(at_entry + AHEAD)
        {
            let start = table.slots[later as usize] as usize * table.n_lanes + at;
            for lane in table.lanes[start..start + N].iter().step_by(2) {
                prefetch(lane);
            }
        }
        let start = table.slots[f as usize] as usize * table.n_lanes + at;
        let lanes = &table.lanes[start..start + N];
        for (sum, lane) in sums.iter_mut().zip(lanes) {
            for (s, x) in sum.0.iter_mut().zip(&lane.0) {
                *s += v * x;
            }
        }
    }
    out[at..at + N].copy_from_slice(&sums);
    N
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sparse::CsrView;

    #[test]
    fn every_width_gives_the_plain_sums_bit_for_bit() {
        let indptr = [0u64, 3, 3, 5];
        let indices = [0u32, 1, 3, 2, 3];
        let data = [0.3f32, -1.7, 2.9, 0.1, 11.0];
        let x = CsrView::new(3, 4, &indptr, &indices, &data).unwrap();
        let points = Points::from_rows(x, &[0, 1, 2]);
        for width in [1, 7, 8, 9, 17, 31, 40, 64, 100, 130] {
            let has = |f: usize, c: usize| f != 2 && !(f + c).is_multiple_of(3);
            let value = |f: usize, c: usize| ((f * 131 + c * 17) as f32 * 0.37).sin();
            // Column c has the features f with (f + c) % 3 > 0, and never feature 2.
            let columns: Vec<(Vec<u32>, Vec<f32>)> = (0..width)
                .map(|c| {
                    let ids = (0..points.n_features()).filter(|f| has(*f, c));
                    ids.map(|f| (f as u32, value(f, c))).unzip()
                })
                .collect();
            let columns: Vec<_> = columns.iter().map(|(a, b)| (&a[..], &b[..])).collect();
            let mut table = Table::default();
            table.fill(points.n_features(), &columns);
            let n = table.n_lanes();
            let mut out = vec![Lane([f32::NAN; 8]); 3 * n];
            dots(&points, 0..3, &table, &mut out);
            for i in 0..3 {
                for c in 0..width {
                    let mut expected = 0.0f32;
                    let (ids, values) = points.row(i);
                    for (&f, &v) in ids.iter().zip(values) {
                        let f = f as usize;
                        expected += if has(f, c) { v * value(f, c) } else { 0.0 };
                    }
                    let found = out[i * n + c / 8].0[c % 8];
                    assert_eq!(found.to_bits(), expected.to_bits(), "{width} {i} {c}");
                }
            }
        }
    }
}
