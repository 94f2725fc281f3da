//! The JSON document in a model file's metadata, sealed by a checksum.

use safetensors::tensor::Dtype;
use serde_json::{Map, Value};

use crate::{Error, Result};

/// The version of the coded layout that is written; all from 1 on are read.
pub const FORMAT_VERSION: u64 = 2;

/// The version of the layout that is used where it lies; the last that is read.
pub(super) const MAPPED_VERSION: u64 = 3;

const PACKAGE_VERSION: &str = env!("CARGO_PKG_VERSION");

/// The text of a document, with versions and its own checksum added. Keys are
/// sorted, so equal documents have equal texts.
pub(super) fn seal(mut document: Value, version: u64) -> String {
    document["format_version"] = version.into();
    document["package_version"] = PACKAGE_VERSION.into();
    let sum = crc32fast::hash(document.to_string().as_bytes());
    document["crc32"] = sum.into();
    document.to_string()
}

/// CRC-32 of a section: its type and shape as printed, then its bytes, piece by piece.
pub(super) fn checksum<'a>(
    dtype: Dtype,
    shape: &[usize],
    pieces: impl IntoIterator<Item = &'a [u8]>,
) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(format!("{dtype}{shape:?}").as_bytes());
    pieces.into_iter().for_each(|piece| hasher.update(piece));
    hasher.finalize()
}

/// The JSON document of a file.
pub(super) struct Header {
    /// The version of the file's layout.
    pub(super) version: u64,
    fields: Map<String, Value>,
    /// The checksum of each section.
    pub(super) sections: Map<String, Value>,
}

impl Header {
    pub(super) fn parse(document: &str) -> Result<Self> {
        let damaged = || Error::format("the header is damaged");
        let Ok(Value::Object(mut fields)) = serde_json::from_str(document) else {
            return Err(damaged());
        };
        // First of all: a later version may have changed the rest.
        let version = fields.get("format_version").and_then(Value::as_u64);
        let Some(version @ 1..=MAPPED_VERSION) = version else {
            let version = version.map_or_else(|| "unknown".to_owned(), |v| v.to_string());
            let writer = fields.get("package_version").and_then(Value::as_str);
            return Err(Error::format(format!(
                "format version {version}, written by proxtree {}; this is proxtree \
                 {PACKAGE_VERSION}, which reads format versions 1 to {MAPPED_VERSION}",
                writer.unwrap_or("of unknown version")
            )));
        };
        let sum = fields.remove("crc32").and_then(|v| v.as_u64());
        let text = Value::Object(fields.clone()).to_string();
        if sum != Some(u64::from(crc32fast::hash(text.as_bytes()))) {
            return Err(damaged());
        }
        match fields.remove("sections") {
            Some(Value::Object(sections)) => Ok(Self {
                version,
                fields,
                sections,
            }),
            _ => Err(damaged()),
        }
    }

    pub(super) fn field<'a, T>(
        &'a self,
        name: &str,
        read: impl Fn(&'a Value) -> Option<T>,
    ) -> Result<T> {
        self.fields
            .get(name)
            .and_then(read)
            .ok_or_else(|| Error::format(format!("the header has no valid {name}")))
    }

    pub(super) fn number(&self, name: &str) -> Result<usize> {
        self.field(name, |v| v.as_u64().and_then(|n| usize::try_from(n).ok()))
    }

    pub(super) fn text(&self, name: &str) -> Result<&str> {
        self.field(name, Value::as_str)
    }
}
