//! Depth one: an inverted index from features to labels, exhaustive.
//!
//! A row's features touch few labels; all others score exactly their
//! intercepts, which are ranked once. Touched labels are known by blocks of
//! [`BLOCK`]: a mark costs one store a weight, and a block is swept at once.

use super::margins::{NodeIndex, Row, finish, for_each_run};
use super::top_k::{Candidate, TopK};
use crate::model::{LinearTreeModel, NodeClassifiers};
use crate::tree::{Child, LabelTree};

const BLOCK: usize = 64;

/// What depth-one prediction looks up, by position under the root.
#[derive(Debug)]
pub(super) struct FlatIndex {
    node: NodeIndex,
    /// Label of each position.
    labels: Vec<u32>,
    /// Whether the label may be among a row's best.
    trained: Vec<bool>,
    /// Margin of each position that no feature touches.
    untouched: Vec<f32>,
    /// Trained positions, best `untouched` first, then smaller label.
    ranking: Vec<u32>,
}

/// One thread's accumulators, zero between rows.
#[derive(Debug)]
pub(super) struct FlatWorkspace {
    sums: Vec<f32>,
    touched: Vec<bool>,
}

impl FlatWorkspace {
    pub(super) fn new(n_labels: usize) -> Self {
        let n_blocks = n_labels.div_ceil(BLOCK);
        Self {
            sums: vec![0.0; n_blocks * BLOCK],
            touched: vec![false; n_blocks],
        }
    }
}

impl FlatIndex {
    pub(super) fn new(model: &LinearTreeModel, node: &NodeClassifiers, tree: &LabelTree) -> Self {
        let labels: Vec<u32> = tree
            .children(0)
            .filter_map(|child| match child {
                Child::Label(id) => Some(id),
                Child::Node(_) => None,
            })
            .collect();
        let trained: Vec<bool> = labels
            .iter()
            .map(|l| model.untrained().binary_search(l).is_err())
            .collect();
        let untouched: Vec<f32> = node.intercepts().iter().map(|&b| finish(0.0, b)).collect();
        let mut ranking: Vec<u32> = (0..labels.len() as u32)
            .filter(|&p| trained[p as usize])
            .collect();
        ranking.sort_unstable_by(|&p, &q| {
            let (p, q) = (p as usize, q as usize);
            untouched[q]
                .total_cmp(&untouched[p])
                .then_with(|| labels[p].cmp(&labels[q]))
        });
        Self {
            node: NodeIndex::new(node, model.n_features()),
            labels,
            trained,
            untouched,
            ranking,
        }
    }

    /// The root's look-up.
    pub(super) fn root(&self) -> &NodeIndex {
        &self.node
    }

    /// Positions of the labels in the mask that are trained.
    pub(super) fn positions(&self, allowed: &[bool]) -> Vec<u32> {
        (0..self.labels.len() as u32)
            .filter(|&p| self.trained[p as usize] && allowed[self.labels[p as usize] as usize])
            .collect()
    }

    fn accumulate(&self, node: &NodeClassifiers, row: &Row, ws: &mut FlatWorkspace) {
        for_each_run(node, &self.node, row, |x, run| {
            for e in run {
                let child = e.child as usize;
                ws.sums[child] += x * e.weight;
                ws.touched[child / BLOCK] = true;
            }
        });
    }

    fn candidate(&self, position: usize, z: f32) -> Candidate {
        Candidate {
            score: z,
            z,
            id: self.labels[position],
        }
    }

    /// Offer the row's best labels, by margin, to `best`.
    pub(super) fn top_k(
        &self,
        node: &NodeClassifiers,
        row: &Row,
        allowed: Option<&[u32]>,
        ws: &mut FlatWorkspace,
        best: &mut TopK,
    ) {
        self.accumulate(node, row, ws);
        if let Some(positions) = allowed {
            for &p in positions {
                let p = p as usize;
                best.offer(self.candidate(p, finish(ws.sums[p], node.intercepts()[p])));
            }
            clear(ws, |_, _| {});
            return;
        }
        for &p in &self.ranking {
            let p = p as usize;
            let candidate = self.candidate(p, self.untouched[p]);
            if best.worst().is_some_and(|worst| *worst < candidate) {
                break;
            }
            if !ws.touched[p / BLOCK] {
                best.offer(candidate);
            }
        }
        clear(ws, |start, sums| {
            let floor = best.worst().map_or(f32::NEG_INFINITY, |worst| worst.score);
            each_margin(node, start, sums, floor, |p, z| {
                if self.trained[p] {
                    best.offer(self.candidate(p, z));
                }
            });
        });
    }

    /// Append the labels of the row whose margin passes `above`, a condition
    /// that never fails for a greater margin, in no order.
    pub(super) fn above(
        &self,
        node: &NodeClassifiers,
        row: &Row,
        above: impl Fn(f32) -> bool,
        ws: &mut FlatWorkspace,
        labels: &mut Vec<u32>,
    ) {
        self.accumulate(node, row, ws);
        for &p in &self.ranking {
            let p = p as usize;
            if !above(self.untouched[p]) {
                break;
            }
            if !ws.touched[p / BLOCK] {
                labels.push(self.labels[p]);
            }
        }
        clear(ws, |start, sums| {
            each_margin(node, start, sums, f32::NEG_INFINITY, |p, z| {
                if self.trained[p] && above(z) {
                    labels.push(self.labels[p]);
                }
            });
        });
    }

    /// The margins of all labels, untrained ones included.
    pub(super) fn decision(
        &self,
        node: &NodeClassifiers,
        row: &Row,
        ws: &mut FlatWorkspace,
        out: &mut [f32],
    ) {
        self.accumulate(node, row, ws);
        for (p, (&label, &b)) in self.labels.iter().zip(node.intercepts()).enumerate() {
            out[label as usize] = finish(ws.sums[p], b);
        }
        clear(ws, |_, _| {});
    }
}

/// Hand each touched block's start and sums to `each`, then zero it.
fn clear(ws: &mut FlatWorkspace, mut each: impl FnMut(usize, &[f32])) {
    let blocks = ws.sums.chunks_exact_mut(BLOCK).zip(&mut ws.touched);
    for (block, (sums, touched)) in blocks.enumerate() {
        if std::mem::take(touched) {
            each(block * BLOCK, sums);
            sums.fill(0.0);
        }
    }
}

/// Call `each(position, margin)` for margins of a block not below `floor`.
fn each_margin(
    node: &NodeClassifiers,
    start: usize,
    sums: &[f32],
    floor: f32,
    mut each: impl FnMut(usize, f32),
) {
    let intercepts = &node.intercepts()[start..node.n_children().min(start + BLOCK)];
    let mut margins = [f32::MIN; BLOCK];
    for ((z, &sum), &b) in margins.iter_mut().zip(sums).zip(intercepts) {
        *z = finish(sum, b);
    }
    let largest = margins.iter().fold(f32::MIN, |a, &z| a.max(z));
    if largest >= floor {
        for (i, &z) in margins[..intercepts.len()].iter().enumerate() {
            if z >= floor {
                each(start + i, z);
            }
        }
    }
}
