//! The kernel: margins of a node's children for one row.

use crate::model::{Entry, NodeClassifiers};
use crate::sparse::{CsrView, append_normalized};

/// Scan all features of a node instead of searching it while it has at most
/// this many times the row's: a scan step is a load, a search step a mispredict.
const SCAN_FACTOR: usize = 8;

/// Where the runs of each feature start, for nodes that use most features.
///
/// `n_features + 1` offsets, kept only where they take no more room than the
/// weights; other nodes are scanned or searched.
#[derive(Debug)]
pub(super) struct NodeIndex(Option<Vec<u32>>);

/// One row, scaled if the model says so, in the forms that nodes ask for.
#[derive(Debug)]
pub(super) struct Row<'a> {
    indices: &'a [u32],
    values: Vec<f32>,
    /// The row without gaps; empty when no node is ever scanned.
    dense: Vec<f32>,
}

impl NodeIndex {
    pub(super) fn new(node: &NodeClassifiers, n_features: usize) -> Self {
        if n_features > 2 * node.entries().len() {
            return Self(None);
        }
        let mut starts = vec![0u32; n_features + 1];
        let mut done = 0;
        for (&feature, &start) in node.features().iter().zip(node.offsets()) {
            starts[done..=feature as usize].fill(start);
            done = feature as usize + 1;
        }
        starts[done..].fill(node.entries().len() as u32);
        Self(Some(starts))
    }
}

impl<'a> Row<'a> {
    /// An empty row; `dense` where nodes may be scanned.
    pub(super) fn new(n_features: usize, dense: bool) -> Self {
        Self {
            indices: &[],
            values: Vec::new(),
            dense: vec![0.0; if dense { n_features } else { 0 }],
        }
    }

    /// Load row `i` of `x` in place of the last one.
    pub(super) fn load(&mut self, x: CsrView<'a>, i: usize, normalize: bool) {
        let scan = !self.dense.is_empty();
        if scan {
            for &j in self.indices {
                self.dense[j as usize] = 0.0;
            }
        }
        let (indices, values) = x.row(i);
        self.indices = indices;
        self.values.clear();
        if normalize {
            append_normalized(values, &mut self.values);
        } else {
            self.values.extend_from_slice(values);
        }
        if scan {
            for (&j, &v) in indices.iter().zip(&self.values) {
                self.dense[j as usize] = v;
            }
        }
    }
}

/// Call `each(x_j, run of j)` for the features that row and node share, in
/// ascending order, whichever way they are found.
#[inline]
pub(super) fn for_each_run(
    node: &NodeClassifiers,
    index: &NodeIndex,
    row: &Row<'_>,
    mut each: impl FnMut(f32, &[Entry]),
) {
    let (features, offsets, entries) = (node.features(), node.offsets(), node.entries());
    let run = |at: usize| &entries[offsets[at] as usize..offsets[at + 1] as usize];
    if let Some(starts) = &index.0 {
        for (&j, &x) in row.indices.iter().zip(&row.values) {
            let j = j as usize;
            each(x, &entries[starts[j] as usize..starts[j + 1] as usize]);
        }
    } else if !row.dense.is_empty() && features.len() <= SCAN_FACTOR * row.indices.len() {
        for (at, &j) in features.iter().enumerate() {
            let x = row.dense[j as usize];
            if x != 0.0 {
                each(x, run(at));
            }
        }
    } else {
        let mut from = 0;
        for (&j, &x) in row.indices.iter().zip(&row.values) {
            from += features[from..].partition_point(|&f| f < j);
            match features.get(from) {
                Some(&f) if f == j => each(x, run(from)),
                Some(_) => {}
                None => break,
            }
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
pub(super) fn margins(node: &NodeClassifiers, index: &NodeIndex, row: &Row<'_>, z: &mut Vec<f32>) {
    z.clear();
    z.resize(node.n_children(), 0.0);
    for_each_run(node, index, row, |x, run| {
        for e in run {
            z[e.child as usize] += x * e.weight;
        }
    });
    for (z, &b) in z.iter_mut().zip(node.intercepts()) {
        *z = finish(*z, b);
    }
}

#[cfg(test)]
#[allow(clippy::float_cmp)]
mod tests {
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
    fn table_scan_and_search_find_the_same() {
        let node = node();
        let data = [1.0, 1.0, 4.0, 0.5];
        let x = CsrView::new(2, 8, &[0, 4, 4], &[0, 1, 4, 7], &data).unwrap();
        let table = NodeIndex::new(&node, 8);
        assert_eq!(table.0.as_deref(), Some(&[0, 0, 1, 1, 1, 3, 3, 3, 4][..]));
        let none = NodeIndex(None);
        assert!(
            NodeIndex::new(&node, 9).0.is_none(),
            "9 offsets take more room than 4 weights"
        );
        let mut z = Vec::new();
        for (index, dense) in [(&table, false), (&none, true), (&none, false)] {
            let mut row = Row::new(8, dense);
            row.load(x, 0, false);
            margins(&node, index, &row, &mut z);
            // 1 * 0.5 - 4 + 0.25 and 4 * 2 + 0.5 * 3 - 1
            assert_eq!(z, [-3.25, 8.5]);
            row.load(x, 1, true);
            margins(&node, index, &row, &mut z);
            assert_eq!(z, [0.25, -1.0], "an empty row scores the intercepts");
        }
    }

    #[test]
    fn overflow_saturates() {
        assert_eq!(finish(f32::NAN, 1.0), f32::MIN);
        assert_eq!(finish(f32::INFINITY, 1.0), f32::MAX);
        assert_eq!(finish(0.0, -1e300), f32::MIN);
    }
}
