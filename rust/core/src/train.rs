//! All binary problems over the same rows, solved side by side.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::model::{ChildWeights, LinearTreeModel, NodeClassifiers, Scoring, TrainedTree};
use crate::parallel::{Control, thread_cpu_seconds};
use crate::solver::{Certificate, Design, Intercept, Problem, Settings, Workspace, solve};
use crate::sparse::{CsrMatrix, CsrView, Pattern, PatternView, normalize_rows, transpose_pattern};
use crate::tree::LabelTree;
use crate::{Error, Result};

/// How classes are weighed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ClassWeight {
    /// These weights for (positives, negatives).
    Fixed(f64, f64),
    /// `n / (2 n_class)`, n the number of rows, as scikit-learn's "balanced".
    Balanced,
}

/// What turns a label's positives into a [`Problem`].
#[derive(Clone, Copy, Debug)]
pub struct Recipe {
    /// L1 weight at 100 positives.
    pub alpha: f64,
    /// A problem with n positives gets `alpha clip((n / 100)^alpha_exponent, 1/4, 4)`.
    pub alpha_exponent: f64,
    /// Positives weigh `1 + propensity_weight (1/p - 1)` more, `p` the propensity
    /// of a label with as many positives (A = 0.55, B = 1.5) among these rows.
    pub propensity_weight: f64,
    /// Weight of the squared l2 term.
    pub ridge: f64,
    /// Weights of the classes.
    pub class_weight: ClassWeight,
    /// The intercept's kind.
    pub intercept: Intercept,
}

impl Recipe {
    /// The problem of these positives.
    pub fn problem<'a>(&self, design: &'a Design<'a>, positives: &'a [u32]) -> Problem<'a> {
        let n_rows = design.n_samples() as f64;
        let n = positives.len() as f64;
        let (mut positive, negative) = match self.class_weight {
            ClassWeight::Fixed(positive, negative) => (positive, negative),
            // An empty class has no rows to weigh.
            ClassWeight::Balanced => (
                n_rows / (2.0 * n.max(1.0)),
                n_rows / (2.0 * (n_rows - n).max(1.0)),
            ),
        };
        if self.propensity_weight > 0.0 {
            positive *= 1.0 + self.propensity_weight * inverse_propensity_excess(n, n_rows);
        }
        let mut alpha = self.alpha;
        if self.alpha_exponent != 0.0 {
            alpha *= (n / 100.0).powf(self.alpha_exponent).clamp(0.25, 4.0);
        }
        Problem {
            design,
            positives,
            alpha,
            ridge: self.ridge,
            class_weight: (positive, negative),
            intercept: self.intercept,
        }
    }
}

/// `1/p - 1 = C (n + B)^-A` with `C = (ln N - 1) (B + 1)^A`, never negative.
///
/// Source: Jain, Prabhu, Varma, "Extreme multi-label loss functions for
/// recommendation, tagging, ranking and other missing label applications", KDD 2016.
fn inverse_propensity_excess(n_positives: f64, n_rows: f64) -> f64 {
    const A: f64 = 0.55;
    const B: f64 = 1.5;
    (n_rows.ln() - 1.0).max(0.0) * (B + 1.0).powf(A) * (n_positives + B).powf(-A)
}

/// A solved problem's proof, with what it took.
#[derive(Clone, Copy, Debug)]
pub struct Record {
    /// Objective, bound, iterations, status.
    pub certificate: Certificate,
    /// Non-zero weights, the intercept not counted.
    pub nnz: u64,
    /// CPU seconds of the solving thread, the proof included.
    pub seconds: f64,
}

/// Solved problems in the order of the labels.
#[derive(Debug, Default)]
pub struct Classifiers {
    /// Weights, shape (n_problems, n_features).
    pub weights: CsrMatrix,
    /// What is added to each score.
    pub intercepts: Vec<f64>,
    /// A record each.
    pub records: Vec<Record>,
}

/// Solve one problem for each row of `positives`, shape (n_problems, n_samples).
///
/// Problems run in parallel in the current thread pool, those with the most
/// positives first; each is solved by one thread from scratch, so the result
/// does not depend on their number. Nothing dense of shape (n_problems,
/// n_features) ever exists. A problem without positives is not trained: it gets
/// no weights, the best intercept, and the certificate of that.
///
/// # Errors
/// [`Error::Data`] where a number is outside its range; [`Error::Cancelled`].
pub fn train(
    design: &Design<'_>,
    positives: PatternView<'_>,
    recipe: &Recipe,
    settings: &Settings,
    control: &Control,
) -> Result<Classifiers> {
    let n_problems = positives.n_rows();
    let mut order: Vec<u32> = (0..n_problems as u32).collect();
    order.sort_by_key(|&p| std::cmp::Reverse(positives.row(p as usize).len()));
    control.set_total(n_problems as u64);
    let next = AtomicUsize::new(0);
    let parts: Vec<Result<Part>> = rayon::broadcast(|_| {
        let mut part = Part::default();
        let mut workspace = Workspace::new(design);
        while let Some(&p) = order.get(next.fetch_add(1, Ordering::Relaxed)) {
            control.check()?;
            let rows = positives.row(p as usize);
            part.solve(
                p,
                &recipe.problem(design, rows),
                settings,
                &mut workspace,
                control,
            )?;
        }
        Ok(part)
    });
    let parts = parts.into_iter().collect::<Result<Vec<Part>>>()?;
    control.check()?;
    Ok(assemble(n_problems, design.n_features(), &parts))
}

/// What one thread solved, in its own order.
#[derive(Debug, Default)]
struct Part {
    problems: Vec<u32>,
    records: Vec<Record>,
    ends: Vec<usize>,
    indices: Vec<u32>,
    values: Vec<f32>,
}

impl Part {
    fn solve(
        &mut self,
        id: u32,
        problem: &Problem<'_>,
        settings: &Settings,
        workspace: &mut Workspace,
        control: &Control,
    ) -> Result<()> {
        let start = thread_cpu_seconds();
        let settings = Settings {
            max_iter: if problem.positives.is_empty() {
                0
            } else {
                settings.max_iter
            },
            ..*settings
        };
        let certificate = solve(problem, &settings, &[], workspace, control)?;
        // A cancelled solve is half done: it must not become part of a model.
        control.check()?;
        let weights = workspace.weights();
        self.indices.extend(weights.iter().map(|&(j, _)| j));
        self.values.extend(weights.iter().map(|&(_, w)| w as f32));
        self.ends.push(self.indices.len());
        self.problems.push(id);
        self.records.push(Record {
            certificate,
            nnz: weights.len() as u64,
            seconds: thread_cpu_seconds() - start,
        });
        control.add_done(weights.len() as u64);
        Ok(())
    }
}

fn assemble(n_problems: usize, n_features: usize, parts: &[Part]) -> Classifiers {
    // Where each problem went: (part, position in it).
    let mut place = vec![(0, 0); n_problems];
    for (a, part) in parts.iter().enumerate() {
        for (b, &p) in part.problems.iter().enumerate() {
            place[p as usize] = (a, b);
        }
    }
    let total = parts.iter().map(|part| part.indices.len()).sum();
    let mut pattern = Pattern {
        n_cols: n_features,
        indptr: Vec::with_capacity(n_problems + 1),
        indices: Vec::with_capacity(total),
    };
    let mut data = Vec::with_capacity(total);
    let mut records = Vec::with_capacity(n_problems);
    pattern.indptr.push(0);
    for &(a, b) in &place {
        let part = &parts[a];
        let start = if b == 0 { 0 } else { part.ends[b - 1] };
        pattern
            .indices
            .extend_from_slice(&part.indices[start..part.ends[b]]);
        data.extend_from_slice(&part.values[start..part.ends[b]]);
        pattern.indptr.push(pattern.indices.len() as u64);
        records.push(part.records[b]);
    }
    Classifiers {
        weights: CsrMatrix { pattern, data },
        intercepts: records.iter().map(|r| r.certificate.intercept).collect(),
        records,
    }
}

/// Train one-vs-rest, the tree of depth one: a classifier for each column of `y`.
///
/// `x` has shape (n_samples, n_features), `y` (n_samples, n_labels). With
/// `normalize` rows are scaled to unit length first, here and in prediction.
///
/// # Errors
/// [`Error::Data`] where shapes disagree, no label occurs, or a number is outside
/// its range; [`Error::Cancelled`].
pub fn one_vs_rest(
    x: CsrView<'_>,
    y: PatternView<'_>,
    sample_weight: Option<&[f64]>,
    normalize: bool,
    recipe: &Recipe,
    settings: &Settings,
    control: &Control,
) -> Result<(LinearTreeModel, Vec<Record>)> {
    check_labels(x.n_rows(), y)?;
    let normalized = normalize.then(|| normalize_rows(x));
    let x = normalized.as_ref().map_or(x, CsrMatrix::view);
    let design = Design::new(x, sample_weight)?;
    let positives = transpose_pattern(y);
    let solved = train(&design, positives.view(), recipe, settings, control)?;
    let weights = solved.weights.view();
    let node = NodeClassifiers::from_problems((0..y.n_cols()).map(|label| {
        let (indices, values) = weights.row(label);
        ChildWeights {
            indices,
            values,
            intercept: solved.intercepts[label],
        }
    }))?;
    let untrained = (0..y.n_cols() as u32)
        .filter(|&label| positives.view().row(label as usize).is_empty())
        .collect();
    let tree = TrainedTree::new(LabelTree::flat(y.n_cols())?, vec![node])?;
    let model = LinearTreeModel::new(
        x.n_cols(),
        vec![tree],
        Scoring::Margin,
        normalize,
        untrained,
    )?;
    Ok((model, solved.records))
}

fn check_labels(n_samples: usize, y: PatternView<'_>) -> Result<()> {
    if y.n_rows() != n_samples {
        return Err(Error::data(format!(
            "X has {n_samples} rows, Y has {}",
            y.n_rows()
        )));
    }
    if y.nnz() == 0 {
        return Err(Error::data(format!(
            "Y of shape ({n_samples}, {}) has no label at all",
            y.n_cols()
        )));
    }
    Ok(())
}
