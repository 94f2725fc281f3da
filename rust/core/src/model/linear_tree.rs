//! The trained model: label trees and the classifiers of their nodes.

use super::{NodeClassifiers, Scoring};
use crate::sparse::CsrMatrix;
use crate::tree::{Child, LabelTree};
use crate::{Error, Result};

/// A label tree with the classifiers of its internal nodes.
#[derive(Clone, Debug, PartialEq)]
pub struct TrainedTree {
    tree: LabelTree,
    nodes: Vec<NodeClassifiers>,
}

/// A linear model of many labels; one-vs-rest is a single tree of depth one.
///
/// Immutable. Several trees over the same labels form an ensemble, whose score
/// is the mean of the trees' scores.
#[derive(Clone, Debug, PartialEq)]
pub struct LinearTreeModel {
    n_features: usize,
    trees: Vec<TrainedTree>,
    scoring: Scoring,
    normalize: bool,
    untrained: Vec<u32>,
}

impl TrainedTree {
    /// Pair each internal node with its classifiers.
    ///
    /// Intercepts of a tree with more than one node are rounded to `f32`, as its
    /// file keeps them; those of a depth-one tree stay `f64`.
    ///
    /// # Errors
    /// [`Error::Data`] where the numbers of nodes or of children disagree, or a
    /// rounded intercept overflows.
    pub fn new(tree: LabelTree, mut nodes: Vec<NodeClassifiers>) -> Result<Self> {
        if nodes.len() != tree.n_nodes() {
            return Err(Error::data(format!(
                "classifiers of {} nodes for a tree of {}",
                nodes.len(),
                tree.n_nodes()
            )));
        }
        for (i, node) in nodes.iter().enumerate() {
            let expected = tree.children(i).len();
            if node.n_children() != expected {
                return Err(Error::data(format!(
                    "node {i} has {expected} children but {} classifiers",
                    node.n_children()
                )));
            }
        }
        if nodes.len() > 1 {
            nodes
                .iter_mut()
                .try_for_each(NodeClassifiers::round_intercepts)?;
        }
        Ok(Self { tree, nodes })
    }

    /// The tree.
    pub fn tree(&self) -> &LabelTree {
        &self.tree
    }

    /// The classifiers of all internal nodes, by node id.
    pub fn nodes(&self) -> &[NodeClassifiers] {
        &self.nodes
    }
}

impl LinearTreeModel {
    /// Check the parts against each other and own them.
    ///
    /// `untrained` holds the sorted ids of labels that had no positives: they
    /// keep their intercept and are never among the best labels of a row.
    ///
    /// # Errors
    /// [`Error::Data`] for no tree, trees of different labels, a feature outside
    /// `[0, n_features)`, unsorted or foreign untrained labels, and for
    /// [`Scoring::Margin`] with anything but a single tree of depth one.
    pub fn new(
        n_features: usize,
        trees: Vec<TrainedTree>,
        scoring: Scoring,
        normalize: bool,
        untrained: Vec<u32>,
    ) -> Result<Self> {
        check_outline(
            n_features,
            trees.iter().map(TrainedTree::tree),
            scoring,
            &untrained,
        )?;
        for node in trees.iter().flat_map(|t| &t.nodes) {
            if let Some(&last) = node.features().last()
                && last as usize >= n_features
            {
                return Err(Error::data(format!(
                    "feature id {last} is outside [0, {n_features})"
                )));
            }
        }
        Ok(Self {
            n_features,
            trees,
            scoring,
            normalize,
            untrained,
        })
    }

    /// Number of features.
    pub fn n_features(&self) -> usize {
        self.n_features
    }

    /// Number of labels.
    pub fn n_labels(&self) -> usize {
        self.trees[0].tree.n_labels()
    }

    /// The trees, at least one.
    pub fn trees(&self) -> &[TrainedTree] {
        &self.trees
    }

    /// How margins become scores.
    pub fn scoring(&self) -> Scoring {
        self.scoring
    }

    /// Whether rows are scaled to unit length before anything else.
    pub fn normalize(&self) -> bool {
        self.normalize
    }

    /// Sorted ids of the labels without positives.
    pub fn untrained(&self) -> &[u32] {
        &self.untrained
    }

    /// The classifiers of a single tree of depth one, else none.
    pub fn flat(&self) -> Option<&NodeClassifiers> {
        match self.trees.as_slice() {
            [tree] if tree.nodes.len() == 1 => tree.nodes.first(),
            _ => None,
        }
    }

    /// The weights by label, CSR of shape (`n_labels`, `n_features`), and the
    /// intercepts, of a single tree of depth one.
    ///
    /// # Errors
    /// [`Error::Data`] for any other model: its problems belong to nodes.
    pub fn coef(&self) -> Result<(CsrMatrix, Vec<f64>)> {
        let node = self.flat().ok_or_else(|| {
            Error::data("only a single tree of depth one has weights per label; see its nodes")
        })?;
        let by_position = node.coef(self.n_features);
        let mut position_of = vec![0; self.n_labels()];
        for (position, child) in self.trees[0].tree.children(0).enumerate() {
            if let Child::Label(label) = child {
                position_of[label as usize] = position;
            }
        }
        let mut coef = CsrMatrix::default();
        coef.pattern.n_cols = self.n_features;
        coef.pattern.indptr.push(0);
        for &position in &position_of {
            let (indices, data) = by_position.view().row(position);
            coef.pattern.indices.extend_from_slice(indices);
            coef.data.extend_from_slice(data);
            coef.pattern.indptr.push(coef.data.len() as u64);
        }
        let intercepts = position_of.iter().map(|&p| node.intercepts()[p]).collect();
        Ok((coef, intercepts))
    }

    /// Weights and intercepts that are not zero.
    pub fn n_nonzero(&self) -> usize {
        let nodes = self.trees.iter().flat_map(|t| &t.nodes);
        nodes.map(NodeClassifiers::n_nonzero).sum()
    }
}

/// Check a model without its weights.
///
/// # Errors
/// As [`LinearTreeModel::new`].
pub(super) fn check_outline<'a>(
    n_features: usize,
    mut trees: impl Iterator<Item = &'a LabelTree>,
    scoring: Scoring,
    untrained: &[u32],
) -> Result<()> {
    if u32::try_from(n_features).is_err() {
        return Err(Error::data(format!(
            "{n_features} features are 2^32 or more"
        )));
    }
    let Some(first) = trees.next() else {
        return Err(Error::data("a model needs at least one tree"));
    };
    let n_labels = first.n_labels();
    let mut n_trees = 1;
    for tree in trees {
        if tree.n_labels() != n_labels {
            return Err(Error::data(format!(
                "tree {n_trees} has {} labels, tree 0 has {n_labels}",
                tree.n_labels()
            )));
        }
        n_trees += 1;
    }
    if scoring == Scoring::Margin && (n_trees > 1 || first.n_nodes() > 1) {
        return Err(Error::data(
            "scoring \"margin\" needs a single tree of depth one",
        ));
    }
    if untrained.windows(2).any(|w| w[0] >= w[1])
        || untrained.last().is_some_and(|&l| l as usize >= n_labels)
    {
        return Err(Error::data(format!(
            "untrained labels must be sorted, unique and below {n_labels}"
        )));
    }
    Ok(())
}
