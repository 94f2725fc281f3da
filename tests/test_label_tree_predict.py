"""Predictions of LinearLabelTree against path scores written out in numpy."""

import numpy as np
import pytest

from proxtree import LinearLabelTree
from proxtree.exceptions import DataError, NotFittedError

STEP = {
    "squared": lambda z: -(np.maximum(0, 1 - z) ** 2),
    "cubed": lambda z: -(np.maximum(0, 1 - z) ** 3),
    "log_sigmoid": lambda z: -np.log1p(np.exp(-3 * z)),
}


def path_scores(model, X, tree=0):
    """Scores of all labels by one tree, dense, from the public attributes."""
    X = X.toarray().astype(float)
    first = sum(t.n_nodes for t in model.trees_[:tree])
    nodes = list(model.nodes())[first:]
    scores = np.full((len(X), model.n_labels_), np.nan)

    def descend(node, above):
        children, coef, intercept = nodes[node]
        z = X @ coef.toarray().T.astype(float) + intercept
        for c, child in enumerate(children.tolist()):
            path = above + STEP[model.scoring](z[:, c])
            if child >= 0:
                scores[:, child] = np.exp(path)
            else:
                descend(-child, path)

    descend(0, np.zeros(len(X)))
    return scores


@pytest.fixture(scope="module", params=sorted(STEP))
def fitted(problem, request):
    X, Y = problem
    return LinearLabelTree(0.3, n_clusters=2, scoring=request.param).fit(X, Y), X


def test_a_beam_of_all_nodes_is_exhaustive(fitted):
    model, X = fitted
    expected = path_scores(model, X)
    labels, scores = model.predict_topk(X, 7, beam_size=model.tree_.n_nodes)
    assert labels.dtype == np.int32
    assert scores.dtype == np.float32
    np.testing.assert_allclose(
        scores, np.take_along_axis(expected, labels, axis=1), rtol=1e-4, atol=1e-6
    )
    assert (np.diff(scores, axis=1) <= 0).all()
    np.testing.assert_array_equal(
        np.sort(labels, axis=1), np.tile(np.arange(7), (80, 1))
    )


def test_pairs_have_the_scores_of_the_ranking(fitted):
    model, X = fitted
    labels, scores = model.predict_topk(X, 7, beam_size=99)
    rows = np.repeat(np.arange(80), 7)
    np.testing.assert_array_equal(
        model.score_pairs(X, rows, labels.ravel()), scores.ravel()
    )


def test_predict_is_above_the_score_of_margin_zero(fitted):
    model, X = fitted
    model.beam_size = 99
    expected = path_scores(model, X)
    neutral = np.exp(STEP[model.scoring](0.0))
    clear = np.abs(expected - neutral) > 1e-5
    found = model.predict(X)
    assert found.dtype == np.uint8
    np.testing.assert_array_equal(found.toarray()[clear], expected[clear] > neutral)
    assert 0 < found.nnz < found.shape[0] * found.shape[1]
    some = model.predict(X, threshold=0.9).toarray()
    clear = np.abs(expected - 0.9) > 1e-5
    np.testing.assert_array_equal(some[clear], expected[clear] > 0.9)


def test_the_beam_is_the_estimators_unless_told(fitted):
    model, X = fitted
    model.beam_size = 1
    narrow = model.predict_topk(X, 7)
    told = model.predict_topk(X, 7, beam_size=1)
    model.beam_size = 99
    wide = model.predict_topk(X, 7)
    np.testing.assert_array_equal(narrow[0], told[0])
    assert (narrow[0] == -1).any()
    assert (wide[0] >= 0).all()
    # What a narrow beam finds has its full score.
    best = np.flatnonzero(narrow[0][:, 0] == wide[0][:, 0])
    assert len(best) > 40
    np.testing.assert_array_equal(narrow[1][best, 0], wide[1][best, 0])
    for bad in (0, -1):
        with pytest.raises(DataError, match=f"beam_size is {bad}"):
            model.predict_topk(X, beam_size=bad)
    with pytest.raises(TypeError, match="beam_size"):
        model.predict_topk(X, beam_size=1.0)


def test_allowed_labels(fitted):
    model, X = fitted
    labels, scores = model.predict_topk(X, 3, allowed=[5, 1], beam_size=99)
    expected = path_scores(model, X)[:, [1, 5]]
    np.testing.assert_allclose(
        scores[:, :2], -np.sort(-expected, axis=1), rtol=1e-4, atol=1e-6
    )
    assert set(labels[:, :2].ravel()) == {1, 5}
    assert (labels[:, 2] == -1).all()


def test_batches_and_threads_do_not_change_a_bit(fitted):
    model, X = fitted
    labels, scores = model.predict_topk(X)
    for n_threads in (1, 2):
        again = model.predict_topk(X, n_threads=n_threads)
        np.testing.assert_array_equal(again[0], labels)
        np.testing.assert_array_equal(again[1], scores)
    rows = [model.predict_topk(X[i]) for i in range(80)]
    np.testing.assert_array_equal(np.vstack([r[0] for r in rows]), labels)
    np.testing.assert_array_equal(np.vstack([r[1] for r in rows]), scores)


def test_several_trees_average_their_scores(problem):
    X, Y = problem
    model = LinearLabelTree(0.3, n_clusters=2, n_trees=3, beam_size=99).fit(X, Y)
    expected = np.mean([path_scores(model, X, t) for t in range(3)], axis=0)
    labels, scores = model.predict_topk(X, 7)
    np.testing.assert_allclose(
        scores, np.take_along_axis(expected, labels, axis=1), rtol=1e-4, atol=1e-6
    )
    # The same trees, trained one by one.
    parts = [
        LinearLabelTree(0.3, tree=tree, beam_size=99).fit(X, Y) for tree in model.trees_
    ]
    np.testing.assert_allclose(
        expected, np.mean([path_scores(p, X) for p in parts], axis=0), rtol=1e-12
    )


def test_before_fit(problem):
    model = LinearLabelTree()
    for use in (
        lambda: model.predict_topk(problem[0]),
        lambda: model.tree_,
        lambda: next(model.nodes()),
        lambda: model.coef_,
    ):
        with pytest.raises(NotFittedError, match="LinearLabelTree is not fitted"):
            use()
