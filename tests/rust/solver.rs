//! The solvers against closed forms, a dense oracle and each other.
#![allow(
    clippy::unwrap_used,
    reason = "a test that cannot build its input must fail"
)]

#[path = "solver/forward_backward.rs"]
mod forward_backward;
#[path = "solver/oracle.rs"]
mod oracle;

use oracle::{Case, dense_proof};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use proxtree_core::solver::{Intercept, Method, Status};

const PLAIN: Method = Method::CoordinateDescent { eps: 0.01 };

/// One feature, one positive, no intercept: w = 1 - alpha / (2 x^2) at x = 1.
#[test]
fn one_sample_has_a_closed_form() {
    let case = Case::dense(&[&[1.0]], &[0]).intercept(Intercept::None);
    for method in [Method::Auto, PLAIN] {
        let s = case.clone().alpha(0.5).tol(1e-12).solve(method);
        assert_eq!(s.certificate.status, Status::Converged);
        assert!((s.w[0] - 0.75).abs() < 1e-12, "{}", s.w[0]);
        // P = 0.5 * 0.75 + 0.25^2
        assert!((s.certificate.objective - 0.4375).abs() < 1e-12);
    }
}

/// Two samples told apart by one feature, with an intercept b:
/// minimise alpha (w + |b|) + (1 - w - b)^2 + (1 + b)^2. At the optimum
/// 1 - w - b = alpha / 2 and, for b < 0, 1 + b = alpha.
#[test]
fn the_penalised_intercept_has_a_closed_form() {
    let alpha = 0.25;
    let s = Case::dense(&[&[1.0], &[0.0]], &[0])
        .alpha(alpha)
        .tol(1e-12)
        .solve(Method::Auto);
    let b = alpha - 1.0;
    assert!((s.certificate.intercept - b).abs() < 1e-10);
    assert!((s.w[0] - (1.0 - alpha / 2.0 - b)).abs() < 1e-10);
}

/// Without an intercept, w = 0 is optimal from `alpha = 2 |sum_i s_i x_i|` on.
#[test]
fn a_large_alpha_leaves_no_weight() {
    let case =
        Case::dense(&[&[1.0, 0.5], &[0.5, -1.0], &[0.0, 2.0]], &[0]).intercept(Intercept::None);
    // Signs +, -, -: sums are 1 - 0.5 = 0.5 and 0.5 + 1 - 2 = -0.5; alpha_max = 1.
    for method in [Method::Auto, PLAIN] {
        assert_eq!(case.clone().alpha(1.0001).solve(method).nnz(), 0);
        assert!(case.clone().alpha(0.99).tol(1e-9).solve(method).nnz() > 0);
    }
}

/// One sample of one huge value: P* = alpha / x - (alpha / (2 x))^2, far below what
/// the sums over untouched rows round to.
#[test]
fn proofs_hold_for_values_of_any_size() {
    let alpha: f64 = 0.01;
    for exponent in 4..=18 {
        for (positives, scale) in [(&[0][..], 1.0), (&[], 1.0), (&[0], 1e-3), (&[], 1e-3)] {
            let x = 10f32.powi(exponent);
            for method in [Method::Auto, PLAIN] {
                let s = Case::dense(&[&[x, -x, 0.5 * x]], positives)
                    .alpha(alpha)
                    .intercept(Intercept::Penalized(scale))
                    .solve(method);
                let slope = 0.5 * alpha / f64::from(x);
                let best = slope * (2.0 - slope);
                let (p, d) = (s.certificate.objective, s.certificate.dual_objective);
                assert!(d <= best * (1.0 + 1e-6), "1e{exponent}: {d:e} {best:e}");
                assert!(p >= best * (1.0 - 1e-6), "1e{exponent}: {p:e} {best:e}");
            }
        }
    }
}

/// Repeating a row k times is the same problem as giving it the weight k.
#[test]
fn a_repeated_row_is_a_weight() {
    let rows: Vec<&[f32]> = vec![&[1.0, 0.2], &[0.3, 1.0], &[0.5, 0.5]];
    let weighted = Case::dense(&rows, &[0]).weights(&[3.0, 1.0, 2.0]);
    let repeated = Case::dense(
        &[rows[0], rows[0], rows[0], rows[1], rows[2], rows[2]],
        &[0, 1, 2],
    );
    for alpha in [0.01, 0.3] {
        let a = weighted.clone().alpha(alpha).tol(1e-10).solve(Method::Auto);
        let b = repeated.clone().alpha(alpha).tol(1e-10).solve(Method::Auto);
        let (pa, pb) = (a.certificate.objective, b.certificate.objective);
        assert!((pa - pb).abs() < 1e-8 * pa, "{pa} {pb}");
    }
}

/// With class weights (a, b) the objective is that of sample weights a and b.
#[test]
fn class_weights_are_sample_weights() {
    let rows: Vec<&[f32]> = vec![&[1.0, 0.2], &[0.3, 1.0], &[0.5, 0.5], &[0.0, 1.0]];
    let by_class = Case::dense(&rows, &[0, 2]).class_weight(3.0, 0.5);
    let by_sample = Case::dense(&rows, &[0, 2]).weights(&[3.0, 0.5, 3.0, 0.5]);
    let a = by_class.alpha(0.1).tol(1e-10).solve(Method::Auto);
    let b = by_sample.alpha(0.1).tol(1e-10).solve(Method::Auto);
    assert!((a.certificate.objective - b.certificate.objective).abs() < 1e-8);
    assert!((a.w[0] - b.w[0]).abs() < 1e-4 && (a.w[1] - b.w[1]).abs() < 1e-4);
}

/// Labels that no row or every row carries end, with finite numbers.
#[test]
fn one_sided_labels_end() {
    let rows: Vec<&[f32]> = vec![&[1.0, 0.2], &[0.3, 1.0], &[0.5, 0.5]];
    for positives in [vec![], vec![0, 1, 2]] {
        for method in [Method::Auto, PLAIN] {
            let s = Case::dense(&rows, &positives).alpha(0.1).solve(method);
            assert_eq!(s.certificate.status, Status::Converged);
            assert!(s.certificate.objective.is_finite());
        }
    }
}

/// A limit is a status, and the certificate still holds.
#[test]
fn the_iteration_limit_is_a_status() {
    let case = Case::random(7, 40, 12).alpha(0.01).tol(1e-9);
    for method in [Method::Auto, PLAIN] {
        let s = case.clone().max_iter(1).solve(method);
        assert_eq!(s.certificate.status, Status::MaxIter);
        assert_eq!(s.certificate.n_iter, 1);
        let (p, d) = dense_proof(&case, &s);
        assert!((s.certificate.objective - p).abs() < 1e-9 * p);
        assert!(d <= p && (s.certificate.dual_objective - d).abs() < 1e-6 * p);
    }
}

/// Columns that broke other solvers, over fourteen orders of alpha.
#[test]
fn nasty_columns_never_raise_the_objective() {
    let constant = |_| 1.0;
    let huge = |i: usize| if i.is_multiple_of(3) { 1e12 } else { 0.0 };
    let tiny = |i: usize| if i.is_multiple_of(2) { 1e-18 } else { -1e-18 };
    let empty = |_| 0.0;
    let plain = |i: usize| ((i * 7 + 3) % 11) as f32 / 11.0 - 0.4;
    let columns: [&dyn Fn(usize) -> f32; 7] =
        [&constant, &plain, &plain, &huge, &tiny, &empty, &constant];
    let rows: Vec<Vec<f32>> = (0..30)
        .map(|i| columns.iter().map(|c| c(i)).collect())
        .collect();
    let rows: Vec<&[f32]> = rows.iter().map(Vec::as_slice).collect();
    for intercept in [
        Intercept::None,
        Intercept::Penalized(1.0),
        Intercept::Penalized(1e3),
        Intercept::Free,
    ] {
        for exponent in -8..=4 {
            let alpha = 10f64.powi(exponent);
            for positives in [vec![2], vec![0, 5, 9, 13, 21], (0..29).collect()] {
                let case = Case::dense(&rows, &positives)
                    .intercept(intercept)
                    .alpha(alpha)
                    .max_iter(2_000);
                let s = case.solve(Method::Auto);
                let what = format!("alpha {alpha} {intercept:?} {positives:?} {s:?}");
                assert!(s.w.iter().all(|w| w.is_finite()), "{what}");
                assert!(
                    s.certificate.gap() >= -1e-9 * s.certificate.objective,
                    "{what}"
                );
                for pair in s.history.windows(2) {
                    assert!(pair[1].1 <= pair[0].1 * (1.0 + 1e-9), "{what}");
                }
                let plain = case.max_iter(20).solve(PLAIN);
                let bound = plain.certificate.objective;
                assert!(
                    s.certificate.objective <= bound * (1.0 + 1e-6),
                    "{bound} {what}"
                );
            }
        }
    }
}

fn intercepts() -> impl Strategy<Value = Intercept> {
    prop_oneof![
        Just(Intercept::None),
        Just(Intercept::Free),
        (0.1f64..10.0).prop_map(Intercept::Penalized),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, rng_seed: RngSeed::Fixed(3), ..ProptestConfig::default() })]

    /// Two solvers meet at one objective; both certificates are those of the oracle.
    #[test]
    fn two_solvers_meet(
        seed in 0u64..1_000_000,
        n in 2usize..40,
        d in 1usize..25,
        log_alpha in -2.0f64..1.0,
        ridge in prop_oneof![Just(0.0), 0.01f64..2.0],
        intercept in intercepts(),
        class_weight in prop_oneof![Just((1.0, 1.0)), (0.2f64..5.0, 0.2f64..5.0)],
        weighted in any::<bool>(),
    ) {
        let mut case = Case::random(seed, n, d)
            .alpha(10f64.powf(log_alpha)).ridge(ridge).intercept(intercept)
            .class_weight(class_weight.0, class_weight.1).tol(1e-7);
        if weighted {
            let weights: Vec<f64> = (0..n).map(|i| f64::from((i % 4) as u32) * 0.5).collect();
            case = case.weights(&weights);
        }
        let a = case.solve(Method::Auto);
        // Plain sweeps creep along valleys at small alpha: less is asked of them.
        let b = case.clone().tol(1e-5).max_iter(20_000).solve(PLAIN);
        for s in [&a, &b] {
            let (p, d) = dense_proof(&case, s);
            let scale = p.abs().max(1e-9);
            prop_assert!((s.certificate.objective - p).abs() <= 1e-9 * scale);
            prop_assert!((s.certificate.dual_objective - d).abs() <= 1e-8 * scale, "{} {d}", s.certificate.dual_objective);
            prop_assert!(d <= p * (1.0 + 1e-12));
            for pair in s.history.windows(2) {
                prop_assert!(pair[1].1 <= pair[0].1 * (1.0 + 1e-12) + 1e-15);
            }
        }
        prop_assert_eq!(a.certificate.status, Status::Converged, "{:?}", a.certificate);
        let (pa, pb) = (a.certificate.objective, b.certificate.objective);
        prop_assert!(pb >= pa * (1.0 - 1e-7) - 1e-12, "{pa} {pb}");
        prop_assert!(pb - pa <= b.certificate.gap() + 1e-9 * pa, "{pa} {pb}");
        prop_assert!(pb <= 1.05 * pa + 1e-9, "{pa} {pb}");
    }

    /// Starting anywhere leads to the same objective.
    #[test]
    fn a_warm_start_changes_nothing(seed in 0u64..1000, scale in -3.0f64..3.0) {
        let case = Case::random(seed, 30, 10).alpha(0.1).tol(1e-8);
        let cold = case.solve(Method::Auto).certificate.objective;
        let warm = case.start(&[(0, scale), (3, -scale)]).solve(Method::Auto).certificate.objective;
        prop_assert!((cold - warm).abs() <= 2e-8 * cold);
    }
}

/// Supports beyond the dense Newton step: conjugate gradients take over there.
#[test]
fn large_supports_are_proved_too() {
    for (seed, alpha) in [(1, 0.02), (2, 0.005), (3, 0.1)] {
        let case = Case::random(seed, 900, 260).alpha(alpha).tol(1e-6);
        let s = case.solve(Method::Auto);
        assert!(s.nnz() > 120, "{} weights do not reach that road", s.nnz());
        assert_eq!(s.certificate.status, Status::Converged);
        let (p, d) = dense_proof(&case, &s);
        assert!((s.certificate.objective - p).abs() <= 1e-9 * p);
        assert!((s.certificate.dual_objective - d).abs() <= 1e-8 * p);
        let plain = case.clone().max_iter(300).solve(PLAIN);
        assert!(s.certificate.objective <= plain.certificate.objective * (1.0 + 1e-6));
    }
}

/// A round works on the rows near their margin only. Those left out come back
/// when weights move far, and the objective must not rise for it.
#[test]
fn rows_left_out_never_raise_the_objective() {
    for seed in 0..40 {
        for alpha in [1e-4, 1e-2, 0.5] {
            let case = Case::random(seed, 60, 25).alpha(alpha).tol(1e-6);
            let s = case.solve(Method::Auto);
            for pair in s.history.windows(2) {
                assert!(
                    pair[1].1 <= pair[0].1 * (1.0 + 1e-9),
                    "seed {seed} alpha {alpha}: {pair:?}"
                );
            }
        }
    }
}

/// With only positives and a free intercept the optimum is 0, exactly: rounding
/// of weights that add up to the whole must leave no loss behind.
#[test]
fn no_row_left_is_no_loss_left() {
    let rows: Vec<&[f32]> = vec![&[1.0, 0.2], &[0.3, 1.0], &[0.5, 0.5]];
    for k in 1..200 {
        let weights: Vec<f64> = (0..3).map(|i| 1.0 / f64::from(3 * k + i)).collect();
        let s = Case::dense(&rows, &[0, 1, 2])
            .weights(&weights)
            .intercept(Intercept::Free)
            .solve(Method::Auto);
        assert_eq!(s.certificate.status, Status::Converged, "{k}");
        assert!(s.certificate.objective == 0.0);
    }
}

/// A workspace used before gives the same bits as a new one.
#[test]
fn workspaces_are_clean_between_problems() {
    let cases: Vec<Case> = (0..6)
        .map(|k| Case::random(3, 50, 15).positives_of(k).alpha(0.05))
        .collect();
    let alone: Vec<_> = cases.iter().map(|c| c.solve(Method::Auto)).collect();
    let together = oracle::solve_in_one_workspace(&cases);
    for (a, b) in alone.iter().zip(&together) {
        assert_eq!(a.w, b.w);
        assert_eq!(
            a.certificate.objective.to_bits(),
            b.certificate.objective.to_bits()
        );
    }
}
