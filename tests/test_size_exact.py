"""The exact part of a plan against a naive count, and bounds against the truth."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from proxtree import (
    DataError,
    DataWarning,
    LabelTree,
    LinearLabelTree,
    LinearOneVsRest,
    plan,
)


def nodes_of(tree):
    """Yield depth, labels below and number of children of each node."""
    nodes = tree.to_dict()["nodes"]

    def below(node):
        labels = set(nodes[node]["labels"])
        return labels.union(*(below(child) for child in nodes[node]["nodes"]))

    for node, facts in enumerate(nodes):
        n_children = len(facts["labels"]) + len(facts["nodes"])
        yield facts["depth"], below(node), n_children


def counted(X, Y, tree, root_rows):
    """Count (18), the paper's sum, and the features of each node, from dense X, Y."""
    bound = paper = 0
    features = []
    for node, (_, labels, n_children) in enumerate(nodes_of(tree)):
        rows = Y[:, sorted(labels)].any(axis=1)
        used = int((X[rows] != 0).any(axis=0).sum())
        features.append(used)
        paper += n_children * used
        if node == 0 and root_rows == "all":
            used = int((X != 0).any(axis=0).sum())
        bound += n_children * (used + 1)
    return bound, paper, features


@st.composite
def problems(draw):
    n, d, n_labels = draw(st.integers(2, 14)), draw(st.integers(1, 8)), 6
    cells = st.sampled_from([0.0, 0.0, 0.0, 1.0, -1.0, 2.5, -0.5])
    X = np.array(draw(st.lists(cells, min_size=n * d, max_size=n * d))).reshape(n, d)
    bits = st.sampled_from([0, 0, 1])
    Y = draw(st.lists(bits, min_size=n * n_labels, max_size=n * n_labels))
    Y = np.array(Y).reshape(n, n_labels)
    Y[0, draw(st.integers(0, n_labels - 1))] = 1
    weights = draw(
        st.one_of(
            st.none(),
            st.lists(st.sampled_from([0.0, 1.0, 2.0]), min_size=n, max_size=n),
        )
    )
    if weights is not None:
        weights[0] = 1.0
    return X, Y, weights


@settings(max_examples=40, deadline=None)
@given(
    data=problems(),
    root_rows=st.sampled_from(["all", "labelled"]),
    tree=st.sampled_from(
        [[[0, 3], [1, [2, 4], 5]], [0, 1, 2, 3, 4, 5], [[[0, 1, 2]], [3], [4, 5]]]
    ),
    stored_zeros=st.booleans(),
    intercept=st.booleans(),
)
def test_counts_are_the_naive_ones_and_bound_the_truth(
    data, root_rows, tree, stored_zeros, intercept
):
    X, Y, weights = data
    tree = LabelTree.from_nested(tree)
    matrix = sparse.csr_matrix(X)
    if stored_zeros:
        # All places stored: a zero is no occurrence.
        matrix = sparse.csr_matrix(np.ones_like(X))
        matrix.data = X.ravel().copy()
    parameters = {
        "tree": tree,
        "root_rows": root_rows,
        "alpha": 0.01,
        "fit_intercept": intercept,
        "n_threads": 1,
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        p = plan(matrix, Y, sample_weight=weights, sample=0, **parameters)
        kept = np.ones(len(X), bool) if weights is None else np.array(weights) > 0
        bound, paper, features = counted(X[kept], Y[kept], tree, root_rows)
        model = LinearLabelTree(**parameters).fit(matrix, Y, sample_weight=weights)
    if not intercept:
        bound -= tree.n_problems
    assert p.nonzeros_bound == bound
    assert p.bytes_paper == 12 * paper
    assert p.bytes_one_vs_rest == 8 * 6 * X.shape[1]
    assert p.ratio_paper == pytest.approx(1.5 * paper / (6 * X.shape[1]))
    assert p.bytes_libmultilabel == 16 * 2 * paper // 3
    assert p.n_problems == tree.n_problems
    assert p.depths["n_features"].sum() == sum(features)
    assert model.n_nonzero_ <= bound
    assert model.plan_.nonzeros_bound == bound


def test_depth_table_and_feature_ratios_by_hand():
    # Features: row 0: {0, 1}, row 1: {1, 2}, row 2: {3}.
    X = np.array([[1, 1, 0, 0], [0, 1, -1, 0], [0, 0, 0, 2.0]])
    tree = LabelTree.from_nested([[0, 1], [2, 3, 4]])
    Y = np.eye(5)[:3]
    p = plan(X, Y, sample=0, tree=tree, root_rows="labelled")
    # Node 1 has rows 0 and 1 with 3 features, node 2 row 2 with 1; the root 4.
    table = p.depths
    assert table["depth"].tolist() == [0, 1]
    assert table["n_nodes"].tolist() == [1, 2]
    assert table["n_labels"].tolist() == [5, 5]
    assert table["n_problems"].tolist() == [2, 5]
    assert table["n_features"].tolist() == [4, 4]
    assert np.isnan(table["feature_ratio"][0])
    assert table["feature_ratio"][1] == (3 / 4 + 1 / 4) / 2
    assert table["feature_ratio_weighted"][1] == (2 * 3 / 4 + 3 * 1 / 4) / 5
    assert table["nonzeros_bound"].tolist() == [2 * 5, 2 * 4 + 3 * 2]
    flat = plan(X, Y[:, :3], sample=0, max_depth=1)
    assert p.one_vs_rest["nonzeros_bound"] == 5 * 5
    assert p.one_vs_rest["bytes_paper"] == 12 * 5 * 4
    assert flat.nonzeros_bound == flat.one_vs_rest["nonzeros_bound"] == 3 * 5


def test_values_that_cancel_in_a_sum_are_features():
    # The label features of the only label are zero, its rows are not.
    p = plan([[1.0, -1.0], [-1.0, 1.0]], [[0], [0]], sample=0, max_depth=1)
    assert p.nonzeros_bound == 1 * (2 + 1)


def test_rows_without_labels_count_at_the_root_alone():
    X, Y = [[1.0, 0, 0], [0, 1, 0], [0, 0, 1]], [[0], [1], []]
    tree = [[0], [1]]
    every = plan(X, Y, sample=0, tree=tree)
    labelled = plan(X, Y, sample=0, tree=tree, root_rows="labelled")
    assert every.nonzeros_bound == 2 * (3 + 1) + (1 + 1) + (1 + 1)
    assert labelled.nonzeros_bound == 2 * (2 + 1) + (1 + 1) + (1 + 1)
    assert every.bytes_paper == labelled.bytes_paper == 12 * (2 * 2 + 1 + 1)


def test_one_vs_rest_has_a_plan_too():
    X, Y = [[1.0, 0], [0, 1], [1, 1]], [[0], [1], [0]]
    model = LinearOneVsRest(alpha=0.1).fit(X, Y)
    assert model.plan_.nonzeros_bound == 2 * (2 + 1)
    assert model.plan_.tree == LabelTree.flat(2)


def test_several_trees_are_summed():
    rng = np.random.default_rng(0)
    X = rng.random((60, 10)) * (rng.random((60, 10)) < 0.3)
    Y = rng.random((60, 12)) < 0.2
    p = plan(X, Y, sample=0, n_trees=2, n_clusters=3)
    singles = [plan(X, Y, sample=0, tree=tree) for tree in p.trees]
    assert len(p.trees) == 2
    assert p.nonzeros_bound == sum(s.nonzeros_bound for s in singles)
    assert p.n_problems == sum(s.n_problems for s in singles)
    with pytest.raises(AttributeError, match="2 trees"):
        _ = p.tree


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"sample": 2}, DataError, r"sample is 2, expected a share in \[0, 1\]"),
        ({"sample": "all"}, TypeError, "sample"),
        ({"alpha": -1}, DataError, "alpha is -1"),
        ({"budget_bytes": 0}, DataError, "budget_bytes is 0"),
        ({"budget_bytes": 10, "sample": 0}, DataError, "sample is 0"),
        ({"speed": 1}, TypeError, "speed"),
    ],
)
def test_mistakes_are_named(arguments, error, message):
    with pytest.raises(error, match=message):
        plan([[1.0], [0.0]], [[0], [1]], **arguments)
