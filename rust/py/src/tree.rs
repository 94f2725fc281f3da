//! Label features and label trees across the border.

use std::path::PathBuf;

use numpy::{PyArray1, PyReadonlyArray1, ToPyArray};
use proxtree_core::sparse::CsrMatrix;
use proxtree_core::tree::{self, BuildSettings, KMeansSettings, Start};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::convert::{CsrArg, PatternArg, pattern_to_py};
use crate::runtime::{run, run_here};

/// A checked, immutable label tree.
#[pyclass(frozen, eq, module = "proxtree._core")]
#[derive(PartialEq)]
pub(crate) struct LabelTree {
    tree: tree::LabelTree,
}

/// `(indptr, indices, data)`.
/// A column of the depth table: its name, and its value in a row.
type Column = (&'static str, fn(&tree::DepthRow) -> usize);
type CsrTuple<'py> = (Bound<'py, PyAny>, Bound<'py, PyAny>, Bound<'py, PyAny>);

fn csr_to_py(py: Python<'_>, matrix: CsrMatrix) -> CsrTuple<'_> {
    let (indptr, indices) = pattern_to_py(py, matrix.pattern);
    (
        indptr,
        indices,
        PyArray1::from_vec(py, matrix.data).into_any(),
    )
}

/// Equation (2): the l2-normalised rows of `Y^T X`.
#[pyfunction]
#[pyo3(signature = (*, x, y, n_threads))]
pub(crate) fn label_features<'py>(
    py: Python<'py>,
    x: CsrArg<'py>,
    y: PatternArg<'py>,
    n_threads: usize,
) -> PyResult<CsrTuple<'py>> {
    let (x, y) = (x.parts()?, y.parts()?);
    let features = run(py, n_threads, None, |control| {
        tree::label_features(x.matrix()?, y.pattern()?, control)
    })?;
    Ok(csr_to_py(py, features))
}

/// K-means from `start` rows, or from a seed; `(assignment, objective, n_iter)`.
#[pyfunction]
#[pyo3(signature = (*, x, n_clusters, max_iter, tol, spherical, seed, start, n_threads))]
pub(crate) fn kmeans<'py>(
    py: Python<'py>,
    x: CsrArg<'py>,
    n_clusters: usize,
    max_iter: usize,
    tol: f64,
    spherical: bool,
    seed: u64,
    start: Option<PyReadonlyArray1<'py, u32>>,
    n_threads: usize,
) -> PyResult<(Bound<'py, PyArray1<u32>>, f64, usize)> {
    let x = x.parts()?;
    let rows = start.as_ref().map(|rows| rows.as_slice()).transpose()?;
    let settings = KMeansSettings {
        max_iter,
        tol,
        spherical,
    };
    let found = run(py, n_threads, None, |control| {
        let start = rows.map_or(Start::PlusPlus { n_clusters, seed }, Start::Rows);
        tree::kmeans(x.matrix()?, start, &settings, control)
    })?;
    let assignment = PyArray1::from_vec(py, found.assignment);
    Ok((assignment, found.objective, found.n_iter))
}

#[pymethods]
impl LabelTree {
    #[staticmethod]
    #[pyo3(signature = (*, label_features, n_clusters, max_depth, clustering, max_iter, seed, n_threads))]
    fn build(
        py: Python<'_>,
        label_features: CsrArg<'_>,
        n_clusters: usize,
        max_depth: usize,
        clustering: &str,
        max_iter: usize,
        seed: u64,
        n_threads: usize,
    ) -> PyResult<Self> {
        let features = label_features.parts()?;
        run(py, n_threads, None, |control| {
            let settings = BuildSettings {
                n_clusters,
                max_depth,
                clustering: clustering.parse()?,
                max_iter,
                seed,
            };
            let tree = tree::build(features.matrix()?, &settings, control)?;
            Ok(Self { tree })
        })
    }

    #[staticmethod]
    #[pyo3(signature = (*, n_labels))]
    fn flat(py: Python<'_>, n_labels: usize) -> PyResult<Self> {
        let tree = run_here(py, |_| tree::LabelTree::flat(n_labels))?;
        Ok(Self { tree })
    }

    #[staticmethod]
    #[pyo3(signature = (*, n_labels, child_ptr, children))]
    fn from_parts(
        py: Python<'_>,
        n_labels: usize,
        child_ptr: PyReadonlyArray1<'_, u32>,
        children: PyReadonlyArray1<'_, u32>,
    ) -> PyResult<Self> {
        let (child_ptr, children) = (
            child_ptr.as_slice()?.to_vec(),
            children.as_slice()?.to_vec(),
        );
        let tree = run_here(py, |_| {
            tree::LabelTree::from_parts(n_labels, child_ptr, children)
        })?;
        Ok(Self { tree })
    }

    #[staticmethod]
    #[pyo3(signature = (*, parents))]
    fn from_parents(py: Python<'_>, parents: PyReadonlyArray1<'_, i64>) -> PyResult<Self> {
        let parents = parents.as_slice()?;
        let tree = run_here(py, |_| tree::LabelTree::from_parents(parents))?;
        Ok(Self { tree })
    }

    #[staticmethod]
    #[pyo3(signature = (*, path, label_names))]
    fn from_file(py: Python<'_>, path: PathBuf, label_names: Vec<String>) -> PyResult<Self> {
        let tree = run(py, 1, None, |_| tree::read_hierarchy(&path, &label_names))?;
        Ok(Self { tree })
    }

    #[pyo3(signature = (*, max_depth))]
    fn clip(&self, py: Python<'_>, max_depth: usize) -> PyResult<Self> {
        let tree = run_here(py, |_| self.tree.clip(max_depth))?;
        Ok(Self { tree })
    }

    /// `(child_ptr, children)`, uint32; a label has bit 31 set.
    fn parts<'py>(
        &self,
        py: Python<'py>,
    ) -> (Bound<'py, PyArray1<u32>>, Bound<'py, PyArray1<u32>>) {
        (
            self.tree.child_ptr().to_pyarray(py),
            self.tree.encoded_children().to_pyarray(py),
        )
    }

    /// Columns of the table by depth.
    fn depth_table<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let rows = self.tree.depth_table();
        let table = PyDict::new(py);
        let columns: [Column; 5] = [
            ("depth", |row| row.depth),
            ("n_nodes", |row| row.n_nodes),
            ("n_leaves", |row| row.n_leaves),
            ("n_labels", |row| row.n_labels),
            ("n_children", |row| row.n_children),
        ];
        for (name, of) in columns {
            let column: Vec<i64> = rows.iter().map(|row| of(row) as i64).collect();
            table.set_item(name, PyArray1::from_vec(py, column))?;
        }
        Ok(table)
    }

    #[getter]
    fn depth(&self) -> usize {
        self.tree.depth()
    }

    #[getter]
    fn n_labels(&self) -> usize {
        self.tree.n_labels()
    }

    #[getter]
    fn n_nodes(&self) -> usize {
        self.tree.n_nodes()
    }
}

impl LabelTree {
    /// The core's tree.
    pub(crate) fn tree(&self) -> &tree::LabelTree {
        &self.tree
    }
}
