//! Label trees: how labels are arranged under internal nodes.

mod label_tree;

pub use label_tree::{Child, LabelTree};
