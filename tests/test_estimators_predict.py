"""Predictions against numpy."""

import numpy as np
import pytest
from scipy import sparse

from proxtree import LinearOneVsRest
from proxtree.exceptions import DataError


@pytest.fixture(scope="module")
def fitted(problem):
    X, Y = problem
    return LinearOneVsRest(0.5).fit(X, Y), X


def margins(model, X):
    """Float64 scores from the public attributes."""
    return X.toarray().astype(float) @ model.coef_.toarray().T.astype(float) + (
        model.intercept_
    )


def test_decision_function(fitted):
    model, X = fitted
    scores = model.decision_function(X)
    assert scores.dtype == np.float32
    np.testing.assert_allclose(scores, margins(model, X), atol=1e-5)


@pytest.mark.parametrize("k", [1, 3, 7, 12])
def test_topk(fitted, k):
    model, X = fitted
    labels, scores = model.predict_topk(X, k)
    assert labels.dtype == np.int32
    assert scores.dtype == np.float32
    assert labels.shape == scores.shape == (80, k)
    dense = model.decision_function(X)
    order = np.argsort(-dense, axis=1, kind="stable")[:, :k]
    np.testing.assert_array_equal(labels[:, :7], order)
    np.testing.assert_array_equal(
        scores[:, :7], np.take_along_axis(dense, order, axis=1)
    )
    assert (labels[:, 7:] == -1).all()
    assert (scores[:, 7:] == -np.inf).all()


def test_allowed_labels(fitted):
    model, X = fitted
    labels, _ = model.predict_topk(X, 3, allowed=[5, 1])
    dense = model.decision_function(X)
    first = np.where(dense[:, 1] >= dense[:, 5], 1, 5)
    np.testing.assert_array_equal(labels[:, 0], first)
    np.testing.assert_array_equal(labels[:, 1], 6 - first)
    assert (labels[:, 2] == -1).all()
    assert (model.predict_topk(X, 1, allowed=[])[0] == -1).all()


def test_predict_and_threshold(fitted):
    model, X = fitted
    dense = model.decision_function(X)
    for threshold, limit in ((None, 0.0), (-0.5, -0.5)):
        predicted = model.predict(X, threshold=threshold)
        assert predicted.format == "csr"
        assert predicted.dtype == np.uint8
        np.testing.assert_array_equal(predicted.toarray(), dense > limit)


def test_score_pairs(fitted):
    model, X = fitted
    rows, labels = [3, 3, 0, 79], [6, 0, 2, 2]
    scores = model.score_pairs(X, rows, labels)
    assert scores.dtype == np.float32
    np.testing.assert_array_equal(scores, model.decision_function(X)[rows, labels])
    assert model.score_pairs(X, [], []).shape == (0,)


def test_rows_containers_and_threads_do_not_change_a_bit(fitted):
    model, X = fitted
    labels, scores = model.predict_topk(X, 4, n_threads=1)
    one_by_one = [model.predict_topk(X[i], 4) for i in range(80)]
    for other in (
        model.predict_topk(X, 4, n_threads=2),
        model.predict_topk(X.toarray(), 4),
        model.predict_topk(np.asfortranarray(X.toarray()), 4),
        model.predict_topk(X.tocsc(), 4),
        [np.concatenate(parts) for parts in zip(*one_by_one, strict=True)],
    ):
        np.testing.assert_array_equal(other[0], labels)
        np.testing.assert_array_equal(other[1], scores)


def test_ties_go_to_the_smaller_id(problem):
    X, Y = problem
    model = LinearOneVsRest().fit(X, sparse.hstack([Y[:, :1]] * 3))
    assert (model.predict_topk(X, 3)[0] == [0, 1, 2]).all()


def test_no_rows(fitted):
    model, _ = fitted
    empty = np.empty((0, 30))
    labels, scores = model.predict_topk(empty, 2)
    assert labels.shape == scores.shape == (0, 2)
    assert model.predict(empty).shape == (0, 7)
    assert model.decision_function(empty).shape == (0, 7)


@pytest.mark.parametrize(
    ("use", "error", "text"),
    [
        (lambda m, X: m.predict_topk(X, 0), DataError, "k is 0"),
        (lambda m, X: m.predict_topk(X, -1), DataError, "k is -1"),
        (lambda m, X: m.predict_topk(X, 2.0), TypeError, "k is 2.0"),
        (lambda m, X: m.predict_topk(X, True), TypeError, "k is True"),
        (lambda m, X: m.predict_topk(X, n_threads=0), DataError, "n_threads is 0"),
        (lambda m, X: m.predict_topk(X, allowed=[7]), DataError, "allowed holds 7"),
        (lambda m, X: m.predict_topk(X, allowed=[-1]), DataError, "allowed holds -1"),
        (lambda m, X: m.predict_topk(X, allowed=[True]), TypeError, "allowed"),
        (lambda m, X: m.predict(X, threshold=np.nan), DataError, "threshold is nan"),
        (lambda m, X: m.predict(X, threshold="0"), TypeError, "threshold"),
        (lambda m, X: m.score_pairs(X, [80], [0]), DataError, "rows holds 80"),
        (lambda m, X: m.score_pairs(X, [0], [7]), DataError, "labels holds 7"),
        (lambda m, X: m.score_pairs(X, [0, 1], [0]), DataError, "2 rows and 1 labels"),
        (lambda m, X: m.score_pairs(X, [0.5], [0]), TypeError, "rows"),
        (lambda m, X: m.predict_topk(X[:, :5]), DataError, r"\(80, 5\), expected 30"),
        (lambda m, X: m.decision_function(X[:, :5]), DataError, "expected 30"),
        (lambda m, X: m.predict_topk(np.ones(30)), DataError, r"shape \(30,\)"),
    ],
)
def test_errors(fitted, use, error, text):
    model, X = fitted
    with pytest.raises(error, match=text):
        use(model, X)
