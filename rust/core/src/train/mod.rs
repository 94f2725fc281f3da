//! All classifiers of a tree, node by node.
//!
//! One-vs-rest goes the same way: its tree has one node, which all threads
//! share. Deep trees have many small nodes, which go to one thread each.

mod node;
mod problems;
mod recipe;
mod sample;
mod thin;

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

pub use problems::Record;
pub use recipe::{ClassWeight, Recipe};
pub use sample::{Chosen, SampledNode, train_sample};

pub(crate) use self::node::node_rows;
use self::node::{Extractor, NodeData};
use self::problems::{Hands, SolvedNode, solve_node};
use crate::model::{LinearTreeModel, Scoring, TrainedTree};
use crate::parallel::Control;
use crate::solver::{Design, Settings};
use crate::sparse::{CsrMatrix, CsrView, Pattern, PatternView, normalize_rows, transpose_pattern};
use crate::tree::{Child, LabelTree};
use crate::{Error, Result};

/// Which rows the root's problems see.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RootRows {
    /// All: rows without labels are negatives there.
    All,
    /// Those with a label, as the tree paper has it.
    Labelled,
}

/// All that a model is trained with, besides the data.
#[derive(Debug)]
pub struct Plan {
    /// The trees; their scores are averaged. One flat tree is one-vs-rest.
    pub trees: Vec<LabelTree>,
    /// How margins become scores.
    pub scoring: Scoring,
    /// Which rows the roots see.
    pub root_rows: RootRows,
    /// Scale rows to unit length first, here and in prediction.
    pub normalize: bool,
    /// From positives to a problem.
    pub recipe: Recipe,
    /// When a problem's solve stops.
    pub settings: Settings,
}

/// Train a whole model: [`train`] for each tree of the plan.
///
/// Gives the records of each tree's problems beside the model.
///
/// # Errors
/// As [`train`]; also where the plan's parts do not fit together.
pub fn train_model(
    x: CsrView<'_>,
    y: PatternView<'_>,
    sample_weight: Option<&[f64]>,
    plan: Plan,
    control: &Control,
) -> Result<(LinearTreeModel, Vec<Vec<Record>>)> {
    let normalized = plan.normalize.then(|| normalize_rows(x));
    let x = normalized.as_ref().map_or(x, CsrMatrix::view);
    control.set_total(plan.trees.iter().map(|t| t.n_problems() as u64).sum());
    let label_rows = transpose_pattern(y, control)?;
    let (mut trees, mut records) = (Vec::new(), Vec::new());
    for (t, tree) in (0..).zip(plan.trees) {
        let settings = as_stored(&tree, t, &plan.settings);
        let trained = train(
            x,
            label_rows.view(),
            sample_weight,
            tree,
            plan.root_rows,
            &plan.recipe,
            &settings,
            control,
        )?;
        trees.push(trained.tree);
        records.push(trained.records);
    }
    let untrained = (0..y.n_cols() as u32)
        .filter(|&label| label_rows.view().row(label as usize).is_empty())
        .collect();
    let model = LinearTreeModel::new(x.n_cols(), trees, plan.scoring, plan.normalize, untrained)?;
    Ok((model, records))
}

/// The settings of the model's tree number `id`: random numbers of its own, and
/// weights as they will be stored (one-vs-rest keeps f64 intercepts, whose gradient
/// sums over all rows).
fn as_stored(tree: &LabelTree, id: u64, settings: &Settings) -> Settings {
    Settings {
        round_intercept: tree.n_nodes() > 1,
        method: settings.method.for_unit(id),
        ..*settings
    }
}

/// A node whose share of the work is above one in this many per thread is
/// solved by all threads together, so that none waits long at the end.
const SHARES: f64 = 4.0;

/// A tree's classifiers and the record of each problem, node after node.
#[derive(Debug)]
pub struct Trained {
    /// The tree with its classifiers.
    pub tree: TrainedTree,
    /// A record for each child of each node, in the tree's order.
    pub records: Vec<Record>,
}

/// Train the classifiers of every node of `tree`.
///
/// `x` has shape (n_samples, n_features), `label_rows` is the transpose of `Y`, of
/// shape (n_labels, n_samples). A node sees
/// the rows that carry one of its labels and the features that occur there; a
/// child's positives are the rows with a label below it. Problems run in
/// parallel in the current pool; the result does not depend on the number of
/// threads, and beyond the model no more node matrices exist than threads.
/// A problem without positives is not trained: it gets no weights and the best
/// intercept, with the certificate of that.
///
/// # Errors
/// [`Error::Data`] where shapes disagree, no label occurs, or a number is
/// outside its range; [`Error::Memory`] before any problem of a node is solved;
/// [`Error::Cancelled`].
pub fn train(
    x: CsrView<'_>,
    label_rows: PatternView<'_>,
    sample_weight: Option<&[f64]>,
    tree: LabelTree,
    root_rows: RootRows,
    recipe: &Recipe,
    settings: &Settings,
    control: &Control,
) -> Result<Trained> {
    check_labels(x.n_rows(), label_rows, &tree)?;
    let job = Job {
        x,
        sample_weight,
        tree: &tree,
        label_rows,
        rows: node_rows(&tree, label_rows),
        root_rows,
        recipe,
        settings,
        control,
    };
    let nodes = job.run()?;
    control.check()?;
    let mut classifiers = Vec::with_capacity(nodes.len());
    let mut records = Vec::with_capacity(tree.n_problems());
    for node in nodes {
        classifiers.push(node.classifiers);
        records.extend(node.records);
    }
    Ok(Trained {
        tree: TrainedTree::new(tree, classifiers)?,
        records,
    })
}

struct Job<'a> {
    x: CsrView<'a>,
    sample_weight: Option<&'a [f64]>,
    tree: &'a LabelTree,
    label_rows: PatternView<'a>,
    rows: Vec<Vec<u32>>,
    root_rows: RootRows,
    recipe: &'a Recipe,
    settings: &'a Settings,
    control: &'a Control,
}

impl Job<'_> {
    /// Solve all nodes, the large ones one by one, then the rest side by side.
    fn run(&self) -> Result<Vec<SolvedNode>> {
        let work: Vec<f64> = (0..self.tree.n_nodes()).map(|v| self.work(v)).collect();
        let total = work.iter().fold(0.0, |a, b| a + b);
        let large = total / (SHARES * rayon::current_num_threads() as f64);
        let mut order: Vec<usize> = (0..work.len()).collect();
        order.sort_by(|&a, &b| work[b].total_cmp(&work[a]).then(a.cmp(&b)));
        let n_large = order.partition_point(|&v| work[v] > large);
        let mut solved: Vec<Option<SolvedNode>> = (0..work.len()).map(|_| None).collect();
        let mut extractor = None;
        for &v in &order[..n_large] {
            self.control.check()?;
            solved[v] = Some(self.solve(v, self.children(v), &mut extractor, Hands::All)?);
        }
        drop(extractor);
        let next = AtomicUsize::new(n_large);
        let finished = Mutex::new(&mut solved);
        let results: Vec<Result<()>> = rayon::broadcast(|_| {
            let mut extractor = None;
            while let Some(&v) = order.get(next.fetch_add(1, Ordering::Relaxed)) {
                self.control.check()?;
                let node = self.solve(v, self.children(v), &mut extractor, Hands::One)?;
                // A poisoned lock means that another worker panicked: so do we.
                finished.lock().expect("no worker panicked")[v] = Some(node);
            }
            Ok(())
        });
        results.into_iter().collect::<Result<()>>()?;
        Ok(solved.into_iter().flatten().collect())
    }

    /// Whether the node's matrix is that of the data as it stands.
    fn is_whole(&self, node: usize) -> bool {
        node == 0 && self.root_rows == RootRows::All
    }

    /// Stored values times problems: what a node's sweeps cost.
    fn work(&self, node: usize) -> f64 {
        let nnz = if self.is_whole(node) {
            self.x.nnz()
        } else {
            let indptr = self.x.pattern().indptr();
            let rows = self.rows[node].iter();
            rows.map(|&i| (indptr[i as usize + 1] - indptr[i as usize]) as usize)
                .sum()
        };
        nnz as f64 * self.tree.children(node).len() as f64
    }

    fn child_rows(&self, child: Child) -> &[u32] {
        match child {
            Child::Node(id) => &self.rows[id as usize],
            Child::Label(label) => self.label_rows.row(label as usize),
        }
    }

    /// The positives of a node's children.
    fn children(&self, node: usize) -> impl ExactSizeIterator<Item = &[u32]> {
        self.tree.children(node).map(|c| self.child_rows(c))
    }

    /// Solve a node's problems with these positives; the first that needs an
    /// extractor makes it.
    fn solve<'a>(
        &self,
        node: usize,
        children: impl Iterator<Item = &'a [u32]>,
        extractor: &mut Option<Extractor>,
        hands: Hands,
    ) -> Result<SolvedNode> {
        if self.is_whole(node) {
            let mut positives = Pattern {
                n_cols: self.x.n_rows(),
                indptr: vec![0],
                indices: Vec::new(),
            };
            for rows in children {
                positives.indices.extend_from_slice(rows);
                positives.indptr.push(positives.indices.len() as u64);
            }
            let design = Design::new(self.x, self.sample_weight, self.control)?;
            return self.solve_over(node, &design, None, positives.view(), hands);
        }
        let extractor = match extractor {
            Some(extractor) => extractor,
            None => extractor.insert(Extractor::new(self.x.n_rows(), self.x.n_cols())?),
        };
        let NodeData {
            x,
            feature_ids,
            positives,
            sample_weight,
        } = extractor.extract(self.x, self.sample_weight, &self.rows[node], children);
        let design = Design::new(x.view(), sample_weight.as_deref(), self.control)?;
        self.solve_over(node, &design, Some(&feature_ids), positives.view(), hands)
    }

    fn solve_over(
        &self,
        node: usize,
        design: &Design<'_>,
        feature_ids: Option<&[u32]>,
        positives: PatternView<'_>,
        hands: Hands,
    ) -> Result<SolvedNode> {
        let settings = Settings {
            method: self.settings.method.for_unit(node as u64),
            ..*self.settings
        };
        solve_node(
            design,
            feature_ids,
            positives,
            self.recipe,
            &settings,
            hands,
            self.control,
        )
    }
}

pub(crate) fn check_labels(
    n_samples: usize,
    label_rows: PatternView<'_>,
    tree: &LabelTree,
) -> Result<()> {
    let n_labels = label_rows.n_rows();
    if tree.n_labels() != n_labels {
        return Err(Error::data(format!(
            "the tree has {} labels, Y has {n_labels}",
            tree.n_labels()
        )));
    }
    if label_rows.n_cols() != n_samples {
        return Err(Error::data(format!(
            "X has {n_samples} rows, Y has {}",
            label_rows.n_cols()
        )));
    }
    if label_rows.nnz() == 0 {
        return Err(Error::data(format!(
            "Y of shape ({n_samples}, {n_labels}) has no label at all"
        )));
    }
    Ok(())
}
