"""Weights of samples and classes, the ridge, and the two levers."""

import numpy as np
import pytest
from scipy import sparse

from proxtree import LinearOneVsRest

# About what float32 weights can prove.
TIGHT = {"tol": 1e-5}


def same(a, b):
    """Whether both solve the same problem: the same optimum, from both sides."""
    for field in ("objective", "dual_objective"):
        np.testing.assert_allclose(
            a.certificate_[field], b.certificate_[field], rtol=1e-5
        )
    np.testing.assert_allclose(a.coef_.toarray(), b.coef_.toarray(), atol=0.02)
    np.testing.assert_allclose(a.intercept_, b.intercept_, atol=0.02)


def test_weight_two_is_a_sample_twice_and_zero_is_none(problem):
    X, Y = problem
    weights = np.random.default_rng(1).integers(0, 3, 80)
    rows = np.repeat(np.arange(80), weights)
    weighted = LinearOneVsRest(**TIGHT).fit(X, Y, sample_weight=weights)
    same(weighted, LinearOneVsRest(**TIGHT).fit(X[rows], Y[rows]))


def test_class_weights_are_sample_weights(problem):
    X, Y = problem
    positive = Y[:, [0]].toarray().ravel() == 1
    by_class = LinearOneVsRest(class_weight=(3, 0.5), **TIGHT).fit(X, Y[:, :1])
    by_sample = LinearOneVsRest(**TIGHT).fit(
        X, Y[:, :1], sample_weight=np.where(positive, 3, 0.5)
    )
    same(by_class, by_sample)


def test_balanced(problem):
    X, Y = problem
    # 16 of 80 samples are positive: 80 / (2 * 16) and 80 / (2 * 64).
    balanced = LinearOneVsRest(class_weight="balanced", **TIGHT).fit(X, Y)
    same(balanced, LinearOneVsRest(class_weight=(2.5, 0.625), **TIGHT).fit(X, Y))


@pytest.mark.parametrize(
    ("exponent", "alpha"),
    [(1.0, 0.25), (0.5, 0.4), (-0.5, 2.5), (-2.0, 4.0)],
)
def test_alpha_exponent(problem, exponent, alpha):
    # n = 16: 0.16^1 is clipped to 1/4, 0.16^0.5 = 0.4, 0.16^-2 is clipped to 4.
    lever = LinearOneVsRest(alpha_exponent=exponent, **TIGHT).fit(*problem)
    same(lever, LinearOneVsRest(alpha, **TIGHT).fit(*problem))


def test_propensity_weight(problem):
    c = (np.log(80) - 1) * 2.5**0.55
    extra = c * (16 + 1.5) ** -0.55
    lever = LinearOneVsRest(propensity_weight=0.5, **TIGHT).fit(*problem)
    plain = LinearOneVsRest(class_weight=(1 + 0.5 * extra, 1), **TIGHT)
    same(lever, plain.fit(*problem))


def test_ridge_in_closed_form():
    # min alpha w + ridge/2 w^2 + 2 (1 - w)^2 at w = (4 - alpha) / (4 + ridge).
    X = np.array([[1.0], [-1.0]])
    model = LinearOneVsRest(1.0, ridge=2.0, fit_intercept=False, **TIGHT)
    model.fit(X, [[0], []])
    assert model.coef_.toarray().item() == pytest.approx(0.5, rel=1e-6)
    assert model.certificate_["objective"][0] == pytest.approx(0.5 + 0.25 + 0.5)


def test_free_intercept_is_a_hugely_scaled_one(problem):
    X, Y = problem
    free = LinearOneVsRest(penalize_intercept=False, **TIGHT).fit(X, Y)
    scaled = LinearOneVsRest(intercept_scaling=1e6, **TIGHT).fit(X, Y)
    np.testing.assert_allclose(
        free.certificate_["objective"], scaled.certificate_["objective"], rtol=1e-5
    )


def test_zero_weight_can_leave_a_label_without_positives(problem):
    X, Y = problem
    Y = sparse.csr_matrix(Y[:, :2])
    weights = np.where(Y[:, [0]].toarray().ravel() == 1, 0.0, 1.0)
    with pytest.warns(UserWarning, match="1 of 2 labels have no positive"):
        model = LinearOneVsRest().fit(X, Y, sample_weight=weights)
    assert model.coef_[0].nnz == 0
