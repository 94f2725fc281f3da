//! The L2 problems of a node's children, several at a time.

mod lanes;
mod proof;
mod sweep;

pub use lanes::LANES;

use self::lanes::{Line, WideLine};
use self::sweep::{Sample, State, Terms};
use super::certificate::Proof;
use super::rounding::round_to;
use super::{Certificate, Design, Intercept, Method, Problem, Settings, SharedStart, check};
use crate::parallel::Control;
use crate::rng::SplitMix64;
use crate::Result;

/// Steps in `f32` reach an `eps` of this size.
const LEAST_EPS: f64 = 1e-2;

/// Largest `C_i` times the squared length of a row: dual variables above it would
/// drown small ones.
const WIDEST: f64 = 1e4;

/// Squares of values and `C_i` lie between this and its inverse.
const RANGE: f64 = 1e12;

/// What a thread keeps for the blocks that it solves.
#[derive(Debug, Default)]
pub struct Siblings {
    state: State,
    /// Weights summed anew, then rounded.
    summed: Vec<WideLine>,
    samples: Vec<Sample>,
    list: Vec<u32>,
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
    /// Whether problems of these settings can be solved together at all.
    pub fn take(settings: &Settings, intercept: Intercept) -> bool {
        let Method::DualCoordinateDescent { eps, .. } = settings.method else {
            return false;
        };
        eps >= LEAST_EPS
            && intercept != Intercept::Free
            && settings.round_weights
            && !settings.history
            && settings.max_iter > 0
    }

    /// Whether `f32` holds the numbers of these problems.
    pub fn fits(problems: &[Problem<'_>], method: Method) -> bool {
        let (Some(first), Method::DualCoordinateDescent { c, .. }) = (problems.first(), method)
        else {
            return false;
        };
        let scale = scale(first.intercept);
        let squares = first.design.row_square().iter();
        let square = squares.fold(0.0, |a: f64, &b| a.max(b)) + scale * scale;
        let classes = problems.iter().flat_map(|p| [p.class_weight.0, p.class_weight.1]);
        let heaviest = c * first.design.largest_weight();
        let range = 1.0 / RANGE..=RANGE;
        range.contains(&square.max(1.0))
            && classes.into_iter().all(|w| {
                range.contains(&(heaviest * w)) && heaviest * w * square <= WIDEST
            })
    }

    /// Solve up to [`LANES`] problems over one design; a certificate for each.
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
        let Method::DualCoordinateDescent { c, eps, seed } = settings.method else {
            unreachable!("only this method takes blocks");
        };
        let design = problems[0].design;
        let mut terms = Terms::new(problems, c);
        self.begin(problems, start, &mut terms);
        let progress = self.sweep_until(
            design,
            &mut terms,
            (problems.len(), eps, seed),
            settings.max_iter,
            control,
        );
        control.check()?;
        let certificates = self.finish(problems, settings, c, &progress, control);
        control.check()?;
        Ok(certificates)
    }

    /// The weights of the problem at `lane`: (feature, weight), sorted, none zero.
    pub fn weights(&self, lane: usize) -> impl Iterator<Item = (u32, f32)> + '_ {
        let all = (0..).zip(&self.summed);
        all.map(move |(j, line)| (j, line.0[lane] as f32))
            .filter(|&(_, w)| w != 0.0)
    }

    /// How many weights of that problem were set to zero.
    pub fn n_pruned(&self, lane: usize) -> u64 {
        self.n_pruned[lane]
    }

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
            let left = sweep::sweep(
                design.rows(),
                &self.samples,
                &self.list,
                terms,
                &mut self.state,
                control,
            );
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

    fn finish(
        &mut self,
        problems: &[Problem<'_>],
        settings: &Settings,
        c: f64,
        progress: &[Progress; LANES],
        control: &Control,
    ) -> Vec<Certificate> {
        let design = problems[0].design;
        let scale = scale(problems[0].intercept);
        let State { duals, .. } = &self.state;
        self.summed.clear();
        self.summed.resize(design.n_features(), WideLine::ZERO);
        proof::sum_weights(design.rows(), duals, &mut self.summed, control);
        let (mut positive, mut negative) = (WideLine::ZERO, WideLine::ZERO);
        for (k, problem) in problems.iter().enumerate() {
            positive.0[k] = c * problem.class_weight.0;
            negative.0[k] = c * problem.class_weight.1;
        }
        let (mut linear, mut quadratic, mut imbalance) =
            (WideLine::ZERO, WideLine::ZERO, WideLine::ZERO);
        for (i, duals) in duals.iter().enumerate() {
            let weight = design.weight(i);
            if weight == 0.0 {
                continue;
            }
            for k in 0..LANES {
                let signed = f64::from(duals.0[k]);
                let c = if duals.0[k].is_sign_positive() {
                    positive.0[k]
                } else {
                    negative.0[k]
                };
                linear.0[k] += signed.abs();
                quadratic.0[k] += 0.25 * signed * signed / (weight * c);
                imbalance.0[k] += signed;
            }
        }
        let mut summed = WideLine::ZERO;
        let mut kept = WideLine::ZERO;
        self.n_pruned = [0; LANES];
        for line in &mut self.summed {
            for k in 0..LANES {
                let w = line.0[k];
                summed.0[k] += w * w;
                let mut w = round_to(w, settings.weight_bits());
                if w != 0.0 && w.abs() < settings.prune {
                    w = 0.0;
                    self.n_pruned[k] += 1;
                }
                kept.0[k] += w * w;
                line.0[k] = w;
            }
        }
        let mut intercepts = WideLine::ZERO;
        for k in 0..LANES {
            let b = scale * scale * imbalance.0[k];
            intercepts.0[k] = if settings.round_intercept {
                round_to(b, settings.intercept_bits())
            } else {
                b
            };
        }
        let losses = proof::losses(
            design.rows(),
            design.sample_weight(),
            duals,
            &self.summed,
            &intercepts,
            (&positive, &negative),
            control,
        );
        let certificate = |k: usize| {
            let bias = scale * imbalance.0[k];
            let quadratic = quadratic.0[k] + 0.5 * (summed.0[k] + bias * bias);
            let stored = if scale > 0.0 { intercepts.0[k] / scale } else { 0.0 };
            let proof = Proof {
                objective: 0.5 * (kept.0[k] + stored * stored) + losses.0[k],
                dual_objective: if quadratic > 0.0 {
                    0.25 * linear.0[k] * linear.0[k] / quadratic
                } else {
                    0.0
                },
            };
            let Progress { n_iter, ended, .. } = progress[k];
            Certificate {
                objective: proof.objective,
                dual_objective: proof.dual_objective,
                n_iter,
                status: proof.status_of_own_rule(settings.tol, ended, control),
                intercept: intercepts.0[k],
            }
        };
        (0..problems.len()).map(certificate).collect()
    }
}

impl Terms {
    fn new(problems: &[Problem<'_>], c: f64) -> Self {
        let scale = scale(problems[0].intercept);
        let mut terms = Self {
            positive: Line([1.0; LANES]),
            negative: Line([1.0; LANES]),
            beyond: Line([f32::INFINITY; LANES]),
            low: Line([0.0; LANES]),
            high: Line([0.0; LANES]),
            imbalance: Line([0.0; LANES]),
            mu: (scale * scale) as f32,
        };
        for (k, problem) in problems.iter().enumerate() {
            terms.positive.0[k] = (0.5 / (c * problem.class_weight.0)) as f32;
            terms.negative.0[k] = (0.5 / (c * problem.class_weight.1)) as f32;
        }
        terms
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
