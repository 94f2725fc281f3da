//! LIBLINEAR's `-s 5`, rule by rule: the baseline that others publish with.

use super::certificate::{Proof, prove_as_is};
use super::state::{Row, Scaled, Workspace};
use super::{Certificate, Design, Intercept, Problem, Settings};
use crate::parallel::Control;
use crate::rng::SplitMix64;

/// Line search: sufficient share, shortening, most trials.
const SIGMA: f64 = 0.01;
const BETA: f64 = 0.5;
const TRIALS: usize = 20;

/// Second derivatives are at least this, shorter steps are not taken.
const FLOOR: f64 = 1e-12;

/// Columns between two looks at the cancel flag.
const COLUMNS_PER_CHECK: usize = 64;

/// Coordinate descent with shrinking, line search and stop rule of LIBLINEAR.
///
/// Works in LIBLINEAR's units, `||w||_1 + sum_i C_i hinge_i^2` with
/// `C_i = c_i / alpha`; the intercept is the weight of a last column. Each sweep
/// takes the active features in a new random order. One at zero whose derivative
/// lies inside `[-1, 1]` by more than the last sweep's largest violation over
/// `n_samples` leaves the active set. The sweeps end once the violations met in
/// one add up to at most `eps max(min(n_pos, n_neg), 1) / n_samples` of the first
/// sweep's: if features are left out then, all come back and sweeps go on. At
/// `max_iter` they do not come back: what is returned may be far from optimal
/// however small `eps` is, and only the certificate tells.
///
/// Cost: a sweep passes over the columns of the active features once, twice
/// where the cheap bound of the line search fails. Memory: 16 bytes a sample, 12
/// a feature.
///
/// Source: Yuan, Chang, Hsieh, Lin, JMLR 2010, section 4.1; Fan, Chang, Hsieh,
/// Wang, Lin, "LIBLINEAR: a library for large linear classification", JMLR 2008,
/// appendix, with the strict comparisons and the tolerance by class of later
/// versions (`-s 5 -B scale`, or `-R` for a free intercept).
/// Differs: our own seeded generator in place of `rand()`; sample weights, a
/// ridge and a start, where given.
pub(super) fn run(
    problem: &Problem<'_>,
    settings: &Settings,
    (eps, seed): (f64, u64),
    state: &mut Workspace,
    control: &Control,
) -> Certificate {
    let scaled = Scaled::new(problem, control);
    let (n, n_positives) = (problem.design.n_samples(), state.n_positives());
    let rarer = n_positives.min(n - n_positives).max(1);
    let eps = eps * rarer as f64 / n as f64;
    let mut descent = Descent::new(problem, state);
    let mut rng = SplitMix64::new(seed);
    let mut active: Vec<u32> = (0..descent.n_coordinates() as u32).collect();
    let mut n_active = active.len();
    let mut largest = f64::INFINITY;
    let mut first = None;
    let (mut n_iter, mut ended) = (0, false);
    state.watch(&scaled, settings, |_| ());
    while n_iter < settings.max_iter && !ended {
        for s in 0..n_active {
            active.swap(s, s + rng.below(n_active - s));
        }
        let slack = largest / n as f64;
        let (mut worst, mut sum) = (0.0_f64, 0.0);
        let mut s = 0;
        while s < n_active {
            if s % COLUMNS_PER_CHECK == 0 && control.is_cancelled() {
                break;
            }
            if let Some(violation) = descent.descend(state, active[s] as usize, slack) {
                worst = worst.max(violation);
                sum += violation;
                s += 1;
            } else {
                n_active -= 1;
                active.swap(s, n_active);
            }
        }
        n_iter += 1;
        if control.is_cancelled() {
            break;
        }
        largest = worst;
        if sum <= eps * *first.get_or_insert(sum) {
            ended = n_active == active.len();
            n_active = active.len();
            largest = f64::INFINITY;
        }
        state.watch(&scaled, settings, |state| descent.hand_over(state));
    }
    descent.hand_over(state);
    let proof: Proof = prove_as_is(&scaled, settings, state);
    let status = proof.status_of_own_rule(settings.tol, ended, control);
    proof.certificate(state, n_iter, status)
}

/// Hinges kept up to date step by step, and what each coordinate needs.
struct Descent<'a> {
    design: &'a Design<'a>,
    /// `margin` holds `1 - s z` here, `signed_weight` holds `s C`.
    rows: Vec<Row>,
    /// `sum_i C_i x_ij^2`.
    square: Vec<f64>,
    ridge: f64,
    intercept: Intercept,
    /// Weight of the intercept's column.
    bias: f64,
    bias_square: f64,
}

impl<'a> Descent<'a> {
    fn new(problem: &Problem<'a>, state: &Workspace) -> Self {
        let design = problem.design;
        let positive = problem.class_weight.0 / problem.alpha;
        let negative = problem.class_weight.1 / problem.alpha;
        let mut rows: Vec<Row> = (0..design.n_samples())
            .map(|i| Row {
                margin: 1.0,
                signed_weight: -negative * design.weight(i),
            })
            .collect();
        let squares = (0..design.n_features()).map(|j| negative * design.column_square(j));
        let mut square: Vec<f64> = squares.collect();
        for &i in problem.positives {
            let weight = design.weight(i as usize);
            rows[i as usize].signed_weight = positive * weight;
            let (ids, values) = design.rows().row(i as usize);
            for (&j, &x) in ids.iter().zip(values) {
                square[j as usize] += (positive - negative) * weight * f64::from(x).powi(2);
            }
        }
        let total: f64 = rows.iter().fold(0.0, |sum, row| sum + row.weight());
        let mut descent = Self {
            design,
            rows,
            square,
            ridge: problem.ridge / problem.alpha,
            intercept: problem.intercept,
            bias: 0.0,
            bias_square: total * column_value(problem.intercept).powi(2),
        };
        descent.recompute(state);
        descent
    }

    /// Features, and the intercept's column last.
    fn n_coordinates(&self) -> usize {
        self.design.n_features() + usize::from(self.intercept != Intercept::None)
    }

    /// Where the shared workspace wants weights and intercept.
    fn hand_over(&self, state: &mut Workspace) {
        for j in 0..self.design.n_features() {
            if state.weights[j] != 0.0 {
                state.see(self.design, j as u32);
            }
        }
        state.intercept = self.bias * column_value(self.intercept);
    }

    /// One coordinate's step; its violation before it, or `None` if it is to
    /// leave the active set.
    fn descend(&mut self, state: &mut Workspace, j: usize, slack: f64) -> Option<f64> {
        let design = self.design;
        let step = if j < design.n_features() {
            let (ids, values) = design.column(j);
            let column = || {
                let pairs = ids.iter().zip(values);
                pairs.map(|(&i, &x)| (i as usize, f64::from(x)))
            };
            let coordinate = Coordinate {
                w: state.weights[j],
                square: self.square[j],
                ridge: self.ridge,
                penalty: 1.0,
            };
            coordinate.descend(&mut self.rows, column, slack)?
        } else {
            let (n, value) = (self.rows.len(), column_value(self.intercept));
            let coordinate = Coordinate {
                w: self.bias,
                square: self.bias_square,
                ridge: 0.0,
                penalty: if self.intercept == Intercept::Free {
                    0.0
                } else {
                    1.0
                },
            };
            coordinate.descend(&mut self.rows, || (0..n).map(|i| (i, value)), slack)?
        };
        if j < design.n_features() {
            state.weights[j] = step.moved;
        } else {
            self.bias = step.moved;
        }
        if step.is_lost {
            self.recompute(state);
        }
        Some(step.violation)
    }

    /// All hinges anew.
    fn recompute(&mut self, state: &Workspace) {
        let intercept = self.bias * column_value(self.intercept);
        for row in &mut self.rows {
            row.margin = 1.0 - row.sign() * intercept;
        }
        for (j, &w) in state.weights.iter().enumerate() {
            if w != 0.0 {
                let (ids, values) = self.design.column(j);
                for (&i, &x) in ids.iter().zip(values) {
                    let row = &mut self.rows[i as usize];
                    row.margin -= row.sign() * w * f64::from(x);
                }
            }
        }
    }
}

/// Value of the intercept's column.
fn column_value(intercept: Intercept) -> f64 {
    match intercept {
        Intercept::None => 0.0,
        Intercept::Penalized(scale) => scale,
        Intercept::Free => 1.0,
    }
}

/// A weight before its step.
struct Coordinate {
    w: f64,
    square: f64,
    ridge: f64,
    /// Its L1 weight: 1, or 0 for a free intercept.
    penalty: f64,
}

/// What a step left.
struct Step {
    moved: f64,
    violation: f64,
    /// The line search failed: hinges no longer fit the weight.
    is_lost: bool,
}

impl Coordinate {
    /// A Newton step of the L1-penalised quadratic model, shortened until it
    /// lowers the objective enough; `None` if the coordinate is to be left out.
    fn descend<I: Iterator<Item = (usize, f64)>>(
        &self,
        rows: &mut [Row],
        column: impl Fn() -> I,
        slack: f64,
    ) -> Option<Step> {
        let &Self {
            w,
            square,
            ridge,
            penalty,
        } = self;
        let (mut g, mut h) = (0.0, 0.0);
        for (i, x) in column() {
            let row = &rows[i];
            if row.margin > 0.0 {
                let cx = row.signed_weight * x;
                g -= cx * row.margin;
                h += cx.abs() * x.abs();
            }
        }
        let loss_slope = 2.0 * g;
        let slope = loss_slope + ridge * w;
        let curvature = (2.0 * h + ridge).max(FLOOR);
        let (up, down) = (slope + penalty, slope - penalty);
        let violation = if penalty == 0.0 {
            slope.abs()
        } else if w > 0.0 {
            up.abs()
        } else if w < 0.0 {
            down.abs()
        } else if up < 0.0 {
            -up
        } else if down > 0.0 {
            down
        } else if up > slack && down < -slack {
            return None;
        } else {
            0.0
        };
        let mut d = if up < curvature * w {
            -up / curvature
        } else if down > curvature * w {
            -down / curvature
        } else {
            -w
        };
        let mut step = Step {
            moved: w,
            violation,
            is_lost: false,
        };
        if d.abs() < FLOOR {
            return Some(step);
        }
        let mut delta = penalty * ((w + d).abs() - w.abs()) + slope * d;
        let (mut before, mut done) = (0.0, 0.0);
        for trial in 0..TRIALS {
            let rest =
                penalty * ((w + d).abs() - w.abs()) + ridge * d * (w + 0.5 * d) - SIGMA * delta;
            // The loss rises by at most this: no pass to measure it.
            if square * d * d + loss_slope * d + rest <= 0.0 {
                for (i, x) in column() {
                    let row = &mut rows[i];
                    row.margin += (done - d) * x * row.sign();
                }
                step.moved = w + d;
                return Some(step);
            }
            let mut after = 0.0;
            for (i, x) in column() {
                let row = &mut rows[i];
                if trial == 0 {
                    before += row.weight() * row.margin.max(0.0).powi(2);
                }
                row.margin += (done - d) * x * row.sign();
                after += row.weight() * row.margin.max(0.0).powi(2);
            }
            if rest + after - before <= 0.0 {
                step.moved = w + d;
                return Some(step);
            }
            done = d;
            d *= BETA;
            delta *= BETA;
        }
        step.moved = w + d;
        step.is_lost = true;
        Some(step)
    }
}
