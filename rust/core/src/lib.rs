//! Extreme multi-label classification with sparse linear models.
//!
//! One idea carries the crate: *a linear model of many labels is a label tree
//! whose internal nodes hold sparse linear classifiers, one per child;
//! one-vs-rest is the tree of depth one.* Every classifier solves
//!
//! ```text
//! min_w  alpha ||w||_1 + ridge/2 ||w||^2 + sum_i c_i max(0, 1 - s_i z_i)^2
//! ```
//!
//! with `z_i = x_i . w + intercept` and signs `s_i` in {-1, +1}.
//!
//! The data take one road, and a module knows only those before it:
//! [`sparse`] and [`io`] (matrices), [`tree`] (labels arranged), [`solver`]
//! (one problem), [`model`] (all classifiers of a tree, their file), [`train`]
//! (problems solved, a model assembled), [`predict`] (top-k), [`size`] (what
//! training will ask for).

pub mod error;
mod instructions;
pub mod io;
pub mod memory;
pub mod model;
pub mod parallel;
pub mod predict;
pub mod rng;
pub mod size;
pub mod solver;
pub mod sparse;
#[cfg(test)]
mod testing;
pub mod train;
pub mod tree;

pub use error::{Error, Result};
