//! The kernel: margins of a node's children for one row.

use std::result::Result as StdResult;

use super::hashing::SlotTable;
use super::node::Runs;
use crate::model::{Entry, NodeClassifiers};
use crate::sparse::{CsrView, append_normalized};

/// Nodes of at most this many features have no table: going through them is
/// about as fast.
const SCANNED: usize = 32;

/// Go through all features of a node while it has at most this many times the
/// row's: a step of it meets fewer cache misses than a look-up in the node.
const SCAN_FACTOR: usize = 2;

/// How the run of a feature is found in a node.
#[derive(Debug)]
pub(super) enum NodeIndex {
    /// Where the run of every feature starts: `n_features + 1` offsets, kept
    /// where they take no more room than the weights.
    Direct(Vec<u32>),
    /// The same offsets are in the model's file.
    Stored,
    /// A hash table of the node's features.
    Table(SlotTable),
    /// None: the node is gone through, or searched.
    None,
}

/// One row, scaled if the model says so, in the forms that nodes ask for.
#[derive(Debug, Default)]
pub(super) struct Row {
    indices: Vec<u32>,
    values: Vec<f32>,
    /// The row's own table, asked by nodes that are gone through.
    table: SlotTable,
    /// Whether nodes without direct offsets are ever asked.
    hashed: bool,
}

impl NodeIndex {
    pub(super) fn new(node: &NodeClassifiers, n_features: usize) -> Self {
        match node.direct_offsets(n_features) {
            Some(starts) => Self::Direct(starts),
            None => Self::of_features(node.features()),
        }
    }

    /// The look-up of some sorted features.
    pub(super) fn of_features(features: &[u32]) -> Self {
        let mut table = SlotTable::default();
        if features.len() > SCANNED && table.fill(features) {
            Self::Table(table)
        } else {
            Self::None
        }
    }

    pub(super) fn is_direct(&self) -> bool {
        matches!(self, Self::Direct(_) | Self::Stored)
    }
}

impl Row {
    /// An empty row; `hashed` where not all nodes have direct offsets.
    pub(super) fn new(hashed: bool) -> Self {
        Self {
            hashed,
            ..Self::default()
        }
    }

    /// Load row `i` of `x` in place of the last one. Cost: linear in its values.
    pub(super) fn load(&mut self, x: CsrView<'_>, i: usize, normalize: bool) {
        let (indices, values) = x.row(i);
        self.indices.clear();
        self.indices.extend_from_slice(indices);
        self.values.clear();
        if normalize {
            append_normalized(values, &mut self.values);
        } else {
            self.values.extend_from_slice(values);
        }
        if self.hashed {
            self.table.fill(indices);
        }
    }

    fn pairs(&self) -> impl Iterator<Item = (u32, f32)> {
        self.indices
            .iter()
            .copied()
            .zip(self.values.iter().copied())
    }
}

/// Call `each(x_j, run of j)` for the features that row and node share, in
/// ascending order, whichever way they are found, until it fails.
///
/// # Errors
/// Those of `runs` and of `each`.
#[inline]
pub(super) fn for_each_run<R: Runs>(
    runs: &R,
    index: &NodeIndex,
    row: &Row,
    mut each: impl FnMut(f32, &[Entry]) -> StdResult<(), R::Error>,
) -> StdResult<(), R::Error> {
    if index.is_direct() {
        for (j, x) in row.pairs() {
            each(x, runs.run(j as usize)?)?;
        }
        return Ok(());
    }
    let features = runs.features()?;
    let few = features.len() <= SCAN_FACTOR * row.indices.len();
    match index {
        NodeIndex::Table(table) if !few => table.each_found(&row.indices, features, |i, at| {
            each(row.values[i], runs.run(at)?)
        }),
        _ if row.table.is_filled() && (few || features.len() <= SCANNED) => {
            let table = &row.table;
            table.each_found(features, &row.indices, |at, i| {
                each(row.values[i], runs.run(at)?)
            })
        }
        _ => {
            let mut from = 0;
            for (j, x) in row.pairs() {
                from += features[from..].partition_point(|&f| f < j);
                match features.get(from) {
                    Some(&f) if f == j => each(x, runs.run(from)?)?,
                    Some(_) => {}
                    None => break,
                }
            }
            Ok(())
        }
    }
}

/// The margin from its sparse part and the intercept: never NaN nor infinite.
#[inline]
#[expect(
    clippy::manual_clamp,
    reason = "clamp keeps a NaN of overflowing sums; max turns it into the worst margin"
)]
pub(super) fn finish(sum: f32, intercept: f64) -> f32 {
    ((f64::from(sum) + intercept) as f32)
        .max(f32::MIN)
        .min(f32::MAX)
}

/// All margins of a node's children into `z`, which is resized.
///
/// # Errors
/// Those of `runs`.
pub(super) fn margins<R: Runs>(
    runs: &R,
    index: &NodeIndex,
    row: &Row,
    z: &mut Vec<f32>,
) -> StdResult<(), R::Error> {
    let intercepts = runs.intercepts()?;
    z.clear();
    z.resize(intercepts.len(), 0.0);
    for_each_run(runs, index, row, |x, run| {
        for e in run {
            *runs.sum(z, e.child)? += x * e.weight;
        }
        Ok(())
    })?;
    for (z, &b) in z.iter_mut().zip(intercepts) {
        *z = finish(*z, b);
    }
    Ok(())
}

#[cfg(test)]
#[allow(clippy::float_cmp)]
mod tests {
    use super::super::node::WholeNode;
    use super::*;
    use crate::model::ChildWeights;

    fn node() -> NodeClassifiers {
        let child = |indices, values, intercept| ChildWeights {
            indices,
            values,
            intercept,
        };
        NodeClassifiers::from_problems([
            child(&[1, 4], &[0.5f32, -1.0], 0.25),
            child(&[4, 7], &[2.0, 3.0], -1.0),
        ])
        .unwrap()
    }

    #[test]
    fn every_way_finds_the_same() {
        let node = node();
        let data = [1.0, 1.0, 4.0, 0.5, 4.0];
        let x = CsrView::new(3, 8, &[0, 4, 4, 5], &[0, 1, 4, 7, 4], &data).unwrap();
        let direct = NodeIndex::new(&node, 8);
        assert!(matches!(&direct, NodeIndex::Direct(starts)
            if starts[..] == [0, 0, 1, 1, 1, 3, 3, 3, 4]));
        let none = NodeIndex::new(&node, 9);
        assert!(
            matches!(none, NodeIndex::None),
            "9 offsets take more room than 4 weights, 3 features need no table"
        );
        let mut table = SlotTable::default();
        assert!(table.fill(node.features()));
        let table = NodeIndex::Table(table);
        let mut z = Vec::new();
        for (index, hashed) in [
            (&direct, false),
            (&table, true),
            (&none, true),
            (&none, false),
        ] {
            let mut row = Row::new(hashed);
            row.load(x, 0, false);
            let Ok(()) = margins(&WholeNode::new(&node, index), index, &row, &mut z);
            // 1 * 0.5 - 4 + 0.25 and 4 * 2 + 0.5 * 3 - 1
            assert_eq!(z, [-3.25, 8.5]);
            row.load(x, 1, true);
            let Ok(()) = margins(&WholeNode::new(&node, index), index, &row, &mut z);
            assert_eq!(z, [0.25, -1.0], "an empty row scores the intercepts");
            // So short a row asks the table of the node.
            row.load(x, 2, false);
            let Ok(()) = margins(&WholeNode::new(&node, index), index, &row, &mut z);
            assert_eq!(z, [-3.75, 7.0]);
        }
    }

    #[test]
    fn overflow_saturates() {
        assert_eq!(finish(f32::NAN, 1.0), f32::MIN);
        assert_eq!(finish(f32::INFINITY, 1.0), f32::MAX);
        assert_eq!(finish(0.0, -1e300), f32::MIN);
    }
}
