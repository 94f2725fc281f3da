//! Solving: one problem, or all of a model.

use numpy::{PyArray1, PyReadonlyArray1};
use proxtree_core::model::Scoring;
use proxtree_core::solver::{
    Certificate, Design, Intercept, Moment, Problem, Settings, Stop, Workspace, solve as solve_core,
};
use proxtree_core::train::{ClassWeight, Plan, Recipe, Record, RootRows, train_model};
use proxtree_core::{Error, Result};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::convert::{CsrArg, PatternArg};
use crate::method::method;
use crate::model::Model;
use crate::runtime;
use crate::tree::LabelTree;

/// 0 stands for no intercept.
fn intercept(scaling: f64, penalize: bool) -> Intercept {
    if scaling == 0.0 {
        Intercept::None
    } else if penalize {
        Intercept::Penalized(scaling)
    } else {
        Intercept::Free
    }
}

/// Solve one problem for each alpha in turn, each from the weights of the one
/// before; see `proxtree.solve_path`. The rows are checked and turned into columns
/// once.
#[pyfunction]
#[pyo3(signature = (x, positives, *, solver, solver_options, alphas, tol, max_iter, intercept_scaling, penalize_intercept, sample_weight, ridge, w0, history, seed))]
pub(crate) fn solve_path<'py>(
    py: Python<'py>,
    x: CsrArg<'py>,
    positives: PyReadonlyArray1<'py, bool>,
    solver: &str,
    solver_options: &Bound<'py, PyDict>,
    alphas: Vec<f64>,
    tol: f64,
    max_iter: Option<u64>,
    intercept_scaling: f64,
    penalize_intercept: bool,
    sample_weight: Option<PyReadonlyArray1<'py, f64>>,
    ridge: f64,
    w0: Option<PyReadonlyArray1<'py, f64>>,
    history: bool,
    seed: u64,
) -> PyResult<Vec<Bound<'py, PyDict>>> {
    let method = method(solver, solver_options, seed)?;
    let x = x.parts()?;
    let positives = positives.as_slice()?;
    let sample_weight = sample_weight.as_ref().map(|w| w.as_slice()).transpose()?;
    let w0 = w0.as_ref().map(|w| w.as_slice()).transpose()?;
    let solved = runtime::run(py, 1, None, |control| {
        let x = x.matrix()?;
        if positives.len() != x.n_rows() {
            return Err(Error::data(format!(
                "y has {} entries for {} rows",
                positives.len(),
                x.n_rows()
            )));
        }
        let settings = Settings {
            method,
            tol,
            stop: Stop::Gap,
            max_iter: max_iter.unwrap_or(method.default_max_iter()),
            prune: 0.0,
            round_weights: false,
            round_intercept: false,
            history,
        };
        // The first problem's time has the columns in it.
        let mut start = proxtree_core::parallel::thread_cpu_seconds();
        let design = Design::new(x, sample_weight, control)?;
        let positives: Vec<u32> = (0..)
            .zip(positives)
            .filter_map(|(i, &p)| p.then_some(i))
            .collect();
        let mut begin: Vec<(u32, f64)> = (0..)
            .zip(w0.unwrap_or_default().iter().copied())
            .filter(|&(_, w)| w != 0.0)
            .collect();
        Workspace::check_room(&design, 1, 0)?;
        let mut workspace = Workspace::new(&design);
        let mut solved = Vec::with_capacity(alphas.len());
        for &alpha in &alphas {
            let problem = Problem {
                design: &design,
                positives: &positives,
                alpha,
                ridge,
                class_weight: (1.0, 1.0),
                intercept: intercept(intercept_scaling, penalize_intercept),
            };
            let certificate = solve_core(&problem, &settings, &begin, &mut workspace, control)?;
            control.check()?;
            begin = workspace.weights().to_vec();
            let mut coef = vec![0.0; design.n_features()];
            for &(j, w) in &begin {
                coef[j as usize] = w;
            }
            let now = proxtree_core::parallel::thread_cpu_seconds();
            let seconds = now - start - workspace.watched_seconds();
            solved.push((certificate, coef, workspace.history().to_vec(), seconds));
            start = now;
        }
        Ok(solved)
    })?;
    let dict =
        |(certificate, coef, moments, seconds): (Certificate, Vec<f64>, Vec<Moment>, f64)| {
            let out = PyDict::new(py);
            out.set_item("coef", PyArray1::from_vec(py, coef))?;
            out.set_item("intercept", certificate.intercept)?;
            out.set_item("objective", certificate.objective)?;
            out.set_item("dual_objective", certificate.dual_objective)?;
            out.set_item("gap", certificate.gap())?;
            out.set_item("n_iter", certificate.n_iter)?;
            out.set_item("status", certificate.status as u8)?;
            out.set_item("seconds", seconds)?;
            out.set_item("history", moments)?;
            Ok(out)
        };
    solved.into_iter().map(dict).collect()
}

/// How all problems of a model are trained; see `proxtree.LinearLabelTree`.
/// `violation_tol = 0` stops on the gap alone.
#[pyclass(frozen, module = "proxtree._core")]
pub(crate) struct TrainSettings {
    scoring: Scoring,
    pub(crate) root_rows: RootRows,
    pub(crate) recipe: Recipe,
    pub(crate) settings: Settings,
    normalize: bool,
}

#[pymethods]
impl TrainSettings {
    #[new]
    #[pyo3(signature = (*, scoring, root_rows, solver, solver_options, alpha, alpha_exponent, propensity_weight, ridge, class_weight, balanced, tol, max_iter, violation_tol, prune, intercept_scaling, penalize_intercept, normalize, seed))]
    fn new(
        py: Python<'_>,
        scoring: &str,
        root_rows: &str,
        solver: &str,
        solver_options: &Bound<'_, PyDict>,
        alpha: f64,
        alpha_exponent: f64,
        propensity_weight: f64,
        ridge: f64,
        class_weight: Option<(f64, f64)>,
        balanced: bool,
        tol: f64,
        max_iter: Option<u64>,
        violation_tol: f64,
        prune: f64,
        intercept_scaling: f64,
        penalize_intercept: bool,
        normalize: bool,
        seed: u64,
    ) -> PyResult<Self> {
        let method = method(solver, solver_options, seed)?;
        let recipe = Recipe {
            alpha,
            alpha_exponent,
            propensity_weight,
            ridge,
            class_weight: if balanced {
                ClassWeight::Balanced
            } else {
                let (positive, negative) = class_weight.unwrap_or((1.0, 1.0));
                ClassWeight::Fixed(positive, negative)
            },
            intercept: intercept(intercept_scaling, penalize_intercept),
        };
        runtime::run_here(py, |_| {
            Ok(Self {
                scoring: Scoring::from_name(scoring)?,
                root_rows: rows_at_root(root_rows)?,
                recipe,
                settings: Settings {
                    method,
                    tol,
                    stop: if violation_tol > 0.0 {
                        Stop::Violation(violation_tol)
                    } else {
                        Stop::Gap
                    },
                    max_iter: max_iter.unwrap_or(method.default_max_iter()),
                    prune,
                    round_weights: true,
                    round_intercept: false,
                    history: false,
                },
                normalize,
            })
        })
    }
}

/// Train a model of one tree or several; see `proxtree.LinearOneVsRest` and
/// `proxtree.LinearLabelTree`.
#[pyfunction]
#[pyo3(signature = (x, y, trees, settings, *, sample_weight, n_threads, progress))]
pub(crate) fn train<'py>(
    py: Python<'py>,
    x: CsrArg<'py>,
    y: PatternArg<'py>,
    trees: Vec<PyRef<'py, LabelTree>>,
    settings: &TrainSettings,
    sample_weight: Option<PyReadonlyArray1<'py, f64>>,
    n_threads: usize,
    progress: Option<Py<PyAny>>,
) -> PyResult<(Model, Vec<Bound<'py, PyDict>>)> {
    let (x, y) = (x.parts()?, y.parts()?);
    let sample_weight = sample_weight.as_ref().map(|w| w.as_slice()).transpose()?;
    let plan = Plan {
        trees: trees.iter().map(|t| t.tree().clone()).collect(),
        scoring: settings.scoring,
        root_rows: settings.root_rows,
        normalize: settings.normalize,
        recipe: settings.recipe,
        settings: settings.settings,
    };
    let (model, records) = runtime::run(py, n_threads, progress.as_ref(), |control| {
        let (model, records) =
            train_model(x.matrix()?, y.pattern()?, sample_weight, plan, control)?;
        // The predictor's index is built in here too, without the interpreter.
        Ok((Model::indexed(model)?, records))
    })?;
    let records = records
        .iter()
        .map(|r| certificates(py, r))
        .collect::<PyResult<_>>()?;
    Ok((model, records))
}

fn rows_at_root(name: &str) -> Result<RootRows> {
    match name {
        "all" => Ok(RootRows::All),
        "labelled" => Ok(RootRows::Labelled),
        other => Err(Error::data(format!(
            "root_rows is {other:?}, expected \"all\" or \"labelled\""
        ))),
    }
}

/// The records as one array a field.
pub(crate) fn certificates<'py>(
    py: Python<'py>,
    records: &[Record],
) -> PyResult<Bound<'py, PyDict>> {
    let of = |f: fn(&Certificate) -> f64| {
        PyArray1::from_iter(py, records.iter().map(|r| f(&r.certificate)))
    };
    let count =
        |f: fn(&Record) -> u64| PyArray1::from_iter(py, records.iter().map(|r| f(r) as i64));
    let out = PyDict::new(py);
    out.set_item("objective", of(|c| c.objective))?;
    out.set_item("dual_objective", of(|c| c.dual_objective))?;
    out.set_item("gap", of(Certificate::gap))?;
    out.set_item("n_iter", count(|r| r.certificate.n_iter))?;
    out.set_item(
        "status",
        PyArray1::from_iter(py, records.iter().map(|r| r.certificate.status as u8)),
    )?;
    out.set_item("nnz", count(|r| r.nnz))?;
    out.set_item("n_pruned", count(|r| r.n_pruned))?;
    out.set_item("n_positives", count(|r| r.n_positives))?;
    out.set_item(
        "seconds",
        PyArray1::from_iter(py, records.iter().map(|r| r.seconds)),
    )?;
    Ok(out)
}
