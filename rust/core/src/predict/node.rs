//! A node as prediction sees it, in memory or in a mapped file.

use std::convert::Infallible;
use std::result::Result as StdResult;

use once_cell::race::OnceBox;

use super::margins::{NodeIndex, Row, margins};
use crate::model::{Entry, MappedModel, MappedNode, NodeClassifiers, StoredModel};
use crate::{Error, Result};

/// A node's classifiers with their look-up.
#[derive(Debug)]
pub(super) enum Node<'a> {
    Whole(WholeNode<'a>, &'a NodeIndex),
    Mapped(MappedNode<'a>, &'a NodeIndex),
}

/// A node in memory, known to be sound.
#[derive(Debug)]
pub(super) struct WholeNode<'a> {
    features: &'a [u32],
    /// Of all feature ids where the look-up has them, else of the node's features.
    offsets: &'a [u32],
    entries: &'a [Entry],
    intercepts: &'a [f64],
}

/// The weights of a node, by feature.
///
/// Compiled for each kind of node, so that one in memory pays for no checks.
pub(super) trait Runs {
    /// What can go wrong.
    type Error;

    /// One intercept per child.
    fn intercepts(&self) -> StdResult<&[f64], Self::Error>;

    /// Sorted ids of the features that have a weight.
    fn features(&self) -> StdResult<&[u32], Self::Error>;

    /// The weights of a position among the features, or of a feature id where the
    /// look-up is direct.
    fn run(&self, at: usize) -> StdResult<&[Entry], Self::Error>;

    /// The place of a weight's child among the children's sums.
    fn sum<'s>(&self, sums: &'s mut [f32], child: u32) -> StdResult<&'s mut f32, Self::Error>;
}

impl<'a> WholeNode<'a> {
    #[inline]
    pub(super) fn new(classifiers: &'a NodeClassifiers, index: &'a NodeIndex) -> Self {
        let offsets = match index {
            NodeIndex::Direct(starts) => starts,
            _ => classifiers.offsets(),
        };
        Self {
            features: classifiers.features(),
            offsets,
            entries: classifiers.entries(),
            intercepts: classifiers.intercepts(),
        }
    }
}

impl<'a> Node<'a> {
    /// Whether no row's own table is asked.
    pub(super) fn is_direct(&self) -> bool {
        match self {
            Self::Whole(_, index) | Self::Mapped(_, index) => index.is_direct(),
        }
    }

    /// One intercept per child.
    #[inline]
    pub(super) fn intercepts(&self) -> Result<&'a [f64]> {
        match self {
            Self::Whole(node, _) => Ok(node.intercepts),
            Self::Mapped(node, _) => node.intercepts(),
        }
    }
}

impl Runs for WholeNode<'_> {
    type Error = Infallible;

    #[inline]
    fn intercepts(&self) -> StdResult<&[f64], Infallible> {
        Ok(self.intercepts)
    }

    #[inline]
    fn features(&self) -> StdResult<&[u32], Infallible> {
        Ok(self.features)
    }

    #[inline]
    fn run(&self, at: usize) -> StdResult<&[Entry], Infallible> {
        Ok(&self.entries[self.offsets[at] as usize..self.offsets[at + 1] as usize])
    }

    #[inline]
    fn sum<'s>(&self, sums: &'s mut [f32], child: u32) -> StdResult<&'s mut f32, Infallible> {
        Ok(&mut sums[child as usize])
    }
}

impl Runs for MappedNode<'_> {
    type Error = Error;

    #[inline]
    fn intercepts(&self) -> Result<&[f64]> {
        self.intercepts()
    }

    #[inline]
    fn features(&self) -> Result<&[u32]> {
        self.features()
    }

    #[inline]
    fn run(&self, at: usize) -> Result<&[Entry]> {
        self.run(at)
    }

    #[inline]
    fn sum<'s>(&self, sums: &'s mut [f32], child: u32) -> Result<&'s mut f32> {
        sums.get_mut(child as usize)
            .ok_or_else(|| self.no_child(child))
    }
}

/// The look-ups of a tree's nodes.
#[derive(Debug)]
pub(super) enum TreeIndex {
    /// Of a model in memory: all of them.
    Ready(Vec<NodeIndex>),
    /// Of a mapped model: those of the nodes visited so far. Two threads may build the
    /// same; nobody waits for a lock that a fork may have left held.
    Lazy(Vec<OnceBox<NodeIndex>>),
}

impl TreeIndex {
    /// The look-ups of each tree. Cost: a pass over the features of a model in memory.
    pub(super) fn of(model: &StoredModel) -> Vec<Self> {
        match model {
            StoredModel::Whole(model) => {
                let n_features = model.n_features();
                let trees = model.trees().iter().map(|tree| {
                    let nodes = tree.nodes().iter();
                    Self::Ready(nodes.map(|n| NodeIndex::new(n, n_features)).collect())
                });
                trees.collect()
            }
            StoredModel::Mapped(model) => (0..model.n_trees())
                .map(|t| {
                    let nodes = 0..model.tree(t).n_nodes();
                    Self::Lazy(nodes.map(|_| OnceBox::new()).collect())
                })
                .collect(),
        }
    }

    /// The look-up of a node, of whose features it is made if there is none yet.
    #[inline]
    fn get<'a>(
        &self,
        node: usize,
        features: impl FnOnce() -> Result<&'a [u32]>,
    ) -> Result<&NodeIndex> {
        match self {
            Self::Ready(nodes) => Ok(&nodes[node]),
            Self::Lazy(nodes) => nodes[node].get_or_try_init(|| {
                let features = features()?;
                Ok(Box::new(NodeIndex::of_features(features)))
            }),
        }
    }
}

/// A node with its look-up.
///
/// # Errors
/// [`Error::Format`] where the file of a mapped model is damaged.
pub(super) fn node<'a>(
    model: &'a StoredModel,
    index: &'a [TreeIndex],
    t: usize,
    node: usize,
) -> Result<Node<'a>> {
    match model {
        StoredModel::Whole(model) => {
            let classifiers = &model.trees()[t].nodes()[node];
            let index = index[t].get(node, || Ok(classifiers.features()))?;
            Ok(Node::Whole(WholeNode::new(classifiers, index), index))
        }
        StoredModel::Mapped(model) => {
            let (node, index) = mapped_node(model, index, t, node)?;
            Ok(Node::Mapped(node, index))
        }
    }
}

fn mapped_node<'a>(
    model: &'a MappedModel,
    index: &'a [TreeIndex],
    t: usize,
    node: usize,
) -> Result<(MappedNode<'a>, &'a NodeIndex)> {
    let mapped = model.node(t, node);
    if mapped.is_direct() {
        return Ok((mapped, &NodeIndex::Stored));
    }
    let index = index[t].get(node, || mapped.features())?;
    Ok((mapped, index))
}

/// All margins of a node's children into `z`, which is resized.
///
/// # Errors
/// As [`node`].
#[inline]
pub(super) fn node_margins(
    model: &StoredModel,
    index: &[TreeIndex],
    t: usize,
    id: usize,
    row: &Row,
    z: &mut Vec<f32>,
) -> Result<()> {
    match model {
        StoredModel::Whole(model) => {
            let classifiers = &model.trees()[t].nodes()[id];
            let index = index[t].get(id, || Ok(classifiers.features()))?;
            let Ok(()) = margins(&WholeNode::new(classifiers, index), index, row, z);
            Ok(())
        }
        StoredModel::Mapped(model) => {
            let (node, index) = mapped_node(model, index, t, id)?;
            margins(&node, index, row, z)
        }
    }
}
