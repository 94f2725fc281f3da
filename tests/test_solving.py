"""`solve` and `solve_path`: closed forms, agreement, errors."""

import dataclasses

import numpy as np
import pytest

from proxtree import LinearOneVsRest, Solution, solve, solve_path
from proxtree.exceptions import DataError

SOLVERS = ["auto", "coordinate_descent"]


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("alpha", [0.5, 2.0, 4.0, 9.0])
def test_one_feature_in_closed_form(solver, alpha):
    # min alpha |w| + 2 max(0, 1 - w)^2 at w = max(0, 1 - alpha / 4).
    w = max(0.0, 1 - alpha / 4)
    solution = solve(
        [[1.0], [-1.0]], [1, 0], alpha, fit_intercept=False, solver=solver, tol=1e-9
    )
    assert isinstance(solution, Solution)
    np.testing.assert_allclose(solution.coef, [w], rtol=1e-8)
    assert solution.intercept == 0
    assert solution.objective == pytest.approx(alpha * w + 2 * (1 - w) ** 2)
    assert solution.gap == solution.objective - solution.dual_objective
    assert solution.gap <= 1e-9 * solution.dual_objective
    assert solution.status == "converged"
    assert solution.history == []


def test_intercept_scaling_in_closed_form():
    # Constant rows, 3 of 4 positive, b = 2 v:
    # min |v| + 3 (1 - 2v)^2 + (1 + 2v)^2 has 1 - 12 (1 - 2v) + 4 (1 + 2v) = 0.
    solution = solve(np.zeros((4, 1)), [1, 1, 1, 0], intercept_scaling=2.0, tol=1e-12)
    assert solution.intercept == pytest.approx(2 * 7 / 32)


@pytest.mark.parametrize("solver", SOLVERS)
def test_solvers_meet(problem, solver):
    X, Y = problem
    y = Y[:, [0]].toarray().ravel()
    reference = solve(X, y, 0.3, tol=1e-10)
    other = solve(X, y, 0.3, tol=1e-10, solver=solver)
    assert other.objective == pytest.approx(reference.objective, rel=1e-9)


def test_agrees_with_the_estimator(problem):
    X, Y = problem
    model = LinearOneVsRest(0.3, tol=1e-5).fit(X, Y)
    solution = solve(X, Y[:, [2]].toarray().ravel(), 0.3, tol=1e-5)
    assert solution.objective == pytest.approx(
        model.certificate_["objective"][2], rel=2e-5
    )


@pytest.mark.parametrize(
    "change",
    [
        lambda y: y.astype(bool),
        lambda y: y.astype(float),
        lambda y: 2 * y.astype(int) - 1,
        lambda y: y.tolist(),
    ],
)
def test_kinds_of_y(problem, change):
    X, Y = problem
    y = Y[:, [0]].toarray().ravel()
    np.testing.assert_array_equal(solve(X, change(y)).coef, solve(X, y).coef)


def test_history_and_warm_start(problem):
    X, Y = problem
    y = Y[:, [0]].toarray().ravel()
    cold = solve(X, y, 0.3, tol=1e-8, history=True)
    seconds, objectives, gaps = np.array(cold.history).T
    assert (np.diff(seconds) >= 0).all()
    assert objectives[-1] == pytest.approx(cold.objective)
    assert gaps[-1] == pytest.approx(cold.gap, abs=1e-12)
    warm = solve(X, y, 0.3, tol=1e-8, w0=cold.coef)
    assert warm.n_iter < cold.n_iter
    assert warm.objective == pytest.approx(cold.objective, rel=1e-8)


def test_path(problem):
    X, Y = problem
    y = Y[:, [0]].toarray().ravel()
    alphas = [3.0, 1.0, 0.3]
    path = solve_path(X, y, alphas, tol=1e-8, solver="coordinate_descent")
    alone = [solve(X, y, a, tol=1e-8, solver="coordinate_descent") for a in alphas]
    for a, b in zip(path, alone, strict=True):
        assert a.objective == pytest.approx(b.objective, rel=1e-7)
    cold, warm = solve_path(X, y, [0.3, 0.3], tol=1e-8)
    assert warm.n_iter < cold.n_iter
    assert solve_path(X, y, []) == []
    with pytest.raises(TypeError, match=r"alphas is 0\.3, expected numbers"):
        solve_path(X, y, 0.3)


def test_too_few_iterations(problem):
    X, Y = problem
    solution = solve(X, Y[:, [0]].toarray().ravel(), 0.01, tol=1e-9, max_iter=1)
    assert solution.status == "max_iter"
    assert solution.gap > 0


def test_frozen(problem):
    solution = solve([[1.0]], [1])
    with pytest.raises(dataclasses.FrozenInstanceError):
        solution.gap = 0.0
    assert "coef" not in repr(solution)


@pytest.mark.parametrize(
    ("y", "options", "error", "text"),
    [
        ([1, 2], {}, DataError, r"y holds \[1, 2\]"),
        ([0, -1], {}, DataError, "y holds"),
        ([0, np.nan], {}, DataError, "y holds"),
        ([1], {}, DataError, r"y has shape \(1,\), expected \(2,\)"),
        ([[1], [0]], {}, DataError, r"y has shape \(2, 1\)"),
        (["a", "b"], {}, TypeError, "y has type"),
        ([1, 0], {"alpha": 0}, DataError, "alpha is 0"),
        ([1, 0], {"solver": "x"}, DataError, "solver is 'x'"),
        ([1, 0], {"eps": 1}, DataError, "no option 'eps'; its options: none"),
        ([1, 0], {"w0": [1, 2]}, DataError, r"w0 has shape \(2,\), expected \(1,\)"),
        ([1, 0], {"w0": [np.inf]}, DataError, "w0 holds"),
        ([1, 0], {"history": 1}, TypeError, "history is 1"),
        ([1, 0], {"sample_weight": [1]}, DataError, "sample_weight has shape"),
    ],
)
def test_errors(y, options, error, text):
    with pytest.raises(error, match=text):
        solve([[1.0], [2.0]], y, **options)


def test_no_samples():
    with pytest.raises(DataError, match="no samples"):
        solve(np.empty((0, 1)), [])
