//! What both layouts of a model file share: sections, their checksums, the header.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::fmt::Display;
use std::io::Write;

use safetensors::tensor::{Dtype, Metadata, SafeTensors, TensorInfo, TensorView};
use serde_json::{Map, Value, json};

use super::file::{Description, Extra};
use super::header::{Header, MAPPED_VERSION, checksum, seal};
use super::linear_tree::LinearTreeModel;
use super::varint::{Reader, put_sorted};
use crate::{Error, Result};

const KEY: &str = "proxtree";

/// Bytes of the header's length, with which a file begins.
pub(super) const LENGTH: usize = 8;

/// The longest header that safetensors reads.
pub(super) const MAX_HEADER: u64 = 100_000_000;

/// The format version that the beginning of a file names, up to its header's end.
pub(super) fn version(head: &[u8]) -> Option<u64> {
    let header: Value = serde_json::from_slice(head.get(LENGTH..)?).ok()?;
    let document = header["__metadata__"][KEY].as_str()?;
    let document: Value = serde_json::from_str(document).ok()?;
    document["format_version"].as_u64()
}

/// Bytes of all sections together, by the beginning of a file up to its header's end.
pub(super) fn data_length(head: &[u8]) -> Option<u64> {
    let header: Map<String, Value> = serde_json::from_slice(head.get(LENGTH..)?).ok()?;
    let sections = header.iter().filter(|(name, _)| *name != "__metadata__");
    let mut ends = sections.map(|(_, section)| section["data_offsets"][1].as_u64());
    ends.try_fold(0, |length, end| Some(end?.max(length)))
}

/// A tensor to be written, in as many pieces as it has where it comes from.
pub(super) struct Section<'a> {
    dtype: Dtype,
    shape: Vec<usize>,
    pieces: Vec<Cow<'a, [u8]>>,
    /// Whether the header's checksum is of type and shape alone.
    checked_in_use: bool,
}

impl Section<'_> {
    fn n_bytes(&self) -> usize {
        self.pieces.iter().map(|p| p.len()).sum()
    }
}

/// The sections of a file to be written, by name.
#[derive(Default)]
pub(super) struct Sections<'a>(BTreeMap<String, Section<'a>>);

/// A file to be written.
pub(super) struct Prepared<'a> {
    head: Vec<u8>,
    pieces: Vec<Cow<'a, [u8]>>,
}

impl Prepared<'_> {
    pub(super) fn write(&self, out: &mut impl Write) -> std::io::Result<()> {
        out.write_all(&self.head)?;
        self.pieces
            .iter()
            .try_for_each(|piece| out.write_all(piece))
    }

    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = self.head.clone();
        self.pieces.iter().for_each(|p| bytes.extend_from_slice(p));
        bytes
    }
}

impl<'a> Sections<'a> {
    /// Add bytes; an empty section is left out.
    pub(super) fn add(&mut self, name: String, bytes: Vec<u8>) {
        let shape = vec![bytes.len()];
        self.add_typed(name, Dtype::U8, shape, vec![Cow::Owned(bytes)], false);
    }

    pub(super) fn add_typed(
        &mut self,
        name: String,
        dtype: Dtype,
        shape: Vec<usize>,
        pieces: Vec<Cow<'a, [u8]>>,
        checked_in_use: bool,
    ) {
        let section = Section {
            dtype,
            shape,
            pieces,
            checked_in_use,
        };
        if section.n_bytes() > 0 {
            self.0.insert(name, section);
        }
    }

    /// The file; `facts` are further fields of the header.
    pub(super) fn prepare(
        mut self,
        model: &LinearTreeModel,
        description: &'a Description,
        version: u64,
        facts: Value,
    ) -> Result<Prepared<'a>> {
        let mut untrained = Vec::new();
        put_sorted(&mut untrained, model.untrained().iter().copied());
        self.add("untrained".to_owned(), untrained);
        let mut sections = self.0;
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
                let checked = if s.checked_in_use { &[] } else { &s.pieces[..] };
                let pieces = checked.iter().map(|p| &p[..]);
                (name.clone(), checksum(s.dtype, &s.shape, pieces).into())
            })
            .collect();
        let mut document = json!({
            "class_name": description.class_name,
            "n_features": model.n_features(),
            "n_labels": model.n_labels(),
            "n_trees": model.trees().len(),
            "normalize": model.normalize(),
            "scoring": model.scoring().name(),
            "sections": checksums,
            "settings": description.settings,
        });
        if let (Value::Object(document), Value::Object(facts)) = (&mut document, facts) {
            document.extend(facts);
        }
        lay_out(sections, seal(document, version))
    }
}

/// The header that names every section's place, and the sections in that order:
/// types of 8 bytes first, so that all are aligned.
fn lay_out(sections: BTreeMap<String, Section<'_>>, document: String) -> Result<Prepared<'_>> {
    let mut sections: Vec<_> = sections.into_iter().collect();
    sections.sort_by_key(|(_, s)| Reverse(s.dtype));
    let mut end = 0;
    let mut places = Vec::with_capacity(sections.len());
    let mut pieces = Vec::new();
    for (name, section) in sections {
        let start = end;
        end += section.n_bytes();
        let info = TensorInfo {
            dtype: section.dtype,
            shape: section.shape,
            data_offsets: (start, end),
        };
        places.push((name, info));
        pieces.extend(section.pieces);
    }
    let fail = |e: &dyn Display| Error::data(format!("cannot save: {e}"));
    let metadata = HashMap::from([(KEY.to_owned(), document)]);
    let metadata = Metadata::new(Some(metadata), places).map_err(|e| fail(&e))?;
    let mut text = serde_json::to_vec(&metadata).map_err(|e| fail(&e))?;
    text.resize(text.len().next_multiple_of(LENGTH), b' ');
    if text.len() as u64 > MAX_HEADER {
        return Err(fail(&"settings and sections make too long a header"));
    }
    let mut head = (text.len() as u64).to_le_bytes().to_vec();
    head.append(&mut text);
    Ok(Prepared { head, pieces })
}

/// A file's header and sections. All checksums are right, but for the sections of a
/// mapped layout that are checked in use.
pub(super) struct Parts<'a> {
    pub(super) header: Header,
    sections: BTreeMap<String, TensorView<'a>>,
}

impl<'a> Parts<'a> {
    /// # Errors
    /// [`Error::Format`] for foreign, damaged or cut bytes.
    pub(super) fn read(bytes: &'a [u8]) -> Result<Self> {
        let broken = |e| Error::format(format!("not a proxtree model, or a damaged one: {e}"));
        let (_, metadata) = SafeTensors::read_metadata(bytes).map_err(broken)?;
        let file = SafeTensors::deserialize(bytes).map_err(broken)?;
        let document = metadata
            .metadata()
            .as_ref()
            .and_then(|m| m.get(KEY))
            .ok_or_else(|| Error::format("a safetensors file, but not a proxtree model"))?;
        let header = Header::parse(document)?;
        let sections: BTreeMap<_, _> = file.tensors().into_iter().collect();
        for (name, sum) in &header.sections {
            let section = sections
                .get(name)
                .ok_or_else(|| Error::format(format!("section {name} is missing")))?;
            let in_use = header.version == MAPPED_VERSION && super::mapped::is_checked_in_use(name);
            let data = if in_use { &[] } else { section.data() };
            let found = checksum(section.dtype(), section.shape(), [data]);
            if sum.as_u64() != Some(u64::from(found)) {
                return Err(Error::format(format!("section {name} is damaged")));
            }
        }
        if let Some(name) = sections.keys().find(|n| !header.sections.contains_key(*n)) {
            return Err(Error::format(format!("unknown section {name}")));
        }
        Ok(Self { header, sections })
    }

    pub(super) fn take(&mut self, name: &str) -> Option<TensorView<'a>> {
        self.sections.remove(name)
    }

    /// The ids of labels without positives.
    pub(super) fn take_untrained(&mut self) -> Result<Vec<u32>> {
        let mut untrained = Vec::new();
        let stream = self.take("untrained");
        let stream = stream.as_ref().map_or(&[][..], TensorView::data);
        let mut reader = Reader::new("untrained", stream);
        let mut next = 0;
        while !reader.is_empty() {
            untrained.push(reader.take_sorted(&mut next)?);
        }
        Ok(untrained)
    }

    /// What the file says beside the model; no section may be left but extras.
    pub(super) fn description(self) -> Result<Description> {
        let mut extra = Vec::new();
        for (name, section) in self.sections {
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
        Ok(Description {
            class_name: self.header.text("class_name")?.to_owned(),
            settings: self.header.text("settings")?.to_owned(),
            extra,
        })
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
        pieces: vec![Cow::Borrowed(&extra.bytes)],
        checked_in_use: false,
    })
}
