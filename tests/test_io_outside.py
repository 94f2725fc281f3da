"""`proxtree.io` against scikit-learn's reader and against the real data's figures."""

import json
import os
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import dump_svmlight_file, load_svmlight_file

from proxtree.io import load_svmlight, load_xmc

SETS = ["bibtex", "debtags", "debdeps", "gutenberg_lcsh", "eurlex57k", "openlib"]


def indicator(rows, n_labels):
    """scikit-learn's tuples of labels as a matrix."""
    dense = np.zeros((len(rows), n_labels), dtype=np.uint8)
    for i, labels in enumerate(rows):
        dense[i, [int(label) for label in labels]] = 1
    return dense


@pytest.mark.parametrize("zero_based", [True, False])
@pytest.mark.parametrize("seed", range(5))
def test_scikit_learn_reads_and_writes_the_same(tmp_path, seed, zero_based):
    rng = np.random.default_rng(seed)
    X = np.where(rng.random((60, 30)) < 0.15, rng.standard_normal((60, 30)), 0)
    Y = (rng.random((60, 8)) < 0.2).astype(np.int64)
    Y[0, 7] = X[0, 29] = 1
    path = tmp_path / "data.svm"
    dump_svmlight_file(
        sp.csr_matrix(X),
        sp.csr_matrix(Y),
        str(path),
        multilabel=True,
        zero_based=zero_based,
        comment="of 60 rows: x",
    )
    # It writes labels as they are, whatever the features count from; and it skips
    # rows without labels and features when reading, so there must be none.
    assert (X.any(axis=1) | Y.any(axis=1)).all()
    theirs, labels = load_svmlight_file(
        str(path), multilabel=True, zero_based=zero_based, dtype=np.float32
    )
    ours = load_svmlight(path, zero_based=zero_based, zero_based_labels=True)
    assert ours.X.data.tobytes() == theirs.data.tobytes()
    np.testing.assert_array_equal(ours.X.toarray(), theirs.toarray())
    np.testing.assert_array_equal(ours.Y.toarray(), indicator(labels, 8))
    np.testing.assert_array_equal(ours.Y.toarray(), Y)


@pytest.mark.slow
@pytest.mark.parametrize("part", ["train", "test"])
@pytest.mark.parametrize("name", SETS)
def test_real_files_have_the_published_figures(name, part):
    folder = os.environ.get("PROXTREE_DATA")
    if folder is None:
        pytest.skip("PROXTREE_DATA is not set")
    base = Path(folder, name)
    if not (base / "stats.json").exists():
        pytest.skip(f"PROXTREE_DATA has no {name}")
    known = json.loads((base / "stats.json").read_text())[part]
    X, Y = load_xmc(base / f"{part}.txt.xz")
    assert X.shape == (known["N"], known["D"])
    assert Y.shape == (known["N"], known["L"])
    assert X.nnz == known["nnz"]
    assert Y.nnz == known["label_entries"]
    counts = Y.sum(axis=0, dtype=np.int64)
    assert counts.max() == known["max_label_freq"]
    assert (counts > 0).sum() == known["labels_used"]
    assert (Y.getnnz(1) == 0).sum() == known["unlabelled"]
    assert (X.getnnz(1) == 0).sum() == known["empty_rows"]
