//! A few of a tree's problems, to learn what all of them will take.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::problems::Hands;
use super::{Job, Recipe, Record, RootRows, as_stored, check_labels, node_rows};
use crate::Result;
use crate::model::NodeClassifiers;
use crate::parallel::{Control, thread_cpu_seconds};
use crate::solver::Settings;
use crate::sparse::{CsrView, PatternView};
use crate::tree::LabelTree;

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
/// `chosen` holds nodes with the positions of the children to train, at least one
/// each. Each node is one thread's, so that only times depend on the number of
/// threads.
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
    chosen: &[(usize, Vec<usize>)],
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
    let mut order: Vec<usize> = (0..chosen.len()).collect();
    order.sort_by(|&a, &b| {
        let work = |at: usize| job.work(chosen[at].0);
        work(b).total_cmp(&work(a)).then(a.cmp(&b))
    });
    let next = AtomicUsize::new(0);
    let parts: Vec<Result<Vec<(usize, SampledNode)>>> = rayon::broadcast(|_| {
        let mut extractor = None;
        let mut part = Vec::new();
        while let Some(&at) = order.get(next.fetch_add(1, Ordering::Relaxed)) {
            control.check()?;
            let (node, positions) = &chosen[at];
            let children: Vec<&[u32]> = job.children(*node).collect();
            let start = thread_cpu_seconds();
            let solved = job.solve(
                *node,
                positions.iter().map(|&p| children[p]),
                &mut extractor,
                Hands::One,
            )?;
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
    let mut nodes: Vec<Option<SampledNode>> = chosen.iter().map(|_| None).collect();
    for part in parts {
        for (at, node) in part? {
            nodes[at] = Some(node);
        }
    }
    Ok(nodes.into_iter().flatten().collect())
}
