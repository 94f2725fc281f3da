//! Looks at the gap that pass over columns, against sums over dense rows.

use crate::parallel::Control;
use crate::solver::certificate::{prove, prove_as_is};
use crate::solver::state::{Scaled, Workspace};
use crate::solver::{Design, Intercept, Method, Problem, Settings, Stop};
use crate::testing::csr;

const N: u32 = 400;
const D: u32 = 60;
const ALPHA: f64 = 40.0;
const RARE: [u32; 5] = [3, 50, 121, 200, 333];

/// Row i holds feature 0 if i is even, feature 1 + i mod 5, and some of the others.
fn rows() -> Vec<[f32; D as usize]> {
    let row = |i: u32| {
        let mut row = [0.0; D as usize];
        let others = (0..8).map(|k| 6 + (7 * i + 11 * k * k) % (D - 6));
        let first = i.is_multiple_of(2).then_some(0);
        for j in others.chain([1 + i % 5]).chain(first) {
            row[j as usize] = 0.1 + 0.05 * ((3 * i + j) % 8) as f32;
        }
        row
    };
    (0..N).map(row).collect()
}

/// What formulas say of a point.
struct Dense {
    objective: f64,
    /// `2 c max(0, hinge)` summed over positives and over negatives, and `sum a^2 / c`.
    sums: (f64, f64, f64),
    gradient: Vec<f64>,
}

/// With the hinges of positives and negatives times `shares`.
fn dense(
    problem: &Problem<'_>,
    weights: &[(u32, f64)],
    intercept: f64,
    shares: (f64, f64),
) -> Dense {
    let mut found = Dense {
        objective: 0.0,
        sums: (0.0, 0.0, 0.0),
        gradient: vec![0.0; D as usize],
    };
    for i in 0..N {
        let (ids, values) = problem.design.rows().row(i as usize);
        let weight = |j: &u32| weights.iter().find(|of| of.0 == *j).map_or(0.0, |of| of.1);
        let products = ids
            .iter()
            .zip(values)
            .map(|(j, &x)| weight(j) * f64::from(x));
        let score = products.sum::<f64>() + intercept;
        let is_positive = problem.positives.contains(&i);
        let (s, share) = if is_positive {
            (1.0, shares.0)
        } else {
            (-1.0, shares.1)
        };
        let hinge = share * (1.0 - s * score).max(0.0);
        found.objective += hinge * hinge;
        let a = 2.0 * hinge;
        *if is_positive {
            &mut found.sums.0
        } else {
            &mut found.sums.1
        } += a;
        found.sums.2 += a * a;
        for (&j, &x) in ids.iter().zip(values) {
            found.gradient[j as usize] -= s * a * f64::from(x);
        }
    }
    for (_, w) in weights {
        found.objective += problem.alpha * w.abs() + 0.5 * problem.ridge * w * w;
    }
    if let Intercept::Penalized(scale) = problem.intercept {
        found.objective += problem.alpha / scale * intercept.abs();
    }
    found
}

/// The largest `D` for tau up to `most`.
fn bound(problem: &Problem<'_>, point: &Dense, mut most: f64) -> f64 {
    let (positive, negative, s2) = point.sums;
    if s2 == 0.0 {
        return 0.0;
    }
    most = most.min(2.0 * (positive + negative) / s2);
    if let Intercept::Penalized(scale) = problem.intercept {
        most = most.min(problem.alpha / scale / (positive - negative).abs());
    }
    if problem.ridge == 0.0 {
        let steepest = point.gradient.iter().fold(0.0, |m: f64, g| m.max(g.abs()));
        most = most.min(problem.alpha / steepest);
    }
    let value = |tau: f64| {
        let over = point.gradient.iter().map(|g| tau * g.abs() - problem.alpha);
        let over: f64 = over.map(|g| g.max(0.0).powi(2)).sum();
        let pull = if problem.ridge > 0.0 {
            over / (2.0 * problem.ridge)
        } else {
            0.0
        };
        tau * (positive + negative) - 0.25 * tau * tau * s2 - pull
    };
    // Concave: a grid, and a finer one about its best.
    let best = |low: f64, high: f64| {
        let taus = (0..=2_000).map(|k| low + (high - low) * f64::from(k) / 2_000.0);
        taus.fold((0.0, 0.0), |best: (f64, f64), tau| {
            if value(tau) > best.1 {
                (tau, value(tau))
            } else {
                best
            }
        })
    };
    let (tau, _) = best(0.0, most);
    let step = most / 2_000.0;
    best((tau - step).max(0.0), (tau + step).min(most)).1
}

/// A look at a small weight of the longest column: its 200 rows hardly differ from the
/// untouched ones. The intercept is at its best or 0.
fn check(positives: &[u32], intercept: Intercept, ridge: f64, is_solved: bool) {
    let x = csr(&rows());
    let control = Control::default();
    let design = Design::new(x.view(), None, &control).unwrap();
    let problem = Problem {
        design: &design,
        positives,
        alpha: ALPHA,
        ridge,
        class_weight: (1.0, 1.0),
        intercept,
    };
    let settings = Settings {
        method: Method::Auto,
        tol: 1e-3,
        stop: Stop::Gap,
        max_iter: 100,
        prune: 0.0,
        round_weights: false,
        round_intercept: false,
        history: false,
    };
    let scaled = Scaled::new(&problem, &control);
    let mut state = Workspace::new(&design);
    state.begin(&problem, None);
    let weights = [(0, -0.05)];
    state.set_weight(&design, weights[0].0, weights[0].1);
    let look = if is_solved { prove } else { prove_as_is };
    let proof = look(&scaled, &settings, &mut state);

    let case = format!(
        "{} positives, {intercept:?}, ridge {ridge}",
        positives.len()
    );
    let point = dense(&problem, &weights, state.intercept, (1.0, 1.0));
    let objective = point.objective;
    assert!(
        (proof.objective - objective).abs() <= 1e-12 * objective,
        "{case}"
    );
    let shares = match (intercept, point.sums) {
        // 0 / 0: no such sample has a share.
        (Intercept::Free, (positive, negative, _)) => (
            (negative / positive).min(1.0),
            (positive / negative).min(1.0),
        ),
        _ => (1.0, 1.0),
    };
    // Columns passed over are known to be below alpha at tau = 1, no more. All are
    // exact with a ridge, and at a point that had to be balanced.
    let is_exact = ridge > 0.0 || intercept == Intercept::Free && !is_solved;
    let most = if is_exact { f64::INFINITY } else { 1.0 };
    let expected = bound(
        &problem,
        &dense(&problem, &weights, state.intercept, shares),
        most,
    );
    let found = proof.dual_objective;
    assert!(
        (found - expected).abs() <= 1e-7 * objective,
        "{case}: {found}, not {expected}"
    );

    // The road that this is about; with a ridge all columns are needed.
    let passes_over = state.gradient.closed_below == ALPHA;
    assert_eq!(passes_over, ridge == 0.0, "{case}");
    let mut open = Vec::new();
    state
        .gradient
        .for_each_above(&design, ALPHA, |j| open.push(j));
    open.sort_unstable();
    let steep = (0..D).filter(|&j| point.gradient[j as usize].abs() > ALPHA);
    assert_eq!(open, steep.collect::<Vec<u32>>(), "{case}");
}

#[test]
fn rare_labels_of_any_intercept() {
    for intercept in [Intercept::None, Intercept::Penalized(1.0), Intercept::Free] {
        for is_solved in [false, true] {
            check(&RARE, intercept, 0.0, is_solved);
        }
    }
}

#[test]
fn labels_without_positives() {
    for intercept in [Intercept::None, Intercept::Penalized(1.0), Intercept::Free] {
        check(&[], intercept, 0.0, false);
    }
}

#[test]
fn a_ridge_needs_all_columns() {
    for intercept in [Intercept::None, Intercept::Penalized(1.0), Intercept::Free] {
        check(&RARE, intercept, 0.5, true);
    }
}
