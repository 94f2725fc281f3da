//! `proxtree._core`: the native half of the Python package.
//!
//! Each function converts, runs and converts back. No algorithm lives here, and
//! nothing here panics on a user's mistake.

mod convert;
mod error;
mod io;
mod method;
mod model;
mod runtime;
mod size;
mod train;
mod tree;

/// The native module; Python code imports it as `proxtree._core`.
#[pyo3::pymodule(gil_used = false)]
mod _core {
    /// More threads than this are never used.
    #[pymodule_export]
    const MAX_THREADS: usize = proxtree_core::parallel::MAX_THREADS;
    #[pymodule_export]
    use super::io::{TextReader, format_rows};
    #[pymodule_export]
    use super::model::{Model, normalize_rows};
    #[pymodule_export]
    use super::runtime::available_threads;
    #[pymodule_export]
    use super::size::{available_bytes, measure, train_some};
    #[pymodule_export]
    use super::train::{TrainSettings, solve_path, train};
    #[pymodule_export]
    use super::tree::{LabelTree, kmeans, label_features};
}
