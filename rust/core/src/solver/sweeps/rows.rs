//! The passes over all rows of a problem.
#![allow(
    clippy::needless_range_loop,
    reason = "lanes of several arrays side by side"
)]

use super::cells::{BATCH, Cell, signed, total};
use crate::instructions::compiled_twice;

compiled_twice! {
    /// First and second derivative of the loss in the intercept.
    pub(super) fn intercept_slope(cells: &[Cell], intercept: f32) -> (f64, f64) {
        let (mut g, mut h) = (0.0, 0.0);
        for cells in cells.chunks(BATCH) {
            let (mut a, mut c) = ([0.0_f32; 8], [0.0_f32; 8]);
            let (eights, rest) = cells.as_chunks::<8>();
            for eight in eights {
                for k in 0..8 {
                    let hinge = eight[k].hinge(intercept);
                    let weight = eight[k].signed_weight;
                    a[k] += weight * hinge.max(0.0);
                    c[k] += if hinge > 0.0 { weight.abs() } else { 0.0 };
                }
            }
            for (k, cell) in rest.iter().enumerate() {
                let hinge = cell.hinge(intercept);
                a[k] += cell.signed_weight * hinge.max(0.0);
                c[k] += if hinge > 0.0 { cell.signed_weight.abs() } else { 0.0 };
            }
            g += total(a);
            h += total(c);
        }
        (-2.0 * g, 2.0 * h)
    }
}

compiled_twice! {
    /// `vector_i *= factor_i`; the sum of the products.
    pub(super) fn scale(vector: &mut [f32], factors: &[f32]) -> f64 {
        let mut sum = 0.0;
        for (vector, factors) in vector.chunks_mut(BATCH).zip(factors.chunks(BATCH)) {
            let mut lanes = [0.0_f32; 8];
            let (eights, rest) = vector.as_chunks_mut::<8>();
            let (factors, last) = factors.as_chunks::<8>();
            for (eight, factors) in eights.iter_mut().zip(factors) {
                for k in 0..8 {
                    eight[k] *= factors[k];
                    lanes[k] += eight[k];
                }
            }
            for ((lane, v), f) in lanes.iter_mut().zip(rest).zip(last) {
                *v *= f;
                *lane += *v;
            }
            sum += total(lanes);
        }
        sum
    }
}

compiled_twice! {
    /// The change of the loss if `along_i + d` were added to each margin.
    pub(super) fn change(cells: &[Cell], intercept: f32, along: &[f32], d: f32) -> f64 {
        let mut sum = 0.0;
        for (cells, along) in cells.chunks(BATCH).zip(along.chunks(BATCH)) {
            let mut lanes = [0.0_f32; 8];
            let (eights, rest) = cells.as_chunks::<8>();
            let (along, last) = along.as_chunks::<8>();
            for (eight, along) in eights.iter().zip(along) {
                for k in 0..8 {
                    lanes[k] += fall(eight[k], intercept, along[k] + d);
                }
            }
            for ((lane, &cell), &t) in lanes.iter_mut().zip(rest).zip(last) {
                *lane += fall(cell, intercept, t + d);
            }
            sum += total(lanes);
        }
        sum
    }
}

/// The change of a row's loss if `z` were added to its margin.
#[inline]
fn fall(cell: Cell, intercept: f32, z: f32) -> f32 {
    let hinge = cell.hinge(intercept);
    let after = (hinge - signed(z, cell.signed_weight)).max(0.0);
    let before = hinge.max(0.0);
    cell.signed_weight.abs() * ((after - before) * (after + before))
}

compiled_twice! {
    /// Add `length * along_i` to each margin.
    pub(super) fn advance(cells: &mut [Cell], along: &[f32], length: f32) {
        for (cell, &z) in cells.iter_mut().zip(along) {
            cell.base -= signed(length * z, cell.signed_weight);
        }
    }
}
