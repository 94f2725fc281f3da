//! LIBLINEAR's two methods against closed forms, a dense oracle and the default.
#![allow(
    clippy::unwrap_used,
    reason = "a test that cannot build its input must fail"
)]
#![allow(
    dead_code,
    reason = "the oracle's other parts serve the tests of other solvers"
)]

#[path = "solver/oracle.rs"]
mod oracle;

use oracle::{Case, Solved, dense_proof};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use proxtree_core::solver::{Intercept, Method, Status};

fn l1(eps: f64) -> Method {
    Method::Liblinear { eps, seed: 1 }
}

fn l2(c: f64, eps: f64) -> Method {
    Method::DualCoordinateDescent { c, eps, seed: 1 }
}

/// One positive at x = 1: w = 1 - alpha / 2, and w = 2 C / (1 + 2 C).
#[test]
fn one_sample_has_a_closed_form() {
    let case = Case::dense(&[&[1.0]], &[0]).intercept(Intercept::None);
    let s = case.clone().alpha(0.5).solve(l1(1e-9));
    assert!((s.w[0] - 0.75).abs() < 1e-9, "{}", s.w[0]);
    for c in [0.1, 1.0, 30.0] {
        let s = case.solve(l2(c, 1e-12));
        let w = 2.0 * c / (1.0 + 2.0 * c);
        assert!((s.w[0] - w).abs() < 1e-12);
        let p = 0.5 * w * w + c * (1.0 - w) * (1.0 - w);
        assert!((s.certificate.objective - p).abs() < 1e-12);
        assert!((s.certificate.dual_objective - p).abs() < 1e-12);
    }
}

/// Rows 1 (positive), -1 and 0 (negative), C = 1: the second ends right by more than
/// the margin, so with k = 1 / B^2, or 0 for a free intercept,
/// w = 2 (1 - w - b) and k b - 2 (1 - w - b) + 2 (1 + b) = 0.
#[test]
fn intercepts_have_closed_forms() {
    let case = Case::dense(&[&[1.0], &[-1.0], &[0.0]], &[0]);
    for (intercept, stiffness) in [
        (Intercept::Free, 0.0),
        (Intercept::Penalized(1.0), 1.0),
        (Intercept::Penalized(3.0), 1.0 / 9.0),
    ] {
        let b = -4.0 / (3.0 * stiffness + 8.0);
        let w = 2.0 * (1.0 - b) / 3.0;
        let s = case
            .clone()
            .intercept(intercept)
            .max_iter(100_000)
            .solve(l2(1.0, 1e-11));
        assert!(
            (s.certificate.intercept - b).abs() < 1e-9,
            "{:?}",
            s.certificate
        );
        assert!((s.w[0] - w).abs() < 1e-9);
        assert!(s.certificate.gap().abs() < 1e-12);
    }
}

/// A sample that is right by far has no dual variable, so that its own feature has
/// no weight, not even a tiny one.
#[test]
fn features_of_idle_samples_have_no_weight() {
    let rows: [&[f32]; 3] = [&[1.0, 0.0], &[-1.0, 0.0], &[-50.0, 1.0]];
    let case = Case::dense(&rows, &[0]).intercept(Intercept::None);
    for eps in [0.1, 1e-9] {
        let s = case.solve(l2(10.0, eps));
        assert!(s.w[0] > 0.5);
        assert_eq!(s.w[1].to_bits(), 0.0_f64.to_bits());
    }
}

/// Its own rule ends it short of the gap: stalled; the limit: `max_iter`.
#[test]
fn statuses_say_what_ended_the_solve() {
    let case = Case::random(7, 60, 20).alpha(0.05).tol(1e-12);
    for method in [l1(0.3), l2(20.0, 0.5)] {
        let stalled = case.solve(method).certificate;
        assert_eq!(stalled.status, Status::Stalled, "{stalled:?}");
        let limited = case.clone().max_iter(1).solve(method).certificate;
        assert_eq!((limited.status, limited.n_iter), (Status::MaxIter, 1));
        let loose = case.clone().tol(1e3).solve(method).certificate;
        assert_eq!(loose.status, Status::Converged);
        assert_eq!(loose.objective.to_bits(), stalled.objective.to_bits());
    }
}

fn kinds() -> impl Strategy<Value = Intercept> {
    prop_oneof![
        Just(Intercept::None),
        Just(Intercept::Free),
        (0.3f64..3.0).prop_map(Intercept::Penalized),
    ]
}

fn is_like(a: f64, b: f64, tol: f64) -> bool {
    (a - b).abs() <= tol * a.abs().max(b.abs()) + 1e-12
}

/// Objective of the L2 problem at `s`, the case's class and sample weights in it.
fn squared(case: &Case, s: &Solved, c: f64, intercept: Intercept) -> f64 {
    // With alpha = 0 and ridge = 1 over C: the loss in units of C.
    let loss = dense_proof(&case.clone().alpha(0.0).ridge(0.0), s).0;
    let bias = match intercept {
        Intercept::Penalized(scale) => s.certificate.intercept / scale,
        _ => 0.0,
    };
    let square: f64 = s.w.iter().map(|w| w * w).sum();
    0.5 * (square + bias * bias) + c * loss
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, rng_seed: RngSeed::Fixed(5), ..ProptestConfig::default() })]

    /// A tight eps and sweeps without end: the objective of the default, with the
    /// certificate of the weights and the intercept as they were left.
    #[test]
    fn l1_meets_the_default(
        seed in 0u64..1_000_000, n in 2usize..40, d in 1usize..20,
        log_alpha in -1.0f64..1.0, ridge in prop_oneof![Just(0.0), 0.05f64..1.0],
        intercept in kinds(), positive in 0.3f64..3.0,
    ) {
        let case = Case::random(seed, n, d).alpha(10f64.powf(log_alpha)).ridge(ridge)
            .intercept(intercept).class_weight(positive, 0.7).tol(1e-9);
        let best = case.solve(Method::Auto).certificate.objective;
        let s = case.solve(l1(1e-8));
        let (p, d) = dense_proof(&case, &s);
        prop_assert!(is_like(s.certificate.objective, p, 1e-9));
        prop_assert!(is_like(s.certificate.dual_objective, d, 1e-8) || d <= 0.0);
        prop_assert!(is_like(p, best, 1e-5), "{} {}", p, best);
    }

    /// The certificate of the L2 problem closes and is that of the weights.
    #[test]
    fn l2_is_proved(
        seed in 0u64..1_000_000, n in 2usize..40, d in 1usize..20,
        log_c in -1.0f64..1.0, intercept in kinds(), positive in 0.3f64..3.0,
        weighted in any::<bool>(),
    ) {
        let c = 10f64.powf(log_c);
        let mut case = Case::random(seed, n, d).intercept(intercept)
            .class_weight(positive, 0.7).tol(1e-6);
        if weighted {
            let weights: Vec<f64> = (0..n).map(|i| f64::from((i % 4) as u32) * 0.5).collect();
            case = case.weights(&weights);
        }
        let s = case.solve(l2(c, 1e-8));
        prop_assert!(is_like(s.certificate.objective, squared(&case, &s, c, intercept), 1e-9));
        prop_assert!(s.certificate.gap() >= -1e-9 * s.certificate.objective);
        prop_assert_eq!(s.certificate.status, Status::Converged, "{:?}", s.certificate);
        // Each look before the end has a bound below the optimum as well.
        for &(_, p, gap) in &s.history {
            prop_assert!(p - gap <= s.certificate.objective * (1.0 + 1e-9) + 1e-12);
        }
    }
}
