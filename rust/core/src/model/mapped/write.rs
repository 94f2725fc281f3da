//! Models to mapped files.

use std::borrow::Cow;

use bytemuck::Pod;
use safetensors::tensor::Dtype;
use serde_json::json;

use super::checked::checksums;
use crate::model::LinearTreeModel;
use crate::model::container::{Prepared, Sections};
use crate::model::file::Description;
use crate::model::header::MAPPED_VERSION;
use crate::{Error, Result};

/// The bytes of a model's mapped file: equal models and descriptions give equal
/// bytes. The weights are the model's, bit for bit.
///
/// # Errors
/// As [`crate::model::to_bytes`]; [`Error::Data`] on a big-endian machine.
pub fn to_mapped_bytes(model: &LinearTreeModel, description: &Description) -> Result<Vec<u8>> {
    prepare(model, description).map(|prepared| prepared.to_bytes())
}

/// The file, whose weights are not copied.
pub(in crate::model) fn prepare<'a>(
    model: &'a LinearTreeModel,
    description: &'a Description,
) -> Result<Prepared<'a>> {
    check_endian()?;
    let mut sections = Sections::default();
    for (t, trained) in model.trees().iter().enumerate() {
        let tree = trained.tree();
        let mut counts = Vec::with_capacity(2 * trained.nodes().len());
        let mut features = Vec::new();
        let mut offsets = Vec::new();
        for node in trained.nodes() {
            let (own, starts) = match node.direct_offsets(model.n_features()) {
                Some(direct) => (&[][..], owned(direct)),
                None => (node.features(), borrowed(node.offsets())),
            };
            counts.extend([own.len() as u32, node.entries().len() as u32]);
            features.push(borrowed(own));
            offsets.push(starts);
        }
        let small = [
            ("child_ptr", borrowed(tree.child_ptr())),
            ("children", borrowed(tree.encoded_children())),
            ("counts", owned(counts)),
        ];
        for (part, bytes) in small {
            let shape = vec![bytes.len() / 4];
            let name = format!("tree{t}.{part}");
            sections.add_typed(name, Dtype::U32, shape, vec![bytes], false);
        }
        let nodes = trained.nodes().iter();
        let entries = nodes.clone().map(|n| borrowed(n.entries())).collect();
        let intercepts = nodes.map(|n| borrowed(n.intercepts())).collect();
        for (part, dtype, pieces) in [
            ("features", Dtype::U32, features),
            ("offsets", Dtype::U32, offsets),
            ("entries", Dtype::U32, entries),
            ("intercepts", Dtype::F64, intercepts),
        ] {
            let name = format!("tree{t}.{part}");
            let sums = checksums(pieces.iter().map(|p| &p[..]));
            let n_values = pieces.iter().map(|p| p.len()).sum::<usize>() / (dtype.bitsize() / 8);
            let shape = match part {
                "entries" => vec![n_values / 2, 2],
                _ => vec![n_values],
            };
            let (of_sums, n_sums) = (format!("{name}.crc"), vec![sums.len()]);
            sections.add_typed(of_sums, Dtype::U32, n_sums, vec![owned(sums)], true);
            sections.add_typed(name, dtype, shape, pieces, true);
        }
    }
    let facts = json!({"n_nonzero": model.n_nonzero()});
    sections.prepare(model, description, MAPPED_VERSION, facts)
}

/// # Errors
/// [`Error::Data`] where numbers do not lie in memory as in the file.
pub(super) fn check_endian() -> Result<()> {
    if cfg!(target_endian = "big") {
        return Err(Error::data(
            "mapped model files need a little-endian machine",
        ));
    }
    Ok(())
}

fn borrowed<T: Pod>(values: &[T]) -> Cow<'_, [u8]> {
    Cow::Borrowed(bytemuck::cast_slice(values))
}

fn owned(values: Vec<u32>) -> Cow<'static, [u8]> {
    Cow::Owned(bytemuck::cast_slice(&values).to_vec())
}
