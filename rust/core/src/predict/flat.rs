//! Depth one: an inverted index from features to labels, exhaustive.
//!
//! A row's features touch few labels; all others score exactly their
//! intercepts, which are ranked once. Touched labels are known by blocks of
//! [`BLOCK`]: a mark costs one store a weight, and a block is swept at once.

use std::result::Result as StdResult;

use super::margins::{NodeIndex, Row, finish, for_each_run};
use super::node::{Node, Runs};
use super::top_k::{Candidate, TopK};
use crate::Result;
use crate::tree::{Child, LabelTree};

const BLOCK: usize = 64;

/// What depth-one prediction looks up, by position under the root.
#[derive(Debug)]
pub(super) struct FlatIndex {
    /// Label of each position.
    labels: Vec<u32>,
    /// Whether the label may be among a row's best.
    trained: Vec<bool>,
    /// Margin of each position that no feature touches.
    untouched: Vec<f32>,
    /// Trained positions, best `untouched` first, then smaller label.
    ranking: Vec<u32>,
    /// Intercepts, rounded up, to bound margins; whole blocks of them.
    ceilings: Vec<f32>,
}

/// One thread's accumulators, zero between rows.
#[derive(Debug)]
pub(super) struct FlatWorkspace {
    sums: Vec<f32>,
    touched: Vec<bool>,
    /// Upper bounds of the touched blocks' margins, while a row is ranked.
    bounds: Vec<(f32, u32)>,
}

impl FlatWorkspace {
    pub(super) fn new(n_labels: usize) -> Self {
        let n_blocks = n_labels.div_ceil(BLOCK);
        Self {
            sums: vec![0.0; n_blocks * BLOCK],
            touched: vec![false; n_blocks],
            bounds: Vec::new(),
        }
    }
}

impl FlatIndex {
    /// The index of a tree with these intercepts. Cost: a sort of them.
    pub(super) fn new(tree: &LabelTree, intercepts: &[f64], untrained: &[u32]) -> Self {
        let labels: Vec<u32> = tree
            .children(0)
            .filter_map(|child| match child {
                Child::Label(id) => Some(id),
                Child::Node(_) => None,
            })
            .collect();
        let trained: Vec<bool> = labels
            .iter()
            .map(|l| untrained.binary_search(l).is_err())
            .collect();
        let untouched: Vec<f32> = intercepts.iter().map(|&b| finish(0.0, b)).collect();
        let mut ranking: Vec<u32> = (0..labels.len() as u32)
            .filter(|&p| trained[p as usize])
            .collect();
        ranking.sort_unstable_by(|&p, &q| {
            let (p, q) = (p as usize, q as usize);
            untouched[q]
                .total_cmp(&untouched[p])
                .then_with(|| labels[p].cmp(&labels[q]))
        });
        let mut ceilings: Vec<f32> = intercepts.iter().map(|&b| ceiling(b)).collect();
        ceilings.resize(labels.len().div_ceil(BLOCK) * BLOCK, f32::NEG_INFINITY);
        Self {
            labels,
            trained,
            untouched,
            ranking,
            ceilings,
        }
    }

    /// Positions of the labels in the mask that are trained.
    pub(super) fn positions(&self, allowed: &[bool]) -> Vec<u32> {
        (0..self.labels.len() as u32)
            .filter(|&p| self.trained[p as usize] && allowed[self.labels[p as usize] as usize])
            .collect()
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
        node: &Node<'_>,
        row: &Row,
        allowed: Option<&[u32]>,
        ws: &mut FlatWorkspace,
        best: &mut TopK,
    ) -> Result<()> {
        accumulate(node, row, ws)?;
        let intercepts = node.intercepts()?;
        if let Some(positions) = allowed {
            for &p in positions {
                let p = p as usize;
                best.offer(self.candidate(p, finish(ws.sums[p], intercepts[p])));
            }
            clear(ws);
            return Ok(());
        }
        ws.bounds.clear();
        for block in 0..ws.touched.len() {
            if ws.touched[block] {
                ws.bounds.push((self.bound(&ws.sums, block), block as u32));
            }
        }
        // The most promising block first: it lets most others be passed over.
        let order = |a: &&(f32, u32), b: &&(f32, u32)| a.0.total_cmp(&b.0);
        let first = ws.bounds.iter().max_by(order).map(|&(_, block)| block);
        let others = ws.bounds.iter().filter(|&&(_, block)| Some(block) != first);
        let most = (f32::INFINITY, first.unwrap_or(0));
        for &(bound, block) in first.map(|_| &most).into_iter().chain(others) {
            if bound >= best.floor() {
                let start = block as usize * BLOCK;
                self.each_margin(intercepts, start, &ws.sums, |p, z| {
                    if z >= best.floor() {
                        best.offer(self.candidate(p, z));
                    }
                });
            }
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
        clear(ws);
        Ok(())
    }

    /// Append the labels of the row whose margin passes `above`, a condition
    /// that never fails for a greater margin, in no order.
    pub(super) fn above(
        &self,
        node: &Node<'_>,
        row: &Row,
        above: impl Fn(f32) -> bool,
        ws: &mut FlatWorkspace,
        labels: &mut Vec<u32>,
    ) -> Result<()> {
        accumulate(node, row, ws)?;
        let intercepts = node.intercepts()?;
        for &p in &self.ranking {
            let p = p as usize;
            if !above(self.untouched[p]) {
                break;
            }
            if !ws.touched[p / BLOCK] {
                labels.push(self.labels[p]);
            }
        }
        for block in 0..ws.touched.len() {
            if ws.touched[block] && above(self.bound(&ws.sums, block)) {
                self.each_margin(intercepts, block * BLOCK, &ws.sums, |p, z| {
                    if above(z) {
                        labels.push(self.labels[p]);
                    }
                });
            }
        }
        clear(ws);
        Ok(())
    }

    /// No margin of the block is greater.
    fn bound(&self, sums: &[f32], block: usize) -> f32 {
        let block = block * BLOCK..(block + 1) * BLOCK;
        let parts = sums[block.clone()].chunks_exact(8);
        // Lanes of their own, so that several are compared at once. What is no
        // number passes none: its margin is the least there is.
        let mut lanes = [f32::MIN; 8];
        for (sums, ceilings) in parts.zip(self.ceilings[block].chunks_exact(8)) {
            for ((lane, sum), ceiling) in lanes.iter_mut().zip(sums).zip(ceilings) {
                let z = sum + ceiling;
                *lane = if z > *lane { z } else { *lane };
            }
        }
        // A margin is rounded twice, to f64 and to f32: one step more at most.
        lanes.iter().fold(f32::MIN, |a, &b| a.max(b)).next_up()
    }

    /// Call `each(position, margin)` for the trained labels of the block that
    /// begins at `start`.
    fn each_margin(
        &self,
        intercepts: &[f64],
        start: usize,
        sums: &[f32],
        mut each: impl FnMut(usize, f32),
    ) {
        let block = start..intercepts.len().min(start + BLOCK);
        let intercepts = &intercepts[block.clone()];
        let trained = &self.trained[block.clone()];
        let parts = sums[block].iter().zip(intercepts).zip(trained);
        for (i, ((&sum, &b), &trained)) in parts.enumerate() {
            if trained {
                each(start + i, finish(sum, b));
            }
        }
    }

    /// The margins of all labels, untrained ones included.
    pub(super) fn decision(
        &self,
        node: &Node<'_>,
        row: &Row,
        ws: &mut FlatWorkspace,
        out: &mut [f32],
    ) -> Result<()> {
        accumulate(node, row, ws)?;
        let intercepts = node.intercepts()?;
        for (p, (&label, &b)) in self.labels.iter().zip(intercepts).enumerate() {
            out[label as usize] = finish(ws.sums[p], b);
        }
        clear(ws);
        Ok(())
    }
}

/// Add the row's products to the sums, and mark their blocks.
fn accumulate(node: &Node<'_>, row: &Row, ws: &mut FlatWorkspace) -> Result<()> {
    match node {
        Node::Whole(runs, index) => {
            let Ok(()) = add(runs, index, row, ws);
            Ok(())
        }
        Node::Mapped(runs, index) => add(runs, index, row, ws),
    }
}

fn add<R: Runs>(
    runs: &R,
    index: &NodeIndex,
    row: &Row,
    ws: &mut FlatWorkspace,
) -> StdResult<(), R::Error> {
    for_each_run(runs, index, row, |x, run| {
        for e in run {
            *runs.sum(&mut ws.sums, e.child)? += x * e.weight;
            ws.touched[e.child as usize / BLOCK] = true;
        }
        Ok(())
    })
}

/// Zero the touched blocks.
fn clear(ws: &mut FlatWorkspace) {
    let blocks = ws.sums.chunks_exact_mut(BLOCK).zip(&mut ws.touched);
    for (sums, touched) in blocks {
        if std::mem::take(touched) {
            sums.fill(0.0);
        }
    }
}

/// The least `f32` that is not below `b`.
fn ceiling(b: f64) -> f32 {
    let rounded = b as f32;
    if f64::from(rounded) < b {
        rounded.next_up()
    } else {
        rounded
    }
}
