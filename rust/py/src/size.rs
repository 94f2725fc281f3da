//! What training will ask for, before it begins.

use numpy::{PyArray1, PyReadonlyArray1};
use proxtree_core::memory;
use proxtree_core::size::{NodeSize, measure as measure_core};
use proxtree_core::sparse::transpose_pattern;
use proxtree_core::train::{Chosen, Record, SampledNode, train_sample};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::convert::{CsrArg, PatternArg};
use crate::runtime::run;
use crate::train::{TrainSettings, certificates};
use crate::tree::LabelTree;

/// Column ids, values and row pointers of weights, a row for each problem.
type Weights<'py> = (
    Bound<'py, PyArray1<i64>>,
    Bound<'py, PyArray1<i64>>,
    Bound<'py, PyArray1<f32>>,
);

/// A quantity of nodes by its name.
type Column = (&'static str, fn(&NodeSize) -> u64);

/// What every node of `tree` trains on, an array a quantity; at the end once more
/// the root, with all rows of `x`.
#[pyfunction]
#[pyo3(signature = (x, y, tree, *, n_threads))]
pub(crate) fn measure<'py>(
    py: Python<'py>,
    x: CsrArg<'py>,
    y: PatternArg<'py>,
    tree: &LabelTree,
    n_threads: usize,
) -> PyResult<Bound<'py, PyDict>> {
    let (x, y) = (x.parts()?, y.parts()?);
    let tree = tree.tree();
    let sizes = run(py, n_threads, None, |control| {
        let label_rows = transpose_pattern(y.pattern()?, control)?;
        measure_core(x.matrix()?, label_rows.view(), tree, control)
    })?;
    let out = PyDict::new(py);
    let columns: [Column; 5] = [
        ("depth", |s| s.depth.into()),
        ("n_children", |s| s.n_children),
        ("n_rows", |s| s.n_rows),
        ("nnz", |s| s.nnz),
        ("n_features", |s| s.n_features),
    ];
    for (name, of) in columns {
        let all = sizes.nodes.iter().chain([&sizes.whole_root]);
        out.set_item(name, PyArray1::from_iter(py, all.map(|s| of(s) as i64)))?;
    }
    Ok(out)
}

/// Train the problems at `positions` among the children of `nodes`, node by node,
/// then each of `thinned`, (node, position), on few of its rows.
///
/// Gives their records, whether each has an intercept, their weights, and for each
/// node and each of `thinned` the CPU seconds besides solving. `x` is taken as it is, never normalised.
#[pyfunction]
#[pyo3(signature = (x, y, tree, settings, nodes, thinned, *, sample_weight, n_threads))]
pub(crate) fn train_some<'py>(
    py: Python<'py>,
    x: CsrArg<'py>,
    y: PatternArg<'py>,
    tree: &LabelTree,
    settings: &TrainSettings,
    nodes: Vec<(usize, Vec<usize>)>,
    thinned: Vec<(usize, usize)>,
    sample_weight: Option<PyReadonlyArray1<'py, f64>>,
    n_threads: usize,
) -> PyResult<(Bound<'py, PyDict>, Weights<'py>, Bound<'py, PyArray1<f64>>)> {
    let (x, y) = (x.parts()?, y.parts()?);
    let sample_weight = sample_weight.as_ref().map(|w| w.as_slice()).transpose()?;
    let tree = tree.tree();
    let solved = run(py, n_threads, None, |control| {
        let label_rows = transpose_pattern(y.pattern()?, control)?;
        train_sample(
            x.matrix()?,
            label_rows.view(),
            sample_weight,
            tree,
            settings.root_rows,
            &settings.recipe,
            &settings.settings,
            Chosen {
                whole: &nodes,
                thinned: &thinned,
            },
            control,
        )
    })?;
    let records: Vec<Record> = solved.iter().flat_map(|n| n.records.clone()).collect();
    let fields = certificates(py, &records)?;
    let intercepts = solved.iter().flat_map(|n| n.classifiers.intercepts());
    fields.set_item("intercept", PyArray1::from_iter(py, intercepts.copied()))?;
    let overhead = solved.iter().map(|n| n.overhead_s);
    Ok((
        fields,
        weights(py, &solved, x.n_cols()),
        PyArray1::from_iter(py, overhead),
    ))
}

fn weights<'py>(py: Python<'py>, solved: &[SampledNode], n_features: usize) -> Weights<'py> {
    let (mut indptr, mut indices, mut data) = (vec![0], Vec::new(), Vec::new());
    for node in solved {
        let coef = node.classifiers.coef(n_features);
        let offset = indices.len() as i64;
        indptr.extend(coef.pattern.indptr[1..].iter().map(|&p| offset + p as i64));
        indices.extend(coef.pattern.indices.iter().map(|&j| i64::from(j)));
        data.extend(coef.data);
    }
    (
        PyArray1::from_vec(py, indptr),
        PyArray1::from_vec(py, indices),
        PyArray1::from_vec(py, data),
    )
}

/// Bytes that this process may still use, where the system says so.
#[pyfunction]
pub(crate) fn available_bytes() -> Option<u64> {
    memory::available_bytes()
}
