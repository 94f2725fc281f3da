//! A model, wherever its weights are.

use std::borrow::Cow;

use super::{LinearTreeModel, MappedModel, NodeClassifiers, Scoring};
use crate::Result;
use crate::sparse::CsrMatrix;
use crate::tree::LabelTree;

/// A model in memory, or in a mapped file.
///
/// What is known without the weights costs nothing; the rest is a reference to a
/// model in memory, and a checked copy of a mapped one.
#[derive(Debug)]
pub enum StoredModel {
    /// In memory.
    Whole(LinearTreeModel),
    /// In its file.
    Mapped(MappedModel),
}

impl From<LinearTreeModel> for StoredModel {
    fn from(model: LinearTreeModel) -> Self {
        Self::Whole(model)
    }
}

impl From<MappedModel> for StoredModel {
    fn from(model: MappedModel) -> Self {
        Self::Mapped(model)
    }
}

impl StoredModel {
    /// All of it in memory.
    ///
    /// # Errors
    /// [`crate::Error::Format`] where a mapped file is damaged.
    pub fn whole(&self) -> Result<Cow<'_, LinearTreeModel>> {
        match self {
            Self::Whole(model) => Ok(Cow::Borrowed(model)),
            Self::Mapped(model) => model.whole().map(Cow::Owned),
        }
    }

    /// The weights by label and the intercepts of a single tree of depth one.
    ///
    /// # Errors
    /// As [`Self::whole`] and [`LinearTreeModel::coef`].
    pub fn coef(&self) -> Result<(CsrMatrix, Vec<f64>)> {
        self.whole()?.coef()
    }

    /// The classifiers of a node, none where there is no such node.
    ///
    /// # Errors
    /// As [`Self::whole`].
    pub fn classifiers(&self, t: usize, node: usize) -> Result<Option<Cow<'_, NodeClassifiers>>> {
        if t >= self.n_trees() || node >= self.tree(t).n_nodes() {
            return Ok(None);
        }
        match self {
            Self::Whole(model) => Ok(Some(Cow::Borrowed(&model.trees()[t].nodes()[node]))),
            Self::Mapped(model) => model.node(t, node).whole().map(|n| Some(Cow::Owned(n))),
        }
    }

    /// Whether the weights are in a file.
    pub fn is_mapped(&self) -> bool {
        matches!(self, Self::Mapped(_))
    }

    /// Number of features.
    pub fn n_features(&self) -> usize {
        match self {
            Self::Whole(model) => model.n_features(),
            Self::Mapped(model) => model.n_features(),
        }
    }

    /// Number of labels.
    pub fn n_labels(&self) -> usize {
        self.tree(0).n_labels()
    }

    /// Number of trees, at least one.
    pub fn n_trees(&self) -> usize {
        match self {
            Self::Whole(model) => model.trees().len(),
            Self::Mapped(model) => model.n_trees(),
        }
    }

    /// The labels of tree `t`.
    ///
    /// # Panics
    /// If there is no such tree.
    #[inline]
    pub fn tree(&self, t: usize) -> &LabelTree {
        match self {
            Self::Whole(model) => model.trees()[t].tree(),
            Self::Mapped(model) => model.tree(t),
        }
    }

    /// Whether it is a single tree of depth one.
    pub fn is_flat(&self) -> bool {
        self.n_trees() == 1 && self.tree(0).n_nodes() == 1
    }

    /// How margins become scores.
    #[inline]
    pub fn scoring(&self) -> Scoring {
        match self {
            Self::Whole(model) => model.scoring(),
            Self::Mapped(model) => model.scoring(),
        }
    }

    /// Whether rows are scaled to unit length before anything else.
    pub fn normalize(&self) -> bool {
        match self {
            Self::Whole(model) => model.normalize(),
            Self::Mapped(model) => model.normalize(),
        }
    }

    /// Sorted ids of the labels without positives.
    pub fn untrained(&self) -> &[u32] {
        match self {
            Self::Whole(model) => model.untrained(),
            Self::Mapped(model) => model.untrained(),
        }
    }

    /// Weights and intercepts that are not zero.
    pub fn n_nonzero(&self) -> usize {
        match self {
            Self::Whole(model) => model.n_nonzero(),
            Self::Mapped(model) => model.n_nonzero(),
        }
    }
}
