//! What a tree looks like: depths, clipping, a table by depth.

use super::label_tree::{Child, LabelTree};
use crate::{Error, Result};

/// What a tree holds at one depth.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DepthRow {
    /// Depth; the root is at 0.
    pub depth: usize,
    /// Internal nodes at this depth.
    pub n_nodes: usize,
    /// Labels that are leaves at this depth.
    pub n_leaves: usize,
    /// Labels below the nodes of this depth.
    pub n_labels: usize,
    /// Children of the nodes of this depth: binary problems.
    pub n_children: usize,
}

impl LabelTree {
    /// The depth of every node; the root's is 0. Cost: O(nodes and labels).
    pub fn node_depths(&self) -> Vec<u32> {
        let mut depths = vec![0; self.n_nodes()];
        for node in 0..self.n_nodes() {
            for child in self.children(node) {
                if let Child::Node(id) = child {
                    depths[id as usize] = depths[node] + 1;
                }
            }
        }
        depths
    }

    /// The depth of the deepest label: 1 for a flat tree.
    pub fn depth(&self) -> usize {
        // Numbering is breadth first, so the last node is a deepest one.
        self.node_depths().last().map_or(0, |&d| d as usize + 1)
    }

    /// One row for each depth from 0 to [`Self::depth`].
    pub fn depth_table(&self) -> Vec<DepthRow> {
        let mut rows = vec![DepthRow::default(); self.depth() + 1];
        for (node, depth) in self.node_depths().into_iter().enumerate() {
            let depth = depth as usize;
            let children = self.children(node);
            rows[depth].n_nodes += 1;
            rows[depth].n_children += children.len();
            rows[depth + 1].n_leaves += children.filter(|c| matches!(c, Child::Label(_))).count();
        }
        let mut above = 0;
        for (depth, row) in rows.iter_mut().enumerate() {
            above += row.n_leaves;
            row.depth = depth;
            row.n_labels = self.n_labels() - above;
        }
        rows
    }

    /// The tree cut at `max_depth`: nodes at depth `max_depth - 1` keep all the
    /// labels below them as leaves, ascending; what is above stays.
    ///
    /// A tree built for a greater depth, clipped, is the tree built for this one.
    ///
    /// # Errors
    /// [`Error::Data`] for `max_depth` 0.
    pub fn clip(&self, max_depth: usize) -> Result<Self> {
        if max_depth == 0 {
            return Err(Error::data("max_depth must be at least 1 (flat), not 0"));
        }
        let depths = self.node_depths();
        // Breadth-first numbering: the nodes that stay come first.
        let kept = depths.partition_point(|&d| (d as usize) < max_depth);
        let mut nodes: Vec<Vec<Child>> = vec![Vec::new(); kept];
        let mut home: Vec<usize> = (0..depths.len()).collect();
        for (node, &depth) in depths.iter().enumerate() {
            let last = depth as usize + 1 >= max_depth;
            for child in self.children(node) {
                match child {
                    Child::Node(id) if last => home[id as usize] = home[node],
                    child => nodes[home[node]].push(child),
                }
            }
        }
        for (node, children) in nodes.iter_mut().enumerate() {
            let hangs_below = self.children(node).any(|c| matches!(c, Child::Node(_)));
            if hangs_below && depths[node] as usize + 1 == max_depth {
                children.sort_unstable_by_key(|child| match child {
                    Child::Node(id) | Child::Label(id) => *id,
                });
            }
        }
        Self::from_children(self.n_labels(), &nodes, 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 0: [1, 2, label 6]; 1: [labels 3, 0]; 2: [3, label 5]; 3: [labels 4, 2, 1]
    fn tree() -> LabelTree {
        use Child::{Label as L, Node as N};
        let nodes = [
            vec![N(1), N(2), L(6)],
            vec![L(3), L(0)],
            vec![N(3), L(5)],
            vec![L(4), L(2), L(1)],
        ];
        LabelTree::from_children(7, &nodes, 0).unwrap()
    }

    #[test]
    fn the_table_counts_by_depth() {
        let row = |depth, n_nodes, n_leaves, n_labels, n_children| DepthRow {
            depth,
            n_nodes,
            n_leaves,
            n_labels,
            n_children,
        };
        assert_eq!(tree().depth(), 3);
        assert_eq!(tree().node_depths(), [0, 1, 1, 2]);
        assert_eq!(
            tree().depth_table(),
            [
                row(0, 1, 0, 7, 3),
                row(1, 2, 1, 6, 4),
                row(2, 1, 3, 3, 3),
                row(3, 0, 3, 0, 0)
            ]
        );
        let flat = LabelTree::flat(2).unwrap();
        assert_eq!(flat.depth_table(), [row(0, 1, 0, 2, 2), row(1, 0, 2, 0, 0)]);
    }

    #[test]
    fn clipping_gathers_labels_at_the_depth_asked() {
        use Child::{Label as L, Node as N};
        let two = [
            vec![N(1), N(2), L(6)],
            vec![L(3), L(0)],
            [1, 2, 4, 5].map(L).to_vec(),
        ];
        assert_eq!(
            tree().clip(2).unwrap(),
            LabelTree::from_children(7, &two, 0).unwrap()
        );
        assert_eq!(tree().clip(1).unwrap(), LabelTree::flat(7).unwrap());
        assert_eq!(tree().clip(3).unwrap(), tree());
        assert_eq!(tree().clip(99).unwrap(), tree());
        assert!(tree().clip(0).is_err());
    }
}
