"""`proxtree.study` on trees small enough to count by hand, and against scipy."""

import numpy as np
import pytest
from scipy import sparse

from proxtree import LabelTree, label_features, theory
from proxtree.size._sizes import means, measure
from proxtree.study import Setting, settings_for, study_space
from proxtree.study._report import statements
from proxtree.study._settings import root_ceil


@pytest.fixture(scope="module")
def data():
    """X (300, 60) and Y (300, 40): topics with words of their own; empty rows."""
    rng = np.random.default_rng(3)
    topic = rng.integers(8, size=300)
    ids = np.hstack(
        [
            5 * topic[:, None] + rng.integers(5, size=(300, 4)),
            40 + rng.integers(20, size=(300, 2)),
        ]
    )
    X = np.zeros((300, 60), np.float32)
    X[np.arange(300)[:, None], ids] = rng.normal(size=ids.shape)
    X[::50] = 0
    Y = np.zeros((300, 40), np.uint8)
    Y[np.arange(300), 5 * topic + rng.integers(5, size=300)] = 1
    Y[1::7] = 0
    return sparse.csr_matrix(X), sparse.csr_matrix(Y)


@pytest.fixture(scope="module")
def study(data):
    return study_space("topics", *data, n_clusters=4, seeds=[7, 8, 9])


def used_by_products(X, Y, tree):
    """Used features of each node, by products of patterns."""
    nodes = tree.to_dict()["nodes"]
    below = [set(node["labels"]) for node in nodes]
    for v in reversed(range(len(nodes))):
        for child in nodes[v]["nodes"]:
            below[v] |= below[child]
    M = np.zeros((len(nodes), Y.shape[1]), int)
    for v, labels in enumerate(below):
        M[v, sorted(labels)] = 1
    rows = (M @ Y.T.toarray().astype(int)) > 0
    used = (rows.astype(int) @ (X.toarray() != 0).astype(int)) > 0
    children = [len(node["nodes"]) + len(node["labels"]) for node in nodes]
    return np.array(children), used.sum(axis=1), nodes


def test_a_tree_counted_by_hand():
    # Labels 0, 1 under one node, 2 and 3 under another. Features of the labels'
    # samples: 0: {0, 1}, 1: {1, 2}, 2: {3}, 3: {3, 4}; feature 5 has no label.
    X = sparse.csr_matrix(
        [
            [1, 1, 0, 0, 0, 0],
            [0, 1, 1, 0, 0, 0],
            [0, 0, 0, 2, 0, 0],
            [0, 0, 0, -2, 1, 0],
            [0, 0, 0, 0, 0, 1],
        ],
        dtype=np.float32,
    )
    Y = sparse.csr_matrix(np.eye(5, 4), dtype=np.uint8)
    sizes = measure(X, Y, LabelTree.from_nested([[0, 1], [2, 3]]), 1)
    # The root: 2 children, features 0 to 4. Its nodes: {0, 1, 2} and {3, 4}.
    assert (sizes.n_children * sizes.n_features).tolist() == [10, 6, 4]
    np.testing.assert_array_equal(sizes.feature_ratios(), [3 / 5, 2 / 5])
    # 3 problems in the first node, were it to have three.
    assert means(np.array([0.6, 0.4]), np.array([3, 1])) == pytest.approx((0.5, 0.55))


def test_ratio_and_levels_are_those_of_products_of_patterns(data, study):
    X, Y = data
    assert len(study.trees) == 3 * 8
    for row in study.trees:
        tree = LabelTree.build(
            label_features(X, Y),
            n_clusters=row.n_clusters,
            max_depth=row.max_depth,
            random_state=row.seed,
        )
        children, used, nodes = used_by_products(X, Y, tree)
        weights = children * used
        assert row.nonzeros_bound == weights.sum()
        # (17), (19), (20) of the paper.
        assert row.bytes_paper == 12 * weights.sum()
        assert row.bytes_one_vs_rest == 8 * 40 * 60
        assert row.ratio_paper == pytest.approx(1.5 * weights.sum() / (40 * 60))
        assert (row.depth, row.n_nodes) == (tree.depth, tree.n_nodes)
        assert row.n_problems == children.sum()
        parent = {c: v for v, node in enumerate(nodes) for c in node["nodes"]}
        ratio = np.array([used[v] / used[parent[v]] for v in sorted(parent)])
        depth = np.array([nodes[v]["depth"] for v in sorted(parent)])
        assert row.feature_ratio == pytest.approx(ratio.mean())
        expected = (ratio * children[1:]).sum() / children[1:].sum()
        assert row.feature_ratio_weighted == pytest.approx(expected)
        levels = [level for level in study.levels if level[:5] == row[:5]]
        assert [level.depth for level in levels] == list(range(tree.depth))
        assert sum(level.nonzeros_bound for level in levels) == weights.sum()
        for level in levels[1:]:
            here = depth == level.depth
            assert level.n_nodes == here.sum()
            assert level.n_problems == children[1:][here].sum()
            assert level.n_features == used[1:][here].sum()
            assert level.feature_ratio == pytest.approx(ratio[here].mean())


def test_histograms_count_all_nodes_of_all_seeds(study):
    for level in {(*level[1:4], level.depth) for level in study.levels if level.depth}:
        bins = [row for row in study.histogram if row[1:5] == level]
        nodes = [row.n_nodes for row in study.levels if (*row[1:4], row.depth) == level]
        assert sum(row.n_nodes for row in bins) == sum(nodes)
        mean = sum(row.n_nodes * (row.low + 0.01) for row in bins) / sum(nodes)
        ratios = [
            row.feature_ratio * row.n_nodes
            for row in study.levels
            if (*row[1:4], row.depth) == level
        ]
        assert mean == pytest.approx(sum(ratios) / sum(nodes), abs=0.0101)
    assert all(row.high - row.low == pytest.approx(0.02) for row in study.histogram)


def test_theory_meets_the_truth_where_a_tree_is_balanced(data):
    # 36 labels of 6 topics that share nothing, each label's samples with all words
    # of its topic: K-means finds the topics, and every ratio is 1/6.
    X = np.kron(np.eye(6), np.ones((6, 3)))
    study = study_space("even", X, np.eye(36, dtype=np.uint8), n_clusters=6, seeds=[0])
    row = next(row for row in study.trees if row[1:4] == ("varied", 6, 2))
    assert row.feature_ratio == row.feature_ratio_weighted == pytest.approx(1 / 6)
    truth = 1.5 * (6 * 18 + 36 * 3) / (36 * 18)
    assert row.ratio_paper == pytest.approx(truth)
    assert row.theory_ratio == row.theory_ratio_weighted == pytest.approx(truth)
    assert row.theory_depth == theory.max_depth(36, 6) == 2


def test_settings_are_the_papers():
    # papers.md: K of EUR-Lex, AmazonCat-13K, Wiki-500K and Amazon-3M.
    for n_labels, expected in {
        3993: [64, 16, 8],
        13330: [116, 24, 11],
        501070: [708, 80, 27],
        2812281: [1677, 142, 41],
    }.items():
        settings = settings_for(n_labels)
        assert settings[:5] == [Setting("fixed", 100, d) for d in (2, 3, 4, 5, 6)]
        assert [s.n_clusters for s in settings[5:]] == expected
        assert [s.max_depth for s in settings[5:]] == [2, 3, 4]


@pytest.mark.parametrize("degree", [1, 2, 3, 4])
def test_roots_are_exact(degree):
    for n in [*range(1, 200), 10**18 - 1, 10**18, 10**18 + 1]:
        root = root_ceil(n, degree)
        assert (root - 1) ** degree < n <= root**degree


def test_one_label_is_studied_too():
    study = study_space("one", [[1.0, 2.0]], [[0]], seeds=[0])
    assert {row.ratio_paper for row in study.trees} == {1.5}
    assert all(np.isnan(row.feature_ratio) for row in study.trees)
    assert study.histogram == []


def test_rows_without_features_are_studied_too(data):
    X, Y = data
    study = study_space("nothing", sparse.csr_matrix(X.shape, dtype=X.dtype), Y)
    assert statements(study)[0][1].startswith("0.0 %")
