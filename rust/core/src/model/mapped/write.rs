//! Models to mapped files.

use std::borrow::Cow;

use bytemuck::Pod;
use safetensors::tensor::Dtype;
use serde_json::json;

use super::checked::checksums;
use crate::model::container::Sections;
use crate::model::file::Description;
use crate::model::header::MAPPED_VERSION;
use crate::model::{LinearTreeModel, NodeClassifiers};
use crate::{Error, Result};

/// The bytes of a model's mapped file: equal models and descriptions give equal
/// bytes. The weights are the model's, bit for bit.
///
/// # Errors
/// As [`crate::model::to_bytes`]; [`Error::Data`] on a big-endian machine.
pub fn to_mapped_bytes(model: &LinearTreeModel, description: &Description) -> Result<Vec<u8>> {
    check_endian()?;
    let mut sections = Sections::default();
    for (t, trained) in model.trees().iter().enumerate() {
        let tree = trained.tree();
        let mut counts = Vec::with_capacity(2 * trained.nodes().len());
        let mut features = Vec::new();
        let mut offsets = Vec::new();
        for node in trained.nodes() {
            let direct = node.direct_offsets(model.n_features());
            let own = direct.as_ref().map_or(node.features(), |_| &[]);
            counts.extend([own.len() as u32, node.entries().len() as u32]);
            features.extend_from_slice(own);
            offsets.extend_from_slice(direct.as_deref().unwrap_or(node.offsets()));
        }
        let small = [
            ("child_ptr", bytes(tree.child_ptr())),
            ("children", bytes(tree.encoded_children())),
            ("counts", bytes(&counts)),
        ];
        for (part, bytes) in small {
            let shape = vec![bytes.len() / 4];
            let name = format!("tree{t}.{part}");
            sections.add_typed(name, Dtype::U32, shape, bytes, false);
        }
        let large = [
            ("features", Dtype::U32, bytes(&features)),
            ("offsets", Dtype::U32, bytes(&offsets)),
            (
                "entries",
                Dtype::U32,
                joined(trained.nodes(), NodeClassifiers::entries),
            ),
            (
                "intercepts",
                Dtype::F64,
                joined(trained.nodes(), NodeClassifiers::intercepts),
            ),
        ];
        for (part, dtype, bytes) in large {
            let name = format!("tree{t}.{part}");
            let sums = checksums(&bytes);
            let shape = match part {
                "entries" => vec![bytes.len() / 8, 2],
                _ => vec![bytes.len() / (dtype.bitsize() / 8)],
            };
            let own = self::bytes(&sums);
            sections.add_typed(
                format!("{name}.crc"),
                Dtype::U32,
                vec![sums.len()],
                own,
                true,
            );
            sections.add_typed(name, dtype, shape, bytes, true);
        }
    }
    let facts = json!({"n_nonzero": model.n_nonzero()});
    sections.finish(model, description, MAPPED_VERSION, facts)
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

fn bytes<T: Pod>(values: &[T]) -> Cow<'static, [u8]> {
    Cow::Owned(bytemuck::cast_slice(values).to_vec())
}

/// The values of all nodes, one after the other; of a single node without a copy.
fn joined<'a, T: Pod>(
    nodes: &'a [NodeClassifiers],
    of: impl Fn(&'a NodeClassifiers) -> &'a [T],
) -> Cow<'a, [u8]> {
    if let [node] = nodes {
        return Cow::Borrowed(bytemuck::cast_slice(of(node)));
    }
    let parts = nodes
        .iter()
        .map(|node| bytemuck::cast_slice::<_, u8>(of(node)));
    Cow::Owned(parts.collect::<Vec<_>>().concat())
}
