//! Sparse rows times a narrow dense table: where clustering spends its time.

use std::ops::Range;

use super::points::Points;

/// Eight columns of a table: one AVX register, never across two cache lines.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(32))]
pub(crate) struct Lane(pub(crate) [f32; 8]);

/// A dense matrix stored feature by feature, its columns padded to whole lanes.
///
/// The columns are vectors to multiply with (centroids, candidates): one entry
/// of a row meets all of them in consecutive memory.
#[derive(Debug, Default)]
pub(crate) struct Table {
    n_lanes: usize,
    lanes: Vec<Lane>,
}

impl Table {
    /// Make it `n_features` x `n_columns`, all zero, in the memory it has.
    pub(crate) fn reset(&mut self, n_features: usize, n_columns: usize) {
        self.n_lanes = n_columns.div_ceil(8);
        self.lanes.clear();
        self.lanes
            .resize(n_features * self.n_lanes, Lane::default());
    }

    /// Lanes a feature.
    pub(crate) fn n_lanes(&self) -> usize {
        self.n_lanes
    }

    /// All lanes, feature after feature.
    pub(crate) fn lanes_mut(&mut self) -> &mut [Lane] {
        &mut self.lanes
    }

    /// Write one entry.
    pub(crate) fn set(&mut self, feature: usize, column: usize, value: f32) {
        self.lanes[feature * self.n_lanes + column / 8].0[column % 8] = value;
    }
}

/// `out[i] = row i . each column`, for the rows in `rows`, `n_lanes` lanes each.
///
/// Each product sums in float32 in the row's order, multiply and add apart: the
/// bits depend neither on the instruction set nor on the column's place.
///
/// # Panics
/// Where `out` is shorter than that.
pub(crate) fn dots(points: &Points, rows: Range<usize>, table: &Table, out: &mut [Lane]) {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has AVX2, which is all that the function asks.
        return unsafe { dots_avx2(points, rows, table, out) };
    }
    dots_plain(points, rows, table, out);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn dots_avx2(points: &Points, rows: Range<usize>, table: &Table, out: &mut [Lane]) {
    dots_plain(points, rows, table, out);
}

#[inline(always)]
#[expect(
    clippy::inline_always,
    reason = "compiled once per instruction set, inside its caller"
)]
fn dots_plain(points: &Points, rows: Range<usize>, table: &Table, out: &mut [Lane]) {
    let n_lanes = table.n_lanes;
    for (i, out) in rows.zip(out.chunks_exact_mut(n_lanes)) {
        let (ids, values) = points.row(i);
        let mut at = 0;
        while at < n_lanes {
            // Panels of 8, 4, 2, 1 lanes: as many sums as registers hold.
            at += match n_lanes - at {
                8.. => panel::<8>(ids, values, table, at, out),
                4.. => panel::<4>(ids, values, table, at, out),
                2.. => panel::<2>(ids, values, table, at, out),
                _ => panel::<1>(ids, values, table, at, out),
            };
        }
    }
}

#[inline(always)]
#[expect(clippy::inline_always, reason = "as its caller")]
fn panel<const N: usize>(
    ids: &[u32],
    values: &[f32],
    table: &Table,
    at: usize,
    out: &mut [Lane],
) -> usize {
    let mut sums = [Lane::default(); N];
    for (&f, &v) in ids.iter().zip(values) {
        let start = f as usize * table.n_lanes + at;
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
            let value = |f: usize, c: usize| ((f * 131 + c * 17) as f32 * 0.37).sin();
            let mut table = Table::default();
            table.reset(points.n_features(), width);
            for f in 0..points.n_features() {
                for c in 0..width {
                    table.set(f, c, value(f, c));
                }
            }
            let n = table.n_lanes();
            let mut out = vec![Lane([f32::NAN; 8]); 3 * n];
            dots(&points, 0..3, &table, &mut out);
            for i in 0..3 {
                for c in 0..width {
                    let mut expected = 0.0f32;
                    let (ids, values) = points.row(i);
                    for (&f, &v) in ids.iter().zip(values) {
                        expected += v * value(f as usize, c);
                    }
                    let found = out[i * n + c / 8].0[c % 8];
                    assert_eq!(found.to_bits(), expected.to_bits(), "{width} {i} {c}");
                }
            }
        }
    }
}
