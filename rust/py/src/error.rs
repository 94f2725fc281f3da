//! Core errors to Python exceptions: the one `match`.

use proxtree_core::Error;
use pyo3::exceptions::{PyKeyboardInterrupt, PyMemoryError, PyOSError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;

static DATA_ERROR: PyOnceLock<Py<PyType>> = PyOnceLock::new();
static FORMAT_ERROR: PyOnceLock<Py<PyType>> = PyOnceLock::new();

/// The exception classes live in Python, in `proxtree.exceptions`.
fn raise(py: Python<'_>, cell: &'static PyOnceLock<Py<PyType>>, name: &str, text: String) -> PyErr {
    match cell.import(py, "proxtree.exceptions", name) {
        Ok(class) => PyErr::from_type(class.clone(), text),
        Err(error) => error,
    }
}

/// The Python exception for a core error.
pub(crate) fn to_py(py: Python<'_>, error: Error) -> PyErr {
    match error {
        Error::Data(_) => raise(py, &DATA_ERROR, "DataError", error.to_string()),
        Error::Format { .. } => raise(py, &FORMAT_ERROR, "FormatError", error.to_string()),
        // With (errno, text, filename) Python picks FileNotFoundError and its kin.
        Error::Io { path, source } => match source.raw_os_error() {
            Some(code) => {
                // Python writes the number itself, and names files by strings.
                let text = source.to_string();
                let text = text.trim_end_matches(&format!(" (os error {code})"));
                PyOSError::new_err((code, text.to_owned(), path.into_os_string()))
            }
            None => PyOSError::new_err(format!("{}: {source}", path.display())),
        },
        Error::Memory { .. } => PyMemoryError::new_err(error.to_string()),
        Error::Threads { .. } => PyOSError::new_err(error.to_string()),
        Error::Cancelled => PyKeyboardInterrupt::new_err(()),
        other => raise(py, &DATA_ERROR, "DataError", other.to_string()),
    }
}
