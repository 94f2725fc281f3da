//! The tree itself, in two flat arrays.

use crate::{Error, Result};

/// What hangs under an internal node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Child {
    /// Another internal node, by its id.
    Node(u32),
    /// A label, by its id: a leaf of the tree.
    Label(u32),
}

/// Marks a label in [`LabelTree::encoded_children`]; the rest is the id.
const LABEL_BIT: u32 = 1 << 31;

/// Labels as the leaves of a rooted tree.
///
/// Internal nodes are numbered breadth first, the root is 0. Each label hangs
/// under exactly one node and no node is empty, both by construction.
/// One-vs-rest is [`LabelTree::flat`]: the root alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LabelTree {
    n_labels: usize,
    child_ptr: Vec<u32>,
    children: Vec<u32>,
}

impl LabelTree {
    /// All labels under the root, in order of their ids.
    ///
    /// # Errors
    /// [`Error::Data`] for no label at all or 2^31 and more.
    pub fn flat(n_labels: usize) -> Result<Self> {
        let end = u32::try_from(n_labels)
            .ok()
            .filter(|&n| n < LABEL_BIT)
            .ok_or_else(|| Error::data(format!("{n_labels} labels are 2^31 or more")))?;
        let children = (0..end).map(|label| label | LABEL_BIT).collect();
        Self::from_parts(n_labels, vec![0, end], children)
    }

    /// Check the two arrays that [`Self::child_ptr`] and
    /// [`Self::encoded_children`] give back, and own them.
    ///
    /// # Errors
    /// [`Error::Data`] where a node is empty, nodes are not numbered breadth
    /// first, or a label does not occur exactly once.
    pub fn from_parts(n_labels: usize, child_ptr: Vec<u32>, children: Vec<u32>) -> Result<Self> {
        if n_labels == 0 || n_labels >= LABEL_BIT as usize {
            return Err(Error::data(format!(
                "a label tree needs between 1 and 2^31 - 1 labels, not {n_labels}"
            )));
        }
        if child_ptr.first() != Some(&0) || child_ptr.last().copied() != Some(children.len() as u32)
        {
            return Err(Error::data(
                "label tree: child_ptr does not span the children",
            ));
        }
        if let Some(node) = child_ptr.windows(2).position(|w| w[0] >= w[1]) {
            return Err(Error::data(format!(
                "label tree: node {node} has no children"
            )));
        }
        let n_nodes = child_ptr.len() - 1;
        let mut seen = vec![false; n_labels];
        let mut next_node = 1;
        for (node, w) in child_ptr.windows(2).enumerate() {
            for &code in &children[w[0] as usize..w[1] as usize] {
                match decode(code) {
                    Child::Node(id) if id as usize == next_node && next_node > node => {
                        next_node += 1;
                    }
                    Child::Node(id) => {
                        return Err(Error::data(format!(
                            "label tree: node {id} under node {node} is not numbered breadth first"
                        )));
                    }
                    Child::Label(id) => match seen.get_mut(id as usize) {
                        Some(known) if !*known => *known = true,
                        Some(_) => {
                            return Err(Error::data(format!(
                                "label tree: label {id} occurs twice"
                            )));
                        }
                        None => {
                            return Err(Error::data(format!(
                                "label tree: label {id} is outside [0, {n_labels})"
                            )));
                        }
                    },
                }
            }
        }
        if next_node != n_nodes {
            return Err(Error::data(format!(
                "label tree: {next_node} of {n_nodes} nodes hang under the root"
            )));
        }
        if let Some(label) = seen.iter().position(|&known| !known) {
            return Err(Error::data(format!("label tree: label {label} is missing")));
        }
        Ok(Self {
            n_labels,
            child_ptr,
            children,
        })
    }

    /// The tree of these nodes, numbered in any order, below node `root`.
    ///
    /// Children keep their order; nodes are numbered afresh, breadth first.
    ///
    /// # Errors
    /// [`Error::Data`] where a node has two parents or does not hang under the
    /// root, and as [`Self::from_parts`].
    pub fn from_children(n_labels: usize, nodes: &[Vec<Child>], root: usize) -> Result<Self> {
        let mut queue = vec![root];
        let mut seen = vec![false; nodes.len()];
        if let Some(root) = seen.get_mut(root) {
            *root = true;
        }
        let mut child_ptr = vec![0];
        let mut children = Vec::new();
        let mut next = 0;
        while next < queue.len() {
            let Some(node) = nodes.get(queue[next]) else {
                return Err(Error::data(format!(
                    "label tree: node {} is outside [0, {})",
                    queue[next],
                    nodes.len()
                )));
            };
            for &child in node {
                children.push(match child {
                    Child::Label(id) => id | LABEL_BIT,
                    Child::Node(id) => {
                        match seen.get_mut(id as usize) {
                            Some(true) => {
                                return Err(Error::data(format!(
                                    "label tree: node {id} has two parents or is its own ancestor"
                                )));
                            }
                            Some(seen) => *seen = true,
                            None => {}
                        }
                        queue.push(id as usize);
                        queue.len() as u32 - 1
                    }
                });
            }
            child_ptr.push(children.len() as u32);
            next += 1;
        }
        if let Some(node) = seen.iter().position(|&seen| !seen) {
            return Err(Error::data(format!(
                "label tree: node {node} does not hang under the root"
            )));
        }
        Self::from_parts(n_labels, child_ptr, children)
    }

    /// Number of labels.
    pub fn n_labels(&self) -> usize {
        self.n_labels
    }

    /// Number of internal nodes.
    pub fn n_nodes(&self) -> usize {
        self.child_ptr.len() - 1
    }

    /// Number of children of all nodes together: of binary problems to train.
    pub fn n_problems(&self) -> usize {
        self.children.len()
    }

    /// The children of `node` in order.
    pub fn children(&self, node: usize) -> impl ExactSizeIterator<Item = Child> + Clone + '_ {
        self.children[self.child_ptr[node] as usize..self.child_ptr[node + 1] as usize]
            .iter()
            .map(|&code| decode(code))
    }

    /// Where each node's children start: `n_nodes + 1` offsets.
    pub fn child_ptr(&self) -> &[u32] {
        &self.child_ptr
    }

    /// The children of all nodes; a label has bit 31 set.
    pub fn encoded_children(&self) -> &[u32] {
        &self.children
    }
}

fn decode(code: u32) -> Child {
    if code & LABEL_BIT == 0 {
        Child::Node(code)
    } else {
        Child::Label(code & !LABEL_BIT)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const L: u32 = LABEL_BIT;

    #[test]
    fn flat_is_the_root_alone() {
        let tree = LabelTree::flat(3).unwrap();
        assert_eq!((tree.n_nodes(), tree.n_problems()), (1, 3));
        let children: Vec<_> = tree.children(0).collect();
        assert_eq!(
            children,
            [Child::Label(0), Child::Label(1), Child::Label(2)]
        );
        assert!(LabelTree::flat(0).is_err());
    }

    #[test]
    fn broken_trees_are_refused() {
        assert!(LabelTree::from_parts(3, vec![0, 2, 4], vec![1, L, L | 1, L | 2]).is_ok());
        let broken: [(Vec<u32>, Vec<u32>, &str); 7] = [
            (vec![0, 3], vec![L, L | 1, L | 1], "label 1 occurs twice"),
            (vec![0, 3], vec![L, L | 1, L | 3], "label 3 is outside"),
            (vec![0, 2], vec![L, L | 1], "label 2 is missing"),
            (vec![0, 2, 2], vec![1, L], "node 1 has no children"),
            (
                vec![0, 1, 4],
                vec![2, L, L | 1, L | 2],
                "node 2 under node 0",
            ),
            (
                vec![0, 3, 4],
                vec![L, L | 1, L | 2, 1],
                "node 1 under node 1",
            ),
            (vec![0, 2], vec![L, L | 1, L | 2], "does not span"),
        ];
        for (child_ptr, children, message) in broken {
            let e = LabelTree::from_parts(3, child_ptr, children).unwrap_err();
            assert!(e.to_string().contains(message), "{e} / {message}");
        }
    }
}
