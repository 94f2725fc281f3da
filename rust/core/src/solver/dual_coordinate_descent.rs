//! LIBLINEAR's `-s 1`: coordinate descent on the dual of the L2 problem.

use super::certificate::Proof;
use super::rounding::round_to;
use super::squared::{ROWS_PER_CHECK, Squared, add, dot};
use super::state::Workspace;
use super::{Certificate, Design, Intercept, Method, Problem, Settings};
use crate::Result;
use crate::parallel::Control;
use crate::rng::SplitMix64;

/// Shorter violations are not worth a step.
const FLOOR: f64 = 1e-12;

/// Sweeps for a free intercept end at this share of its own violation.
const INNER_SHARE: f64 = 0.1;

/// A free intercept's violation that falls by less raises the step of the next.
const SLOW: f64 = 0.25;

/// By how much.
const WEAKER: f64 = 4.0;

/// A start that problems share need not be as good as what follows: 7 % less CPU of a
/// tree on debtags and debdeps.
const START_EPS: f64 = 10.0;

/// Coordinate descent on the dual variables, one a sample, with shrinking.
///
/// Each sweep takes the active samples in a new random order and solves for one
/// dual variable at a time, keeping `w = A^T a` at hand. A sample at the bound
/// whose derivative is beyond the largest of the last sweep leaves the active
/// set. Sweeps end once the projected derivatives of one span at most `eps`; if
/// samples are left out then, all come back and sweeps go on. At the end `w` is
/// summed anew from the dual variables, so that a feature that only occurs in
/// samples without one has no weight at all.
///
/// A free intercept `b` would put `sum_i s_i a_i = 0` on the dual. It gets the
/// proximal term `(b - b0)^2 / (2 mu)` instead, an offset `b0` beside a penalised
/// column; wherever sweeps end, `b0` moves to `b`, until it moves by at most `eps`.
///
/// Cost: a sweep passes over the rows of the active samples once, twice where
/// their variable moves. Memory: 44 bytes a sample.
///
/// Source: Hsieh, Chang, Lin, Keerthi, Sundararajan, "A dual coordinate descent
/// method for large-scale linear SVM", ICML 2008, algorithm 3 (LIBLINEAR `-s 1`).
/// Differs: our own seeded generator, sample weights, a free intercept, a start;
/// at `max_iter` the solve ends, where LIBLINEAR goes on with its `-s 2`.
pub(super) fn run(
    problem: &Problem<'_>,
    settings: &Settings,
    (c, eps, seed): (f64, f64, u64),
    state: &mut Workspace,
    control: &Control,
) -> Certificate {
    let problem = Squared::new(problem, c, control);
    // A free intercept of 1 or -1 is all that a single class needs.
    let (positive, negative) = state.class_totals();
    let one_class = positive == 0.0 || negative == 0.0;
    if settings.max_iter == 0 || (problem.intercept == Intercept::Free && one_class) {
        let proof = problem.without_weights(settings, state);
        return proof.certificate(state, 0, proof.status_within(settings.tol));
    }
    let mut dual = Dual::new(&problem, state);
    dual.watch(&problem, state);
    let ended = dual.sweep_until(&problem, (eps, seed), settings.max_iter, state);
    dual.finish(&problem, settings, state, ended)
}

/// The projected derivatives of a sweep lie between these.
#[derive(Clone, Copy, Debug)]
struct Span {
    low: f64,
    high: f64,
}

impl Span {
    const EMPTY: Self = Self {
        low: f64::INFINITY,
        high: f64::NEG_INFINITY,
    };

    fn add(&mut self, derivative: f64) {
        self.low = self.low.min(derivative);
        self.high = self.high.max(derivative);
    }
}

/// Where all problems over the same rows may begin: near the solution without positives.
///
/// A label's positives are few, so that its dual variables are those of the problem
/// without any but for the positives and what resembles them.
#[derive(Debug)]
pub struct SharedStart {
    pub(super) duals: Vec<f64>,
    pub(super) weights: Vec<f64>,
    pub(super) imbalance: f64,
}

impl SharedStart {
    /// Solve the problem of `design` without positives, where `method` has use for
    /// it; `negative` is the class weight of negatives.
    ///
    /// # Errors
    /// [`Error::Memory`](crate::Error::Memory),
    /// [`Error::Cancelled`](crate::Error::Cancelled).
    pub fn new(
        design: &Design<'_>,
        method: Method,
        negative: f64,
        intercept: Intercept,
        control: &Control,
    ) -> Result<Option<Self>> {
        let Method::DualCoordinateDescent { c, eps, seed } = method else {
            return Ok(None);
        };
        // A free intercept of -1 solves it: no start at all.
        if intercept == Intercept::Free {
            return Ok(None);
        }
        Workspace::check_room(design, 1, 0)?;
        let problem = Problem {
            design,
            positives: &[],
            alpha: 1.0,
            ridge: 0.0,
            class_weight: (negative, negative),
            intercept,
        };
        let mut state = Workspace::new(design);
        state.begin(&problem, None);
        let problem = Squared::new(&problem, c, control);
        let mut dual = Dual::new(&problem, &mut state);
        let limit = method.default_max_iter();
        dual.sweep_until(&problem, (START_EPS * eps, seed), limit, &mut state);
        control.check()?;
        Ok(Some(Self {
            duals: dual.samples.iter().map(|sample| sample.a).collect(),
            weights: std::mem::take(&mut state.weights),
            imbalance: dual.imbalance,
        }))
    }
}

/// A sample's dual variable and all that its step needs: one load.
#[derive(Clone, Copy, Debug)]
struct Sample {
    a: f64,
    /// `1 / (2 C_i)`, infinite for a sample that weighs nothing.
    diagonal: f64,
    /// Second derivative.
    curvature: f64,
    sign: f64,
}

struct Dual {
    samples: Vec<Sample>,
    /// `sum_i s_i a_i`.
    imbalance: f64,
    /// The intercept is `offset + mu imbalance`.
    offset: f64,
    mu: f64,
    last_move: f64,
}

impl Dual {
    /// Dual variables 0, or those of the workspace's weights, which become theirs.
    fn new(problem: &Squared<'_>, state: &mut Workspace) -> Self {
        let n = problem.design.n_samples();
        let square = problem.design.row_square();
        let mu = match problem.intercept {
            Intercept::None => 0.0,
            Intercept::Penalized(scale) => scale * scale,
            // What bends a row's own problem: a move then closes half of the way
            // or more.
            Intercept::Free => {
                let bends = (0..n).map(|i| (problem.weight(state, i), square[i]));
                let (sum, count) = bends
                    .filter(|&(weight, _)| weight > 0.0)
                    .fold((0.0, 0), |(sum, count), (weight, square)| {
                        (sum + square + 0.5 / weight, count + 1)
                    });
                sum / f64::from(count.max(1))
            }
        };
        let begins = state.nonzero().next().is_some();
        let shared = state.shared_start.clone().filter(|_| !begins);
        let samples = (0..n).map(|i| {
            let sign = state.rows[i].sign();
            let weight = problem.weight(state, i);
            let hinge = if begins {
                let (ids, values) = problem.design.rows().row(i);
                1.0 - sign * dot(ids, values, &state.weights)
            } else {
                0.0
            };
            let diagonal = 0.5 / weight;
            let a = match &shared {
                // A positive's would be that of a negative.
                Some(start) if sign < 0.0 => start.duals[i],
                _ => 2.0 * weight * hinge.max(0.0),
            };
            Sample {
                a,
                diagonal,
                curvature: square[i] + mu + diagonal,
                sign,
            }
        });
        let mut dual = Self {
            samples: samples.collect(),
            imbalance: 0.0,
            offset: 0.0,
            mu,
            last_move: f64::INFINITY,
        };
        if begins {
            dual.sum_weights(problem, state);
        } else if let Some(start) = &shared {
            state.weights.copy_from_slice(&start.weights);
            dual.imbalance = start.imbalance;
            for k in 0..state.n_positives() {
                let i = state.touched[k] as usize;
                let (ids, values) = problem.design.rows().row(i);
                add(ids, values, start.duals[i], &mut state.weights);
                dual.imbalance += start.duals[i];
            }
        }
        dual
    }

    /// Sweep until the rule holds or `limit` is reached; how many sweeps there
    /// were, and whether the rule ended them.
    fn sweep_until(
        &mut self,
        problem: &Squared<'_>,
        (eps, seed): (f64, u64),
        limit: u64,
        state: &mut Workspace,
    ) -> (u64, bool) {
        let mut rng = SplitMix64::new(seed);
        let mut active: Vec<u32> = (0..self.samples.len() as u32)
            .filter(|&i| self.samples[i as usize].diagonal.is_finite())
            .collect();
        let mut n_active = active.len();
        // Derivatives beyond this at the bound make samples leave.
        let mut beyond = f64::INFINITY;
        let (mut n_iter, mut ended) = (0, false);
        while n_iter < limit && !ended {
            for s in 0..n_active {
                active.swap(s, s + rng.below(n_active - s));
            }
            let mut span = Span::EMPTY;
            let mut s = 0;
            while s < n_active {
                if s % ROWS_PER_CHECK == 0 && problem.control.is_cancelled() {
                    break;
                }
                if let Some(derivative) = self.descend(problem, state, active[s] as usize, beyond) {
                    span.add(derivative);
                    s += 1;
                } else {
                    n_active -= 1;
                    active.swap(s, n_active);
                }
            }
            n_iter += 1;
            if problem.control.is_cancelled() {
                break;
            }
            let away = self.move_of_offset(problem);
            beyond = if span.high - span.low <= eps.max(INNER_SHARE * away) {
                if n_active == active.len() {
                    ended = away <= eps;
                    if !ended {
                        self.move_offset(away);
                    }
                }
                n_active = active.len();
                f64::INFINITY
            } else if span.high > 0.0 {
                span.high
            } else {
                f64::INFINITY
            };
            self.watch(problem, state);
        }
        (n_iter, ended)
    }

    /// Solve for one dual variable; its projected derivative before that, or
    /// `None` if the sample is to be left out.
    #[inline]
    fn descend(
        &mut self,
        problem: &Squared<'_>,
        state: &mut Workspace,
        i: usize,
        beyond: f64,
    ) -> Option<f64> {
        let (ids, values) = problem.design.rows().row(i);
        let intercept = self.intercept();
        let sample = &mut self.samples[i];
        let z = dot(ids, values, &state.weights) + intercept;
        let slope = sample.sign * z - 1.0 + sample.a * sample.diagonal;
        if sample.a == 0.0 {
            if slope > beyond {
                return None;
            }
            if slope >= 0.0 {
                return Some(0.0);
            }
        }
        if slope.abs() > FLOOR {
            let moved = (sample.a - slope / sample.curvature).max(0.0);
            let d = sample.sign * (moved - sample.a);
            sample.a = moved;
            self.imbalance += d;
            add(ids, values, d, &mut state.weights);
        }
        Some(slope)
    }

    fn intercept(&self) -> f64 {
        self.offset + self.mu * self.imbalance
    }

    /// How far the offset is from the intercept: what a free one is short of.
    fn move_of_offset(&self, problem: &Squared<'_>) -> f64 {
        if problem.intercept == Intercept::Free {
            (self.mu * self.imbalance).abs()
        } else {
            0.0
        }
    }

    /// Move the offset to the intercept, and weaken what holds it if moves are slow
    /// to shrink.
    fn move_offset(&mut self, by: f64) {
        self.offset = self.intercept();
        if by > SLOW * self.last_move {
            let more = (WEAKER - 1.0) * self.mu;
            self.mu += more;
            for sample in &mut self.samples {
                sample.curvature += more;
            }
        }
        self.last_move = by;
    }

    /// `w = A^T a`, summed anew.
    fn sum_weights(&mut self, problem: &Squared<'_>, state: &mut Workspace) {
        state.weights.fill(0.0);
        self.imbalance = 0.0;
        for (i, sample) in self.samples.iter().enumerate() {
            if i % ROWS_PER_CHECK == 0 && problem.control.is_cancelled() {
                break;
            }
            if sample.a > 0.0 {
                let (ids, values) = problem.design.rows().row(i);
                add(ids, values, sample.sign * sample.a, &mut state.weights);
                self.imbalance += sample.sign * sample.a;
            }
        }
    }

    /// The largest dual objective on the ray through the dual variables.
    fn bound(&self, problem: &Squared<'_>, state: &mut Workspace) -> f64 {
        let mut duals: Vec<f64> = self.samples.iter().map(|sample| sample.a).collect();
        if problem.intercept == Intercept::Free {
            return problem.dual_objective(state, &mut duals);
        }
        let bias = problem.scale() * self.imbalance;
        let square = state.weights.iter().map(|w| w * w);
        problem.on_ray(state, &duals, square.fold(bias * bias, |a, b| a + b))
    }

    /// A look at the gap where a history is kept.
    fn watch(&self, problem: &Squared<'_>, state: &mut Workspace) {
        state.watch_proof(|state| {
            state.intercept = self.intercept();
            Proof {
                objective: problem.objective(state),
                dual_objective: self.bound(problem, state),
            }
        });
    }

    /// Weights as they will be stored, with the proof of those.
    fn finish(
        &mut self,
        problem: &Squared<'_>,
        settings: &Settings,
        state: &mut Workspace,
        (n_iter, ended): (u64, bool),
    ) -> Certificate {
        self.sum_weights(problem, state);
        let dual_objective = self.bound(problem, state);
        state.intercept = self.intercept();
        state.note_weights();
        if settings.round_weights {
            state.round_weights(settings.weight_bits());
        }
        if settings.round_intercept {
            state.intercept = round_to(state.intercept, settings.intercept_bits());
        }
        if settings.prune > 0.0 {
            state.prune(settings.prune);
        }
        let objective = problem.objective(state);
        let proof = Proof {
            objective,
            dual_objective,
        };
        state.record(objective, proof.gap());
        let status = proof.status_of_own_rule(settings.tol, ended, problem.control);
        proof.certificate(state, n_iter, status)
    }
}
