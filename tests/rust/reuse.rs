//! What a thread keeps between problems must not show in the next one.
#![allow(
    clippy::unwrap_used,
    reason = "a test that cannot build its input must fail"
)]

use std::sync::Arc;

use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use proxtree_core::parallel::Control;
use proxtree_core::rng::SplitMix64;
use proxtree_core::solver::{
    Certificate, Design, ForwardBackward, Intercept, LANES, Method, Problem, Rule, Settings,
    SharedStart, Siblings, Stop, Workspace, solve,
};
use proxtree_core::sparse::{CsrMatrix, Pattern};

/// Sparse rows; some empty, some columns empty, constant or tiny.
fn matrix(n: usize, d: usize, rng: &mut SplitMix64) -> CsrMatrix {
    let kinds: Vec<usize> = (0..d).map(|_| rng.below(8)).collect();
    let mut pattern = Pattern {
        n_cols: d,
        indptr: vec![0],
        indices: Vec::new(),
    };
    let mut data = Vec::new();
    for _ in 0..n {
        let is_empty = rng.below(10) == 0;
        for (j, kind) in (0..).zip(&kinds) {
            let x = match kind {
                0 => 0.0,
                1 => 1.0,
                2 => 1e-6 * rng.uniform(),
                _ if rng.uniform() < 0.6 => 0.0,
                _ => rng.uniform() - 0.3,
            };
            if !is_empty && x != 0.0 {
                pattern.indices.push(j);
                data.push(x as f32);
            }
        }
        pattern.indptr.push(data.len() as u64);
    }
    CsrMatrix { pattern, data }
}

fn pick<T: Copy>(rng: &mut SplitMix64, of: &[T]) -> T {
    of[rng.below(of.len())]
}

fn draw_method(rng: &mut SplitMix64) -> Method {
    let gap = ForwardBackward {
        accelerated: true,
        rule: Rule::Gap,
        ..ForwardBackward::PAPER
    };
    let seed = rng.next_u64();
    pick(
        rng,
        &[
            Method::Auto,
            Method::Auto,
            Method::CoordinateDescent { eps: 0.1 },
            Method::ForwardBackward(ForwardBackward::PAPER),
            Method::ForwardBackward(gap),
            Method::Liblinear { eps: 0.01, seed },
            Method::DualCoordinateDescent {
                c: 2.0,
                eps: 0.1,
                seed,
            },
        ],
    )
}

fn draw_settings(rng: &mut SplitMix64) -> Settings {
    let method = draw_method(rng);
    Settings {
        method,
        tol: pick(rng, &[1e-2, 1e-4]),
        stop: match method {
            Method::Auto => pick(
                rng,
                &[Stop::Gap, Stop::Violation(0.0), Stop::Violation(0.02)],
            ),
            _ => Stop::Gap,
        },
        max_iter: pick(rng, &[0, 1, 3, 9, 200]),
        prune: pick(rng, &[0.0, 0.0, 0.05]),
        round_weights: rng.below(2) == 0,
        round_intercept: rng.below(2) == 0,
        history: rng.below(3) == 0,
    }
}

/// A problem without its design.
#[derive(Debug)]
struct Drawn {
    positives: Vec<u32>,
    alpha: f64,
    ridge: f64,
    class_weight: (f64, f64),
    intercept: Intercept,
    settings: Settings,
    start: Vec<(u32, f64)>,
    is_cancelled: bool,
}

impl Drawn {
    fn new(n: usize, d: usize, rng: &mut SplitMix64) -> Self {
        let share = pick(rng, &[0.0, 0.05, 0.3, 1.0]);
        let settings = draw_settings(rng);
        let is_l2 = matches!(settings.method, Method::DualCoordinateDescent { .. });
        Self {
            positives: (0..n as u32).filter(|_| rng.uniform() < share).collect(),
            alpha: pick(rng, &[1e-3, 0.1, 1.0, 30.0]),
            ridge: if is_l2 {
                0.0
            } else {
                pick(rng, &[0.0, 0.0, 0.5])
            },
            class_weight: pick(rng, &[(1.0, 1.0), (3.0, 0.5)]),
            intercept: pick(
                rng,
                &[Intercept::None, Intercept::Free, Intercept::Penalized(2.0)],
            ),
            start: if settings.max_iter == 3 {
                let some = (0..d as u32).filter(|_| rng.below(6) == 0);
                some.map(|j| (j, f64::from(j) - 2.0)).collect()
            } else {
                Vec::new()
            },
            settings,
            is_cancelled: rng.below(12) == 0,
        }
    }

    fn problem<'a>(&'a self, design: &'a Design<'a>) -> Problem<'a> {
        Problem {
            design,
            positives: &self.positives,
            alpha: self.alpha,
            ridge: self.ridge,
            class_weight: self.class_weight,
            intercept: self.intercept,
        }
    }

    /// All bits of a solution; times are left out.
    fn solve(&self, design: &Design<'_>, workspace: &mut Workspace) -> Bits {
        let control = Control::default();
        if self.is_cancelled {
            control.cancel();
        }
        let problem = self.problem(design);
        let certificate = solve(&problem, &self.settings, &self.start, workspace, &control);
        let Ok(certificate) = certificate else {
            return vec![u64::MAX];
        };
        let mut bits = bits_of(&certificate);
        bits.push(workspace.n_pruned());
        for &(j, w) in workspace.weights() {
            bits.extend([j.into(), w.to_bits()]);
        }
        for (_, objective, gap) in workspace.history() {
            bits.extend([objective.to_bits(), gap.to_bits()]);
        }
        bits
    }
}

type Bits = Vec<u64>;

fn bits_of(certificate: &Certificate) -> Bits {
    vec![
        certificate.objective.to_bits(),
        certificate.dual_objective.to_bits(),
        certificate.intercept.to_bits(),
        certificate.n_iter,
        certificate.status as u64,
    ]
}

fn sample_weight(n: usize, rng: &mut SplitMix64) -> Option<Vec<f64>> {
    let weight = |_| pick(rng, &[1.0, 0.5, 3.0, 0.0, 1e-4]);
    let weights: Vec<f64> = (0..n).map(weight).collect();
    (weights[0] > 0.0).then_some(weights)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, rng_seed: RngSeed::Fixed(7), ..ProptestConfig::default() })]

    /// Any problems, by any methods, one after the other in one workspace: each gets
    /// the bits that it gets in a new one.
    #[test]
    fn a_used_workspace_is_a_new_one(seed in any::<u64>(), n in 1usize..60, d in 1usize..30) {
        let mut rng = SplitMix64::new(seed);
        let x = matrix(n, d, &mut rng);
        let weights = sample_weight(n, &mut rng);
        let design = Design::new(x.view(), weights.as_deref(), &Control::default()).unwrap();
        let method = Method::DualCoordinateDescent { c: 2.0, eps: 0.1, seed: 0 };
        let start = match rng.below(2) {
            0 => None,
            _ => SharedStart::new(&design, method, 1.0, Intercept::None, &Control::default()).unwrap(),
        }.map(Arc::new);
        let new = || Workspace::new(&design).with_start(start.clone());
        let mut used = new();
        for k in 0..8 {
            let drawn = Drawn::new(n, d, &mut rng);
            let (a, b) = (drawn.solve(&design, &mut used), drawn.solve(&design, &mut new()));
            prop_assert_eq!(a, b, "problem {}: {:?}", k, drawn);
        }
    }

    /// Blocks of problems, one after the other, of designs of any shape.
    #[test]
    fn used_siblings_are_new_ones(seed in any::<u64>()) {
        let mut rng = SplitMix64::new(seed);
        let mut used = Siblings::default();
        for _ in 0..4 {
            let (n, d) = (1 + rng.below(50), 1 + rng.below(20));
            let x = matrix(n, d, &mut rng);
            let weights = sample_weight(n, &mut rng);
            let control = Control::default();
            let design = Design::new(x.view(), weights.as_deref(), &control).unwrap();
            let intercept = pick(&mut rng, &[Intercept::None, Intercept::Penalized(2.0)]);
            let method = Method::DualCoordinateDescent { c: 2.0, eps: 0.1, seed: rng.next_u64() };
            let settings = Settings { method, stop: Stop::Gap, round_weights: true, history: false, ..draw_settings(&mut rng) };
            let mut drawn: Vec<Drawn> = (0..=rng.below(LANES)).map(|_| Drawn::new(n, d, &mut rng)).collect();
            for one in &mut drawn {
                (one.intercept, one.ridge) = (intercept, 0.0);
            }
            let problems: Vec<Problem<'_>> = drawn.iter().map(|one| one.problem(&design)).collect();
            if rng.below(8) == 0 {
                control.cancel();
            }
            let solve = |siblings: &mut Siblings| -> Bits {
                let Ok(certificates) = siblings.solve(&problems, &settings, None, &control) else {
                    return vec![u64::MAX];
                };
                let (mut bits, mut ids, mut values) = (Vec::new(), Vec::new(), Vec::new());
                for (lane, certificate) in certificates.iter().enumerate() {
                    bits.extend(bits_of(certificate));
                    bits.push(siblings.n_pruned(lane));
                    siblings.append_weights(lane, &mut ids, &mut values);
                    bits.push(ids.len() as u64);
                }
                bits.extend(ids.iter().map(|&j| u64::from(j)));
                bits.extend(values.iter().map(|w| u64::from(w.to_bits())));
                bits
            };
            prop_assert_eq!(solve(&mut used), solve(&mut Siblings::default()));
        }
    }
}
