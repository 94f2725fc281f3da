//! The passes over a column that sweeps consist of.
//!
//! Sums run in eight lanes of `f32`, entry k of a column in lane k mod 8, and go
//! to `f64` every [`BATCH`] entries: the bits do not depend on the instruction set.

#[cfg(target_arch = "x86_64")]
use super::avx2;
use super::cells::{BATCH, Cell, signed, total};

/// What a column's passes read: ids below the number of cells, and values.
pub(super) type Column<'a> = (&'a [u32], &'a [f32]);

/// First and second derivative of the loss along a column.
#[inline]
pub(super) fn slope(cells: &[Cell], intercept: f32, column: Column<'_>) -> (f64, f64) {
    let (mut g, mut h) = (0.0, 0.0);
    for (ids, values) in column.0.chunks(BATCH).zip(column.1.chunks(BATCH)) {
        let (a, b) = slope_lanes(cells, intercept, ids, values);
        g += total(a);
        h += total(b);
    }
    (-2.0 * g, 2.0 * h)
}

#[inline]
fn slope_lanes(
    cells: &[Cell],
    intercept: f32,
    ids: &[u32],
    values: &[f32],
) -> ([f32; 8], [f32; 8]) {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        let done = ids.len() / 8 * 8;
        // SAFETY: the processor has AVX2; ids are below the number of cells.
        let lanes = unsafe { avx2::slope(cells, intercept, &ids[..done], values) };
        return slope_plain(cells, intercept, &ids[done..], &values[done..], lanes);
    }
    slope_plain(cells, intercept, ids, values, ([0.0; 8], [0.0; 8]))
}

#[inline]
fn slope_plain(
    cells: &[Cell],
    intercept: f32,
    ids: &[u32],
    values: &[f32],
    (mut g, mut h): ([f32; 8], [f32; 8]),
) -> ([f32; 8], [f32; 8]) {
    for (k, (&i, &x)) in ids.iter().zip(values).enumerate() {
        let cell = cells[i as usize];
        let hinge = cell.hinge(intercept);
        let cx = cell.signed_weight * x;
        // Without a branch: which rows are active is not predictable.
        let active = f32::from(u8::from(hinge > 0.0));
        g[k % 8] += hinge.max(0.0) * cx;
        h[k % 8] += active * (cx * x).abs();
    }
    (g, h)
}

/// Add `d` times the column to the margins; the change of the loss.
#[inline]
pub(super) fn shift(cells: &mut [Cell], intercept: f32, column: Column<'_>, d: f32) -> f64 {
    let mut change = 0.0;
    for (ids, values) in column.0.chunks(BATCH).zip(column.1.chunks(BATCH)) {
        change += total(shift_lanes(cells, intercept, ids, values, d));
    }
    change
}

#[inline]
fn shift_lanes(
    cells: &mut [Cell],
    intercept: f32,
    ids: &[u32],
    values: &[f32],
    d: f32,
) -> [f32; 8] {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        let done = ids.len() / 8 * 8;
        // SAFETY: the processor has AVX2; ids are below the number of cells.
        let lanes = unsafe { avx2::shift(cells, intercept, &ids[..done], values, d) };
        return shift_plain(cells, intercept, &ids[done..], &values[done..], d, lanes);
    }
    shift_plain(cells, intercept, ids, values, d, [0.0; 8])
}

#[inline]
fn shift_plain(
    cells: &mut [Cell],
    intercept: f32,
    ids: &[u32],
    values: &[f32],
    d: f32,
    mut change: [f32; 8],
) -> [f32; 8] {
    for (k, (&i, &x)) in ids.iter().zip(values).enumerate() {
        let cell = &mut cells[i as usize];
        let before = cell.hinge(intercept).max(0.0);
        cell.base -= signed(d * x, cell.signed_weight);
        let after = cell.hinge(intercept).max(0.0);
        change[k % 8] += cell.signed_weight.abs() * ((after - before) * (after + before));
    }
    change
}

/// `sums[i] += d x_i` over the column.
#[inline]
pub(super) fn add(sums: &mut [f32], column: Column<'_>, d: f32) {
    let (ids, values) = column;
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has AVX2; ids are below the number of rows.
        return unsafe { avx2::add(sums, ids, values, d) };
    }
    for (&i, &x) in ids.iter().zip(values) {
        sums[i as usize] += d * x;
    }
}

/// Product of the column with a vector over the rows.
#[inline]
pub(super) fn dot(vector: &[f32], column: Column<'_>) -> f64 {
    let mut sum = 0.0;
    for (ids, values) in column.0.chunks(BATCH).zip(column.1.chunks(BATCH)) {
        sum += total(dot_lanes(vector, ids, values));
    }
    sum
}

#[inline]
fn dot_lanes(vector: &[f32], ids: &[u32], values: &[f32]) -> [f32; 8] {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        let done = ids.len() / 8 * 8;
        // SAFETY: the processor has AVX2; ids are below the number of rows.
        let lanes = unsafe { avx2::dot(vector, &ids[..done], values) };
        return dot_plain(vector, &ids[done..], &values[done..], lanes);
    }
    dot_plain(vector, ids, values, [0.0; 8])
}

#[inline]
fn dot_plain(vector: &[f32], ids: &[u32], values: &[f32], mut lanes: [f32; 8]) -> [f32; 8] {
    for (k, (&i, &x)) in ids.iter().zip(values).enumerate() {
        lanes[k % 8] += vector[i as usize] * x;
    }
    lanes
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 40 rows of both classes, some with weight 0, margins on both sides; a column
    /// of `n` of them.
    fn case(n: u32) -> (Vec<Cell>, Vec<u32>, Vec<f32>) {
        let wave = |k: u32| (k as f32 * 0.7 + 0.3).sin();
        let cells = (0..40)
            .map(|i| Cell {
                base: 1.0 + 2.0 * wave(i),
                signed_weight: [1.5, -1.0, -0.0, -0.25][i as usize % 4],
            })
            .collect();
        // 17 and 40 share no divisor: no row comes twice.
        let ids = (0..n).map(|k| k * 17 % 40).collect();
        let values = (0..n).map(|k| 3.0 * wave(k + 50)).collect();
        (cells, ids, values)
    }

    fn bits(lanes: [f32; 8]) -> [u32; 8] {
        lanes.map(f32::to_bits)
    }

    #[test]
    fn every_length_gives_the_plain_lanes_bit_for_bit() {
        for n in 0..=40 {
            let (mut cells, ids, values) = case(n);
            let (g, h) = slope_lanes(&cells, -0.3, &ids, &values);
            let plain = slope_plain(&cells, -0.3, &ids, &values, ([0.0; 8], [0.0; 8]));
            assert_eq!((bits(g), bits(h)), (bits(plain.0), bits(plain.1)), "{n}");
            let vector: Vec<f32> = cells.iter().map(|c| c.base).collect();
            let plain = dot_plain(&vector, &ids, &values, [0.0; 8]);
            assert_eq!(bits(dot_lanes(&vector, &ids, &values)), bits(plain), "{n}");
            let mut sums = vector.clone();
            add(&mut sums, (&ids, &values), 0.7);
            let mut expected = vector;
            for (&i, &x) in ids.iter().zip(&values) {
                expected[i as usize] += 0.7 * x;
            }
            assert_eq!(sums, expected, "{n}");
            let mut copy = cells.clone();
            let change = shift_lanes(&mut cells, -0.3, &ids, &values, 0.4);
            let plain = shift_plain(&mut copy, -0.3, &ids, &values, 0.4, [0.0; 8]);
            assert_eq!(bits(change), bits(plain), "{n}");
            let moved = |cells: &[Cell]| cells.iter().map(|c| c.base.to_bits()).collect::<Vec<_>>();
            assert_eq!(moved(&cells), moved(&copy), "{n}");
        }
    }

    #[test]
    fn slope_and_shift_are_those_of_the_loss() {
        let (mut cells, ids, values) = case(40);
        let b = 0.2;
        let loss = |d: f64| -> f64 {
            let row = |(&i, &x): (&u32, &f32)| {
                let cell = cells[i as usize];
                let s = 1.0_f64.copysign(f64::from(cell.signed_weight));
                let hinge = f64::from(cell.base) - s * (b + d * f64::from(x));
                f64::from(cell.signed_weight.abs()) * hinge.max(0.0).powi(2)
            };
            ids.iter().zip(&values).map(row).sum()
        };
        let (g, h) = slope(&cells, b as f32, (&ids, &values));
        let e = 1e-5;
        let (before, after) = (loss(-e), loss(e));
        assert!((g - (after - before) / (2.0 * e)).abs() < 1e-3, "{g}");
        let curvature = (after - 2.0 * loss(0.0) + before) / (e * e);
        assert!((h - curvature).abs() < 1e-2 * h, "{h} {curvature}");
        let expected = loss(0.5) - loss(0.0);
        let change = shift(&mut cells, b as f32, (&ids, &values), 0.5);
        assert!(
            (change - expected).abs() < 1e-4 * expected.abs(),
            "{change} {expected}"
        );
    }
}
