//! Format version 3: a model that is used where it lies in its mapped file.
//!
//! Sections of tree `t` are little-endian arrays, node after node:
//! `treet.child_ptr` and `treet.children` (U32, see [`LabelTree`]), `treet.counts`
//! (U32, per node the numbers of features and weights kept), and what is large:
//! `.features` (U32), `.offsets` (U32, from each node's first weight), `.entries`
//! (U32, shape (n, 2): child, bits of the weight), `.intercepts` (F64). A node whose
//! offsets have one for every feature id (see
//! [`NodeClassifiers::direct_offsets`]) keeps no features. Each large section has a
//! `.crc` beside it, a CRC-32 for every 4096 bytes, which is looked at when a byte
//! of the block is first asked for; all else is checked at load.

mod checked;
mod model;
mod node;
mod write;

pub use model::MappedModel;
pub(crate) use node::MappedNode;
pub(super) use write::prepare;
pub use write::to_mapped_bytes;

/// The large sections.
const IN_USE: [&str; 4] = ["features", "offsets", "entries", "intercepts"];

/// Whether a section of a mapped file is checked in use, not at load.
pub(super) fn is_checked_in_use(name: &str) -> bool {
    let part = name
        .strip_prefix("tree")
        .and_then(|rest| rest.split_once('.'))
        .map_or("", |(_, part)| part);
    IN_USE.contains(&part.strip_suffix(".crc").unwrap_or(part))
}
