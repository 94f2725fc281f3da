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
        (x.n_cols() * n_threads) as u64,
    )?;
    let rows = node_rows(tree, label_rows);
    let depths = tree.node_depths();
    let mut order: Vec<usize> = (0..rows.len()).collect();
    order.sort_by_key(|&v| (std::cmp::Reverse(rows[v].len()), v));
    let next = AtomicUsize::new(0);
    let parts: Vec<Result<Vec<(usize, NodeSize)>>> = rayon::broadcast(|_| {
        let mut marks = vec![0; x.n_cols()];
        let mut part = Vec::new();
        while let Some(&v) = order.get(next.fetch_add(1, Ordering::Relaxed)) {
            let rows = || rows[v].iter().map(|&i| i as usize);
            let size = NodeSize {
                depth: depths[v],
                n_children: tree.children(v).len() as u64,
                ..size_of_rows(x, rows, &mut marks, control)?
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
        NodeSize {
            depth: 0,
            n_children: root.n_children,
            ..size_of_rows(x, || 0..x.n_rows(), &mut vec![0; x.n_cols()], control)?
        }
    };
    Ok(Sizes { nodes, whole_root })
}

/// Rows between two looks at the cancel flag.
const ROWS_PER_CHECK: usize = 1 << 14;

/// Rows of fewer values than this part of the features have their marks taken back
/// one by one.
const FEW: usize = 8;

/// Count; `marks` are 0, of every feature one, and are so again afterwards.
fn size_of_rows<R: ExactSizeIterator<Item = usize>>(
    x: CsrView<'_>,
    rows: impl Fn() -> R,
    marks: &mut [u8],
    control: &Control,
) -> Result<NodeSize> {
    let mut nnz = 0;
    for (at, i) in rows().enumerate() {
        if at % ROWS_PER_CHECK == 0 {
            control.check()?;
        }
        let ids = x.pattern().row(i);
        nnz += ids.len();
        for &j in ids {
            marks[j as usize] = 1;
        }
    }
    let mut n_features = 0;
    if nnz < marks.len() / FEW {
        for &j in rows().flat_map(|i| x.pattern().row(i)) {
            n_features += u64::from(std::mem::take(&mut marks[j as usize]));
        }
    } else {
        n_features = marks.iter().map(|&mark| u64::from(mark)).sum();
        marks.fill(0);
    }
    Ok(NodeSize {
        n_rows: rows().len() as u64,
        nnz: nnz as u64,
        n_features,
        ..NodeSize::default()
    })
}
