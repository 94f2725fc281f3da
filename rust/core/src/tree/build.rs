//! A label tree from label features, level by level.

use rayon::prelude::*;

use super::clustering::{Clustering, split};
use super::label_tree::{Child, LabelTree};
use super::points::Points;
use crate::parallel::Control;
use crate::rng::SplitMix64;
use crate::sparse::CsrView;
use crate::{Error, Result};

/// The shape of the tree to build, and how nodes are split.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BuildSettings {
    /// K: clusters a node is split into, at least 2. A node of at most K labels
    /// is split no further; more than `n_labels` gives the flat tree.
    pub n_clusters: usize,
    /// Depth of the deepest labels, at least 1 (flat): the paper's `d_max`.
    pub max_depth: usize,
    /// How a node is split.
    pub clustering: Clustering,
    /// Most rounds of a node's K-means; the balanced clusterings know their own.
    pub max_iter: usize,
    /// Seed of all random choices.
    pub seed: u64,
}

/// A node whose children are not known yet; no points if it is not to be split.
struct Pending {
    labels: Vec<u32>,
    points: Points,
}

/// Build the tree whose leaves are the rows of `label_features`.
///
/// The labels of a node are split into K clusters, and each cluster of more than
/// one label becomes a node; a cluster of one hangs its label directly under the
/// node. A node of at most K labels, or at depth `max_depth - 1`, holds its
/// labels as leaves, ascending. Where clustering cannot split (all rows equal),
/// labels are cut by position into even runs.
///
/// Labels without features would drag centroids towards zero: they form one
/// child of the root of their own, and the other labels are split into K - 1
/// clusters there (at least 2). No example ever belongs to that child, so it
/// costs no weights.
///
/// No recursion: depth and label number do not touch the stack. Node v draws
/// from a random stream of (seed, v) only; the tree is the same bit for bit for
/// any number of threads, and one built deeper and clipped is the same tree.
///
/// Cost: a level is a K-means over its labels' non-zeros; memory: two copies of
/// the label features, and K numbers a label.
///
/// Source: "Exploring Space Efficiency in a Tree-based Linear Model for Extreme
/// Multi-label Classification", EMNLP 2024, section 2; LibMultiLabel. Differs:
/// single labels get no node of their own; equal rows are split evenly.
///
/// # Errors
/// [`Error::Data`] for no labels, `n_clusters < 2` or `max_depth < 1`;
/// [`Error::Cancelled`].
pub fn build(
    label_features: CsrView<'_>,
    settings: &BuildSettings,
    control: &Control,
) -> Result<LabelTree> {
    if settings.n_clusters < 2 {
        return Err(Error::data(format!(
            "n_clusters must be at least 2, not {} (max_depth=1 gives a flat tree)",
            settings.n_clusters
        )));
    }
    if settings.max_depth < 1 {
        return Err(Error::data("max_depth must be at least 1 (flat), not 0"));
    }
    let n_labels = label_features.n_rows();
    if n_labels <= settings.n_clusters || settings.max_depth == 1 {
        return LabelTree::flat(n_labels);
    }
    let labels: Vec<u32> = (0..n_labels as u32).collect();
    let mut level = vec![Pending {
        points: Points::from_rows(label_features, &labels),
        labels,
    }];
    let mut nodes: Vec<Vec<Child>> = Vec::new();
    let mut n_nodes = 1;
    let mut depth = 0;
    while !level.is_empty() {
        let first = nodes.len();
        // Labels count as a level of their own.
        let levels_below = settings.max_depth - depth - 1;
        let split_all: Vec<Vec<Pending>> = level
            .into_par_iter()
            .enumerate()
            .map(|(i, node)| {
                control.check()?;
                grow(node, first + i, levels_below, settings, control)
            })
            .collect::<Result<_>>()?;
        level = Vec::new();
        for children in split_all {
            let mut codes = Vec::with_capacity(children.len());
            for child in children {
                if let [label] = child.labels[..] {
                    codes.push(Child::Label(label));
                } else {
                    codes.push(Child::Node(n_nodes));
                    n_nodes += 1;
                    level.push(child);
                }
            }
            nodes.push(codes);
        }
        depth += 1;
    }
    LabelTree::from_children(n_labels, &nodes, 0)
}

/// The children of `node`: one for each label, or one for each cluster.
fn grow(
    node: Pending,
    id: usize,
    levels_below: usize,
    settings: &BuildSettings,
    control: &Control,
) -> Result<Vec<Pending>> {
    let Pending { labels, points } = node;
    let k = settings.n_clusters;
    if levels_below == 0 || labels.len() <= k {
        return Ok(labels
            .into_iter()
            .map(|label| Pending {
                labels: vec![label],
                points: Points::default(),
            })
            .collect());
    }
    let split_children = levels_below > 1;
    let rng = SplitMix64::stream(settings.seed, id as u64);
    let sets = if id == 0 {
        split_root(&points, k, settings, rng, control)?
    } else {
        split(&points, k, settings, rng, control)?
    };
    let mut counts = vec![0; points.n_features()];
    let mut points_of = |rows: &[u32]| {
        if rows.len() > k && split_children {
            points.subset_with(rows, &mut counts)
        } else {
            Points::default()
        }
    };
    Ok(sets
        .into_iter()
        .map(|rows| Pending {
            points: points_of(&rows),
            labels: rows.iter().map(|&row| labels[row as usize]).collect(),
        })
        .collect())
}

/// Split the root, rows without features apart.
fn split_root(
    points: &Points,
    k: usize,
    settings: &BuildSettings,
    rng: SplitMix64,
    control: &Control,
) -> Result<Vec<Vec<u32>>> {
    let (used, empty): (Vec<u32>, Vec<u32>) =
        (0..points.len() as u32).partition(|&i| !points.row(i as usize).0.is_empty());
    if used.is_empty() || empty.is_empty() {
        return split(points, k, settings, rng, control);
    }
    let k = (k - 1).max(2).min(used.len());
    let mut sets = if k == 1 {
        vec![used]
    } else {
        let sets = split(&points.subset(&used), k, settings, rng, control)?;
        let original = |set: Vec<u32>| set.into_iter().map(|i| used[i as usize]).collect();
        sets.into_iter().map(original).collect()
    };
    sets.push(empty);
    Ok(sets)
}
