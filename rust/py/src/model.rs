//! The trained model as a Python class.

use std::path::PathBuf;

use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1};
use proxtree_core::model::{
    self, ChildWeights, Description, Extra, Layout, LinearTreeModel, NodeClassifiers, Scoring,
    StoredModel, TrainedTree,
};
use proxtree_core::parallel::{self, Control};
use proxtree_core::predict::{Predictor, Query};
use proxtree_core::sparse::{CsrMatrix, CsrView, normalize_rows as normalize};
use proxtree_core::tree::LabelTree;
use proxtree_core::{Error, Result};
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::convert::{CsrArg, CsrParts, pattern_to_py};
use crate::runtime;

/// Calls of fewer rows run on the calling thread: they end before a pool starts.
const SMALL: usize = 64;

/// So do calls of fewer rows times labels than this.
const SMALL_SCORES: usize = 1 << 20;

type Array1<'py, T> = Bound<'py, PyArray1<T>>;
type Array2<'py, T> = Bound<'py, PyArray2<T>>;
/// `(name, dtype, shape, bytes)` of an array that travels with the model.
type ExtraTuple<'py> = (String, String, Vec<usize>, Bound<'py, PyBytes>);
/// `(child_ptr, children, [(coef, intercept), ...])` of a tree.
type TreeArg<'py> = (
    PyReadonlyArray1<'py, u32>,
    PyReadonlyArray1<'py, u32>,
    Vec<(CsrArg<'py>, PyReadonlyArray1<'py, f64>)>,
);
/// `(indptr, indices, data)`.
type CsrTuple<'py> = (Bound<'py, PyAny>, Bound<'py, PyAny>, Array1<'py, f32>);
/// `(model, class_name, settings, extra)`.
type Loaded<'py> = (Model, String, String, Vec<ExtraTuple<'py>>);

/// A linear model of many labels, immutable. `Model(data)` reads `to_bytes()`.
#[pyclass(frozen, module = "proxtree._core")]
pub(crate) struct Model(Predictor);

impl Model {
    /// A model with the predictor's index.
    pub(crate) fn indexed(model: impl Into<StoredModel>) -> Result<Self> {
        Predictor::new(model).map(Self)
    }

    fn model(&self) -> &StoredModel {
        self.0.model()
    }
}

#[pymethods]
impl Model {
    #[new]
    #[pyo3(signature = (data, /))]
    fn new(py: Python<'_>, data: &[u8]) -> PyResult<Self> {
        let read = |_: &Control| model::from_bytes(data).and_then(indexed);
        Ok(runtime::run(py, 1, None, read)?.0)
    }

    /// One-vs-rest from label-major weights.
    #[staticmethod]
    #[pyo3(signature = (coef, intercept, *, untrained, normalize))]
    fn from_coef(
        py: Python<'_>,
        coef: CsrArg<'_>,
        intercept: PyReadonlyArray1<'_, f64>,
        untrained: PyReadonlyArray1<'_, i32>,
        normalize: bool,
    ) -> PyResult<Self> {
        let parts = coef.parts()?;
        let intercept = intercept.as_slice()?;
        let untrained = ids(&untrained)?;
        runtime::run_here(py, |_| {
            let coef = parts.matrix()?;
            let tree = LabelTree::flat(coef.n_rows())?;
            let tree = TrainedTree::new(tree, vec![classifiers(coef, intercept)?])?;
            let n_features = coef.n_cols();
            let untrained = untrained.to_vec();
            let scoring = Scoring::Margin;
            LinearTreeModel::new(n_features, vec![tree], scoring, normalize, untrained)
                .and_then(Self::indexed)
        })
    }

    /// Trees from the label-major weights of their nodes.
    ///
    /// `trees` has, per tree, `(child_ptr, children, [(coef, intercept), ...])`.
    #[staticmethod]
    #[pyo3(signature = (n_labels, n_features, trees, *, scoring, untrained, normalize))]
    fn from_nodes(
        py: Python<'_>,
        n_labels: usize,
        n_features: usize,
        trees: Vec<TreeArg<'_>>,
        scoring: &str,
        untrained: PyReadonlyArray1<'_, i32>,
        normalize: bool,
    ) -> PyResult<Self> {
        let untrained = ids(&untrained)?;
        let mut trained = Vec::with_capacity(trees.len());
        for (child_ptr, children, nodes) in trees {
            let mut classified = Vec::with_capacity(nodes.len());
            for (coef, intercept) in &nodes {
                let (parts, intercept) = (coef.parts()?, intercept.as_slice()?);
                classified.push(runtime::run_here(py, |_| {
                    classifiers(parts.matrix()?, intercept)
                })?);
            }
            let (child_ptr, children) = (child_ptr.to_vec()?, children.to_vec()?);
            trained.push(runtime::run_here(py, |_| {
                let tree = LabelTree::from_parts(n_labels, child_ptr, children)?;
                TrainedTree::new(tree, classified)
            })?);
        }
        runtime::run_here(py, |_| {
            let scoring = Scoring::from_name(scoring)?;
            LinearTreeModel::new(n_features, trained, scoring, normalize, untrained.to_vec())
                .and_then(Self::indexed)
        })
    }

    /// Best labels of each row: int32 ids and float32 scores of shape (n, k).
    #[pyo3(signature = (x, k, *, allowed, beam_size, n_threads))]
    fn predict_topk<'py>(
        &self,
        py: Python<'py>,
        x: CsrArg<'py>,
        k: usize,
        allowed: Option<PyReadonlyArray1<'py, i32>>,
        beam_size: usize,
        n_threads: Option<usize>,
    ) -> PyResult<(Array2<'py, i32>, Array2<'py, f32>)> {
        let parts = x.parts()?;
        let shape = [parts.n_rows(), k];
        let query = Query {
            beam_size,
            allowed: allowed.as_ref().map(ids).transpose()?,
        };
        let top = run(py, self.n_labels(), &parts, n_threads, |x, control| {
            self.0.top_k(x, k, query, control)
        })?;
        Ok((
            PyArray1::from_vec(py, top.labels).reshape(shape)?,
            PyArray1::from_vec(py, top.scores).reshape(shape)?,
        ))
    }

    /// Labels scored above `threshold`: `(indptr, indices)` of a 0/1 CSR matrix.
    #[pyo3(signature = (x, threshold, *, beam_size, n_threads))]
    fn predict_threshold<'py>(
        &self,
        py: Python<'py>,
        x: CsrArg<'py>,
        threshold: f32,
        beam_size: usize,
        n_threads: Option<usize>,
    ) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
        let parts = x.parts()?;
        let pattern = run(py, self.n_labels(), &parts, n_threads, |x, control| {
            self.0.above(x, threshold, beam_size, control)
        })?;
        Ok(pattern_to_py(py, pattern))
    }

    /// Margins of all labels, float32 of shape (n, `n_labels`).
    #[pyo3(signature = (x, *, n_threads))]
    fn decision_function<'py>(
        &self,
        py: Python<'py>,
        x: CsrArg<'py>,
        n_threads: Option<usize>,
    ) -> PyResult<Array2<'py, f32>> {
        let parts = x.parts()?;
        let shape = [parts.n_rows(), self.n_labels()];
        let scores = run(py, self.n_labels(), &parts, n_threads, |x, control| {
            self.0.decision_function(x, control)
        })?;
        PyArray1::from_vec(py, scores).reshape(shape)
    }

    /// Scores of the pairs `(rows[i], labels[i])`, float32.
    #[pyo3(signature = (x, rows, labels, *, n_threads))]
    fn score_pairs<'py>(
        &self,
        py: Python<'py>,
        x: CsrArg<'py>,
        rows: PyReadonlyArray1<'py, i32>,
        labels: PyReadonlyArray1<'py, i32>,
        n_threads: Option<usize>,
    ) -> PyResult<Array1<'py, f32>> {
        let parts = x.parts()?;
        let (rows, labels) = (ids(&rows)?, ids(&labels)?);
        let scores = run(py, self.n_labels(), &parts, n_threads, |x, control| {
            self.0.score_pairs(x, rows, labels, control)
        })?;
        Ok(PyArray1::from_vec(py, scores))
    }

    /// Weights by label and intercepts, depth one only: `(csr, intercept)`.
    fn coef<'py>(&self, py: Python<'py>) -> PyResult<(CsrTuple<'py>, Array1<'py, f64>)> {
        let (coef, intercept) = runtime::run(py, 1, None, |_| self.model().coef())?;
        Ok((csr_to_py(py, coef), PyArray1::from_vec(py, intercept)))
    }

    /// Weights by child and intercepts of one internal node: `(csr, intercept)`.
    fn node<'py>(
        &self,
        py: Python<'py>,
        tree: usize,
        node: usize,
    ) -> PyResult<(CsrTuple<'py>, Array1<'py, f64>)> {
        let found = runtime::run_here(py, |_| self.model().classifiers(tree, node))?;
        let node = found
            .ok_or_else(|| PyIndexError::new_err(format!("tree {tree} has no node {node}")))?;
        let coef = node.coef(self.n_features());
        Ok((
            csr_to_py(py, coef),
            PyArray1::from_slice(py, node.intercepts()),
        ))
    }

    /// `(child_ptr, children)` of one tree, uint32; a label has bit 31 set.
    fn tree<'py>(
        &self,
        py: Python<'py>,
        tree: usize,
    ) -> PyResult<(Array1<'py, u32>, Array1<'py, u32>)> {
        if tree >= self.n_trees() {
            return Err(PyIndexError::new_err(format!(
                "the model has no tree {tree}"
            )));
        }
        let tree = self.model().tree(tree);
        Ok((
            PyArray1::from_slice(py, tree.child_ptr()),
            PyArray1::from_slice(py, tree.encoded_children()),
        ))
    }

    #[getter]
    fn n_features(&self) -> usize {
        self.model().n_features()
    }

    #[getter]
    fn n_labels(&self) -> usize {
        self.model().n_labels()
    }

    #[getter]
    fn n_trees(&self) -> usize {
        self.model().n_trees()
    }

    /// Internal nodes of all trees together.
    #[getter]
    fn n_nodes(&self) -> usize {
        (0..self.n_trees())
            .map(|t| self.model().tree(t).n_nodes())
            .sum()
    }

    /// Weights and intercepts that are not zero.
    #[getter]
    fn n_nonzero(&self) -> usize {
        self.model().n_nonzero()
    }

    /// Whether the weights are in a mapped file.
    #[getter]
    fn is_mapped(&self) -> bool {
        self.model().is_mapped()
    }

    #[getter]
    fn scoring(&self) -> &'static str {
        self.model().scoring().name()
    }

    /// The score of margin 0, above which `predict` returns labels.
    #[getter]
    fn default_threshold(&self) -> f32 {
        self.model().scoring().neutral()
    }

    #[getter]
    fn normalize(&self) -> bool {
        self.model().normalize()
    }

    /// Sorted ids of the labels without positives, int32.
    #[getter]
    fn untrained<'py>(&self, py: Python<'py>) -> Array1<'py, i32> {
        PyArray1::from_slice(py, bytemuck::cast_slice(self.model().untrained()))
    }

    /// Bytes of the model's file without anything of the caller's in it.
    #[getter]
    fn size_bytes(&self, py: Python<'_>) -> PyResult<usize> {
        let bytes = runtime::run(py, 1, None, |_| {
            model::to_bytes(&*self.model().whole()?, &Description::default())
        })?;
        Ok(bytes.len())
    }

    /// The model's file as bytes.
    #[pyo3(signature = (*, class_name = "", settings = "", extra = vec![]))]
    fn to_bytes<'py>(
        &self,
        py: Python<'py>,
        class_name: &str,
        settings: &str,
        extra: Vec<ExtraTuple<'py>>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let description = describe(class_name, settings, extra);
        let bytes = runtime::run(py, 1, None, |_| {
            model::to_bytes(&*self.model().whole()?, &description)
        })?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// Write the model's file to exactly `path`, coded or to be mapped.
    #[pyo3(signature = (path, *, class_name, settings, extra, mapped = false))]
    fn save(
        &self,
        py: Python<'_>,
        path: PathBuf,
        class_name: &str,
        settings: &str,
        extra: Vec<ExtraTuple<'_>>,
        mapped: bool,
    ) -> PyResult<()> {
        let description = describe(class_name, settings, extra);
        let layout = if mapped {
            Layout::Mapped
        } else {
            Layout::Coded
        };
        runtime::run(py, 1, None, |_| {
            model::save(&path, &*self.model().whole()?, &description, layout)
        })
    }

    /// Read what `to_bytes` gave: `(model, class_name, settings, extra)`.
    #[staticmethod]
    fn from_bytes<'py>(py: Python<'py>, data: &[u8]) -> PyResult<Loaded<'py>> {
        let read = |_: &Control| model::from_bytes(data).and_then(indexed);
        let loaded = runtime::run(py, 1, None, read)?;
        Ok(loaded_to_py(py, loaded))
    }

    /// Read or map a model's file: `(model, class_name, settings, extra)`.
    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<Loaded<'_>> {
        let read = |_: &Control| model::load(&path).and_then(indexed);
        let loaded = runtime::run(py, 1, None, read)?;
        Ok(loaded_to_py(py, loaded))
    }

    fn __reduce__<'py>(
        slf: &Bound<'py, Self>,
    ) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        let data = slf.get().to_bytes(slf.py(), "", "", vec![])?;
        Ok((slf.get_type().into_any(), (data,)))
    }
}

/// Rows of a CSR matrix divided by their l2 norms: the new `data`.
#[pyfunction]
#[pyo3(signature = (x, /))]
pub(crate) fn normalize_rows<'py>(py: Python<'py>, x: CsrArg<'py>) -> PyResult<Array1<'py, f32>> {
    let parts = x.parts()?;
    let unit = runtime::run(py, 1, None, |_| Ok(normalize(parts.matrix()?)))?;
    Ok(PyArray1::from_vec(py, unit.data))
}

/// Ids as the core takes them: a negative one turns huge and fails its check.
fn ids<'a>(array: &'a PyReadonlyArray1<'_, i32>) -> PyResult<&'a [u32]> {
    Ok(bytemuck::cast_slice(array.as_slice()?))
}

/// A read model with the predictor's index, built away from the interpreter.
fn indexed<M: Into<StoredModel>>((model, about): (M, Description)) -> Result<(Model, Description)> {
    Model::indexed(model).map(|model| (model, about))
}

/// Little work here, more through the door, by all CPUs if no number is given.
fn run<T: Send>(
    py: Python<'_>,
    n_labels: usize,
    parts: &CsrParts<'_>,
    n_threads: Option<usize>,
    work: impl FnOnce(CsrView<'_>, &Control) -> Result<T> + Send,
) -> PyResult<T> {
    if parts.n_rows() < SMALL && parts.n_rows().saturating_mul(n_labels) < SMALL_SCORES {
        runtime::run_here(py, |control| work(parts.matrix()?, control))
    } else {
        let n_threads = n_threads.unwrap_or_else(parallel::available_threads);
        runtime::run(py, n_threads, None, |control| {
            work(parts.matrix()?, control)
        })
    }
}

fn classifiers(coef: CsrView<'_>, intercept: &[f64]) -> Result<NodeClassifiers> {
    if intercept.len() != coef.n_rows() {
        return Err(Error::data(format!(
            "{} intercepts for {} rows of weights",
            intercept.len(),
            coef.n_rows()
        )));
    }
    NodeClassifiers::from_problems((0..coef.n_rows()).map(|i| {
        let (indices, values) = coef.row(i);
        ChildWeights {
            indices,
            values,
            intercept: intercept[i],
        }
    }))
}

fn csr_to_py(py: Python<'_>, matrix: CsrMatrix) -> CsrTuple<'_> {
    let (indptr, indices) = pattern_to_py(py, matrix.pattern);
    (indptr, indices, PyArray1::from_vec(py, matrix.data))
}

fn describe(class_name: &str, settings: &str, extra: Vec<ExtraTuple<'_>>) -> Description {
    let extra = extra.into_iter().map(|(name, dtype, shape, bytes)| Extra {
        name,
        dtype,
        shape,
        bytes: bytes.as_bytes().to_vec(),
    });
    Description {
        class_name: class_name.to_owned(),
        settings: settings.to_owned(),
        extra: extra.collect(),
    }
}

fn loaded_to_py(py: Python<'_>, (model, about): (Model, Description)) -> Loaded<'_> {
    let extra = about
        .extra
        .into_iter()
        .map(|e| (e.name, e.dtype, e.shape, PyBytes::new(py, &e.bytes)));
    (model, about.class_name, about.settings, extra.collect())
}
