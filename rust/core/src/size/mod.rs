//! Space and time before training.
//!
//! What a tree asks of each node follows from the tree and the data alone
//! ([`measure`]): rows, stored values, and the features that occur, which bound
//! the weights.

mod measure;

pub use measure::{NodeSize, Sizes, measure};
