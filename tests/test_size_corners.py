"""Plans of data so small or empty that formulas divide by nothing."""

import warnings

import numpy as np
import pytest
from scipy import sparse

from proxtree import DataWarning, LinearLabelTree, plan

L2 = {"solver": "dual_coordinate_descent"}


def planned_and_trained(X, Y, **arguments):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        p = plan(X, Y, sample=1.0, n_threads=1, **arguments)
        model = LinearLabelTree(tree=p.tree, n_threads=1, **arguments).fit(X, Y)
    return p, model.n_nonzero_


@pytest.mark.parametrize("parameters", [{}, L2], ids=["l1", "l2"])
@pytest.mark.parametrize("n_labels", [1, 5, 40])
def test_rows_without_features_have_a_plan(parameters, n_labels):
    X = sparse.csr_matrix((6, 3), dtype=np.float32)
    Y = sparse.csr_matrix(np.arange(6)[:, None] % n_labels == np.arange(n_labels))
    p, n_nonzero = planned_and_trained(X, Y, max_depth=1, **parameters)
    assert p.nonzeros_bound == n_labels
    assert p.nonzeros_estimate == n_nonzero <= n_labels


@pytest.mark.parametrize("parameters", [{}, L2], ids=["l1", "l2"])
def test_nodes_that_no_row_reaches_count_nothing(parameters):
    """Labels 0 and 1 are in use; the nodes of the 30 others have no rows."""
    X = np.eye(4, 3, dtype=np.float32)
    Y = np.zeros((4, 32), dtype=np.uint8)
    Y[[0, 1, 2, 3], [0, 1, 0, 1]] = 1
    p, n_nonzero = planned_and_trained(
        X, Y, alpha=0.01, n_clusters=2, clustering="balanced", **parameters
    )
    assert p.n_problems > 32
    assert p.nonzeros_estimate == n_nonzero < p.n_problems


@pytest.mark.parametrize("parameters", [{}, L2], ids=["l1", "l2"])
def test_intervals_hold_their_estimates(parameters):
    """Also where what was trained is more than what is estimated from it."""
    for seed in range(40):
        rng = np.random.default_rng(seed)
        n, d = rng.integers(2, 40), rng.integers(1, 20)
        X = sparse.random(n, d, 0.3, "csr", np.float32, rng)
        Y = (rng.random((n, 25)) < 0.2).astype(np.uint8)
        Y[0, 0] = 1
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DataWarning)
            p = plan(X, Y, n_clusters=6, sample=0.5, alpha=0.01, **parameters)
        low, high = p.nonzeros_interval
        assert low <= p.nonzeros_estimate <= high <= p.nonzeros_bound, seed
