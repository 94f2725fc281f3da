//! Beam search down a label tree.

use super::margins::{NodeIndex, Row, margins};
use super::top_k::{Candidate, TopK, keep_best};
use crate::model::{LinearTreeModel, Scoring, TrainedTree};
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
    pub(super) trained: &'a TrainedTree,
    pub(super) index: &'a [NodeIndex],
    pub(super) scoring: Scoring,
}

/// One thread's buffers.
#[derive(Debug, Default)]
pub(super) struct BeamWorkspace {
    z: Vec<f32>,
    frontier: Vec<Candidate>,
    next: Vec<Candidate>,
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
        self.worst().is_some_and(|worst| path < worst.score)
    }
}

impl Reach {
    /// `labels[l]` says whether label `l` may be returned.
    pub(super) fn new(model: &LinearTreeModel, labels: Vec<bool>) -> Self {
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
        let nodes = model.trees().iter().map(|t| below(t.tree())).collect();
        Self { labels, nodes }
    }
}

/// Search a tree and hand all labels reached to `sink`.
///
/// Level by level: all children of the `beam_size` best nodes are scored, and
/// among the internal nodes found the best go on, by path score, then margin,
/// then smaller id. A node that `sink` calls hopeless is dropped, which changes
/// no result because a path score never rises on its way down.
pub(super) fn search(
    tree: &Tree<'_>,
    row: &Row<'_>,
    reach: Option<&Reach>,
    beam_size: usize,
    ws: &mut BeamWorkspace,
    sink: &mut impl Sink,
) {
    ws.frontier.clear();
    let root = Candidate {
        score: 0.0,
        z: 0.0,
        id: 0,
    };
    ws.frontier.push(root);
    while !ws.frontier.is_empty() {
        ws.next.clear();
        for parent in &ws.frontier {
            if sink.hopeless(parent.score) {
                continue;
            }
            let node = parent.id as usize;
            margins(
                &tree.trained.nodes()[node],
                &tree.index[node],
                row,
                &mut ws.z,
            );
            for (child, &z) in tree.trained.tree().children(node).zip(&ws.z) {
                let score = parent.score + tree.scoring.step(z);
                match child {
                    Child::Label(id) => {
                        if reach.is_none_or(|r| r.labels[id as usize]) {
                            sink.label(Candidate { score, z, id });
                        }
                    }
                    Child::Node(id) => {
                        if reach.is_none_or(|r| r.nodes[tree.id][id as usize]) {
                            ws.next.push(Candidate { score, z, id });
                        }
                    }
                }
            }
        }
        keep_best(&mut ws.next, beam_size);
        std::mem::swap(&mut ws.frontier, &mut ws.next);
    }
}
