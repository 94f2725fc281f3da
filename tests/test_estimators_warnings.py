"""A warning turned error, and words that fit the cause."""

import numpy as np
import pytest

import proxtree


def problem():
    random = np.random.default_rng(3)
    X = random.random((60, 8)) * (random.random((60, 8)) < 0.5)
    return X, (X[:, :2] > 0.5).astype(int)


def test_a_warning_turned_error_keeps_the_model():
    model = proxtree.LinearOneVsRest(alpha=0.01, tol=1e-9, max_iter=1)
    # pytest turns every warning into an error: the fit itself is done by then.
    with pytest.raises(proxtree.ConvergenceWarning, match="raise max_iter or tol"):
        model.fit(*problem())
    assert model.predict_topk(problem()[0], k=1)[0].shape == (60, 1)
    assert set(model.certificate_["status"]) == {"max_iter"}


def test_stalled_labels_are_told_of_float32():
    model = proxtree.LinearOneVsRest(alpha=1e-3, tol=1e-13)
    with pytest.raises(proxtree.ConvergenceWarning, match="float32 is exhausted"):
        model.fit(*problem())


def test_one_vs_rest_takes_a_beam_and_needs_none():
    X, Y = problem()
    model = proxtree.LinearOneVsRest(alpha=0.1).fit(X, Y)
    narrow, wide = (model.predict_topk(X, k=2, beam_size=b) for b in (1, 50))
    assert (narrow[0] == wide[0]).all()
    assert (narrow[1] == wide[1]).all()
    with pytest.raises(proxtree.DataError, match="beam_size"):
        model.predict_topk(X, beam_size=0)
