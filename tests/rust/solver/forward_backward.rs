//! Proximal gradient steps: agreement, units, certificates, cancelling.

use super::intercepts;
use super::oracle::{Case, dense_proof};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use proxtree_core::parallel::Control;
use proxtree_core::solver::{ForwardBackward, Intercept, Method, Rule, Status};

fn to_the_gap(accelerated: bool) -> Method {
    Method::ForwardBackward(ForwardBackward {
        accelerated,
        rule: Rule::Gap,
        ..ForwardBackward::PAPER
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, rng_seed: RngSeed::Fixed(5), ..ProptestConfig::default() })]

    /// Every part of a problem is in it: the optimum is that of the default method.
    #[test]
    fn it_meets_the_default_method(
        seed in 0u64..1_000_000,
        n in 2usize..40,
        d in 1usize..25,
        log_alpha in -1.0f64..1.0,
        ridge in prop_oneof![Just(0.0), 0.01f64..2.0],
        intercept in intercepts(),
        class_weight in prop_oneof![Just((1.0, 1.0)), (0.2f64..5.0, 0.2f64..5.0)],
        weighted in any::<bool>(),
        accelerated in any::<bool>(),
    ) {
        let mut case = Case::random(seed, n, d)
            .alpha(10f64.powf(log_alpha)).ridge(ridge).intercept(intercept)
            .class_weight(class_weight.0, class_weight.1).tol(1e-5).max_iter(20_000);
        if weighted {
            let weights: Vec<f64> = (0..n).map(|i| f64::from((i % 4) as u32) * 0.5).collect();
            case = case.weights(&weights);
        }
        let best = case.solve(Method::Auto).certificate;
        let s = case.solve(to_the_gap(accelerated));
        let (p, d) = dense_proof(&case, &s);
        prop_assert!((s.certificate.objective - p).abs() <= 1e-9 * p);
        prop_assert!((s.certificate.dual_objective - d).abs() <= 1e-8 * p);
        prop_assert!(s.certificate.objective >= best.dual_objective * (1.0 - 1e-12));
        if s.certificate.status == Status::Converged {
            prop_assert!(s.certificate.objective <= best.objective * (1.0 + 2e-5));
        }
        // A scale of the intercept's column far from the features' makes it slow.
        if !matches!(intercept, Intercept::Penalized(scale) if !(0.3..3.0).contains(&scale)) && accelerated {
            prop_assert_eq!(s.certificate.status, Status::Converged, "{:?}", s.certificate);
        }
        if !accelerated {
            for pair in s.history.windows(2) {
                prop_assert!(pair[1].1 <= pair[0].1 * (1.0 + 1e-12));
            }
        }
    }
}

/// With both class weights and alpha times k, steps of 1/k go the same way.
#[test]
fn steps_are_in_the_callers_units() {
    let case = Case::random(11, 40, 12).alpha(0.1).max_iter(20);
    let scaled = case.clone().alpha(0.4).class_weight(4.0, 4.0);
    let paper = ForwardBackward::PAPER;
    let a = case.solve(Method::ForwardBackward(paper));
    let b = scaled.solve(Method::ForwardBackward(ForwardBackward {
        first_step: 0.25 * paper.first_step,
        ..paper
    }));
    assert_eq!(a.certificate.n_iter, 20);
    assert_eq!(a.w, b.w);
    let (p, q) = (a.certificate.objective, b.certificate.objective);
    assert!((q - 4.0 * p).abs() <= 1e-12 * q);
}

/// Two features, one far larger: the first step must shrink by the square of that.
/// From w = 0 the gradient is `-2 (x_1, x_2)` for the one positive row; the bound
/// holds from step <= 1 / (2 ||x||^2) = 1 / 2.02e4 on if the row stays active.
#[test]
fn the_first_step_is_searched() {
    let case = Case::dense(&[&[100.0, 10.0]], &[0])
        .intercept(Intercept::None)
        .alpha(1e-3)
        .max_iter(1);
    let s = case.solve(Method::ForwardBackward(ForwardBackward::PAPER));
    let step = 1e-5;
    assert!((s.w[0] - step * (200.0 - 1e-3)).abs() < 1e-12);
    assert!((s.w[1] - step * (20.0 - 1e-3)).abs() < 1e-12);
}

/// Constants outside their ranges are refused by name.
#[test]
fn constants_are_checked() {
    let paper = ForwardBackward::PAPER;
    for (name, options) in [
        (
            "first_step",
            ForwardBackward {
                first_step: 0.0,
                ..paper
            },
        ),
        (
            "step_shrink",
            ForwardBackward {
                step_shrink: 1.0,
                ..paper
            },
        ),
        (
            "step_shrink",
            ForwardBackward {
                step_shrink: f64::NAN,
                ..paper
            },
        ),
        (
            "step_tol",
            ForwardBackward {
                rule: Rule::Step {
                    min_iter: 0,
                    step_tol: -1.0,
                },
                ..paper
            },
        ),
    ] {
        let method = Method::ForwardBackward(options);
        let error = Case::dense(&[&[1.0]], &[0]).try_solve(method, &Control::default());
        assert!(error.unwrap_err().to_string().starts_with(name));
    }
}

/// A caller who asked to stop is told so.
#[test]
fn cancelling_is_a_status() {
    for accelerated in [false, true] {
        let control = Control::default();
        control.cancel();
        let case = Case::random(1, 30, 10);
        let s = case.try_solve(to_the_gap(accelerated), &control).unwrap();
        assert_eq!(s.certificate.status, Status::Cancelled);
    }
}
