"""Shapes that cannot fit are refused before an array of their width is made."""

import time

import numpy as np
import pytest
from scipy import sparse

from proxtree import LinearLabelTree, LinearOneVsRest, plan
from proxtree.estimators._training import training_data
from proxtree.size._planner import Planner
from proxtree.tree import LabelTree

WIDEST = 2**31 - 1
# What a machine of today may have; nothing near it is asked for.
LIMIT = 23 * 10**9


def one_row(n_columns, dtype):
    return sparse.csr_matrix((np.ones(1, dtype), [0], [0, 1]), shape=(1, n_columns))


def refused(call):
    start = time.process_time()
    with pytest.raises(MemoryError) as error:
        call()
    assert time.process_time() - start < 1
    return str(error.value)


@pytest.mark.parametrize("cls", [LinearLabelTree, LinearOneVsRest])
@pytest.mark.parametrize(
    ("n_features", "n_labels"), [(WIDEST, 3), (3, WIDEST), (WIDEST, WIDEST)]
)
def test_widths_that_cannot_fit_are_refused_at_once(cls, n_features, n_labels):
    X, Y = one_row(n_features, np.float32), one_row(n_labels, np.uint8)
    message = refused(lambda: cls(memory_limit=LIMIT, n_threads=1).fit(X, Y))
    assert f"{n_labels} labels on 1 samples with {n_features} features" in message
    assert f"the limit is {LIMIT} (memory_limit" in message
    assert "fewer features (hashing) or labels need less" in message
    # A parameter of trees, which helps where a column for each feature is too much.
    helps = cls is LinearLabelTree and n_labels == 3
    assert ('root_rows="labelled" might fit' in message) == helps


def test_one_vs_rest_is_not_told_of_a_parameter_it_has_not():
    # Most rows have no label.
    X = np.random.default_rng(0).random((4000, 50)).astype(np.float32)
    Y = [[i % 4] if i < 40 else [] for i in range(4000)]
    messages = []
    for model in (LinearLabelTree(max_depth=1, n_threads=1), LinearOneVsRest()):
        with pytest.raises(MemoryError) as error:
            model.set_params(n_threads=1, memory_limit=5_000_000).fit(X, Y)
        messages.append('root_rows="labelled"' in str(error.value))
    assert messages == [True, False]


@pytest.mark.parametrize("settings", [{}, {"max_depth": 1}])
def test_planning_refuses_labels_it_has_no_room_for(settings):
    X, Y = one_row(3, np.float32), one_row(WIDEST, np.uint8)
    message = refused(lambda: plan(X, Y, memory_limit=LIMIT, n_threads=1, **settings))
    assert "for a tree of 2147483647 labels" in message
    assert f"the limit is {LIMIT} (memory_limit" in message


def test_planning_refuses_a_tree_that_it_cannot_build():
    X = one_row(WIDEST, np.float32)
    Y = sparse.csr_matrix(np.ones((1, 5), np.uint8))
    settings = {"memory_limit": LIMIT, "n_threads": 1, "n_clusters": 2}
    message = refused(lambda: plan(X, Y, **settings))
    assert "for building the tree of 5 labels" in message


def test_planning_says_what_training_takes_though_it_does_not_fit():
    X, Y = np.eye(40, 8), [[i % 4] for i in range(40)]
    tree = LabelTree.flat(4)
    planned = plan(X, Y, tree=tree, memory_limit=4_200_000, n_threads=1)
    assert planned.peak_memory_bytes > 4_200_000


def test_the_root_of_all_rows_has_a_column_for_each_feature():
    # 32 bytes each, whether it occurs or not.
    Y = [[0], [1]]
    needs = []
    for n_features in (10_000, 1_010_000):
        X = sparse.csr_matrix(np.eye(2, dtype=np.float32))
        X.resize(2, n_features)
        model = LinearOneVsRest(n_threads=1)
        checked = training_data(X, Y, None)
        flat = [LabelTree.flat(2)]
        planner = Planner.of(*checked, flat, model._arguments(), 1)
        needs.append(planner.peak_bounds(1)[0])
    assert needs[1] - needs[0] >= 32e6


@pytest.mark.parametrize("root_rows", ["all", "labelled"])
@pytest.mark.parametrize("solver", ["auto", "dual_coordinate_descent"])
def test_the_shapes_never_need_more_than_a_tree(root_rows, solver):
    rng = np.random.default_rng(5)
    for n_labels, n_features in ((1, 1), (2, 30), (40, 5), (300, 3), (7, 100_000)):
        X = sparse.random(60, n_features, 0.1, "csr", np.float32, random_state=rng)
        labels = [[int(j)] for j in rng.integers(0, n_labels, 60)]
        labels[0] = [n_labels - 1]
        model = LinearLabelTree(
            n_clusters=2, root_rows=root_rows, solver=solver, n_threads=1
        )
        checked = training_data(X, labels, None)
        for trees in ([LabelTree.flat(n_labels)], model._trees(*checked[:2], 1)):
            planner = Planner.of(*checked, trees, model._arguments(), 1)
            assert planner.account.least() <= planner.peak_bounds(1)[0]
