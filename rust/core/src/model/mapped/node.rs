//! A node of a mapped model.

use super::checked::Part;
use crate::Result;
use crate::model::classifiers::direct_offsets_pay;
use crate::model::{Entry, NodeClassifiers};

/// The classifiers of one internal node, where they lie in the file. What is read
/// of them is checked before.
#[derive(Debug)]
pub(crate) struct MappedNode<'a> {
    pub(super) features: Part<'a, u32>,
    pub(super) offsets: Part<'a, u32>,
    pub(super) entries: Part<'a, Entry>,
    pub(super) intercepts: Part<'a, f64>,
}

impl<'a> MappedNode<'a> {
    /// Whether run `j` is that of feature id `j`, and there are no [`Self::features`].
    pub(crate) fn is_direct(&self) -> bool {
        self.offsets.len() > self.features.len() + 1
    }

    /// Ids of the features that have a weight.
    ///
    /// # Errors
    /// [`crate::Error::Format`] where the file is damaged, as the other methods.
    pub(crate) fn features(&self) -> Result<&'a [u32]> {
        self.features.all()
    }

    /// One intercept per child.
    pub(crate) fn intercepts(&self) -> Result<&'a [f64]> {
        self.intercepts.all()
    }

    /// The weights of run `at`: of a position among the features, or of an id.
    #[inline]
    pub(crate) fn run(&self, at: usize) -> Result<&'a [Entry]> {
        let ends = self.offsets.get(at..at + 2)?;
        let run = ends[0] as usize..ends[1] as usize;
        if run.start > run.end || run.end > self.entries.len() {
            return Err(self.offsets.error("is damaged: it points outside the node"));
        }
        self.entries.get(run)
    }

    /// The error of a weight that belongs to no child of the node.
    #[cold]
    pub(crate) fn no_child(&self, child: u32) -> crate::Error {
        self.entries
            .error(&format!("is damaged: there is no child {child}"))
    }

    /// A copy that is checked in every respect.
    pub(crate) fn whole(&self) -> Result<NodeClassifiers> {
        let starts = self.offsets.all()?;
        let entries = self.entries.all()?.to_vec();
        let intercepts = self.intercepts()?.to_vec();
        let (features, offsets) = if self.is_direct() {
            let used = (0..starts.len() - 1).filter(|&j| starts[j] != starts[j + 1]);
            let features: Vec<u32> = used.map(|j| j as u32).collect();
            let mut offsets: Vec<u32> = features.iter().map(|&j| starts[j as usize]).collect();
            offsets.push(starts[starts.len() - 1]);
            (features, offsets)
        } else {
            (self.features()?.to_vec(), starts.to_vec())
        };
        NodeClassifiers::from_parts(features, offsets, entries, intercepts)
            .map_err(|e| self.offsets.error(&format!("is damaged: {e}")))
    }
}

/// How many offsets a node has in the file.
pub(super) fn n_offsets(n_features: usize, own: usize, n_entries: usize) -> usize {
    if direct_offsets_pay(n_features, n_entries) {
        n_features + 1
    } else {
        own + 1
    }
}
