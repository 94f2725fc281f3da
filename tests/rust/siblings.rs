//! Problems that are solved together against each of them alone, dense sums, and
//! closed forms.
#![allow(
    clippy::unwrap_used,
    reason = "a test that cannot build its input must fail"
)]

use proxtree_core::Error;
use proxtree_core::model::{Description, Scoring, to_bytes};
use proxtree_core::parallel::{Control, with_pool};
use proxtree_core::rng::SplitMix64;
use proxtree_core::solver::{
    Certificate, Design, Intercept, LANES, Method, Problem, Settings, SharedStart, Siblings,
    Status, Stop, Workspace, solve,
};
use proxtree_core::sparse::{CsrMatrix, Pattern};
use proxtree_core::train::{
    Chosen, ClassWeight, Plan, Recipe, RootRows, train_model, train_sample,
};
use proxtree_core::tree::LabelTree;

const C: f64 = 2.0;

fn settings(eps: f64) -> Settings {
    Settings {
        method: Method::DualCoordinateDescent { c: C, eps, seed: 3 },
        tol: 1e-3,
        stop: Stop::Gap,
        max_iter: 1_000,
        prune: 0.0,
        round_weights: true,
        round_intercept: false,
        history: false,
    }
}

fn csr(rows: &[Vec<f32>]) -> CsrMatrix {
    let mut pattern = Pattern {
        n_cols: rows[0].len(),
        indptr: vec![0],
        indices: Vec::new(),
    };
    let mut data = Vec::new();
    for row in rows {
        for (j, &x) in row.iter().enumerate().filter(|(_, x)| **x != 0.0) {
            pattern.indices.push(j as u32);
            data.push(x);
        }
        pattern.indptr.push(data.len() as u64);
    }
    CsrMatrix { pattern, data }
}

/// Sparse rows, one in ten empty, one in ten equal to that before it.
fn rows(n: usize, d: usize) -> Vec<Vec<f32>> {
    let mut rng = SplitMix64::new(5);
    let mut rows: Vec<Vec<f32>> = Vec::new();
    for i in 0..n {
        rows.push(match i % 10 {
            3 => vec![0.0; d],
            7 => rows[i - 1].clone(),
            _ => (0..d)
                .map(|_| {
                    let x = rng.uniform() as f32;
                    if rng.uniform() < 0.2 { x - 0.3 } else { 0.0 }
                })
                .collect(),
        });
    }
    rows
}

/// A few rows, many, none, all.
fn positives(n: usize) -> Vec<Vec<u32>> {
    let every = |step: usize| (0..n as u32).step_by(step).collect();
    let mut positives: Vec<Vec<u32>> = (2..LANES).map(every).collect();
    positives.push(Vec::new());
    positives.push(every(1));
    positives
}

/// The weights of each sample, for the oracle; some weigh nothing.
fn sample_weight(n: usize) -> Vec<f64> {
    (0..n).map(|i| [1.0, 0.5, 3.0, 0.0][i % 4]).collect()
}

fn problems<'a>(
    design: &'a Design<'a>,
    positives: &'a [Vec<u32>],
    intercept: Intercept,
) -> Vec<Problem<'a>> {
    let problem = |(k, positives): (usize, &'a Vec<u32>)| Problem {
        design,
        positives,
        alpha: 1.0,
        ridge: 0.0,
        class_weight: (1.0 + k as f64, 0.7),
        intercept,
    };
    positives.iter().enumerate().map(problem).collect()
}

fn weights(siblings: &Siblings, lane: usize, d: usize) -> Vec<f64> {
    let (mut ids, mut values) = (vec![9], vec![9.0]);
    siblings.append_weights(lane, &mut ids, &mut values);
    assert!(ids[0] == 9 && values[1..].iter().all(|&w| w != 0.0));
    let mut w = vec![0.0; d];
    for (&j, &value) in ids[1..].iter().zip(&values[1..]) {
        w[j as usize] = f64::from(value);
    }
    w
}

/// `1/2 ||w||^2 + 1/2 (b / scale)^2 + C sum_i c_i hinge_i^2`, written out.
fn objective(
    problem: &Problem<'_>,
    rows: &[Vec<f32>],
    sample_weight: &[f64],
    w: &[f64],
    b: f64,
) -> f64 {
    let scale = match problem.intercept {
        Intercept::Penalized(scale) => scale,
        _ => f64::INFINITY,
    };
    let mut p = 0.5 * (w.iter().map(|w| w * w).sum::<f64>() + (b / scale).powi(2));
    for (i, row) in rows.iter().enumerate() {
        let positive = problem.positives.contains(&(i as u32));
        let (sign, class) = if positive {
            (1.0, problem.class_weight.0)
        } else {
            (-1.0, problem.class_weight.1)
        };
        let z = row
            .iter()
            .zip(w)
            .map(|(&x, w)| f64::from(x) * w)
            .sum::<f64>()
            + b;
        p += C * class * sample_weight[i] * (1.0 - sign * z).max(0.0).powi(2);
    }
    p
}

fn alone(problem: &Problem<'_>) -> Certificate {
    let mut workspace = Workspace::new(problem.design);
    let exact = Settings {
        max_iter: 100_000,
        round_weights: false,
        ..settings(1e-9)
    };
    solve(problem, &exact, &[], &mut workspace, &Control::default()).unwrap()
}

/// Each certificate holds for the weights as they are, and brackets what `f64` finds
/// for the problem alone.
#[test]
fn problems_together_end_where_each_ends_alone() {
    let (n, d) = (120, 40);
    let rows = rows(n, d);
    let matrix = csr(&rows);
    let positives = positives(n);
    let control = Control::default();
    for weighted in [false, true] {
        let weight = if weighted {
            sample_weight(n)
        } else {
            vec![1.0; n]
        };
        let given = weighted.then_some(&weight[..]);
        let design = Design::new(matrix.view(), given, &control).unwrap();
        for intercept in [Intercept::None, Intercept::Penalized(2.0)] {
            let problems = problems(&design, &positives, intercept);
            let settings = settings(0.01);
            assert!(Siblings::fits(&problems, &settings));
            let shared =
                SharedStart::new(&design, settings.method, 0.7, intercept, &control).unwrap();
            let mut siblings = Siblings::default();
            for start in [None, shared.as_ref()] {
                let certificates = siblings
                    .solve(&problems, &settings, start, &control)
                    .unwrap();
                assert_eq!(certificates.len(), LANES);
                for (k, (problem, proof)) in problems.iter().zip(&certificates).enumerate() {
                    let w = weights(&siblings, k, d);
                    let p = objective(problem, &rows, &weight, &w, proof.intercept);
                    assert!((proof.objective - p).abs() < 1e-9 * p, "{k} {proof:?} {p}");
                    let best = alone(problem).objective;
                    let room = 1e-9 * best;
                    assert!(proof.dual_objective <= best + room, "{k} {proof:?} {best}");
                    assert!(proof.objective >= best - room, "{k} {proof:?} {best}");
                    // Derivatives within 0.01 leave a gap of that times dual variables.
                    assert!(proof.gap() <= 1e-3 * best + 1e-3, "{k} {proof:?} {best}");
                    assert_ne!(proof.status, Status::MaxIter);
                }
            }
        }
    }
}

/// One positive at x = 1: w = 2 C c / (1 + 2 C c) for class weight c.
#[test]
fn one_sample_has_a_closed_form() {
    let matrix = csr(&[vec![1.0]]);
    let control = Control::default();
    let design = Design::new(matrix.view(), None, &control).unwrap();
    let positives = vec![vec![0]; 5];
    let problems = problems(&design, &positives, Intercept::None);
    let mut siblings = Siblings::default();
    siblings
        .solve(&problems, &settings(0.01), None, &control)
        .unwrap();
    for k in 0..5 {
        let c = C * (1.0 + k as f64);
        let w = weights(&siblings, k, 1)[0];
        assert!((w - 2.0 * c / (1.0 + 2.0 * c)).abs() < 1e-6, "{k} {w}");
    }
}

/// A sample that is right by far has no dual variable, so that its own feature has
/// no weight; where the first problem's signs are turned it has one.
#[test]
fn features_of_idle_samples_have_no_weight() {
    let matrix = csr(&[vec![1.0, 0.0], vec![-1.0, 0.0], vec![-50.0, 1.0]]);
    let control = Control::default();
    let design = Design::new(matrix.view(), None, &control).unwrap();
    let positives = vec![vec![0], vec![1]];
    let problems = problems(&design, &positives, Intercept::None);
    let mut siblings = Siblings::default();
    siblings
        .solve(&problems, &settings(0.01), None, &control)
        .unwrap();
    assert!(weights(&siblings, 0, 2)[0] > 0.5);
    assert_eq!(weights(&siblings, 0, 2)[1].to_bits(), 0);
    assert!(weights(&siblings, 1, 2)[1] < 0.0);
}

/// After one sweep no rule holds; the weights are certified as they are, and those
/// below `prune` are gone.
#[test]
fn the_limit_and_prune_are_kept() {
    let rows = rows(120, 40);
    let matrix = csr(&rows);
    let control = Control::default();
    let design = Design::new(matrix.view(), None, &control).unwrap();
    let positives = vec![(0..120).step_by(3).collect(); 4];
    let problems = problems(&design, &positives, Intercept::None);
    let short = Settings {
        max_iter: 1,
        prune: 0.2,
        ..settings(0.01)
    };
    let mut siblings = Siblings::default();
    let certificates = siblings.solve(&problems, &short, None, &control).unwrap();
    for (k, proof) in certificates.iter().enumerate() {
        assert_eq!((proof.n_iter, proof.status), (1, Status::MaxIter));
        let w = weights(&siblings, k, 40);
        assert!(w.iter().all(|w| *w == 0.0 || w.abs() >= 0.2));
        let n_kept = w.iter().filter(|w| **w != 0.0).count() as u64;
        assert!(siblings.n_pruned(k) > 0 && n_kept + siblings.n_pruned(k) <= 40);
        let p = objective(&problems[k], &rows, &[1.0; 120], &w, 0.0);
        assert!((proof.objective - p).abs() < 1e-9 * p);
    }
}

#[test]
fn what_does_not_fit_is_seen() {
    let control = Control::default();
    let fits = |x: f32, intercept: Intercept, settings: &Settings| {
        let matrix = csr(&[vec![x], vec![0.5]]);
        let design = Design::new(matrix.view(), None, &control).unwrap();
        let positives = vec![vec![0]; 2];
        Siblings::fits(&problems(&design, &positives, intercept), settings)
    };
    let none = Intercept::None;
    assert!(fits(1.0, none, &settings(0.1)));
    assert!(!fits(1.0, Intercept::Free, &settings(0.1)));
    assert!(!fits(1.0, none, &settings(1e-3)));
    assert!(!fits(1e3, none, &settings(0.1)));
    assert!(!fits(1.0, Intercept::Penalized(1e3), &settings(0.1)));
    for other in [
        Settings {
            method: Method::Auto,
            ..settings(0.1)
        },
        Settings {
            round_weights: false,
            ..settings(0.1)
        },
        Settings {
            history: true,
            ..settings(0.1)
        },
        Settings {
            max_iter: 0,
            ..settings(0.1)
        },
    ] {
        assert!(!fits(1.0, none, &other));
    }
}

#[test]
fn too_many_problems_another_method_and_a_cancelled_solve_are_errors() {
    let matrix = csr(&rows(40, 8));
    let control = Control::default();
    let design = Design::new(matrix.view(), None, &control).unwrap();
    let positives = vec![vec![0]; LANES + 1];
    let problems = problems(&design, &positives, Intercept::None);
    let mut siblings = Siblings::default();
    let error = siblings
        .solve(&problems, &settings(0.1), None, &control)
        .unwrap_err();
    assert!(error.to_string().contains("17 problems"), "{error}");
    let other = Settings {
        method: Method::Auto,
        ..settings(0.1)
    };
    let error = siblings
        .solve(&problems[..2], &other, None, &control)
        .unwrap_err();
    assert!(error.to_string().contains("together"), "{error}");
    control.cancel();
    let error = siblings
        .solve(&problems[..2], &settings(0.1), None, &control)
        .unwrap_err();
    assert!(matches!(error, Error::Cancelled));
}

fn recipe() -> Recipe {
    Recipe {
        alpha: 1.0,
        alpha_exponent: 0.0,
        propensity_weight: 0.5,
        ridge: 0.0,
        class_weight: ClassWeight::Balanced,
        intercept: Intercept::Penalized(1.0),
    }
}

/// 45 labels, at least one without positives: blocks and a rest.
fn labels(n: usize) -> Pattern {
    let mut y = Pattern {
        n_cols: 45,
        indptr: vec![0],
        indices: Vec::new(),
    };
    for i in 0..n as u32 {
        y.indices
            .extend((0..44).filter(|l| (i * 7 + l * l).is_multiple_of(l % 9 + 3)));
        y.indptr.push(y.indices.len() as u64);
    }
    y
}

/// One-vs-rest on one, two and three threads: the same bytes; each record brackets
/// the problem solved alone, and a sample ends there too.
#[test]
fn a_model_does_not_depend_on_the_threads() {
    let n = 120;
    let matrix = csr(&rows(n, 40));
    let y = labels(n);
    let train = |n_threads: usize| {
        with_pool(n_threads, || {
            let plan = Plan {
                trees: vec![LabelTree::flat(45)?],
                scoring: Scoring::from_name("squared")?,
                root_rows: RootRows::All,
                normalize: false,
                recipe: recipe(),
                settings: settings(0.01),
            };
            let control = Control::default();
            train_model(matrix.view(), y.view(), None, plan, &control)
        })
        .unwrap()
    };
    let (model, records) = train(1);
    for n_threads in [2, 3] {
        let (other, _) = train(n_threads);
        let bytes = |model| to_bytes(model, &Description::default()).unwrap();
        assert_eq!(bytes(&model), bytes(&other));
    }
    let control = Control::default();
    let design = Design::new(matrix.view(), None, &control).unwrap();
    let by_label = proxtree_core::sparse::transpose_pattern(y.view(), &control).unwrap();
    let trained = records[0]
        .iter()
        .enumerate()
        .filter(|(_, r)| r.n_positives > 0);
    assert!(trained.clone().count() > 2 * LANES);
    for (label, record) in trained {
        let problem = recipe().problem(&design, by_label.view().row(label));
        let best = alone(&problem).objective;
        let proof = &record.certificate;
        assert!(proof.gap() <= 1e-3 * best + 1e-2, "{proof:?} {best}");
        assert!(proof.objective >= best * (1.0 - 1e-9), "{proof:?} {best}");
        assert!(record.seconds > 0.0);
    }
    let tree = LabelTree::flat(45).unwrap();
    let sample = train_sample(
        matrix.view(),
        by_label.view(),
        None,
        &tree,
        RootRows::All,
        &recipe(),
        &settings(0.01),
        Chosen {
            whole: &[(0, vec![4, 9])],
            thinned: &[],
        },
        &control,
    )
    .unwrap();
    for (record, label) in sample[0].records.iter().zip([4, 9]) {
        let p = records[0][label].certificate.objective;
        assert!((record.certificate.objective - p).abs() < 1e-3 * p);
    }
}
