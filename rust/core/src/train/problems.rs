//! The problems of one node, by one thread or many.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::{ClassWeight, Recipe};
use crate::model::{ChildWeights, NodeClassifiers};
use crate::parallel::{Control, thread_cpu_seconds};
use crate::solver::{
    Certificate, Design, LANES, Problem, Settings, SharedStart, Siblings, Stop, Workspace,
    copied_bytes, solve,
};
use crate::sparse::PatternView;
use crate::{Error, Result};

/// A solved problem's proof, with what it took.
#[derive(Clone, Copy, Debug)]
pub struct Record {
    /// Objective, bound, iterations, status.
    pub certificate: Certificate,
    /// Non-zero weights, the intercept not counted.
    pub nnz: u64,
    /// Weights that were set to zero for being too small.
    pub n_pruned: u64,
    /// Rows of the positive class.
    pub n_positives: u64,
    /// CPU seconds of the solving thread, the proof included.
    pub seconds: f64,
}

/// The solved problems of a node, in the order of its children.
#[derive(Debug)]
pub(super) struct SolvedNode {
    pub(super) classifiers: NodeClassifiers,
    pub(super) records: Vec<Record>,
    /// CPU seconds of all solves here.
    pub(super) solving_s: f64,
}

/// Who solves the problems of a node.
#[derive(Clone, Copy, Debug)]
pub(super) enum Hands {
    /// All threads of the current pool.
    All,
    /// The calling thread alone.
    One,
}

/// Solve one problem for each row of `positives`, shape (n_children, n_rows),
/// those with the most positives first, by methods that allow it several together.
/// `feature_ids` are the global ids of the node's features, where it has its own.
///
/// What is solved together, and by one thread, does not depend on their number, so
/// neither do results.
pub(super) fn solve_node(
    design: &Design<'_>,
    feature_ids: Option<&[u32]>,
    positives: PatternView<'_>,
    recipe: &Recipe,
    settings: &Settings,
    hands: Hands,
    control: &Control,
) -> Result<SolvedNode> {
    let mut order: Vec<u32> = (0..positives.n_rows() as u32).collect();
    order.sort_by_key(|&p| std::cmp::Reverse(positives.row(p as usize).len()));
    let n_threads = match hands {
        Hands::All => rayon::current_num_threads(),
        Hands::One => 1,
    };
    let problem = |p: u32| recipe.problem(design, positives.row(p as usize));
    let units = units(&order, settings, problem);
    if units.iter().any(|unit| matches!(unit, Unit::One(_))) {
        let copies = match settings.stop {
            // The threads begin with the largest.
            Stop::Violation(_) => order[..n_threads.min(order.len())]
                .iter()
                .map(|&p| copied_bytes(design, positives.row(p as usize).len()))
                .sum(),
            Stop::Gap => 0,
        };
        Workspace::check_room(design, n_threads, copies)?;
    }
    if units.iter().any(|unit| matches!(unit, Unit::Together(_))) {
        Siblings::check_room(design, n_threads)?;
    }
    let negative = match recipe.class_weight {
        ClassWeight::Fixed(_, negative) => negative,
        // What it is for all but the largest classes.
        ClassWeight::Balanced => 0.5,
    };
    let intercept = recipe.intercept;
    let start = SharedStart::new(design, settings.method, negative, intercept, control)?;
    let start = start.map(Arc::new);
    let next = AtomicUsize::new(0);
    let work = || {
        let mut part = Part::default();
        let mut workspace = None;
        let mut siblings = Siblings::default();
        while let Some(&unit) = units.get(next.fetch_add(1, Ordering::Relaxed)) {
            control.check()?;
            match unit {
                Unit::One(p) => {
                    let workspace = workspace
                        .get_or_insert_with(|| Workspace::new(design).with_start(start.clone()));
                    part.solve(p, &problem(p), settings, workspace, control)?;
                }
                Unit::Together(ids) => {
                    let problems: Vec<Problem<'_>> = ids.iter().map(|&p| problem(p)).collect();
                    let start = start.as_deref();
                    part.solve_together(ids, &problems, settings, start, &mut siblings, control)?;
                }
            }
        }
        Ok(part)
    };
    let parts = match hands {
        Hands::All => rayon::broadcast(|_| work()),
        Hands::One => vec![work()],
    };
    let parts = parts.into_iter().collect::<Result<Vec<Part>>>()?;
    assemble(positives.n_rows(), parts, feature_ids)
}

/// Fewer problems are solved one by one.
const LEAST_SIBLINGS: usize = 4;

/// What a thread solves at a time.
#[derive(Clone, Copy, Debug)]
enum Unit<'a> {
    One(u32),
    Together(&'a [u32]),
}

/// The problems of `order`, those without positives last, as they are solved.
fn units<'a>(
    order: &'a [u32],
    settings: &Settings,
    problem: impl Fn(u32) -> Problem<'a>,
) -> Vec<Unit<'a>> {
    let n_trained = order.partition_point(|&p| !problem(p).positives.is_empty());
    let mut units = Vec::new();
    for ids in order[..n_trained].chunks(LANES) {
        let fits = || {
            let problems: Vec<Problem<'_>> = ids.iter().map(|&p| problem(p)).collect();
            Siblings::fits(&problems, settings)
        };
        if ids.len() >= LEAST_SIBLINGS && fits() {
            units.push(Unit::Together(ids));
        } else {
            units.extend(ids.iter().map(|&p| Unit::One(p)));
        }
    }
    units.extend(order[n_trained..].iter().map(|&p| Unit::One(p)));
    units
}

/// What one thread solved, in its own order.
#[derive(Debug, Default)]
struct Part {
    problems: Vec<u32>,
    records: Vec<Record>,
    ends: Vec<usize>,
    indices: Vec<u32>,
    values: Vec<f32>,
    seconds: f64,
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
            method: settings.method.for_unit(id.into()),
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
        if let Some((j, w)) = weights.iter().find(|(_, w)| !(*w as f32).is_finite()) {
            return Err(Error::data(format!(
                "problem {id}: the weight {w:e} of feature {j} does not fit float32; \
                 scale the features up"
            )));
        }
        self.indices.extend(weights.iter().map(|&(j, _)| j));
        self.values.extend(weights.iter().map(|&(_, w)| w as f32));
        self.ends.push(self.indices.len());
        self.problems.push(id);
        let seconds = thread_cpu_seconds() - start;
        self.seconds += seconds;
        self.records.push(Record {
            certificate,
            nnz: weights.len() as u64,
            n_pruned: workspace.n_pruned(),
            n_positives: problem.positives.len() as u64,
            seconds,
        });
        control.add_done(weights.len() as u64);
        Ok(())
    }

    /// As [`Self::solve`], for several problems.
    fn solve_together(
        &mut self,
        ids: &[u32],
        problems: &[Problem<'_>],
        settings: &Settings,
        start: Option<&SharedStart>,
        siblings: &mut Siblings,
        control: &Control,
    ) -> Result<()> {
        let begun = thread_cpu_seconds();
        let settings = Settings {
            method: settings.method.for_unit(ids[0].into()),
            ..*settings
        };
        let certificates = siblings.solve(problems, &settings, start, control)?;
        let first = self.records.len();
        for (lane, (&id, certificate)) in ids.iter().zip(certificates).enumerate() {
            let from = self.indices.len();
            siblings.append_weights(lane, &mut self.indices, &mut self.values);
            let nnz = (self.indices.len() - from) as u64;
            self.ends.push(self.indices.len());
            self.problems.push(id);
            self.records.push(Record {
                certificate,
                nnz,
                n_pruned: siblings.n_pruned(lane),
                n_positives: problems[lane].positives.len() as u64,
                seconds: 0.0,
            });
            control.add_done(nnz);
        }
        // Each problem's share of the time is its share of the sweeps.
        let seconds = thread_cpu_seconds() - begun;
        self.seconds += seconds;
        let records = &mut self.records[first..];
        let sweeps = |record: &Record| record.certificate.n_iter as f64;
        let total: f64 = records.iter().map(sweeps).sum();
        for record in records {
            record.seconds = seconds * sweeps(record) / total;
        }
        Ok(())
    }
}

/// Bring the parts into the order of the children; `feature_ids` are the global
/// ids of the node's own features, where it has its own.
fn assemble(
    n_problems: usize,
    mut parts: Vec<Part>,
    feature_ids: Option<&[u32]>,
) -> Result<SolvedNode> {
    // Where each problem went: (part, position in it).
    let mut place = vec![(0, 0); n_problems];
    for (a, part) in parts.iter().enumerate() {
        for (b, &p) in part.problems.iter().enumerate() {
            place[p as usize] = (a, b);
        }
    }
    // In place: an L2 model has a weight for nearly every feature.
    if let Some(ids) = feature_ids {
        for j in parts.iter_mut().flat_map(|part| &mut part.indices) {
            *j = ids[*j as usize];
        }
    }
    let classifiers = NodeClassifiers::from_problems(place.iter().map(|&(a, b)| {
        let part = &parts[a];
        let start = if b == 0 { 0 } else { part.ends[b - 1] };
        ChildWeights {
            indices: &part.indices[start..part.ends[b]],
            values: &part.values[start..part.ends[b]],
            intercept: part.records[b].certificate.intercept,
        }
    }))?;
    Ok(SolvedNode {
        classifiers,
        records: place.iter().map(|&(a, b)| parts[a].records[b]).collect(),
        solving_s: parts.iter().map(|part| part.seconds).sum(),
    })
}
