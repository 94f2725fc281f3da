//! The model file: safetensors with one JSON document in its metadata.
//!
//! Sections (tensors) of tree `t` are `treet.tree`, `.features`, `.children`,
//! `.weights`, `.intercept_mask`, `.intercepts`; see the `encoding` module.
//! They are bytes; in version 1 weights and intercepts were F32 or F64.
//! `untrained` holds label ids, `extra.*` what the caller handed in. An empty
//! section is left out. The document has a checksum of every section, its type
//! and shape included, and one of itself.

use safetensors::tensor::{Dtype, TensorView};
use serde_json::{Value, json};

use super::container::{Parts, Prepared, Sections};
use super::encoding::{Coding, Streams, decode, encode};
use super::header::{FORMAT_VERSION, MAPPED_VERSION};
use super::linear_tree::LinearTreeModel;
use super::mapped::MappedModel;
use super::scoring::Scoring;
use crate::{Error, Result};

/// An array of the caller's that travels with the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Extra {
    /// Its name, unique among the extras.
    pub name: String,
    /// A safetensors type: `U8`, `I32`, `F64`, ...
    pub dtype: String,
    /// Its shape.
    pub shape: Vec<usize>,
    /// Its values, little-endian.
    pub bytes: Vec<u8>,
}

/// What a file says beside the model, given back as it was handed in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Description {
    /// The class that was saved.
    pub class_name: String,
    /// Its settings, a JSON document.
    pub settings: String,
    /// Further arrays.
    pub extra: Vec<Extra>,
}

/// The bytes of a model's file: equal models and descriptions give equal bytes.
///
/// # Errors
/// [`Error::Data`] for an extra whose bytes do not fit its type and shape, or
/// whose name occurs twice.
pub fn to_bytes(model: &LinearTreeModel, description: &Description) -> Result<Vec<u8>> {
    prepare(model, description).map(|prepared| prepared.to_bytes())
}

pub(super) fn prepare<'a>(
    model: &LinearTreeModel,
    description: &'a Description,
) -> Result<Prepared<'a>> {
    let mut sections = Sections::default();
    for (t, tree) in model.trees().iter().enumerate() {
        let streams = encode(tree);
        for (part, bytes) in [
            ("tree", streams.tree),
            ("features", streams.features),
            ("children", streams.children),
            ("weights", streams.weights),
            ("intercept_mask", streams.intercept_mask),
            ("intercepts", streams.intercepts),
        ] {
            sections.add(format!("tree{t}.{part}"), bytes);
        }
    }
    sections.prepare(model, description, FORMAT_VERSION, json!({}))
}

/// Read what [`to_bytes`] or [`super::to_mapped_bytes`] wrote. Memory is bounded by
/// the number of bytes.
///
/// # Errors
/// [`Error::Format`] for foreign, damaged or cut bytes, naming the section, and
/// for another format version, naming both.
pub fn from_bytes(bytes: &[u8]) -> Result<(LinearTreeModel, Description)> {
    as_format(read(bytes))
}

/// What is wrong with a file is a matter of its format.
pub(super) fn as_format<T>(result: Result<T>) -> Result<T> {
    result.map_err(|e| match e {
        Error::Data(message) => Error::format(message),
        other => other,
    })
}

fn read(bytes: &[u8]) -> Result<(LinearTreeModel, Description)> {
    let mut parts = Parts::read(bytes)?;
    let version = parts.header.version;
    if version == MAPPED_VERSION {
        let (model, description) = MappedModel::copied(bytes)?;
        return Ok((model.whole()?, description));
    }
    let mut trees = Vec::new();
    for t in 0..parts.header.number("n_trees")? {
        let prefix = format!("tree{t}");
        let mut take = |part: &str| parts.take(&format!("{prefix}.{part}"));
        let tree = take("tree");
        if tree.is_none() {
            return Err(Error::format(format!("section {prefix}.tree is missing")));
        }
        let intercepts = take("intercepts");
        let coding = if version == 1 {
            let narrow_intercepts = intercepts.as_ref().is_some_and(|s| s.dtype() == Dtype::F32);
            Coding::Bytes { narrow_intercepts }
        } else {
            Coding::Bits
        };
        let streams = Streams {
            tree: raw(tree),
            features: raw(take("features")),
            children: raw(take("children")),
            weights: raw(take("weights")),
            intercept_mask: raw(take("intercept_mask")),
            intercepts: raw(intercepts),
        };
        let n_labels = parts.header.number("n_labels")?;
        trees.push(decode(&streams, coding, n_labels, &prefix)?);
    }
    let untrained = parts.take_untrained()?;
    let model = LinearTreeModel::new(
        parts.header.number("n_features")?,
        trees,
        Scoring::from_name(parts.header.text("scoring")?)?,
        parts.header.field("normalize", Value::as_bool)?,
        untrained,
    )?;
    Ok((model, parts.description()?))
}

fn raw(section: Option<TensorView<'_>>) -> Vec<u8> {
    section.map_or_else(Vec::new, |s| s.data().to_vec())
}
