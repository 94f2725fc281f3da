//! A few of a tree's problems, to learn what all of them will take.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::node::Extractor;
use super::problems::{Hands, SolvedNode};
use super::{Job, Recipe, Record, RootRows, as_stored, check_labels, node_rows};
use crate::Result;
use crate::model::NodeClassifiers;
use crate::parallel::{Control, thread_cpu_seconds};
use crate::solver::Settings;
use crate::sparse::{CsrView, PatternView};
use crate::tree::LabelTree;

/// Which problems to train for a sample.
#[derive(Clone, Copy, Debug)]
pub struct Chosen<'a> {
    /// Nodes with the positions of the children to train, at least one each.
    pub whole: &'a [(usize, Vec<usize>)],
    /// A node and a position: to be trained on few of its rows,
    /// which says how many weights all rows give, for a small part of the time.
    pub thinned: &'a [(usize, usize)],
}

/// The chosen problems of a node, solved.
#[derive(Debug)]
pub struct SampledNode {
    /// A record for each chosen child, in the order asked for.
    pub records: Vec<Record>,
    /// Their classifiers, in the same order.
    pub classifiers: NodeClassifiers,
    /// CPU seconds besides solving: extracting and transposing the node's matrix,
    /// the workspace, putting the weights together.
    pub overhead_s: f64,
}

/// Train chosen problems as [`super::train`] trains them, but for the random numbers
/// of methods that draw some.
///
/// Methods that solve siblings together do so with those that are chosen: blocks of
/// them cost what they cost in training where whole blocks are.
/// Gives the whole nodes, then the thinned problems. Each is one thread's, so that
/// only times depend on the number of threads.
///
/// # Errors
/// As [`super::train`].
///
/// # Panics
/// If a node or a position is not in the tree.
pub fn train_sample(
    x: CsrView<'_>,
    label_rows: PatternView<'_>,
    sample_weight: Option<&[f64]>,
    tree: &LabelTree,
    root_rows: RootRows,
    recipe: &Recipe,
    settings: &Settings,
    chosen: Chosen<'_>,
    control: &Control,
) -> Result<Vec<SampledNode>> {
    check_labels(x.n_rows(), label_rows, tree)?;
    let job = Job {
        x,
        sample_weight,
        tree,
        label_rows,
        rows: node_rows(tree, label_rows),
        root_rows,
        recipe,
        settings: &as_stored(tree, 0, settings),
        control,
    };
    let n_whole = chosen.whole.len();
    let mut order: Vec<usize> = (0..n_whole).collect();
    order.sort_by(|&a, &b| {
        let work = |at: usize| job.work(chosen.whole[at].0);
        work(b).total_cmp(&work(a)).then(a.cmp(&b))
    });
    // The small ones last.
    let n_parts = n_whole + chosen.thinned.len();
    order.extend(n_whole..n_parts);
    let next = AtomicUsize::new(0);
    let parts: Vec<Result<Vec<(usize, SampledNode)>>> = rayon::broadcast(|_| {
        let mut hand = Hand::default();
        let mut part = Vec::new();
        while let Some(&at) = order.get(next.fetch_add(1, Ordering::Relaxed)) {
            control.check()?;
            let start = thread_cpu_seconds();
            let solved = match at.checked_sub(n_whole) {
                None => job.solve_whole(&chosen.whole[at], &mut hand)?,
                Some(at) => job.solve_one_thinned(chosen.thinned[at], &mut hand)?,
            };
            let all = thread_cpu_seconds() - start;
            part.push((
                at,
                SampledNode {
                    records: solved.records,
                    classifiers: solved.classifiers,
                    overhead_s: all - solved.solving_s,
                },
            ));
        }
        Ok(part)
    });
    let mut nodes: Vec<Option<SampledNode>> = (0..n_parts).map(|_| None).collect();
    for part in parts {
        for (at, node) in part? {
            nodes[at] = Some(node);
        }
    }
    Ok(nodes.into_iter().flatten().collect())
}

/// What a thread needs for one node after the other.
#[derive(Default)]
struct Hand {
    extractor: Option<Extractor>,
    /// Weights of all samples, once a problem is thinned.
    weights: Vec<f64>,
}

impl Job<'_> {
    fn solve_whole(
        &self,
        (node, positions): &(usize, Vec<usize>),
        hand: &mut Hand,
    ) -> Result<SolvedNode> {
        let children: Vec<&[u32]> = self.children(*node).collect();
        let chosen = positions.iter().map(|&p| children[p]);
        self.solve(*node, chosen, &mut hand.extractor, Hands::One)
    }

    fn solve_one_thinned(
        &self,
        (node, position): (usize, usize),
        hand: &mut Hand,
    ) -> Result<SolvedNode> {
        if hand.weights.is_empty() {
            hand.weights = match self.sample_weight {
                Some(weights) => weights.to_vec(),
                None => vec![1.0; self.x.n_rows()],
            };
        }
        let extractor = match &mut hand.extractor {
            Some(extractor) => extractor,
            none => none.insert(Extractor::new(self.x.n_rows(), self.x.n_cols())?),
        };
        let children: Vec<&[u32]> = self.children(node).collect();
        self.solve_thinned(node, children[position], extractor, &mut hand.weights)
    }
}
