//! From rows to scores and best labels.
//!
//! [`Predictor`] takes one of two roads: a tree of depth one is an inverted
//! index, searched exhaustively; a deeper one is searched by beam, and a beam as
//! wide as the tree finds the same as scoring every label.

mod beam;
mod blocks;
mod ensemble;
mod flat;
mod hashing;
mod margins;
mod node;
mod pairs;
mod predictor;
mod top_k;
mod workspace;

pub use predictor::{Predictor, Query, TopLabels};
