"""Numbers at the ends of their ranges: an error or a model, never nonsense."""

import math

import numpy as np
import pytest

from proxtree import DataError, LinearOneVsRest, metrics, solve


@pytest.mark.parametrize(
    ("options", "weight", "message"),
    [
        ({}, 1e308, "the objective overflows"),
        ({"class_weight": (1e300, 1e-300)}, None, "class weights .* ratio"),
        ({"propensity_weight": 1e308}, None, "class weights .* with the levers"),
    ],
)
def test_an_overflowing_objective_is_an_error(problem, options, weight, message):
    X, Y = problem
    if weight is not None:
        weight = np.full(X.shape[0], weight)
    with pytest.raises(DataError, match=message):
        LinearOneVsRest(**options).fit(X, Y, sample_weight=weight)


def test_a_start_that_overflows_is_an_error(problem):
    X, Y = problem
    with pytest.raises(DataError, match="the objective overflows"):
        solve(X, Y[:, [0]].toarray().ravel(), w0=np.full(X.shape[1], 1e300))


@pytest.mark.parametrize("name", ["alpha", "tol", "ridge", "alpha_exponent"])
def test_an_integer_beyond_float_is_out_of_range(problem, name):
    with pytest.raises(DataError, match=f"{name} is .*expected a finite number"):
        LinearOneVsRest(**{name: 10**400}).fit(*problem)


@pytest.mark.filterwarnings("ignore::proxtree.ConvergenceWarning")
@pytest.mark.parametrize("penalize", [True, False])
@pytest.mark.parametrize("scale", [1e-45, 1e-38, 1e-20, 1e20, 1e30, 1e38])
def test_the_ends_of_float32(problem, scale, penalize):
    X, Y = problem
    with np.errstate(under="ignore"):
        X = (X.toarray().astype(np.float64) * scale).astype(np.float32)
    model = LinearOneVsRest(penalize_intercept=penalize).fit(X, Y)
    proof = model.certificate_
    s = np.where(Y.toarray() == 1, 1.0, -1.0)
    z = X.astype(np.float64) @ model.coef_.toarray().T.astype(np.float64)
    loss = (np.maximum(0, 1 - s * (z + model.intercept_)) ** 2).sum(axis=0)
    penalty = np.abs(model.coef_.toarray().astype(np.float64)).sum(axis=1)
    if penalize:
        penalty += np.abs(model.intercept_)
    np.testing.assert_allclose(proof["objective"], loss + penalty, rtol=1e-6)
    assert (proof["dual_objective"] >= 0).all()
    # Never worse than no weights at all.
    assert (proof["objective"] <= len(s)).all()


def test_all_weights_scaled_by_a_power_of_two_are_the_same_problem(problem):
    X, Y = problem
    plain = LinearOneVsRest().fit(X, Y)
    for exponent in (-300, 300):
        k = 2.0**exponent
        scaled = LinearOneVsRest(k).fit(X, Y, sample_weight=np.full(X.shape[0], k))
        np.testing.assert_allclose(
            scaled.certificate_["objective"] / k, plain.certificate_["objective"], 1e-3
        )
        assert math.isfinite(scaled.intercept_.sum())
        assert (scaled.certificate_["status"] == "converged").all()


def test_a_propensity_without_an_inverse_is_an_error():
    Y, labels = np.eye(3, dtype=int), np.array([[0], [1], [2]])
    with pytest.raises(DataError, match=r"propensity\[0\] is 1e-320"):
        metrics.psp_at_k(Y, labels, 1, np.full(3, 1e-320))
