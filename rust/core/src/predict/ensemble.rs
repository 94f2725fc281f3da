//! Several trees: the mean of their scores.

use super::beam::Sink;
use super::top_k::Candidate;
use crate::model::Scoring;

/// Sums over the trees for the labels that at least one of them reached.
///
/// A tree that does not reach a label counts as score 0. Trees are added in
/// order, so the sums do not depend on anything else.
#[derive(Debug)]
pub(super) struct Mean {
    scoring: Scoring,
    scores: Vec<f32>,
    margins: Vec<f32>,
    seen: Vec<bool>,
    reached: Vec<u32>,
}

impl Mean {
    pub(super) fn new(scoring: Scoring, n_labels: usize) -> Self {
        Self {
            scoring,
            scores: vec![0.0; n_labels],
            margins: vec![0.0; n_labels],
            seen: vec![false; n_labels],
            reached: Vec::new(),
        }
    }

    /// Hand out each label with its mean score over `n_trees` and the sum of its
    /// leaf margins, and start anew.
    pub(super) fn drain(&mut self, n_trees: usize, mut each: impl FnMut(Candidate)) {
        for id in self.reached.drain(..) {
            let l = id as usize;
            self.seen[l] = false;
            each(Candidate {
                score: std::mem::take(&mut self.scores[l]) / n_trees as f32,
                z: std::mem::take(&mut self.margins[l]),
                id,
            });
        }
    }
}

impl Sink for Mean {
    fn label(&mut self, candidate: Candidate) {
        let l = candidate.id as usize;
        if !std::mem::replace(&mut self.seen[l], true) {
            self.reached.push(candidate.id);
        }
        self.scores[l] += self.scoring.score(candidate.score);
        self.margins[l] += candidate.z;
    }

    /// The other trees may lift any label.
    fn hopeless(&self, _: f32) -> bool {
        false
    }
}
