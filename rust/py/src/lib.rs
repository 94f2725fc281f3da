//! `proxtree._core`: the native half of the Python package.
//!
//! Each function converts, runs and converts back. No algorithm lives here, and
//! nothing here panics on a user's mistake.

mod convert;
mod error;
mod io;
mod model;
mod runtime;
mod train;
mod tree;

/// The native module; Python code imports it as `proxtree._core`.
#[pyo3::pymodule(gil_used = false)]
mod _core {
    #[pymodule_export]
    use super::io::{TextReader, format_rows};
    #[pymodule_export]
    use super::model::{Model, normalize_rows};
    #[pymodule_export]
    use super::runtime::available_threads;
    #[pymodule_export]
    use super::train::{solve_path, train};
    #[pymodule_export]
    use super::tree::{LabelTree, kmeans, label_features};
}
