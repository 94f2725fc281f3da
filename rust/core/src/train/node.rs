//! The rows of a node and the features they use, with ids of their own.

use crate::Result;
use crate::memory::check_room;
use crate::sparse::{CsrMatrix, CsrView, Pattern, PatternView};
use crate::tree::{Child, LabelTree};

/// For each node the sorted rows that carry one of its labels.
///
/// `label_rows` has shape (n_labels, n_samples). Cost: each label's rows once
/// per level, sorted.
pub(crate) fn node_rows(tree: &LabelTree, label_rows: PatternView<'_>) -> Vec<Vec<u32>> {
    let mut rows: Vec<Vec<u32>> = vec![Vec::new(); tree.n_nodes()];
    let mut last_seen_by = vec![u32::MAX; label_rows.n_cols()];
    // Breadth-first ids: children come after their parents.
    for node in (0..tree.n_nodes()).rev() {
        let mut union = Vec::new();
        for child in tree.children(node) {
            let own = match child {
                Child::Node(id) => rows[id as usize].as_slice(),
                Child::Label(label) => label_rows.row(label as usize),
            };
            for &i in own {
                if last_seen_by[i as usize] != node as u32 {
                    last_seen_by[i as usize] = node as u32;
                    union.push(i);
                }
            }
        }
        union.sort_unstable();
        rows[node] = union;
    }
    rows
}

/// One node's rows as a matrix of their own, and the positives of its children.
#[derive(Debug)]
pub(super) struct NodeData {
    pub(super) x: CsrMatrix,
    /// Global ids of the features that occur.
    pub(super) feature_ids: Vec<u32>,
    /// Row ids within the node, shape (n_children, n_rows).
    pub(super) positives: Pattern,
    /// Weights of the rows, if samples have any.
    pub(super) sample_weight: Option<Vec<f64>>,
}

/// Maps global ids to those within a node; one per thread, reused.
#[derive(Debug)]
pub(super) struct Extractor {
    row: Vec<u32>,
    feature: Vec<u32>,
}

const NONE: u32 = u32::MAX;

/// Where more than this part of all features occur, looking at each is quicker than
/// sorting those that do.
const SCAN: usize = 32;

impl Extractor {
    pub(super) fn new(n_samples: usize, n_features: usize) -> Result<Self> {
        let ids = n_samples as u64 + n_features as u64;
        check_room(format!("the ids of {n_features} features"), 4 * ids)?;
        Ok(Self {
            row: vec![NONE; n_samples],
            feature: vec![NONE; n_features],
        })
    }

    /// Gather `rows` (sorted) of `x`. `child_rows(c)` gives the sorted rows of
    /// child c, all among `rows`. Cost: the stored values of the rows, twice.
    pub(super) fn extract<'a>(
        &mut self,
        x: CsrView<'_>,
        sample_weight: Option<&[f64]>,
        rows: &[u32],
        children: impl Iterator<Item = &'a [u32]>,
    ) -> NodeData {
        let mut feature_ids = Vec::new();
        let mut nnz = 0;
        for &i in rows {
            let ids = x.row(i as usize).0;
            nnz += ids.len();
            for &j in ids {
                if self.feature[j as usize] == NONE {
                    self.feature[j as usize] = 0;
                    feature_ids.push(j);
                }
            }
        }
        // In the order of the global ids, so that rows stay sorted.
        if feature_ids.len() > self.feature.len() / SCAN {
            feature_ids.clear();
            let marked = (0..).zip(&self.feature).filter(|(_, id)| **id != NONE);
            feature_ids.extend(marked.map(|(j, _)| j));
        } else {
            feature_ids.sort_unstable();
        }
        for (new, &j) in (0..).zip(&feature_ids) {
            self.feature[j as usize] = new;
        }
        let mut pattern = Pattern {
            n_cols: feature_ids.len(),
            indptr: Vec::with_capacity(rows.len() + 1),
            indices: Vec::with_capacity(nnz),
        };
        let mut data = Vec::with_capacity(nnz);
        pattern.indptr.push(0);
        for (new, &i) in (0..).zip(rows) {
            self.row[i as usize] = new;
            let (ids, values) = x.row(i as usize);
            let own = ids.iter().map(|&j| self.feature[j as usize]);
            pattern.indices.extend(own);
            data.extend_from_slice(values);
            pattern.indptr.push(data.len() as u64);
        }
        let mut positives = Pattern {
            n_cols: rows.len(),
            indptr: vec![0],
            indices: Vec::new(),
        };
        for child in children {
            positives
                .indices
                .extend(child.iter().map(|&i| self.row[i as usize]));
            positives.indptr.push(positives.indices.len() as u64);
        }
        for &i in rows {
            self.row[i as usize] = NONE;
        }
        for &j in &feature_ids {
            self.feature[j as usize] = NONE;
        }
        NodeData {
            x: CsrMatrix { pattern, data },
            feature_ids,
            positives,
            sample_weight: sample_weight
                .map(|weights| rows.iter().map(|&i| weights[i as usize]).collect()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parallel::Control;
    use crate::sparse::transpose_pattern;

    /// Labels 0..4 in two nodes under the root; rows 0..5, row 4 without labels.
    fn tree_and_labels() -> (LabelTree, Pattern) {
        let label = 1 << 31;
        let children = vec![1, 2, label, label | 3, label | 1, label | 2];
        let tree = LabelTree::from_parts(4, vec![0, 2, 4, 6], children).unwrap();
        let y = Pattern {
            n_cols: 4,
            indptr: vec![0, 2, 3, 4, 5, 5],
            indices: vec![0, 1, 3, 2, 1],
        };
        (
            tree,
            transpose_pattern(y.view(), &Control::default()).unwrap(),
        )
    }

    #[test]
    fn rows_of_a_node_are_those_of_its_labels() {
        let (tree, label_rows) = tree_and_labels();
        let rows = node_rows(&tree, label_rows.view());
        assert_eq!(rows, [vec![0, 1, 2, 3], vec![0, 1], vec![0, 2, 3]]);
    }

    #[test]
    fn a_node_has_its_own_dense_ids() {
        let (_, label_rows) = tree_and_labels();
        let x = CsrMatrix {
            pattern: Pattern {
                n_cols: 6,
                indptr: vec![0, 2, 3, 4, 6, 7],
                indices: vec![1, 4, 0, 4, 1, 5, 2],
            },
            data: vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0],
        };
        let mut extractor = Extractor::new(5, 6).unwrap();
        // Twice, to see that nothing stays behind.
        for _ in 0..2 {
            let labels = [1usize, 2];
            let node = extractor.extract(
                x.view(),
                Some(&[1.0, 2.0, 3.0, 4.0, 5.0]),
                &[0, 2, 3],
                labels.iter().map(|&l| label_rows.view().row(l)),
            );
            assert_eq!(node.feature_ids, [1, 4, 5]);
            assert_eq!(node.x.pattern.indptr, [0, 2, 3, 5]);
            assert_eq!(node.x.pattern.indices, [0, 1, 1, 0, 2]);
            assert_eq!(node.x.data, [1.0, 2.0, 4.0, 5.0, 6.0]);
            assert_eq!(node.positives.indptr, [0, 2, 3]);
            assert_eq!(node.positives.indices, [0, 2, 1]);
            assert_eq!(node.sample_weight, Some(vec![1.0, 3.0, 4.0]));
        }
    }
}
