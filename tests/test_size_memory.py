"""The account of memory counts the arrays that solvers document."""

import numpy as np
import pytest
from scipy import sparse

from proxtree import LabelTree, LinearLabelTree
from proxtree.estimators._training import training_data
from proxtree.size._planner import Planner

N_ROWS, N_FEATURES = 80, 12
# Bytes of a row and of a feature, as solver::Siblings says, and of problems alone:
# Row 16, flag, touched id, compact id, a dual variable with its step's numbers 32,
# place in the sweep; a feature's weight, gradient, three flags, three lists of ids.
TOGETHER = 78 * N_ROWS + 192 * N_FEATURES
ALONE = (16 + 1 + 4 + 4 + 32 + 4) * N_ROWS + (8 + 8 + 3 + 3 * 4) * N_FEATURES


def workspace(n_labels, n_empty=0, **parameters):
    """Bytes of a thread's workspace in the only node of a flat tree."""
    rng = np.random.default_rng(0)
    samples = rng.random((N_ROWS, N_FEATURES)) + 0.5
    labels = [[i % (n_labels - n_empty)] for i in range(N_ROWS)]
    Y = np.zeros((N_ROWS, n_labels))
    Y[np.arange(N_ROWS), np.concatenate(labels)] = 1
    parameters = {"solver": "dual_coordinate_descent"} | parameters
    model = LinearLabelTree(**parameters)
    checked = training_data(samples, Y, None)
    flat = [LabelTree.flat(n_labels)]
    account = Planner.of(*checked, flat, model._arguments(), 1).account
    columns = (a.astype(np.float64) for a in account.trees[0].trained("all"))
    return account._workspace(account.trees[0], *columns).tolist()


@pytest.mark.parametrize(
    ("n_labels", "n_empty", "expected"),
    [
        # Blocks of 16, and a rest of four or more that is one.
        (16, 0, TOGETHER),
        (20, 0, TOGETHER),
        (7, 0, TOGETHER),
        # A smaller rest is solved one by one, and so is what has no positives.
        (19, 0, TOGETHER + ALONE),
        (17, 1, TOGETHER + ALONE),
        (3, 0, ALONE),
    ],
)
def test_l2_problems_are_counted_as_they_are_solved(n_labels, n_empty, expected):
    assert workspace(n_labels, n_empty) == [expected]


@pytest.mark.parametrize(
    "parameters",
    [{"solver_options": {"eps": 1e-3}}, {"penalize_intercept": False}],
)
def test_l2_problems_that_need_f64_are_alone(parameters):
    assert workspace(32, **parameters) == [ALONE]
    # Without an intercept there is none to be free.
    if "penalize_intercept" in parameters:
        assert workspace(32, fit_intercept=False, **parameters) == [TOGETHER]


def test_l1_problems_list_features_of_the_gradient():
    rows = (16 + 1 + 4 + 4 + 16 + 16 + 45) * N_ROWS
    # As above, then ids of those listed; to the gap, of those added up by column.
    features = (8 + 8 + 3 + 3 * 4 + 4) * N_FEATURES
    assert workspace(3, solver="auto") == [rows + features]
    to_the_gap = rows + features + 4 * N_FEATURES
    assert workspace(3, solver="auto", violation_tol=0) == [to_the_gap]


@pytest.mark.parametrize(
    ("parameters", "n_bytes"),
    [
        # Columns 32; sorted by sums 4, and while they are sorted 16; in the gap's
        # solves kept by square sums 4 + 8 + 8 too; a thread's workspace as above; ids
        # of a node's and of a thread's features.
        ({}, 32 + 4 + 16 + 35 + 4),
        ({"violation_tol": 0}, 32 + 4 + 16 + 20 + 39 + 4),
        ({"solver": "dual_coordinate_descent"}, 32 + 8 + 192 + 4),
    ],
)
def test_a_feature_that_no_row_holds_takes_what_is_kept_of_all(parameters, n_bytes):
    model = LinearLabelTree(n_clusters=30, root_rows="all", **parameters)
    labels = [[i % 30] for i in range(N_ROWS)]
    needs = []
    for n_features in (1_000_000, 2_000_000):
        samples = sparse.csr_matrix((N_ROWS, n_features), dtype=np.float32)
        checked = training_data(samples, labels, None)
        flat = [LabelTree.flat(30)]
        account = Planner.of(*checked, flat, model._arguments(), 1).account
        needs.append(account._nodes(account.trees[0], np.zeros(1), 1))
    assert needs[1] - needs[0] == n_bytes * 1e6


def gathered(n_threads, **parameters):
    """Bytes that threads copy at a root of 40, 20 and 5 positives of 80."""
    samples = np.ones((N_ROWS, N_FEATURES))
    labels = [[0]] * 40 + [[1]] * 20 + [[2]] * 5 + [[]] * 15
    model = LinearLabelTree(**parameters)
    checked = training_data(samples, labels, None)
    flat = [LabelTree.flat(3)]
    account = Planner.of(*checked, flat, model._arguments(), n_threads).account
    tree = account.trees[0]
    n_rows, nnz, _ = (a.astype(np.float64) for a in tree.trained("all"))
    return account._gathered(tree, n_rows, nnz, np.array([n_threads])).tolist()


def test_threads_copy_the_active_rows_of_the_largest_problems():
    values = 8 * N_ROWS * N_FEATURES
    # 1.1 sqrt(q / n) of the values, 0.6 at most; the third has 1.1 sqrt(1 / 16), and
    # the second 1.1 / 2.
    assert gathered(1) == [0.6 * values]
    assert gathered(2) == pytest.approx([(0.6 + 0.55) * values])
    assert gathered(3) == pytest.approx([(0.6 + 0.55 + 1.1 / 4) * values])
    # There are no more problems than that.
    assert gathered(5) == gathered(3)
    assert gathered(2, violation_tol=0) == [2 * 0.8 * values]
    assert gathered(2, solver="dual_coordinate_descent") == [0.0]


def test_what_later_nodes_keep_is_not_there_yet():
    rng = np.random.default_rng(0)
    samples = rng.random((N_ROWS, N_FEATURES))
    checked = training_data(samples, [[i % 4] for i in range(N_ROWS)], None)
    tree = LabelTree.from_nested([[0, 1], [2, 3]])
    model = LinearLabelTree()
    account = Planner.of(*checked, [tree], model._arguments(), 1).account

    def peak(*weights):
        return account.peak([np.array(weights, float)], 1)

    # So few below that no index is kept. The root comes first, and putting its
    # weights together is the most there is.
    assert peak(1000, 0, 0) == peak(1000, 5, 4)
    assert peak(1000, 0, 0) < peak(1010, 0, 0)
    assert peak(0, 1000, 0) < peak(5, 1000, 0)
