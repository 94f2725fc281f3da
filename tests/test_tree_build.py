"""Label features, K-means and built trees against scikit-learn and by hand."""

from itertools import pairwise

import numpy as np
import pytest
from scipy import sparse
from sklearn.cluster import KMeans
from sklearn.preprocessing import normalize

import proxtree
from proxtree import LabelTree, _core, label_features
from proxtree._validation import csr_arg

METHODS = ("kmeans", "spherical", "balanced", "balanced_2means")


def topics(n_rows, n_features, n_topics, seed):
    """Unit rows: half their entries near a topic's, half anywhere."""
    rng = np.random.default_rng(seed)
    topic = rng.integers(n_topics, size=(n_rows, 1))
    near = (topic * 7 + rng.integers(9, size=(n_rows, 6))) % n_features
    ids = np.hstack([near, rng.integers(n_features, size=(n_rows, 6))])
    values = rng.uniform(0.2, 1, ids.shape)
    indptr = np.arange(0, ids.size + 1, ids.shape[1])
    X = sparse.csr_matrix((values.ravel(), ids.ravel(), indptr), (n_rows, n_features))
    X.sum_duplicates()
    return normalize(X).astype(np.float32)


def kmeans(X, n_clusters, *, seed=0, start=None, max_iter=300):
    return _core.kmeans(
        x=csr_arg(X),
        n_clusters=n_clusters,
        max_iter=max_iter,
        tol=1e-4,
        spherical=False,
        seed=seed,
        start=start,
        n_threads=1,
    )


def labels_below(tree):
    """The sorted labels below each node, from `to_dict` alone."""
    nodes = tree.to_dict()["nodes"]
    below = [list(node["labels"]) for node in nodes]
    for at in reversed(range(len(nodes))):
        for child in nodes[at]["nodes"]:
            below[at] += below[child]
    return [sorted(labels) for labels in below]


def test_label_features_are_the_normalised_rows_of_the_product(problem):
    X, Y = problem
    V = label_features(X, Y)
    expected = normalize((Y.astype(float).T @ X.astype(float)).tocsr())
    assert V.dtype == np.float32
    assert V.has_canonical_format
    np.testing.assert_allclose(V.toarray(), expected.toarray(), atol=1e-7)


def test_a_label_without_samples_has_an_empty_row(problem):
    X, Y = problem
    Y = sparse.hstack([Y[:, :2], sparse.csr_matrix((Y.shape[0], 1)), Y[:, 2:]]).tocsr()
    V = label_features(X, Y)
    norms = np.sqrt(V.multiply(V).sum(axis=1)).A1
    np.testing.assert_allclose(norms, [1, 1, 0, 1, 1, 1, 1, 1], atol=1e-6)


def test_label_features_refuse_what_does_not_fit(problem):
    X, Y = problem
    with pytest.raises(proxtree.DataError, match=r"\(80, 30\).*\(79, 7\)"):
        label_features(X, Y[:-1])
    with pytest.raises(proxtree.DataError, match="n_threads"):
        label_features(X, Y, n_threads=0)


@pytest.mark.parametrize("seed", range(5))
def test_lloyd_ends_where_scikit_learn_ends(seed):
    X = topics(400, 60, 12, seed)
    start = np.arange(15, dtype=np.uint32)
    assignment, objective, n_iter = kmeans(X, 15, start=start)
    peer = KMeans(
        15, init=X[:15].toarray().astype(float), n_init=1, tol=1e-4, algorithm="lloyd"
    ).fit(X.astype(float))
    np.testing.assert_array_equal(assignment, peer.labels_)
    assert objective == pytest.approx(peer.inertia_, rel=1e-5)
    assert 1 < n_iter < 300


def test_seeding_is_as_good_as_scikit_learns():
    X = topics(600, 80, 25, 0)
    ours = np.mean([kmeans(X, 25, seed=s)[1] for s in range(30)])
    peers = [KMeans(25, n_init=1, random_state=s).fit(X).inertia_ for s in range(30)]
    assert ours < 1.01 * np.mean(peers)


def test_more_rounds_never_raise_the_objective():
    X = topics(500, 60, 20, 1)
    values = [kmeans(X, 20, max_iter=n)[1] for n in range(12)]
    assert values[0] > values[-1]
    assert all(b <= a * (1 + 1e-6) for a, b in pairwise(values))


@pytest.mark.parametrize("clustering", METHODS)
def test_every_label_once_and_depth_bounded(clustering):
    V = topics(300, 60, 20, 2)
    tree = LabelTree.build(V, n_clusters=4, max_depth=4, clustering=clustering)
    below = labels_below(tree)
    assert below[0] == list(range(300))
    assert all(below)
    assert tree.depth <= 4
    nodes = tree.to_dict()["nodes"]
    assert max(node["depth"] for node in nodes) == tree.depth - 1
    for node in nodes:
        n_children = len(node["nodes"]) + len(node["labels"])
        assert n_children <= 4 or node["depth"] == 3


@pytest.mark.parametrize("clustering", METHODS)
def test_threads_containers_and_seeds(clustering):
    V = topics(300, 60, 20, 3)

    def build(V=V, **changed):
        arguments = {"n_clusters": 5, "clustering": clustering, "n_threads": 1}
        return LabelTree.build(V, **arguments | changed)

    tree = build()
    assert build(n_threads=2) == tree
    assert build(n_threads=8) == tree
    assert build(V.toarray()) == tree
    assert build(sparse.csc_matrix(V.astype(float))) == tree
    assert build(random_state=None) == tree
    assert build(random_state=1) != tree


def test_wrong_arguments_are_named():
    V = topics(20, 10, 3, 0)
    for arguments, message in [
        ({"n_clusters": 1}, "n_clusters is 1, expected at least 2"),
        ({"max_depth": 0}, "max_depth is 0, expected at least 1"),
        ({"clustering": "ward"}, "clustering is 'ward', expected"),
        ({"random_state": -1}, "random_state is -1"),
        ({"n_threads": 0}, "n_threads is 0"),
    ]:
        with pytest.raises(proxtree.DataError, match=message):
            LabelTree.build(V, **arguments)
    with pytest.raises(TypeError, match="n_clusters"):
        LabelTree.build(V, n_clusters=2.5)
    with pytest.raises(proxtree.DataError, match=r"label_features\[1, 0\] is nan"):
        LabelTree.build([[1.0], [np.nan]])
    with pytest.raises(proxtree.DataError, match="not 0"):
        LabelTree.build(sparse.csr_matrix((0, 3)))


def test_rounds_of_kmeans_can_be_limited():
    V = topics(400, 80, 40, 2)

    def moved(max_iter):
        """Rows that are nearer to another cluster's mean than to their own's."""
        tree = LabelTree.build(V, n_clusters=12, max_depth=2, max_iter=max_iter)
        sets = [n["labels"] for n in tree.to_dict()["nodes"] if n["labels"]]
        dense = V.toarray().astype(float)
        centroids = np.array([dense[rows].mean(axis=0) for rows in sets])
        distance = ((dense[:, None] - centroids) ** 2).sum(axis=2)
        own = np.empty(len(dense), int)
        for c, rows in enumerate(sets):
            own[rows] = c
        return int((distance.argmin(axis=1) != own).sum())

    assert moved(300) == 0
    assert moved(1) > 0
    with pytest.raises(proxtree.DataError, match="max_iter is 0"):
        LabelTree.build(V, max_iter=0)
