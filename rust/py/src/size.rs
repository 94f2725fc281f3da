//! What training will ask for, before it begins.

use numpy::PyArray1;
use proxtree_core::size::{NodeSize, measure as measure_core};
use proxtree_core::sparse::transpose_pattern;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::convert::{CsrArg, PatternArg};
use crate::runtime::run;
use crate::tree::LabelTree;

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
    let columns: [(&str, fn(&NodeSize) -> u64); 5] = [
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
