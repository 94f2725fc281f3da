//! Columns that a look at the gap may pass over: those whose derivative is provably
//! below alpha.
//!
//! Most rows that any weight reaches differ from an untouched row by very little. With
//! the large differences added up, and `r` the small ones, Cauchy and Schwarz bound
//! what is missing:
//!
//! ```text
//! |g_j| <= |g_j without r| + 2 ||A_j|| ||r||
//! ```
//!
//! with `||A_j||^2 = sum_i weight_i x_ij^2` and `||r||^2 = sum_i r_i^2 / weight_i`. A
//! column is closed while the right side is below alpha: no bound on the optimum, no
//! step and no working set needs more of it. The others are added up by column.

use super::Gradient;
use crate::parallel::Control;
use crate::solver::Design;
use crate::solver::descent::slope;
use crate::solver::scatter::scatter;
use crate::solver::state::{Row, Scaled};

/// What the sums at hand may add to a bound by rounding, as a share of alpha.
const ROUNDING: f64 = 1e-9;

/// Fewer values than this share of the features are added up without a thought.
const WORTHWHILE: f64 = 1.0;

/// Values are saved where less than this share of them is expected to be left.
const SAVED: f64 = 0.4;

/// What a column without large rows is expected to leave of alpha to the bound.
const EXPECTED_ROOM: f64 = 0.7;

/// Columns between two looks at the cancel flag.
const COLUMNS_PER_CHECK: usize = 256;

/// Classes of residuals, a factor of 2 apart; the last holds all that are smaller.
const N_CLASSES: usize = 24;

/// Some rows of a list come first, the others are bounded.
#[derive(Clone, Copy, Debug)]
pub(in crate::solver) struct Split {
    n_large: usize,
    /// `||r||` of the others, rounding included.
    rest: f64,
}

/// Move those `(i, residual)` of `list` to its front that are worth adding up where
/// `n_support` values lie in columns with a weight. `None`: all are.
///
/// `factor` is that of the column sums. Cost: two passes over `list`.
pub(in crate::solver) fn split(
    problem: &Scaled<'_>,
    factor: f64,
    list: &mut [(u32, f64)],
    n_support: usize,
) -> Option<Split> {
    let design = problem.design;
    let mean_length = design.rows().nnz() as f64 / design.n_samples() as f64;
    let all = mean_length * list.len() as f64;
    if all <= WORTHWHILE * design.n_features() as f64 || n_support as f64 >= SAVED * all {
        return None;
    }
    let square = |&(i, r): &(u32, f64)| r * r / design.weight(i as usize);
    let largest = list.iter().map(square).fold(0.0, f64::max);
    // The exponent, halved.
    let class_of = |square: f64| ((largest.to_bits() >> 53) - (square.to_bits() >> 53)) as usize;
    let mut classes = [(0_usize, 0.0); N_CLASSES];
    for entry in &*list {
        let square = square(entry);
        let (count, sum) = &mut classes[class_of(square).min(N_CLASSES - 1)];
        *count += 1;
        *sum += square;
    }
    let total = classes.iter().fold(0.0, |sum, class| sum + class.1);
    let rounding = 0.5 * f64::EPSILON * design.n_samples() as f64;
    let rounding = rounding * (2.0 * total.sqrt() + factor * design.total_weight().sqrt());
    // From the last class on, more and more rows are left to the bound.
    let (mut n_large, mut sum, mut best) = (list.len(), 0.0, (SAVED * all, 0, 0.0));
    for (class, &(count, square)) in classes.iter().enumerate().rev() {
        if count == 0 {
            continue;
        }
        n_large -= count;
        sum += square;
        let rest = (1.0 + 1e-6) * f64::sqrt(sum) + rounding;
        let reach = EXPECTED_ROOM * problem.alpha / (2.0 * rest);
        let open = design.long_columns().n_values(reach * reach);
        let cost = mean_length * n_large as f64 + open as f64 + n_support as f64;
        if cost < best.0 {
            best = (cost, class, rest);
        }
    }
    let (_, first_small, rest) = best;
    if rest == 0.0 {
        return None;
    }
    let mut n_large = 0;
    for k in 0..list.len() {
        if class_of(square(&list[k])) < first_small {
            list.swap(n_large, k);
            n_large += 1;
        }
    }
    Some(Split { n_large, rest })
}

impl Gradient {
    /// [`Self::set`] of the large rows of `list`, and what is missing of the small
    /// ones in all columns that these may lift to alpha.
    pub(in crate::solver) fn set_split(
        &mut self,
        problem: &Scaled<'_>,
        factor: f64,
        (list, split): (&[(u32, f64)], Split),
        (rows, intercept): (&[Row], f64),
    ) {
        let (large, small) = list.split_at(split.n_large);
        let design = problem.design;
        self.add_large(design, factor, large, false, problem.control);
        let mut open = std::mem::take(&mut self.open);
        self.find_open(problem, split.rest, &mut open);
        let columns = open.iter().map(|&j| design.column(j as usize).0.len());
        let n_columns: usize = columns.sum();
        let n_rows = |&(i, _): &(u32, f64)| design.rows().row(i as usize).0.len();
        if n_columns > small.iter().map(n_rows).sum() {
            // More is open than was expected.
            self.add_to_all(design, small, problem.control);
            self.find_peaks();
        } else {
            for (at, &j) in open.iter().enumerate() {
                if at % COLUMNS_PER_CHECK == 0 && problem.control.is_cancelled() {
                    break;
                }
                let (ids, values) = design.column(j as usize);
                self.put(j, slope(rows, intercept, ids, values).0);
            }
            self.closed_below = problem.alpha;
            if self.of_others.is_none() {
                self.find_peaks();
            }
        }
        self.open = open;
    }

    /// Columns whose derivative, up to `2 rest` times their norm as it stands, may
    /// reach alpha. Cost: the features listed and the longest columns, or all.
    fn find_open(&self, problem: &Scaled<'_>, rest: f64, open: &mut Vec<u32>) {
        let (design, alpha) = (problem.design, problem.alpha);
        let (moved, least) = (4.0 * rest * rest, (1.0 - ROUNDING) * alpha);
        // Not the other way round: what is no number stays open.
        let is_closed = |square: f64, g: f64| {
            let room = least - g.abs();
            room > 0.0 && moved * square < room * room
        };
        let Some(factor) = self.of_others else {
            open.resize(self.values.len(), 0);
            let mut end = 0;
            let squares = design.column_squares();
            for ((j, &g), &square) in (0..).zip(&self.values).zip(squares) {
                // Without a branch: few are open.
                open[end] = j;
                end += usize::from(!is_closed(square, g));
            }
            open.truncate(end);
            return;
        };
        open.clear();
        let square = |j: u32| design.column_square(j as usize);
        let is_open = |&j: &u32| !is_closed(square(j), self.at(design, j));
        open.extend(self.listed.iter().copied().filter(is_open));
        // Of all others, half of alpha must come from one of the two.
        let is_long = |j: &u32| !is_closed(square(*j), 0.5 * alpha);
        let is_steep = |j: &u32| factor * design.column_sum()[*j as usize].abs() > 0.49 * alpha;
        let long = design.long_columns().ids().iter().copied();
        let steep = design.steep_columns().iter().copied();
        let steep = steep.take_while(is_steep).filter(|j| !is_long(j));
        let others = long.take_while(is_long).chain(steep);
        open.extend(others.filter(|&j| !self.is_listed(j)).filter(is_open));
    }

    /// Set the derivative by `j`.
    fn put(&mut self, j: u32, g: f64) {
        if self.of_others.is_some() && !self.is_listed(j) {
            self.is_listed[j as usize] = true;
            self.listed.push(j);
        }
        self.values[j as usize] = g;
    }

    /// Add up the rows of `list` too, for all features.
    fn add_to_all(&mut self, design: &Design<'_>, list: &[(u32, f64)], control: &Control) {
        if let Some(factor) = self.of_others {
            for (j, sum) in design.column_sum().iter().enumerate() {
                if !self.is_listed[j] {
                    self.values[j] = factor * sum;
                }
            }
            self.unlist();
        }
        scatter(design.rows(), list, &mut self.values, control);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sparse::{CsrMatrix, Pattern};

    const N: u32 = 400;
    const D: u32 = 300;

    /// 64-bit linear congruences: numbers in [0, 1).
    struct Numbers(u64);

    impl Numbers {
        fn next(&mut self) -> f64 {
            self.0 = self
                .0
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (self.0 >> 33) as f64 / f64::from(1_u32 << 31)
        }
    }

    /// Rows of 12 features, the first ones frequent; feature D - 1 is in none.
    fn rows(numbers: &mut Numbers, scale: f32) -> CsrMatrix {
        let (mut indptr, mut indices, mut data) = (vec![0], Vec::new(), Vec::new());
        for _ in 0..N {
            let mut ids: Vec<u32> = (0..12)
                .map(|_| (f64::from(D - 1) * numbers.next().powi(3)) as u32)
                .collect();
            ids.sort_unstable();
            ids.dedup();
            data.extend(ids.iter().map(|_| scale * (numbers.next() as f32 - 0.3)));
            indices.extend(ids);
            indptr.push(indices.len() as u64);
        }
        let pattern = Pattern {
            n_cols: D as usize,
            indptr,
            indices,
        };
        CsrMatrix { pattern, data }
    }

    /// What a random point's look leaves open and closed, against dense sums. The hinges
    /// of negatives are `base` but for few, up to `moved` of it. Returns how many columns
    /// were not exact.
    fn check(seed: u64, scale: f32, weighted: bool, moved: f64) -> usize {
        let mut numbers = Numbers(seed);
        let x = rows(&mut numbers, scale);
        let weights: Vec<f64> = (0..N).map(|i| f64::from(i % 3)).collect();
        let control = Control::default();
        let sample_weight = weighted.then_some(&weights[..]);
        let design = Design::new(x.view(), sample_weight, &control).unwrap();
        // Rows of even number are touched: row 8 is positive.
        let (base, intercept) = (0.25, -0.75);
        let rows: Vec<Row> = (0..N)
            .map(|i| {
                let c = design.weight(i as usize);
                let margin = match i {
                    8 => 0.5,
                    _ if i % 40 == 0 => 3.0 * numbers.next() - 1.5,
                    _ if i % 2 == 0 => moved * (numbers.next() - 0.5),
                    _ => 0.0,
                };
                let signed_weight = if i == 8 { 5.0 * c } else { -c };
                Row {
                    margin,
                    signed_weight,
                }
            })
            .collect();
        let residual = |(i, row): (usize, &Row)| {
            let a = row.weight() * row.hinge(intercept).max(0.0);
            (i as u32, -row.sign() * a - design.weight(i) * base)
        };
        let list = rows.iter().enumerate().map(residual);
        let mut list: Vec<_> = list.filter(|&(_, r)| r != 0.0).collect();
        let mut exact = vec![0.0; D as usize];
        for (i, row) in rows.iter().enumerate() {
            let (ids, values) = x.view().row(i);
            for (&j, &v) in ids.iter().zip(values) {
                let hinge = row.hinge(intercept).max(0.0);
                exact[j as usize] -= 2.0 * row.signed_weight * hinge * f64::from(v);
            }
        }
        let steepest = exact.iter().fold(0.0, |a: f64, g| a.max(g.abs()));
        let mut passed_over = 0;
        for share in [0.1, 0.5, 0.9, 1.0, 1.5] {
            let alpha = share * steepest;
            let problem = Scaled {
                design: &design,
                control: &control,
                alpha,
                ridge: 0.0,
                positive_weight: 5.0,
                intercept_alpha: Some(alpha),
            };
            let mut gradient = Gradient::new(D as usize);
            let mut rests = vec![split(&problem, 2.0 * base, &mut list, 0)];
            // Any split is right, not the chosen one alone.
            for n_large in [0, 5, list.len() / 2].map(|n| n.min(list.len())) {
                let of_row = |&(i, r): &(u32, f64)| r * r / design.weight(i as usize);
                let rest: f64 = list[n_large..].iter().map(of_row).sum();
                let rest = rest.sqrt() * (1.0 + 1e-12);
                rests.push(Some(Split { n_large, rest }));
            }
            for split in rests.into_iter().flatten() {
                let point = (&rows[..], intercept);
                gradient.set_split(&problem, 2.0 * base, (&list, split), point);
                assert!(gradient.largest(&design) >= steepest * (1.0 - 1e-12));
                let mut above = Vec::new();
                gradient.for_each_above(&design, alpha * (1.0 + 1e-9), |j| above.push(j));
                above.sort_unstable();
                let expected = (0..D).filter(|&j| exact[j as usize].abs() > alpha * (1.0 + 1e-9));
                assert_eq!(above, expected.collect::<Vec<u32>>());
                for j in 0..D {
                    let (g, true_g) = (gradient.at(&design, j), exact[j as usize]);
                    if (g - true_g).abs() > 1e-12 * steepest {
                        // Closed: both are below alpha.
                        assert_eq!(gradient.closed_below, alpha);
                        assert!(
                            g.abs() < alpha && true_g.abs() < alpha,
                            "{j}: {g}, {true_g}"
                        );
                        passed_over += 1;
                    }
                }
            }
        }
        passed_over
    }

    #[test]
    fn a_column_passed_over_is_below_alpha() {
        for seed in 0..40 {
            assert!(check(seed, 1.0, seed % 2 == 1, 0.02) > 100, "{seed}");
        }
    }

    #[test]
    fn huge_and_tiny_values_and_duals_that_hardly_move_are_no_other_case() {
        for (scale, moved) in [
            (1e13, 0.02),
            (1e-13, 0.02),
            (1.0, 1e-9),
            (1.0, 2.0),
            (1e13, 0.0),
        ] {
            for seed in 0..10 {
                check(seed, scale, seed % 2 == 1, moved);
            }
        }
    }

    #[test]
    fn a_column_that_meets_its_bound_is_open_until_alpha_exceeds_it() {
        // Eight rows alike: g = 2 * 8 * (0.25 + 0.0625) = 5, of which 4 is there, and
        // 2 sqrt(8) sqrt(8) 0.0625 = 1 is the bound on the rest.
        let x = crate::testing::csr(&[[1.0]; 8]);
        let control = Control::default();
        let design = Design::new(x.view(), None, &control).unwrap();
        let rows = [Row {
            margin: 0.0625,
            signed_weight: -1.0,
        }; 8];
        let list: Vec<_> = (0..8).map(|i| (i, 0.0625)).collect();
        let rest = f64::sqrt(8.0) * 0.0625;
        for (alpha, g, largest) in [(4.9, 5.0, 5.0), (5.1, 4.0, 5.1)] {
            let problem = Scaled {
                design: &design,
                control: &control,
                alpha,
                ridge: 0.0,
                positive_weight: 1.0,
                intercept_alpha: None,
            };
            let mut gradient = Gradient::new(1);
            let split = Split { n_large: 0, rest };
            gradient.set_split(&problem, 0.5, (&list, split), (&rows, -0.75));
            assert_eq!(
                (gradient.at(&design, 0), gradient.largest(&design)),
                (g, largest)
            );
        }
    }

    #[test]
    fn rows_that_matter_come_first_and_the_rest_is_their_norm() {
        let mut numbers = Numbers(3);
        let x = rows(&mut numbers, 1.0);
        let control = Control::default();
        let design = Design::new(x.view(), None, &control).unwrap();
        let problem = Scaled {
            design: &design,
            control: &control,
            alpha: 1.0,
            ridge: 0.0,
            positive_weight: 1.0,
            intercept_alpha: None,
        };
        let residual = |i: u32| if i % 30 == 7 { -4.0 } else { 1e-4 };
        let mut list: Vec<_> = (0..N).map(|i| (i, residual(i))).collect();
        let found = split(&problem, 0.1, &mut list, 0).unwrap();
        // 7, 37, .. 397; 386 rows are left, and rounding is 1e-6 of their norm.
        assert_eq!(found.n_large, 14);
        assert!(list[..14].iter().all(|&(_, r)| r == -4.0));
        let rest = 1e-4 * 386.0_f64.sqrt();
        assert!(found.rest >= rest && found.rest < rest * 1.001, "{found:?}");
        // Nothing is small, or the columns with a weight are longer than the rows.
        assert!(split(&problem, 0.1, &mut list, 5_000).is_none());
        let mut alike: Vec<_> = (0..N).map(|i| (i, 3.0)).collect();
        assert!(split(&problem, 0.1, &mut alike, 0).is_none());
        assert!(split(&problem, 0.1, &mut [], 0).is_none());
    }
}
