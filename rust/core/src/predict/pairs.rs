//! Scores of chosen (row, label) pairs, along the one path to each label.

use super::blocks;
use super::margins::Row;
use super::node::node_margins;
use super::predictor::Predictor;
use crate::parallel::Control;
use crate::sparse::CsrView;
use crate::tree::{Child, LabelTree};
use crate::{Error, Result};

/// The way up: parent node and position there, of nodes and of labels.
struct Ancestry {
    nodes: Vec<(u32, u32)>,
    labels: Vec<(u32, u32)>,
}

/// Margins of the nodes evaluated for the current row.
struct Memo {
    /// By tree and node, empty where not evaluated.
    margins: Vec<Vec<Vec<f32>>>,
    evaluated: Vec<(usize, u32)>,
}

impl Predictor {
    /// The scores of pairs `(rows[i], labels[i])`, whatever a beam would reach.
    ///
    /// A label without positives scores like any other. Cost: the nodes on the
    /// paths, each once a row.
    ///
    /// # Errors
    /// [`Error::Data`] where the arrays' lengths differ, a row or a label is out
    /// of range, or the number of features is wrong; [`Error::Format`] where the
    /// file of a mapped model is damaged; [`Error::Cancelled`].
    pub fn score_pairs(
        &self,
        x: CsrView<'_>,
        rows: &[u32],
        labels: &[u32],
        control: &Control,
    ) -> Result<Vec<f32>> {
        self.check(x, 1)?;
        if rows.len() != labels.len() {
            return Err(Error::data(format!(
                "{} rows for {} labels",
                rows.len(),
                labels.len()
            )));
        }
        let bounded = |ids: &[u32], name: &str, end: usize| match ids
            .iter()
            .find(|&&id| id as usize >= end)
        {
            Some(id) => Err(Error::data(format!("{name} {id} is outside [0, {end})"))),
            None => Ok(()),
        };
        bounded(rows, "row", x.n_rows())?;
        bounded(labels, "label", self.model.n_labels())?;
        let trees = || (0..self.model.n_trees()).map(|t| self.model.tree(t));
        let ancestries: Vec<_> = trees().map(Ancestry::new).collect();

        let mut order: Vec<usize> = (0..rows.len()).collect();
        order.sort_by_key(|&i| rows[i]);
        let mut sorted = vec![0.0f32; rows.len()];
        let mut rest = sorted.as_mut_slice();
        let groups = order.chunk_by(|&a, &b| rows[a] == rows[b]).map(|pairs| {
            let (scores, tail) = std::mem::take(&mut rest).split_at_mut(pairs.len());
            rest = tail;
            (pairs, scores)
        });
        let hashed = self.hashed()?;
        let workspace = || (Row::new(hashed), Memo::new(trees()));
        let work = |(row, memo): &mut (Row, Memo), (pairs, scores): (&[usize], &mut [f32])| {
            control.check()?;
            row.load(x, rows[pairs[0]] as usize, self.model.normalize());
            for (&pair, score) in pairs.iter().zip(scores) {
                *score = self.pair(row, memo, &ancestries, labels[pair])?;
            }
            memo.clear();
            Ok(())
        };
        blocks::run(groups, workspace, work, drop)?;
        let mut out = vec![0.0; rows.len()];
        for (&pair, score) in order.iter().zip(sorted) {
            out[pair] = score;
        }
        Ok(out)
    }

    fn pair(&self, row: &Row, memo: &mut Memo, ancestries: &[Ancestry], label: u32) -> Result<f32> {
        let scoring = self.model.scoring();
        let mut sum = 0.0;
        let mut way = Vec::new();
        for (t, ancestry) in ancestries.iter().enumerate() {
            let mut at = ancestry.labels[label as usize];
            way.clear();
            way.push(at);
            while at.0 != 0 {
                at = ancestry.nodes[at.0 as usize];
                way.push(at);
            }
            // Added from the root down, as the beam does.
            let mut path = 0.0;
            for &(id, position) in way.iter().rev() {
                let z = memo.margins(t, id, |z| {
                    node_margins(&self.model, &self.index, t, id as usize, row, z)
                })?;
                path += scoring.step(z[position as usize]);
            }
            sum += scoring.score(path);
        }
        Ok(sum / ancestries.len() as f32)
    }
}

impl Ancestry {
    fn new(tree: &LabelTree) -> Self {
        let mut nodes = vec![(0, 0); tree.n_nodes()];
        let mut labels = vec![(0, 0); tree.n_labels()];
        for node in 0..tree.n_nodes() {
            for (position, child) in tree.children(node).enumerate() {
                let above = (node as u32, position as u32);
                match child {
                    Child::Node(id) => nodes[id as usize] = above,
                    Child::Label(id) => labels[id as usize] = above,
                }
            }
        }
        Self { nodes, labels }
    }
}

impl Memo {
    fn new<'a>(trees: impl Iterator<Item = &'a LabelTree>) -> Self {
        Self {
            margins: trees.map(|t| vec![Vec::new(); t.n_nodes()]).collect(),
            evaluated: Vec::new(),
        }
    }

    fn margins(
        &mut self,
        t: usize,
        id: u32,
        evaluate: impl FnOnce(&mut Vec<f32>) -> Result<()>,
    ) -> Result<&[f32]> {
        let z = &mut self.margins[t][id as usize];
        if z.is_empty() {
            evaluate(z)?;
            self.evaluated.push((t, id));
        }
        Ok(z)
    }

    fn clear(&mut self) {
        for (t, node) in self.evaluated.drain(..) {
            self.margins[t][node as usize].clear();
        }
    }
}
