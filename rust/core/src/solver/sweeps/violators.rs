//! Which features are swept: the steep ones at first, then all that violate.

use super::cells::Cell;
use crate::solver::Design;
use crate::solver::gradient::Gradient;
use crate::solver::state::Scaled;

/// Derivatives above so many times alpha are steep.
pub(super) const STEEP: f64 = 2.0;

/// Sweeps over the steep features before all are looked at once more.
pub(super) const FIRST_SWEEPS: u64 = 2;

/// Up to so many features that violate optimality at the start are swept at once and
/// for good: a second gradient would cost more than all the sweeps.
pub(super) const FEW: usize = 100;

/// Into `gradient` the derivatives of the loss; `residuals` is room.
///
/// A row that no weight touched is like all others of the negative class: where that is
/// less work, the column sums stand for them all and the others are corrected. Cost: two
/// passes over the rows, one over the features, and the values of active or of touched
/// rows.
pub(super) fn loss_gradient(
    problem: &Scaled<'_>,
    cells: &[Cell],
    intercept: f64,
    residuals: &mut Vec<(u32, f64)>,
    gradient: &mut Gradient,
) {
    let design = problem.design;
    let b = intercept as f32;
    let is_untouched = |cell: &Cell| cell.base == 1.0 && cell.signed_weight.is_sign_negative();
    let (mut n_active, mut n_touched) = (0, 0);
    for cell in cells {
        n_active += usize::from(cell.hinge(b) > 0.0);
        n_touched += usize::from(!is_untouched(cell));
    }
    let assumed = if n_active < n_touched {
        0.0
    } else {
        f64::from((1.0 + b).max(0.0))
    };
    residuals.clear();
    for (i, cell) in (0..).zip(cells) {
        // A weight that f32 does not hold would leave dust of every such row.
        if assumed > 0.0 && is_untouched(cell) {
            continue;
        }
        let weighted = f64::from(cell.signed_weight) * f64::from(cell.hinge(b).max(0.0));
        let residual = -weighted - design.weight(i as usize) * assumed;
        if residual != 0.0 {
            residuals.push((i, residual));
        }
    }
    gradient.set(design, 2.0 * assumed, residuals, false, problem.control);
}

/// Into `steep` the features whose derivative exceeds `least`, the steepest first, each
/// in the low half of its number.
pub(super) fn sort_steep(
    gradient: &Gradient,
    design: &Design<'_>,
    least: f64,
    steep: &mut Vec<u64>,
) {
    steep.clear();
    gradient.for_each_above(design, least, |j| {
        // Positive floats sort as their bits do.
        let shallow = !(gradient.at(design, j).abs() as f32).to_bits();
        steep.push(u64::from(shallow) << 32 | u64::from(j));
    });
    steep.sort_unstable();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parallel::Control;
    use crate::solver::{Intercept, Problem};
    use crate::sparse::{CsrMatrix, CsrView, Pattern};

    #[test]
    fn the_gradient_is_that_of_a_dense_product() {
        // Six rows of two features; row i holds feature i mod 2 and, from 3 on, both.
        let (mut indptr, mut indices, mut data) = (vec![0], Vec::new(), Vec::new());
        for i in 0..6_u32 {
            for j in 0..2 {
                if i >= 3 || j == i % 2 {
                    indices.push(j);
                    data.push(0.5 + i as f32);
                }
            }
            indptr.push(indices.len() as u64);
        }
        let pattern = Pattern {
            n_cols: 2,
            indptr,
            indices,
        };
        let x = CsrMatrix { pattern, data };
        let control = Control::default();
        let weight = [1.0, 2.0, 1.0, 0.5, 1.0, 3.0];
        let design = Design::new(x.view(), Some(&weight), &control).unwrap();
        let positives = [1, 4];
        let problem = Problem {
            design: &design,
            positives: &positives,
            alpha: 1.0,
            ridge: 0.0,
            class_weight: (1.5, 1.0),
            intercept: Intercept::None,
        };
        let scaled = Scaled::new(&problem, &control);
        let sign = |i: usize| {
            if positives.contains(&(i as u32)) {
                1.0
            } else {
                -1.0
            }
        };
        let class = |i: usize| if sign(i) > 0.0 { 1.5 } else { 1.0 };
        let mut gradient = Gradient::new(2);
        // Most rows untouched, with an intercept; then all touched and few active.
        for (margins, b) in [
            ([0.0, 0.25, 0.0, -0.5, 0.0, 0.0], -0.5),
            ([-3.0, 4.0, -3.0, 0.5, 3.0, -4.0], 0.25),
        ] {
            let cells: Vec<Cell> = (0..6)
                .map(|i| Cell {
                    base: (1.0 - sign(i) * margins[i]) as f32,
                    signed_weight: (sign(i) * class(i) * weight[i]) as f32,
                })
                .collect();
            let mut expected = [0.0; 2];
            for i in 0..6 {
                let hinge = (1.0 - sign(i) * (margins[i] + b)).max(0.0);
                let (ids, values) = x.view().row(i);
                for (&j, &v) in ids.iter().zip(values) {
                    expected[j as usize] -=
                        2.0 * sign(i) * class(i) * weight[i] * hinge * f64::from(v);
                }
            }
            loss_gradient(&scaled, &cells, b, &mut Vec::new(), &mut gradient);
            // Halves and quarters: every sum is exact.
            assert_eq!([0, 1].map(|j| gradient.at(&design, j)), expected);
        }
    }

    #[test]
    fn untouched_rows_are_in_the_column_sums_whatever_they_weigh() {
        let x = crate::testing::csr(&[[1.0], [2.0], [3.0], [4.0]]);
        let control = Control::default();
        let weight = [0.1, 0.7, 1.3, 0.3];
        let design = Design::new(x.view(), Some(&weight), &control).unwrap();
        let problem = Problem {
            design: &design,
            positives: &[1],
            alpha: 1.0,
            ridge: 0.0,
            class_weight: (1.0, 1.0),
            intercept: Intercept::None,
        };
        let scaled = Scaled::new(&problem, &control);
        let cells: Vec<Cell> = [-0.1, 0.7, -1.3, -0.3]
            .into_iter()
            .map(|signed_weight| Cell {
                base: 1.0,
                signed_weight,
            })
            .collect();
        let (mut residuals, mut gradient) = (Vec::new(), Gradient::new(1));
        loss_gradient(&scaled, &cells, 0.0, &mut residuals, &mut gradient);
        let rows: Vec<u32> = residuals.iter().map(|&(i, _)| i).collect();
        assert_eq!(rows, [1]);
        // 2 (0.1 - 1.4 + 3.9 + 1.2)
        assert!((gradient.at(&design, 0) - 7.6).abs() < 1e-6);
    }

    #[test]
    fn the_steepest_come_first_and_ties_by_id() {
        // One row whose values are the derivatives.
        let values = [1.5, -3.0, 0.5, 3.0, -2.0, 1.0];
        let x = CsrView::new(1, 6, &[0, 6], &[0, 1, 2, 3, 4, 5], &values).unwrap();
        let control = Control::default();
        let design = Design::new(x, None, &control).unwrap();
        let mut gradient = Gradient::new(6);
        let mut steep = vec![1];
        for all in [true, false] {
            gradient.set(&design, 1.0, &[], all, &control);
            sort_steep(&gradient, &design, 1.0, &mut steep);
            let ids: Vec<u32> = steep.iter().map(|&key| key as u32).collect();
            assert_eq!(ids, [1, 3, 4, 0]);
        }
        gradient.forget(3);
        gradient.forget(4);
        sort_steep(&gradient, &design, 1.0, &mut steep);
        let ids: Vec<u32> = steep.iter().map(|&key| key as u32).collect();
        assert_eq!(ids, [1, 0]);
    }
}
