//! The model file: safetensors with one JSON document in its metadata.
//!
//! Sections (tensors) of tree `t` are `treet.tree`, `.features`, `.children`,
//! `.weights`, `.intercept_mask`, `.intercepts`; see the `encoding` module.
//! They are bytes; in version 1 weights and intercepts were F32 or F64.
//! `untrained` holds label ids, `extra.*` what the caller handed in. An empty
//! section is left out. The document has a checksum of every section, its type
//! and shape included, and one of itself.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

use safetensors::tensor::{Dtype, SafeTensors, TensorView, View, serialize};
use serde_json::{Map, Value, json};

use super::encoding::{Coding, Streams, decode, encode};
use super::header::{Header, checksum, seal};
use super::linear_tree::LinearTreeModel;
use super::scoring::Scoring;
use super::varint::{Reader, put_sorted};
use crate::{Error, Result};

const KEY: &str = "proxtree";

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

struct Section<'a> {
    dtype: Dtype,
    shape: Vec<usize>,
    bytes: Cow<'a, [u8]>,
}

impl View for &Section<'_> {
    fn dtype(&self) -> Dtype {
        self.dtype
    }

    fn shape(&self) -> &[usize] {
        &self.shape
    }

    fn data(&self) -> Cow<'_, [u8]> {
        Cow::Borrowed(&self.bytes)
    }

    fn data_len(&self) -> usize {
        self.bytes.len()
    }
}

/// The bytes of a model's file: equal models and descriptions give equal bytes.
///
/// # Errors
/// [`Error::Data`] for an extra whose bytes do not fit its type and shape, or
/// whose name occurs twice.
pub fn to_bytes(model: &LinearTreeModel, description: &Description) -> Result<Vec<u8>> {
    let mut sections = BTreeMap::new();
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
            add(&mut sections, format!("tree{t}.{part}"), bytes);
        }
    }
    let mut untrained = Vec::new();
    put_sorted(&mut untrained, model.untrained().iter().copied());
    add(&mut sections, "untrained".to_owned(), untrained);
    for extra in &description.extra {
        let section = extra_section(extra)?;
        let name = format!("extra.{}", extra.name);
        if sections.insert(name, section).is_some() {
            return Err(Error::data(format!("extra {:?} occurs twice", extra.name)));
        }
    }
    let checksums: Map<_, _> = sections
        .iter()
        .map(|(name, s)| {
            let sum = checksum(s.dtype, &s.shape, &s.bytes);
            (name.clone(), sum.into())
        })
        .collect();
    let document = seal(json!({
        "class_name": description.class_name,
        "n_features": model.n_features(),
        "n_labels": model.n_labels(),
        "n_trees": model.trees().len(),
        "normalize": model.normalize(),
        "scoring": model.scoring().name(),
        "sections": checksums,
        "settings": description.settings,
    }));
    let metadata = HashMap::from([(KEY.to_owned(), document)]);
    serialize(&sections, Some(metadata)).map_err(|e| Error::data(format!("cannot save: {e}")))
}

/// Read what [`to_bytes`] wrote. Memory is bounded by the number of bytes.
///
/// # Errors
/// [`Error::Format`] for foreign, damaged or cut bytes, naming the section, and
/// for another format version, naming both.
pub fn from_bytes(bytes: &[u8]) -> Result<(LinearTreeModel, Description)> {
    read(bytes).map_err(|e| match e {
        Error::Data(message) => Error::format(message),
        other => other,
    })
}

fn read(bytes: &[u8]) -> Result<(LinearTreeModel, Description)> {
    let broken = |e| Error::format(format!("not a proxtree model, or a damaged one: {e}"));
    let (_, metadata) = SafeTensors::read_metadata(bytes).map_err(broken)?;
    let file = SafeTensors::deserialize(bytes).map_err(broken)?;
    let document = metadata
        .metadata()
        .as_ref()
        .and_then(|m| m.get(KEY))
        .ok_or_else(|| Error::format("a safetensors file, but not a proxtree model"))?;
    let header = Header::parse(document)?;
    let mut sections: BTreeMap<_, _> = file.tensors().into_iter().collect();
    for (name, sum) in &header.sections {
        let section = sections
            .get(name)
            .ok_or_else(|| Error::format(format!("section {name} is missing")))?;
        let found = checksum(section.dtype(), section.shape(), section.data());
        if sum.as_u64() != Some(u64::from(found)) {
            return Err(Error::format(format!("section {name} is damaged")));
        }
    }
    if let Some(name) = sections.keys().find(|n| !header.sections.contains_key(*n)) {
        return Err(Error::format(format!("unknown section {name}")));
    }
    let mut trees = Vec::new();
    for t in 0..header.number("n_trees")? {
        let prefix = format!("tree{t}");
        if !sections.contains_key(&format!("{prefix}.tree")) {
            return Err(Error::format(format!("section {prefix}.tree is missing")));
        }
        let mut take = |part: &str| sections.remove(&format!("{prefix}.{part}"));
        let intercepts = take("intercepts");
        let coding = if header.version == 1 {
            let narrow_intercepts = intercepts.as_ref().is_some_and(|s| s.dtype() == Dtype::F32);
            Coding::Bytes { narrow_intercepts }
        } else {
            Coding::Bits
        };
        let streams = Streams {
            tree: raw(take("tree")),
            features: raw(take("features")),
            children: raw(take("children")),
            weights: raw(take("weights")),
            intercept_mask: raw(take("intercept_mask")),
            intercepts: raw(intercepts),
        };
        trees.push(decode(
            &streams,
            coding,
            header.number("n_labels")?,
            &prefix,
        )?);
    }
    let mut untrained = Vec::new();
    let stream = raw(sections.remove("untrained"));
    let mut reader = Reader::new("untrained", &stream);
    let mut next = 0;
    while !reader.is_empty() {
        untrained.push(reader.take_sorted(&mut next)?);
    }
    let mut extra = Vec::new();
    for (name, section) in sections {
        let name = name
            .strip_prefix("extra.")
            .ok_or_else(|| Error::format(format!("unexpected section {name}")))?;
        extra.push(Extra {
            name: name.to_owned(),
            dtype: section.dtype().to_string(),
            shape: section.shape().to_vec(),
            bytes: section.data().to_vec(),
        });
    }
    let model = LinearTreeModel::new(
        header.number("n_features")?,
        trees,
        Scoring::from_name(header.text("scoring")?)?,
        header.field("normalize", Value::as_bool)?,
        untrained,
    )?;
    let description = Description {
        class_name: header.text("class_name")?.to_owned(),
        settings: header.text("settings")?.to_owned(),
        extra,
    };
    Ok((model, description))
}

fn add(sections: &mut BTreeMap<String, Section<'_>>, name: String, bytes: Vec<u8>) {
    if !bytes.is_empty() {
        let section = Section {
            dtype: Dtype::U8,
            shape: vec![bytes.len()],
            bytes: Cow::Owned(bytes),
        };
        sections.insert(name, section);
    }
}

fn extra_section(extra: &Extra) -> Result<Section<'_>> {
    let dtype: Dtype = serde_json::from_value(Value::from(extra.dtype.as_str()))
        .map_err(|_| Error::data(format!("extra {:?}: type {:?}", extra.name, extra.dtype)))?;
    let n_values = extra
        .shape
        .iter()
        .try_fold(1usize, |n, &d| n.checked_mul(d));
    let n_bits = n_values.and_then(|n| n.checked_mul(dtype.bitsize()));
    if n_bits != extra.bytes.len().checked_mul(8) {
        return Err(Error::data(format!(
            "extra {:?}: {} bytes are no {dtype} of shape {:?}",
            extra.name,
            extra.bytes.len(),
            extra.shape
        )));
    }
    Ok(Section {
        dtype,
        shape: extra.shape.clone(),
        bytes: Cow::Borrowed(&extra.bytes),
    })
}

fn raw(section: Option<TensorView<'_>>) -> Vec<u8> {
    section.map_or_else(Vec::new, |s| s.data().to_vec())
}
