//! Matrices across the border: CSR as numpy arrays, without a copy where they fit.

use std::borrow::Cow;

use numpy::{PyArray1, PyReadonlyArray1, ToPyArray};
use proxtree_core::sparse::{CsrView, Pattern, PatternView};
use proxtree_core::{Error, Result};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

/// A 1-D integer index array, int32 or int64, kept borrowed for the call.
pub(crate) enum IndexArray<'py> {
    I32(PyReadonlyArray1<'py, i32>),
    I64(PyReadonlyArray1<'py, i64>),
}

impl<'a, 'py> FromPyObject<'a, 'py> for IndexArray<'py> {
    type Error = PyErr;

    fn extract(obj: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        if let Ok(array) = obj.extract() {
            return Ok(Self::I32(array));
        }
        obj.extract().map(Self::I64).map_err(|_| {
            PyTypeError::new_err("index arrays must be one-dimensional int32 or int64")
        })
    }
}

impl IndexArray<'_> {
    /// As row pointers. A negative one turns huge and fails the matrix's check.
    fn pointers(&self) -> PyResult<Cow<'_, [u64]>> {
        Ok(match self {
            Self::I32(a) => a.as_slice()?.iter().map(|&p| i64::from(p) as u64).collect(),
            Self::I64(a) => Cow::Borrowed(bytemuck::cast_slice(a.as_slice()?)),
        })
    }

    /// As column ids. A negative int32 turns huge and fails the matrix's check.
    fn ids(&self) -> PyResult<Result<Cow<'_, [u32]>>> {
        Ok(match self {
            Self::I32(a) => Ok(Cow::Borrowed(bytemuck::cast_slice(a.as_slice()?))),
            Self::I64(a) => a
                .as_slice()?
                .iter()
                .map(|&j| u32::try_from(j))
                .collect::<std::result::Result<_, _>>()
                .map(Cow::Owned)
                .map_err(|_| Error::data("a column id is outside [0, 2^32)")),
        })
    }
}

/// The values of a matrix: float32, or float64 to be rounded.
pub(crate) enum ValueArray<'py> {
    F32(PyReadonlyArray1<'py, f32>),
    F64(PyReadonlyArray1<'py, f64>),
}

impl<'a, 'py> FromPyObject<'a, 'py> for ValueArray<'py> {
    type Error = PyErr;

    fn extract(obj: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        if let Ok(array) = obj.extract() {
            return Ok(Self::F32(array));
        }
        obj.extract()
            .map(Self::F64)
            .map_err(|_| PyTypeError::new_err("values must be one-dimensional float32 or float64"))
    }
}

impl ValueArray<'_> {
    /// One beyond float32 turns infinite and fails the matrix's check.
    fn values(&self) -> PyResult<Cow<'_, [f32]>> {
        Ok(match self {
            Self::F32(a) => Cow::Borrowed(a.as_slice()?),
            Self::F64(a) => a.as_slice()?.iter().map(|&v| v as f32).collect(),
        })
    }
}

/// A CSR matrix argument `(indptr, indices, data, (n_rows, n_cols))`.
#[derive(FromPyObject)]
pub(crate) struct CsrArg<'py>(
    IndexArray<'py>,
    IndexArray<'py>,
    ValueArray<'py>,
    (usize, usize),
);

/// A 0/1 CSR matrix argument `(indptr, indices, (n_rows, n_cols))`.
#[derive(FromPyObject)]
pub(crate) struct PatternArg<'py>(IndexArray<'py>, IndexArray<'py>, (usize, usize));

/// The arrays of a [`CsrArg`], widened where they had to be.
pub(crate) struct CsrParts<'a> {
    indptr: Cow<'a, [u64]>,
    indices: Result<Cow<'a, [u32]>>,
    data: Cow<'a, [f32]>,
    shape: (usize, usize),
}

impl CsrArg<'_> {
    /// Borrow the arrays; they can then leave for threads without Python.
    pub(crate) fn parts(&self) -> PyResult<CsrParts<'_>> {
        Ok(CsrParts {
            indptr: self.0.pointers()?,
            indices: self.1.ids()?,
            data: self.2.values()?,
            shape: self.3,
        })
    }
}

impl PatternArg<'_> {
    /// Borrow the arrays; they can then leave for threads without Python.
    pub(crate) fn parts(&self) -> PyResult<CsrParts<'_>> {
        Ok(CsrParts {
            indptr: self.0.pointers()?,
            indices: self.1.ids()?,
            data: Cow::Borrowed(&[]),
            shape: self.2,
        })
    }
}

impl CsrParts<'_> {
    /// Number of rows as stated.
    pub(crate) fn n_rows(&self) -> usize {
        self.shape.0
    }

    /// Number of columns as stated.
    pub(crate) fn n_cols(&self) -> usize {
        self.shape.1
    }

    fn ids(&self) -> Result<&[u32]> {
        self.indices
            .as_deref()
            .map_err(|e| Error::data(e.to_string()))
    }

    /// Check and view as a matrix with values.
    pub(crate) fn matrix(&self) -> Result<CsrView<'_>> {
        CsrView::new(
            self.shape.0,
            self.shape.1,
            &self.indptr,
            self.ids()?,
            &self.data,
        )
    }

    /// Check and view as a 0/1 matrix.
    pub(crate) fn pattern(&self) -> Result<PatternView<'_>> {
        PatternView::new(self.shape.0, self.shape.1, &self.indptr, self.ids()?)
    }
}

/// `(indptr, indices)` as scipy likes them: int32 where they fit, else int64.
pub(crate) fn pattern_to_py(
    py: Python<'_>,
    pattern: Pattern,
) -> (Bound<'_, PyAny>, Bound<'_, PyAny>) {
    if i32::try_from(pattern.indices.len()).is_ok() && i32::try_from(pattern.n_cols).is_ok() {
        let indptr: Vec<i32> = pattern.indptr.iter().map(|&p| p as i32).collect();
        let indices: Vec<i32> = bytemuck::cast_vec(pattern.indices);
        (
            PyArray1::from_vec(py, indptr).into_any(),
            PyArray1::from_vec(py, indices).into_any(),
        )
    } else {
        let indices: Vec<i64> = pattern.indices.iter().map(|&j| i64::from(j)).collect();
        let indptr: &[i64] = bytemuck::cast_slice(&pattern.indptr);
        (
            indptr.to_pyarray(py).into_any(),
            PyArray1::from_vec(py, indices).into_any(),
        )
    }
}
