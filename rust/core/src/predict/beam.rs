//! Beam search down a label tree.

use super::margins::Row;
use super::node::{TreeIndex, node_margins};
use super::top_k::{Candidate, TopK};
use crate::Result;
use crate::model::{Scoring, StoredModel};
use crate::tree::{Child, LabelTree};

/// What lies below each node that may still be returned.
#[derive(Debug)]
pub(super) struct Reach {
    labels: Vec<bool>,
    /// By tree, then node: whether any label below it is.
    nodes: Vec<Vec<bool>>,
}

/// A tree to search.
#[derive(Debug)]
pub(super) struct Tree<'a> {
    pub(super) id: usize,
    pub(super) model: &'a StoredModel,
    pub(super) index: &'a [TreeIndex],
    pub(super) scoring: Scoring,
}

/// One thread's buffers.
#[derive(Debug, Default)]
pub(super) struct BeamWorkspace {
    z: Vec<f32>,
    scores: Vec<f32>,
    frontier: Vec<Candidate>,
    next: TopK,
}

/// Who takes the labels that a search reaches.
pub(super) trait Sink {
    /// A label with its path score and leaf margin.
    fn label(&mut self, candidate: Candidate);

    /// Whether no label with this path score or a lower one is of use.
    fn hopeless(&self, path: f32) -> bool;
}

impl Sink for TopK {
    #[inline]
    fn label(&mut self, candidate: Candidate) {
        self.offer(candidate);
    }

    /// An equal path score may still win by its margin.
    #[inline]
    fn hopeless(&self, path: f32) -> bool {
        path < self.floor()
    }
}

impl Reach {
    /// `labels[l]` says whether label `l` may be returned.
    pub(super) fn new(model: &StoredModel, labels: Vec<bool>) -> Self {
        let below = |tree: &LabelTree| {
            let mut nodes = vec![false; tree.n_nodes()];
            // Children have greater ids than their parents.
            for node in (0..tree.n_nodes()).rev() {
                nodes[node] = tree.children(node).any(|child| match child {
                    Child::Node(id) => nodes[id as usize],
                    Child::Label(id) => labels[id as usize],
                });
            }
            nodes
        };
        let nodes = (0..model.n_trees()).map(|t| below(model.tree(t))).collect();
        Self { labels, nodes }
    }
}

/// Search a tree and hand the labels reached to `sink`.
///
/// Level by level: all children of the `beam_size` best nodes are scored, and
/// among the internal nodes found the best go on, by path score, then margin,
/// then smaller id. A node that `sink` calls hopeless is dropped, which changes
/// no result because a path score never rises on its way down; the best node
/// comes first, so that the others are soon hopeless.
///
/// # Errors
/// [`crate::Error::Format`] where the file of a mapped model is damaged.
pub(super) fn search(
    tree: &Tree<'_>,
    row: &Row,
    reach: Option<&Reach>,
    beam_size: usize,
    ws: &mut BeamWorkspace,
    sink: &mut impl Sink,
) -> Result<()> {
    let label_tree = tree.model.tree(tree.id);
    ws.frontier.clear();
    ws.frontier.push(Candidate {
        score: 0.0,
        z: 0.0,
        id: 0,
    });
    while !ws.frontier.is_empty() {
        ws.next.restart(beam_size);
        for parent in &ws.frontier {
            if sink.hopeless(parent.score) {
                break;
            }
            let id = parent.id as usize;
            node_margins(tree.model, tree.index, tree.id, id, row, &mut ws.z)?;
            tree.scoring.paths(parent.score, &ws.z, &mut ws.scores);
            let scored = ws.z.iter().zip(&ws.scores);
            for (child, (&z, &score)) in label_tree.children(id).zip(scored) {
                match child {
                    Child::Label(id) => {
                        if reach.is_none_or(|r| r.labels[id as usize]) {
                            sink.label(Candidate { score, z, id });
                        }
                    }
                    Child::Node(id) => {
                        if score >= ws.next.floor()
                            && reach.is_none_or(|r| r.nodes[tree.id][id as usize])
                        {
                            ws.next.offer(Candidate { score, z, id });
                        }
                    }
                }
            }
        }
        ws.frontier.clear();
        let frontier = &mut ws.frontier;
        ws.next.drain_sorted(|candidate| frontier.push(candidate));
    }
    Ok(())
}
