//! The L2 problems of a node's children, sixteen at a time.

#![allow(
    clippy::inline_always,
    reason = "what is compiled for an instruction set must be inlined into its callers"
)]

#[cfg(target_arch = "x86_64")]
mod avx2;
mod lanes;
mod proof;
mod sweep;

pub use lanes::LANES;

use self::lanes::{Line, WideLine};
use self::proof::Classes;
use self::sweep::{Sample, State, Sweep, Terms};
use super::{
    Certificate, Design, Intercept, Method, OVERFLOW, Problem, Settings, SharedStart, check,
};
use crate::memory::check_room;
use crate::parallel::Control;
use crate::rng::SplitMix64;
use crate::{Error, Result};

/// Steps in `f32` reach an `eps` of this size.
const LEAST_EPS: f64 = 1e-2;

/// Largest `C_i` times the squared length of a row: `f32` loses the small beside
/// dual variables beyond it.
const WIDEST: f64 = 1e4;

/// `C_i` and squared lengths are within this factor of 1.
const RANGE: f64 = 1e12;

/// Of a sample: dual variables, shared numbers, activity, place in a sweep.
const SAMPLE_BYTES: u64 = 64 + 8 + 2 + 4;

/// Of a feature: weights in `f32` and in `f64`.
const FEATURE_BYTES: u64 = 64 + 128;

/// Solves up to [`LANES`] problems over one [`Design`] together.
///
/// The rule of each problem is that of
/// [`DualCoordinateDescent`](Method::DualCoordinateDescent): projected derivatives
/// that span at most `eps`, samples that leave and come back, `max_iter`. The order
/// of samples is one for all, steps are computed in `f32`, and the weights of a
/// feature lie side by side: a pass over a row asks for one cache line an entry, not
/// one an entry and problem. A row is passed over while it is active in any problem.
///
/// Deterministic, and independent of the instruction set: no product is fused with a
/// sum. Certificates are computed in `f64` from the dual variables, whose weights are
/// summed anew, and from the weights as stored.
///
/// Cost: a sweep passes over the rows that are active anywhere, twice where anything
/// moves; the proof passes over all rows twice. Memory: 192 bytes a feature, 78 a
/// sample.
///
/// Source: Hsieh and others, as the method itself. Differs: many problems at once,
/// in `f32`; a free intercept is not among them.
#[derive(Debug, Default)]
pub struct Siblings {
    state: State,
    summed: Vec<WideLine>,
    samples: Vec<Sample>,
    list: Vec<u32>,
    n_weights: [u64; LANES],
    n_pruned: [u64; LANES],
}

/// A problem's progress.
#[derive(Clone, Copy, Debug, Default)]
struct Progress {
    n_iter: u64,
    ended: bool,
    /// Whether samples were left out since the last time all came back.
    shrunk: bool,
}

impl Siblings {
    /// Whether these problems can be solved together: the method, its `eps` and the
    /// numbers' range allow `f32`, weights are rounded to it, and nobody keeps a
    /// history.
    pub fn fits(problems: &[Problem<'_>], settings: &Settings) -> bool {
        let (Some(first), Method::DualCoordinateDescent { c, eps, .. }) =
            (problems.first(), settings.method)
        else {
            return false;
        };
        if eps < LEAST_EPS
            || first.intercept == Intercept::Free
            || !settings.round_weights
            || settings.history
            || settings.max_iter == 0
        {
            return false;
        }
        let scale = scale(first.intercept);
        let squares = first.design.row_square().iter();
        let square = squares.fold(0.0, |a: f64, &b| a.max(b)) + scale * scale;
        let heaviest = c * first.design.largest_weight();
        let range = 1.0 / RANGE..=RANGE;
        square <= RANGE
            && problems.iter().all(|p| {
                [p.class_weight.0, p.class_weight.1]
                    .map(|w| heaviest * w)
                    .iter()
                    .all(|c| range.contains(c) && c * square <= WIDEST)
            })
    }

    /// Whether there is room for this on `n_threads` threads.
    ///
    /// # Errors
    /// [`Error::Memory`].
    pub fn check_room(design: &Design<'_>, n_threads: usize) -> Result<()> {
        let (n, d) = (design.n_samples() as u64, design.n_features() as u64);
        let bytes = SAMPLE_BYTES * n + FEATURE_BYTES * d;
        check_room(
            format!("solving {n} samples x {d} features, {LANES} problems a thread"),
            bytes.saturating_mul(n_threads as u64),
        )
    }

    /// Solve problems over one design and with one kind of intercept, which
    /// [`fit`](Self::fits); a certificate for each. The weights stay here
    /// ([`Self::append_weights`]).
    ///
    /// # Errors
    /// [`Error::Data`] where a number is outside its range, or for another method or
    /// number of problems; [`Error::Cancelled`].
    pub fn solve(
        &mut self,
        problems: &[Problem<'_>],
        settings: &Settings,
        start: Option<&SharedStart>,
        control: &Control,
    ) -> Result<Vec<Certificate>> {
        for problem in problems {
            check(problem, settings)?;
        }
        let (Method::DualCoordinateDescent { c, eps, seed }, Some(first)) =
            (settings.method, problems.first())
        else {
            return Err(Error::data(
                "problems are solved together by solver \"dual_coordinate_descent\" alone",
            ));
        };
        if problems.len() > LANES {
            return Err(Error::data(format!(
                "{} problems together, expected at most {LANES}",
                problems.len()
            )));
        }
        let classes = Classes::new(problems, c);
        let mut terms = Terms::new(&classes, scale(first.intercept));
        self.begin(problems, start, &mut terms);
        let progress = self.sweep_until(
            first.design,
            &mut terms,
            (problems.len(), eps, seed),
            settings.max_iter,
            control,
        );
        // Half a solve needs no proof.
        control.check()?;
        let proofs = self.prove(first, &classes, settings, control);
        control.check()?;
        if proofs.iter().any(|(proof, _)| !proof.objective.is_finite()) {
            return Err(Error::data(OVERFLOW));
        }
        let all = proofs.iter().zip(&progress).take(problems.len());
        Ok(all
            .map(|(&(proof, intercept), progress)| Certificate {
                objective: proof.objective,
                dual_objective: proof.dual_objective,
                n_iter: progress.n_iter,
                status: proof.status_of_own_rule(settings.tol, progress.ended, control),
                intercept,
            })
            .collect())
    }

    /// Append the weights of problem `lane`, sorted by feature, none zero.
    pub fn append_weights(&self, lane: usize, indices: &mut Vec<u32>, values: &mut Vec<f32>) {
        let from = indices.len();
        // One more: where a zero is written, to be overwritten.
        let to = from + self.n_weights[lane] as usize;
        indices.resize(to + 1, 0);
        values.resize(to + 1, 0.0);
        let mut at = from;
        for (j, line) in (0..).zip(&self.state.weights) {
            let w = line.0[lane];
            indices[at] = j;
            values[at] = w;
            at += usize::from(w != 0.0);
        }
        indices.truncate(to);
        values.truncate(to);
    }

    /// How many weights of problem `lane` [`prune`](Settings::prune) set to zero.
    pub fn n_pruned(&self, lane: usize) -> u64 {
        self.n_pruned[lane]
    }

    /// Dual variables of the start, and 0 for positives.
    fn begin(&mut self, problems: &[Problem<'_>], start: Option<&SharedStart>, terms: &mut Terms) {
        let design = problems[0].design;
        let rows = design.rows();
        let (n, d) = (design.n_samples(), design.n_features());
        let mu = f64::from(terms.mu);
        self.samples.clear();
        self.samples.extend((0..n).map(|i| Sample {
            inverse: (1.0 / design.weight(i)) as f32,
            square: (design.row_square()[i] + mu) as f32,
        }));
        let State {
            weights,
            duals,
            active,
        } = &mut self.state;
        weights.clear();
        duals.clear();
        match start {
            None => {
                weights.resize(d, Line([0.0; LANES]));
                duals.resize(n, Line([-0.0; LANES]));
            }
            Some(start) => {
                weights.extend(start.weights.iter().map(|&w| Line([w as f32; LANES])));
                duals.extend(start.duals.iter().map(|&a| Line([-(a as f32); LANES])));
                terms.imbalance = Line([start.imbalance as f32; LANES]);
            }
        }
        for (k, problem) in problems.iter().enumerate() {
            for &i in problem.positives {
                let dual = &mut duals[i as usize].0[k];
                let a = -*dual;
                *dual = 0.0;
                if a > 0.0 {
                    terms.imbalance.0[k] += a;
                    let (ids, values) = rows.row(i as usize);
                    for (&j, &x) in ids.iter().zip(values) {
                        weights[j as usize].0[k] += a * x;
                    }
                }
            }
        }
        let all = every(problems.len());
        active.clear();
        active.extend((0..n).map(|i| if design.weight(i) > 0.0 { all } else { 0 }));
    }

    /// Sweep until every problem's rule holds or `limit` is reached.
    fn sweep_until(
        &mut self,
        design: &Design<'_>,
        terms: &mut Terms,
        (n_problems, eps, seed): (usize, f64, u64),
        limit: u64,
        control: &Control,
    ) -> [Progress; LANES] {
        let mut rng = SplitMix64::new(seed);
        let mut progress = [Progress::default(); LANES];
        let mut live = every(n_problems);
        while live != 0 && !control.is_cancelled() {
            self.list.clear();
            let active = (0..).zip(&self.state.active);
            self.list
                .extend(active.filter(|(_, m)| **m & live != 0).map(|(i, _)| i));
            for s in 0..self.list.len() {
                let other = s + rng.below(self.list.len() - s);
                self.list.swap(s, other);
            }
            terms.low = Line([f32::INFINITY; LANES]);
            terms.high = Line([f32::NEG_INFINITY; LANES]);
            let sweep = Sweep {
                rows: design.rows(),
                samples: &self.samples,
                list: &self.list,
                control,
            };
            let left = sweep.run(terms, &mut self.state);
            let (mut back, mut done) = (0_u16, 0_u16);
            for (k, progress) in progress.iter_mut().enumerate() {
                let bit = 1 << k;
                if live & bit == 0 {
                    continue;
                }
                progress.n_iter += 1;
                progress.shrunk |= left & bit != 0;
                let (low, high) = (terms.low.0[k], terms.high.0[k]);
                terms.beyond.0[k] = f32::INFINITY;
                if f64::from(high) - f64::from(low) <= eps {
                    if progress.shrunk {
                        progress.shrunk = false;
                        back |= bit;
                    } else {
                        progress.ended = true;
                        done |= bit;
                    }
                } else if high > 0.0 {
                    terms.beyond.0[k] = high;
                }
                if progress.n_iter >= limit {
                    done |= bit;
                }
            }
            live &= !done;
            if back != 0 || done != 0 {
                for (i, active) in self.state.active.iter_mut().enumerate() {
                    if design.weight(i) > 0.0 {
                        *active = (*active | back) & live;
                    }
                }
            }
        }
        progress
    }
}

impl Terms {
    fn new(classes: &Classes, scale: f64) -> Self {
        let diagonal = |c: &WideLine| Line(c.0.map(|c| (0.5 / c) as f32));
        Self {
            positive: diagonal(&classes.positive),
            negative: diagonal(&classes.negative),
            beyond: Line([f32::INFINITY; LANES]),
            low: Line([0.0; LANES]),
            high: Line([0.0; LANES]),
            imbalance: Line([0.0; LANES]),
            mu: (scale * scale) as f32,
        }
    }
}

/// A bit for each of so many problems.
fn every(n_problems: usize) -> u16 {
    (1_u32 << n_problems).wrapping_sub(1) as u16
}

fn scale(intercept: Intercept) -> f64 {
    match intercept {
        Intercept::Penalized(scale) => scale,
        Intercept::None | Intercept::Free => 0.0,
    }
}
