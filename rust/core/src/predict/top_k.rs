//! The k best labels of a row.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// A label with what decides its rank.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate {
    /// Path score in a tree, margin in one-vs-rest, mean score in an ensemble.
    pub(super) score: f32,
    /// Margin of the leaf: decides between equal scores.
    pub(super) z: f32,
    /// Decides between equal margins: the smaller id is better.
    pub(super) id: u32,
}

impl Candidate {
    /// `Greater` when `self` is the better one; a total order, equal only for
    /// the same label.
    #[inline]
    fn compare(&self, other: &Self) -> Ordering {
        self.score
            .total_cmp(&other.score)
            .then_with(|| self.z.total_cmp(&other.z))
            .then_with(|| other.id.cmp(&self.id))
    }
}

impl PartialEq for Candidate {
    fn eq(&self, other: &Self) -> bool {
        self.compare(other) == Ordering::Equal
    }
}

impl Eq for Candidate {}

impl PartialOrd for Candidate {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Worst is greatest, so that the heap gives up its worst first.
impl Ord for Candidate {
    #[inline]
    fn cmp(&self, other: &Self) -> Ordering {
        other.compare(self)
    }
}

/// A bounded heap: the k best candidates offered.
#[derive(Debug, Default)]
pub(super) struct TopK {
    k: usize,
    heap: BinaryHeap<Candidate>,
}

impl TopK {
    /// Drop all candidates and make room for `k >= 1` others.
    pub(super) fn restart(&mut self, k: usize) {
        self.k = k;
        self.heap.clear();
    }

    /// The worst kept candidate once k are there: others must beat it.
    #[inline]
    pub(super) fn worst(&self) -> Option<&Candidate> {
        (self.heap.len() == self.k)
            .then(|| self.heap.peek())
            .flatten()
    }

    /// No candidate of a lower score is kept.
    #[inline]
    pub(super) fn floor(&self) -> f32 {
        self.worst().map_or(f32::NEG_INFINITY, |worst| worst.score)
    }

    /// Keep `candidate` if it is among the k best so far.
    #[inline]
    pub(super) fn offer(&mut self, candidate: Candidate) {
        if self.heap.len() < self.k {
            self.heap.push(candidate);
        } else if let Some(mut worst) = self.heap.peek_mut()
            && candidate < *worst
        {
            *worst = candidate;
        }
    }

    /// Hand out the candidates kept, best first; none are left.
    pub(super) fn drain_sorted(&mut self, each: impl FnMut(Candidate)) {
        // The way there and back keeps the allocation.
        let mut candidates = std::mem::take(&mut self.heap).into_sorted_vec();
        candidates.drain(..).for_each(each);
        self.heap = candidates.into();
    }
}
