//! Text files in and out.

use std::path::PathBuf;

use numpy::PyArray1;
use proxtree_core::io::{self, Format, Options, Reader};
use proxtree_core::parallel::Control;
use proxtree_core::{Error, Result};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::convert::{CsrArg, PatternArg, pattern_to_py};
use crate::error::to_py;
use crate::runtime;

/// `((indptr, indices, data), (indptr, indices), (n_features, n_labels))`.
type Matrices<'py> = (
    (
        Bound<'py, PyAny>,
        Bound<'py, PyAny>,
        Bound<'py, PyArray1<f32>>,
    ),
    (Bound<'py, PyAny>, Bound<'py, PyAny>),
    (usize, usize),
);

/// Parses one text file, mapped or handed over block by block.
#[pyclass(module = "proxtree._core")]
pub(crate) struct TextReader {
    path: PathBuf,
    /// `None` once finished.
    reader: Option<Reader>,
}

#[pymethods]
impl TextReader {
    /// `path` names the file in errors. Formats: "xmc", "`xmc_without_header`",
    /// "svmlight".
    #[new]
    #[pyo3(signature = (path, *, format, n_features, n_labels, zero_based, zero_based_labels))]
    fn new(
        py: Python<'_>,
        path: PathBuf,
        format: &str,
        n_features: Option<u64>,
        n_labels: Option<u64>,
        zero_based: bool,
        zero_based_labels: bool,
    ) -> PyResult<Self> {
        let reader = format_named(format).and_then(|format| {
            Reader::new(Options {
                format,
                n_features,
                n_labels,
                zero_based,
                zero_based_labels,
            })
        });
        Ok(Self {
            path,
            reader: Some(reader.map_err(|e| to_py(py, e))?),
        })
    }

    /// Parse the whole regular file, memory-mapped.
    #[pyo3(signature = (*, n_threads))]
    fn push_file(&mut self, py: Python<'_>, n_threads: usize) -> PyResult<()> {
        let Self { path, reader } = self;
        runtime::run(py, n_threads, None, |control| {
            open(reader)?.push_file(path, control)
        })
    }

    /// Parse the next bytes of the file.
    #[pyo3(signature = (block, *, n_threads))]
    fn push(&mut self, py: Python<'_>, block: &[u8], n_threads: usize) -> PyResult<()> {
        let Self { path, reader } = self;
        runtime::run(py, n_threads, None, |control| {
            open(reader)?.push(block, control).map_err(|e| e.at(path))
        })
    }

    /// End the file; the matrices as arrays.
    #[pyo3(signature = (*, n_threads))]
    fn finish<'py>(&mut self, py: Python<'py>, n_threads: usize) -> PyResult<Matrices<'py>> {
        let Self { path, reader } = self;
        let (x, y) = runtime::run(py, n_threads, None, |control| {
            reader
                .take()
                .ok_or_else(finished)?
                .finish(control)
                .map_err(|e| e.at(path))
        })?;
        let shape = (x.pattern.n_cols, y.n_cols);
        let (indptr, indices) = pattern_to_py(py, x.pattern);
        let data = PyArray1::from_vec(py, x.data);
        Ok(((indptr, indices, data), pattern_to_py(py, y), shape))
    }
}

fn open(reader: &mut Option<Reader>) -> Result<&mut Reader> {
    reader.as_mut().ok_or_else(finished)
}

fn finished() -> Error {
    Error::data("this reader has handed out its matrices already")
}

fn format_named(name: &str) -> Result<Format> {
    match name {
        "xmc" => Ok(Format::Xmc),
        "xmc_without_header" => Ok(Format::XmcWithoutHeader),
        "svmlight" => Ok(Format::Svmlight),
        _ => Err(Error::data(format!(
            "format must be 'xmc', 'xmc_without_header' or 'svmlight', got {name:?}"
        ))),
    }
}

/// The rows of `x` and `y` as XMC text, without header.
#[pyfunction]
#[pyo3(signature = (x, y, *, n_threads))]
pub(crate) fn format_rows<'py>(
    py: Python<'py>,
    x: CsrArg<'py>,
    y: PatternArg<'py>,
    n_threads: usize,
) -> PyResult<Bound<'py, PyBytes>> {
    let (x, y) = (x.parts()?, y.parts()?);
    let work = |control: &Control| {
        let x = x.matrix()?;
        io::format_rows(x, y.pattern()?, 0..x.n_rows(), control)
    };
    let text = runtime::run(py, n_threads, None, work)?;
    Ok(PyBytes::new(py, &text))
}
