//! The mapped model.

use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use memmap2::{Mmap, MmapMut};
use safetensors::tensor::{Dtype, TensorView};
use serde_json::Value;

use super::checked::{Checked, MappedFile};
use super::node::{MappedNode, n_offsets};
use super::write::check_endian;
use crate::model::classifiers::direct_offsets_pay;
use crate::model::container::Parts;
use crate::model::file::{Description, as_format};
use crate::model::linear_tree::check_outline;
use crate::model::{Entry, LinearTreeModel, Scoring, TrainedTree};
use crate::tree::LabelTree;
use crate::{Error, Result};

/// A model whose weights stay in its file until they are asked for.
///
/// Trees and header are in memory, checked. Of everything else a page is read, and
/// its checksum looked at, when a prediction first needs it: no number of weights
/// makes the start slower, and damage is an error of whoever meets it.
#[derive(Debug)]
pub struct MappedModel {
    file: Arc<MappedFile>,
    n_features: usize,
    n_nonzero: usize,
    trees: Vec<MappedTree>,
    scoring: Scoring,
    normalize: bool,
    untrained: Vec<u32>,
}

#[derive(Debug)]
struct MappedTree {
    tree: LabelTree,
    /// Where the nodes start in the sections below; one more at the end.
    starts: Vec<Start>,
    features: Checked<u32>,
    offsets: Checked<u32>,
    entries: Checked<Entry>,
    intercepts: Checked<f64>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Start {
    feature: usize,
    offset: usize,
    entry: usize,
}

impl MappedModel {
    /// Use a mapped file of format version 3 as it lies.
    ///
    /// Cost: linear in the labels and nodes.
    ///
    /// # Errors
    /// [`Error::Format`] for foreign, damaged or cut bytes; [`Error::Data`] on a
    /// big-endian machine.
    pub(in crate::model) fn new(map: Mmap, path: Option<PathBuf>) -> Result<(Self, Description)> {
        check_endian()?;
        let file = Arc::new(MappedFile { map, path });
        as_format(open(&file)).map_err(|e| match &file.path {
            Some(path) => e.at(path),
            None => e,
        })
    }

    /// The same of bytes, which may lie anywhere: of a copy.
    pub(in crate::model) fn copied(bytes: &[u8]) -> Result<(Self, Description)> {
        let no_room = |e: std::io::Error| Error::data(format!("no room for a copy: {e}"));
        let mut map = MmapMut::map_anon(bytes.len()).map_err(no_room)?;
        map.copy_from_slice(bytes);
        Self::new(map.make_read_only().map_err(no_room)?, None)
    }

    /// All of it in memory, checked in every respect.
    ///
    /// # Errors
    /// [`Error::Format`] where the file is damaged.
    pub fn whole(&self) -> Result<LinearTreeModel> {
        let mut trees = Vec::with_capacity(self.trees.len());
        for (t, tree) in self.trees.iter().enumerate() {
            let nodes = (0..tree.tree.n_nodes()).map(|node| self.node(t, node).whole());
            let nodes = nodes.collect::<Result<_>>()?;
            trees.push((tree.tree.clone(), nodes));
        }
        let trees = trees
            .into_iter()
            .map(|(tree, nodes)| TrainedTree::new(tree, nodes));
        let model = trees.collect::<Result<_>>().and_then(|trees| {
            let untrained = self.untrained.clone();
            LinearTreeModel::new(
                self.n_features,
                trees,
                self.scoring,
                self.normalize,
                untrained,
            )
        });
        model.map_err(|e| self.file.error(e.to_string()))
    }

    /// Number of features.
    pub fn n_features(&self) -> usize {
        self.n_features
    }

    /// Number of trees.
    pub fn n_trees(&self) -> usize {
        self.trees.len()
    }

    /// A tree's labels.
    pub fn tree(&self, t: usize) -> &LabelTree {
        &self.trees[t].tree
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

    /// Weights and intercepts that are not zero.
    pub fn n_nonzero(&self) -> usize {
        self.n_nonzero
    }

    /// The classifiers of a node.
    pub(crate) fn node(&self, t: usize, node: usize) -> MappedNode<'_> {
        let tree = &self.trees[t];
        let (start, end) = (tree.starts[node], tree.starts[node + 1]);
        let children = tree.tree.child_ptr();
        let children = children[node] as usize..children[node + 1] as usize;
        MappedNode {
            features: tree.features.part(start.feature..end.feature, node),
            offsets: tree.offsets.part(start.offset..end.offset, node),
            entries: tree.entries.part(start.entry..end.entry, node),
            intercepts: tree.intercepts.part(children, node),
        }
    }
}

fn open(file: &Arc<MappedFile>) -> Result<(MappedModel, Description)> {
    let mut parts = Parts::read(&file.map)?;
    let n_features = parts.header.number("n_features")?;
    let n_labels = parts.header.number("n_labels")?;
    let mut trees = Vec::new();
    for t in 0..parts.header.number("n_trees")? {
        trees.push(open_tree(file, &mut parts, t, n_labels, n_features)?);
    }
    let untrained = parts.take_untrained()?;
    let scoring = Scoring::from_name(parts.header.text("scoring")?)?;
    check_outline(
        n_features,
        trees.iter().map(|t| &t.tree),
        scoring,
        &untrained,
    )?;
    let model = MappedModel {
        file: file.clone(),
        n_features,
        n_nonzero: parts.header.number("n_nonzero")?,
        trees,
        scoring,
        normalize: parts.header.field("normalize", Value::as_bool)?,
        untrained,
    };
    Ok((model, parts.description()?))
}

fn open_tree(
    file: &Arc<MappedFile>,
    parts: &mut Parts<'_>,
    t: usize,
    n_labels: usize,
    n_features: usize,
) -> Result<MappedTree> {
    let mut small = |part: &str| {
        let name = format!("tree{t}.{part}");
        let section = parts
            .take(&name)
            .ok_or_else(|| Error::format(format!("section {name} is missing")))?;
        numbers(&name, &section)
    };
    let children = small("children")?;
    // Before anything of that size is allocated.
    if children.len() < n_labels {
        return Err(Error::format(format!(
            "section tree{t}.children has no room for the header's {n_labels} labels"
        )));
    }
    let tree = LabelTree::from_parts(n_labels, small("child_ptr")?, children)?;
    let counts = small("counts")?;
    let (counts, _) = counts.as_chunks();
    let starts = starts(counts, n_features);
    let base = file.map.as_ptr().addr();
    let mut place = |name: &str, dtype: Dtype| {
        let Some(section) = parts.take(name) else {
            // An empty section is left out.
            return Ok(0..0);
        };
        if section.dtype() != dtype {
            let text = format!("section {name} is {}, not {dtype}", section.dtype());
            return Err(Error::format(text));
        }
        let start = section.data().as_ptr().addr() - base;
        Ok(start..start + section.data().len())
    };
    let mut large = |part: &str, dtype: Dtype| -> Result<(String, Range<usize>, Range<usize>)> {
        let name = format!("tree{t}.{part}");
        let bytes = place(&name, dtype)?;
        let sums = place(&format!("{name}.crc"), Dtype::U32)?;
        Ok((name, bytes, sums))
    };
    let new = |(name, bytes, sums)| Checked::new(file, name, bytes, sums);
    let features = new(large("features", Dtype::U32)?)?;
    let offsets = new(large("offsets", Dtype::U32)?)?;
    let (name, bytes, sums) = large("entries", Dtype::U32)?;
    let entries = Checked::new(file, name, bytes, sums)?;
    let (name, bytes, sums) = large("intercepts", Dtype::F64)?;
    let intercepts = Checked::new(file, name, bytes, sums)?;
    let lengths = (features.len(), offsets.len(), entries.len());
    let end = starts.as_ref().and_then(|starts| starts.last().copied());
    let fits = end.is_some_and(|end| lengths == (end.feature, end.offset, end.entry))
        && counts.len() == tree.n_nodes()
        && intercepts.len() == tree.n_problems();
    match starts {
        Some(starts) if fits => Ok(MappedTree {
            tree,
            starts,
            features,
            offsets,
            entries,
            intercepts,
        }),
        _ => Err(Error::format(format!(
            "section tree{t}.counts does not fit the tree and its sections"
        ))),
    }
}

/// Where each node starts, from its numbers of features and weights; none where a
/// node cannot have as many, or the sum has no room.
fn starts(counts: &[[u32; 2]], n_features: usize) -> Option<Vec<Start>> {
    let mut at = Start::default();
    let mut starts = vec![at];
    for &[own, n_entries] in counts {
        let (own, n_entries) = (own as usize, n_entries as usize);
        if own > 0 && direct_offsets_pay(n_features, n_entries) {
            return None;
        }
        at.feature = at.feature.checked_add(own)?;
        at.entry = at.entry.checked_add(n_entries)?;
        at.offset = n_offsets(n_features, own, n_entries).checked_add(at.offset)?;
        starts.push(at);
    }
    Some(starts)
}

/// The values of a small section.
fn numbers(name: &str, section: &TensorView<'_>) -> Result<Vec<u32>> {
    let (values, rest) = section.data().as_chunks();
    if section.dtype() != Dtype::U32 || !rest.is_empty() {
        return Err(Error::format(format!("section {name} is not U32")));
    }
    Ok(values.iter().map(|&v| u32::from_le_bytes(v)).collect())
}
