//! Rows, stored values and used features of every node.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::Result;
use crate::memory::check_room;
use crate::parallel::Control;
use crate::sparse::{CsrView, PatternView};
use crate::train::{check_labels, node_rows};
use crate::tree::LabelTree;

/// What a node's problems are trained on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NodeSize {
    /// Depth of the node; the root's is 0.
    pub depth: u32,
    /// Its children: binary problems.
    pub n_children: u64,
    /// Rows that carry one of its labels.
    pub n_rows: u64,
    /// Stored values of these rows.
    pub nnz: u64,
    /// Features that occur in them.
    pub n_features: u64,
}

/// The sizes of a tree's nodes and of the data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// By node id, of the rows that carry one of the node's labels.
    pub nodes: Vec<NodeSize>,
    /// The root's with all rows of the data, those without labels included.
    pub whole_root: NodeSize,
}

/// Measure every node of `tree`.
///
/// `x` has shape (n_samples, n_features), `label_rows` is the transpose of `Y`,
/// of shape (n_labels, n_samples). A feature occurs where a value is stored,
/// whatever its sign: sums over samples, in which values of opposite signs
/// cancel, play no part. Cost: the stored values of each node's rows once, in
/// parallel over the nodes in the current pool. Deterministic.
///
/// # Errors
/// [`crate::Error::Data`] where shapes disagree or no label occurs;
/// [`crate::Error::Memory`]; [`crate::Error::Cancelled`].
///
/// Source: Lin, Liu, Lin, "Exploring space efficiency in a tree-based linear model
/// for extreme multi-label classification", EMNLP 2024, section 6.2. Differs:
/// rows are looked at, not sums of label features.
pub fn measure(
    x: CsrView<'_>,
    label_rows: PatternView<'_>,
    tree: &LabelTree,
    control: &Control,
) -> Result<Sizes> {
    check_labels(x.n_rows(), label_rows, tree)?;
    let n_threads = rayon::current_num_threads();
    check_room(
        format!("marks of {} features", x.n_cols()),
        4 * (x.n_cols() * n_threads) as u64,
    )?;
    let rows = node_rows(tree, label_rows);
    let depths = tree.node_depths();
    let mut order: Vec<usize> = (0..rows.len()).collect();
    order.sort_by_key(|&v| (std::cmp::Reverse(rows[v].len()), v));
    let next = AtomicUsize::new(0);
    let parts: Vec<Result<Vec<(usize, NodeSize)>>> = rayon::broadcast(|_| {
        let mut last_seen_by = vec![u32::MAX; x.n_cols()];
        let mut part = Vec::new();
        while let Some(&v) = order.get(next.fetch_add(1, Ordering::Relaxed)) {
            let rows = rows[v].iter().map(|&i| i as usize);
            let size = NodeSize {
                depth: depths[v],
                n_children: tree.children(v).len() as u64,
                ..size_of_rows(x, rows, v as u32, &mut last_seen_by, control)?
            };
            part.push((v, size));
        }
        Ok(part)
    });
    let mut nodes = vec![NodeSize::default(); rows.len()];
    for part in parts {
        for (v, size) in part? {
            nodes[v] = size;
        }
    }
    let root = nodes[0];
    let whole_root = if root.n_rows == x.n_rows() as u64 {
        root
    } else {
        let mut seen = vec![u32::MAX; x.n_cols()];
        NodeSize {
            depth: 0,
            n_children: root.n_children,
            ..size_of_rows(x, 0..x.n_rows(), 0, &mut seen, control)?
        }
    };
    Ok(Sizes { nodes, whole_root })
}

/// Rows between two looks at the cancel flag.
const ROWS_PER_CHECK: usize = 1 << 14;

/// Count; `last_seen_by` holds for each feature the last node that used it.
fn size_of_rows(
    x: CsrView<'_>,
    rows: impl ExactSizeIterator<Item = usize>,
    node: u32,
    last_seen_by: &mut [u32],
    control: &Control,
) -> Result<NodeSize> {
    let mut size = NodeSize {
        n_rows: rows.len() as u64,
        ..NodeSize::default()
    };
    for (at, i) in rows.enumerate() {
        if at % ROWS_PER_CHECK == 0 {
            control.check()?;
        }
        let ids = x.pattern().row(i);
        size.nnz += ids.len() as u64;
        for &j in ids {
            let last = &mut last_seen_by[j as usize];
            size.n_features += u64::from(*last != node);
            *last = node;
        }
    }
    Ok(size)
}
