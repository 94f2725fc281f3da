//! The linear classifiers of one internal node.

use crate::sparse::{CsrMatrix, Pattern};
use crate::{Error, Result};

/// One weight of a feature's run.
#[derive(Clone, Copy, Debug, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub struct Entry {
    /// Position among the node's children.
    pub child: u32,
    /// The weight, finite and not zero.
    pub weight: f32,
}

/// The classifier of one child, as a solver leaves it.
#[derive(Clone, Copy, Debug)]
pub struct ChildWeights<'a> {
    /// Feature ids, without duplicates.
    pub indices: &'a [u32],
    /// Their weights.
    pub values: &'a [f32],
    /// Added to the score; 0 for none.
    pub intercept: f64,
}

/// Sparse linear classifiers, one per child: `z_c = sum_j x_j W_jc + b_c`.
///
/// Stored by feature, because a row holds few features and prediction asks for
/// the children that each of them touches: sorted feature ids, and for each a
/// run of [`Entry`] with ascending children.
#[derive(Clone, Debug, PartialEq)]
pub struct NodeClassifiers {
    features: Vec<u32>,
    offsets: Vec<u32>,
    entries: Vec<Entry>,
    intercepts: Vec<f64>,
}

impl NodeClassifiers {
    /// Turn the children's weights, in order of the children, into runs.
    ///
    /// Zero weights are dropped. Cost: one sort of the weights, or passes over
    /// them where they are as many as the feature ids they span.
    ///
    /// # Errors
    /// [`Error::Data`] where a child has more ids than values or the reverse, a
    /// feature twice, a value or an intercept that is not finite; for no child
    /// at all and for 2^32 weights and more.
    pub fn from_problems<'a>(problems: impl IntoIterator<Item = ChildWeights<'a>>) -> Result<Self> {
        let problems: Vec<ChildWeights<'a>> = problems.into_iter().collect();
        for (child, p) in problems.iter().enumerate() {
            if p.indices.len() != p.values.len() {
                return Err(Error::data(format!(
                    "child {child}: {} feature ids for {} weights",
                    p.indices.len(),
                    p.values.len()
                )));
            }
        }
        let intercepts = problems.iter().map(|p| p.intercept).collect();
        let n_weights: usize = problems.iter().map(|p| p.indices.len()).sum();
        let last = problems.iter().flat_map(|p| p.indices).max();
        match last {
            Some(&last) if n_weights > last as usize => by_counting(&problems, last, intercepts),
            _ => by_sorting(&problems, n_weights, intercepts),
        }
    }

    /// Check the parts that the accessors give back, and own them.
    ///
    /// # Errors
    /// [`Error::Data`] where ids are unsorted or out of range, offsets do not
    /// span the entries, a run is empty, or a number is not finite or a weight 0.
    pub fn from_parts(
        features: Vec<u32>,
        offsets: Vec<u32>,
        entries: Vec<Entry>,
        intercepts: Vec<f64>,
    ) -> Result<Self> {
        let n_children = intercepts.len();
        if n_children == 0 || u32::try_from(n_children).is_err() {
            return Err(Error::data(format!(
                "a node needs between 1 and 2^32 - 1 children, not {n_children}"
            )));
        }
        if u32::try_from(entries.len()).is_err() {
            return Err(Error::data(format!(
                "{} weights in one node are 2^32 or more",
                entries.len()
            )));
        }
        if offsets.len() != features.len() + 1
            || offsets[0] != 0
            || offsets[features.len()] as usize != entries.len()
            || offsets.windows(2).any(|w| w[0] >= w[1])
        {
            return Err(Error::data("the runs of a node do not span its weights"));
        }
        if let Some([a, b, ..]) = features.windows(2).find(|w| w[0] >= w[1]) {
            return Err(Error::data(format!(
                "feature ids of a node must be sorted and unique: {b} after {a}"
            )));
        }
        for (&feature, w) in features.iter().zip(offsets.windows(2)) {
            let run = &entries[w[0] as usize..w[1] as usize];
            if run.windows(2).any(|e| e[0].child >= e[1].child)
                || run[run.len() - 1].child as usize >= n_children
            {
                return Err(Error::data(format!(
                    "feature {feature}: children must be sorted, unique and below {n_children}"
                )));
            }
            if let Some(e) = run
                .iter()
                .find(|e| !e.weight.is_finite() || e.weight == 0.0)
            {
                return Err(Error::data(format!(
                    "feature {feature}, child {}: weight {} is not finite or zero",
                    e.child, e.weight
                )));
            }
        }
        if let Some(child) = intercepts.iter().position(|b| !b.is_finite()) {
            return Err(Error::data(format!(
                "child {child}: intercept {} is not finite",
                intercepts[child]
            )));
        }
        Ok(Self {
            features,
            offsets,
            entries,
            intercepts,
        })
    }

    /// Number of children.
    pub fn n_children(&self) -> usize {
        self.intercepts.len()
    }

    /// Weights and intercepts that are not zero.
    pub fn n_nonzero(&self) -> usize {
        self.entries.len() + self.intercepts.iter().filter(|&&b| b != 0.0).count()
    }

    /// Sorted ids of the features that have a weight.
    pub fn features(&self) -> &[u32] {
        &self.features
    }

    /// Where each feature's run starts: `features().len() + 1` offsets.
    pub fn offsets(&self) -> &[u32] {
        &self.offsets
    }

    /// All runs, one after the other.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// One intercept per child.
    pub fn intercepts(&self) -> &[f64] {
        &self.intercepts
    }

    /// Where the run of every feature id below `n_features` starts, one more at the
    /// end: offsets that need no search. None where they would take more room than
    /// the weights; [`direct_offsets_pay`] knows without the weights.
    pub(crate) fn direct_offsets(&self, n_features: usize) -> Option<Vec<u32>> {
        if !direct_offsets_pay(n_features, self.entries.len()) {
            return None;
        }
        let mut starts = vec![0u32; n_features + 1];
        let mut done = 0;
        for (&feature, &start) in self.features.iter().zip(&self.offsets) {
            starts[done..=feature as usize].fill(start);
            done = feature as usize + 1;
        }
        starts[done..].fill(self.entries.len() as u32);
        Some(starts)
    }

    /// Round the intercepts to `f32`, the precision of a deep tree's file.
    ///
    /// # Errors
    /// [`Error::Data`] for one beyond the range of `f32`.
    pub(super) fn round_intercepts(&mut self) -> Result<()> {
        for b in &mut self.intercepts {
            let rounded = *b as f32;
            if !rounded.is_finite() {
                return Err(Error::data(format!("intercept {b} overflows float32")));
            }
            *b = f64::from(rounded);
        }
        Ok(())
    }

    /// The weights by child: CSR of shape (`n_children`, `n_features`).
    ///
    /// Cost: two passes over the weights.
    pub fn coef(&self, n_features: usize) -> CsrMatrix {
        let mut indptr = vec![0u64; self.n_children() + 1];
        for e in &self.entries {
            indptr[e.child as usize + 1] += 1;
        }
        for c in 0..self.n_children() {
            indptr[c + 1] += indptr[c];
        }
        let mut next = indptr.clone();
        let mut indices = vec![0u32; self.entries.len()];
        let mut data = vec![0.0f32; self.entries.len()];
        for (&feature, w) in self.features.iter().zip(self.offsets.windows(2)) {
            for e in &self.entries[w[0] as usize..w[1] as usize] {
                let to = next[e.child as usize] as usize;
                next[e.child as usize] += 1;
                indices[to] = feature;
                data[to] = e.weight;
            }
        }
        let pattern = Pattern {
            n_cols: n_features,
            indptr,
            indices,
        };
        CsrMatrix { pattern, data }
    }
}

/// Whether an offset for every feature takes no more room than the weights.
pub(super) fn direct_offsets_pay(n_features: usize, n_entries: usize) -> bool {
    n_features <= 2 * n_entries
}

/// The weights of a child that are not zero.
fn weights<'a>(p: &ChildWeights<'a>) -> impl Iterator<Item = (u32, f32)> + use<'a> {
    let pairs = p.indices.iter().copied().zip(p.values.iter().copied());
    pairs.filter(|&(_, w)| w != 0.0)
}

/// Runs of few weights among many feature ids.
fn by_sorting(
    problems: &[ChildWeights<'_>],
    n_weights: usize,
    intercepts: Vec<f64>,
) -> Result<NodeClassifiers> {
    let mut keyed = Vec::with_capacity(n_weights);
    for (child, p) in (0_u64..).zip(problems) {
        keyed.extend(weights(p).map(|(j, w)| (u64::from(j) << 32 | child, w)));
    }
    keyed.sort_unstable_by_key(|&(key, _)| key);
    let mut features: Vec<u32> = Vec::new();
    let mut offsets = Vec::new();
    let mut entries = Vec::with_capacity(keyed.len());
    for (key, weight) in keyed {
        let feature = (key >> 32) as u32;
        if features.last() != Some(&feature) {
            features.push(feature);
            offsets.push(entries.len() as u32);
        }
        let child = key as u32;
        entries.push(Entry { child, weight });
    }
    offsets.push(entries.len() as u32);
    NodeClassifiers::from_parts(features, offsets, entries, intercepts)
}

/// Runs of many weights: no copy of them but the runs themselves.
fn by_counting(
    problems: &[ChildWeights<'_>],
    last: u32,
    intercepts: Vec<f64>,
) -> Result<NodeClassifiers> {
    let mut next = vec![0_u32; last as usize + 1];
    let mut n_entries = 0_u64;
    for (j, _) in problems.iter().flat_map(weights) {
        next[j as usize] = next[j as usize].saturating_add(1);
        n_entries += 1;
    }
    if u32::try_from(n_entries).is_err() {
        return Err(Error::data(format!(
            "{n_entries} weights in one node are 2^32 or more"
        )));
    }
    let mut features: Vec<u32> = Vec::new();
    let mut offsets = Vec::new();
    let mut start = 0;
    for (j, count) in (0..).zip(&mut next) {
        if *count > 0 {
            features.push(j);
            offsets.push(start);
        }
        let end = start + *count;
        *count = start;
        start = end;
    }
    offsets.push(start);
    let empty = Entry {
        child: 0,
        weight: 0.0,
    };
    let mut entries = vec![empty; start as usize];
    // Children come in order, so each run has them in order.
    for (child, p) in (0..).zip(problems) {
        for (j, weight) in weights(p) {
            let to = &mut next[j as usize];
            entries[*to as usize] = Entry { child, weight };
            *to += 1;
        }
    }
    NodeClassifiers::from_parts(features, offsets, entries, intercepts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counting_gives_what_sorting_gives() {
        let ids: [&[u32]; 3] = [&[4, 0, 2], &[], &[2, 5, 4, 1]];
        let values: [&[f32]; 3] = [&[1.0, 0.0, -2.0], &[], &[3.0, 4.0, 5.0, 6.0]];
        let problems: Vec<ChildWeights<'_>> = (0..3)
            .map(|c| ChildWeights {
                indices: ids[c],
                values: values[c],
                intercept: c as f64,
            })
            .collect();
        let intercepts = vec![0.0, 1.0, 2.0];
        let counted = by_counting(&problems, 5, intercepts.clone()).unwrap();
        assert_eq!(counted, by_sorting(&problems, 7, intercepts).unwrap());
        assert_eq!(counted.features(), [1, 2, 4, 5]);
        assert_eq!(counted.offsets(), [0, 1, 3, 5, 6]);
        assert_eq!(
            counted.entries()[1],
            Entry {
                child: 0,
                weight: -2.0
            }
        );
    }
}
