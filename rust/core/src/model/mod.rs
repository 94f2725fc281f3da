//! The trained model and its file.
//!
//! [`NodeClassifiers`] are the sparse weights of one internal node,
//! [`LinearTreeModel`] is all nodes of all trees. A depth-one tree is
//! one-vs-rest and takes no other road through this module.

mod bits;
mod classifiers;
mod container;
mod encoding;
mod file;
mod header;
mod huffman;
mod linear_tree;
mod mapped;
mod numbers;
mod scoring;
mod store;
mod stored;
mod streams;
mod varint;

pub use classifiers::{ChildWeights, Entry, NodeClassifiers};
pub use file::{Description, Extra, from_bytes, to_bytes};
pub use header::FORMAT_VERSION;
pub use linear_tree::{LinearTreeModel, TrainedTree};
pub(crate) use mapped::MappedNode;
pub use mapped::{MappedModel, to_mapped_bytes};
pub use scoring::Scoring;
pub use store::{Layout, load, save};
pub use stored::StoredModel;
