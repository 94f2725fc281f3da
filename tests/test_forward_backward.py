"""`solver="forward_backward"` against Algorithm 1 of PRoXML, written out in numpy."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proxtree import LinearLabelTree, LinearOneVsRest, solve
from proxtree.exceptions import DataError, DataWarning


def soft(u, threshold):
    return np.sign(u) * np.maximum(np.abs(u) - threshold, 0)


def algorithm_1(
    A, s, lam, c=1.0, *, w=None, first_step=0.1, step_shrink=0.1,
    min_iter=300, max_iter=1800, step_tol=1e-4, ridge=0.0,
):  # fmt: skip
    """Minimise lam |w|_1 + sum ridge/2 w^2 + sum c max(0, 1 - s A w)^2.

    A has the constant column, `ridge` a value for each column. As released but for
    the ridge.
    """
    w = np.zeros(A.shape[1]) if w is None else w

    def smooth(w):
        hinge = np.maximum(0, 1 - s * (A @ w))
        value = (c * hinge**2).sum() + 0.5 * (ridge * w**2).sum()
        return value, ridge * w - 2 * A.T @ (c * s * hinge)

    for t in range(1, max_iter + 1):
        loss, gradient = smooth(w)
        step = first_step
        while True:
            new = soft(w - step * gradient, lam * step)
            d = new - w
            if smooth(new)[0] <= loss + gradient @ d + d @ d / (2 * step):
                break
            step *= step_shrink
        change = np.linalg.norm(d) / max(1e-13, np.linalg.norm(w))
        w = new
        if t >= min_iter and change <= step_tol:
            break
    return w, t


def make(seed, n=60, d=25, density=0.3):
    """X with columns of very different sizes and y of about a quarter positives."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * (rng.random((n, d)) < density)
    X = (X * 10.0 ** rng.uniform(-1, 0.5, d)).astype(np.float32)
    z = X @ rng.normal(size=d)
    return X, z > np.quantile(z, 0.75)


def with_column(X, value):
    return np.column_stack([X.astype(np.float64), np.full(len(X), value)])


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("alpha", [0.1, 1.0])
def test_as_released(seed, alpha):
    X, y = make(seed)
    w, n_iter = algorithm_1(with_column(X, 1.0), np.where(y, 1, -1), alpha)
    solution = solve(X, y, alpha, solver="forward_backward")
    assert solution.n_iter == n_iter
    np.testing.assert_allclose(solution.coef, w[:-1], atol=1e-6)
    np.testing.assert_array_equal(solution.coef != 0, w[:-1] != 0)
    assert solution.intercept == pytest.approx(w[-1], abs=1e-6)
    best = solve(X, y, alpha, tol=1e-9).objective
    assert solution.objective >= best * (1 - 1e-9)


def test_as_released_at_the_limit():
    X, y = make(0)
    w, n_iter = algorithm_1(with_column(X, 1.0), np.where(y, 1, -1), 0.1, step_tol=0)
    solution = solve(X, y, 0.1, solver="forward_backward", step_tol=0, tol=1e-12)
    assert solution.n_iter == n_iter == 1800
    assert solution.status == "max_iter"
    np.testing.assert_allclose(solution.coef, w[:-1], atol=1e-6)


@given(
    seed=st.integers(0, 1000),
    alpha=st.floats(-2, 0.5).map(lambda e: 10**e),
    scale=st.sampled_from([None, 1.0, 0.2, 30.0]),
    weighted=st.booleans(),
    start=st.booleans(),
    ridge=st.sampled_from([0.0, 0.0, 0.5, 30.0]),
    constants=st.fixed_dictionaries(
        {},
        optional={
            "first_step": st.sampled_from([1.0, 1e-3, 7.0]),
            "step_shrink": st.sampled_from([0.5, 0.9]),
            "min_iter": st.sampled_from([0, 5]),
            "step_tol": st.sampled_from([1e-3, 1e-2]),
        },
    ),
)
@settings(max_examples=40)
def test_the_same_iterates(seed, alpha, scale, weighted, start, ridge, constants):
    X, y = make(seed, n=30, d=8)
    c = np.random.default_rng(seed).choice([0.0, 0.5, 3.0], 30) if weighted else None
    if weighted:
        c[0] = 1.0
    w0 = np.random.default_rng(seed).normal(size=8) if start else None
    # As LIBLINEAR's -B: a column of that value, its weight penalised like the rest.
    A = X.astype(np.float64) if scale is None else with_column(X, scale)
    begin = np.zeros(A.shape[1])
    if start:
        begin[:8] = w0
    w, n_iter = algorithm_1(
        A, np.where(y, 1, -1), alpha, 1.0 if c is None else c, w=begin,
        ridge=ridge * (np.arange(A.shape[1]) < 8), **{"max_iter": 60, **constants},
    )  # fmt: skip
    solution = solve(
        X, y, alpha, solver="forward_backward", max_iter=60, sample_weight=c, w0=w0,
        fit_intercept=scale is not None, intercept_scaling=scale or 1.0, ridge=ridge,
        **constants,
    )  # fmt: skip
    assert solution.n_iter == n_iter
    np.testing.assert_allclose(solution.coef, w[:8], rtol=1e-6, atol=1e-7)
    if scale is not None:
        assert solution.intercept == pytest.approx(scale * w[8], rel=1e-6, abs=1e-7)


@pytest.mark.parametrize("alpha", [0.5, 2.0, 4.0, 9.0])
@pytest.mark.parametrize("acceleration", [None, "fista"])
def test_one_feature_in_closed_form(alpha, acceleration):
    # min alpha |w| + 2 max(0, 1 - w)^2 at w = max(0, 1 - alpha / 4); a step of 0.1
    # holds the bound (the curvature is 4), and 1 - w then shrinks by 1 - 0.4.
    w = max(0.0, 1 - alpha / 4)
    solution = solve(
        [[1.0], [-1.0]], [1, 0], alpha, fit_intercept=False, tol=1e-9,
        solver="forward_backward", acceleration=acceleration,
    )  # fmt: skip
    np.testing.assert_allclose(solution.coef, [w], rtol=1e-12)
    assert solution.status == "converged"
    assert solution.n_iter == 300
    if acceleration is None:
        three = solve(
            [[1.0], [-1.0]], [1, 0], alpha, fit_intercept=False,
            solver="forward_backward", max_iter=3,
        )  # fmt: skip
        np.testing.assert_allclose(three.coef, [w * (1 - 0.6**3)], rtol=1e-12)


@pytest.mark.parametrize("penalize", [True, False])
@pytest.mark.parametrize("ridge", [0.0, 0.3])
@pytest.mark.parametrize("acceleration", [None, "fista"])
def test_the_gap_rule_reaches_the_optimum(acceleration, ridge, penalize):
    X, y = make(5)
    options = {"ridge": ridge, "penalize_intercept": penalize, "tol": 1e-6}
    best = solve(X, y, 0.5, **options)
    other = solve(
        X, y, 0.5, **options,
        solver="forward_backward", stop="gap", acceleration=acceleration,
    )  # fmt: skip
    assert other.status == "converged"
    assert other.gap <= 1e-6 * other.dual_objective
    assert other.objective == pytest.approx(best.objective, rel=2e-6)


def test_acceleration_needs_fewer_iterations():
    X, y = make(5)
    plain, fista = (
        solve(X, y, 0.1, solver="forward_backward", stop="gap", acceleration=a).n_iter
        for a in (None, "fista")
    )
    assert fista < plain / 2


def test_the_objective_never_rises():
    X, y = make(1)
    history = solve(
        X, y, 0.1, solver="forward_backward", stop="gap", history=True
    ).history
    seconds, objectives, _ = np.array(history).T
    assert len(history) > 10
    assert (np.diff(objectives) <= 1e-12 * objectives[:-1]).all()
    assert (np.diff(seconds) >= 0).all()


def test_history_does_not_change_the_solution():
    X, y = make(1)
    without, with_ = (
        solve(X, y, 0.1, solver="forward_backward", history=h) for h in (False, True)
    )
    np.testing.assert_array_equal(with_.coef, without.coef)
    assert with_.n_iter == without.n_iter
    first, *_, last = with_.history
    assert first[1] == len(y)  # every hinge of w = 0 is 1
    assert last[1:] == (with_.objective, with_.gap)


def test_the_papers_rule_ends_above_the_optimum():
    """As in text: few frequent features, many rare ones, rows of unit length."""
    rng = np.random.default_rng(0)
    n, d = 600, 400
    share = 1 / np.arange(1, d + 1)
    X = np.zeros((n, d))
    for row in X:
        row[rng.choice(d, 10, replace=False, p=share / share.sum())] = 1
    X *= np.log(n / np.maximum(1, X.sum(axis=0)))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    z = X @ rng.normal(size=d)
    y = z > np.quantile(z, 0.9)
    best = solve(X, y, 0.1, tol=1e-8)
    paper = solve(X, y, 0.1, solver="forward_backward")
    assert paper.status == "stalled"
    assert 300 <= paper.n_iter < 1800
    assert paper.objective > 1.1 * best.objective
    assert np.count_nonzero(paper.coef) > 1.3 * np.count_nonzero(best.coef)
    assert paper.dual_objective <= best.objective


def test_in_the_estimators():
    X, _ = make(2)
    Y = np.column_stack([make(2)[1], X[:, 0] > 0])
    # Ended by its own rule, so without a warning.
    model = LinearOneVsRest(0.1, solver="forward_backward").fit(X, Y)
    assert set(model.certificate_["status"]) == {"stalled"}
    for label, y in enumerate(Y.T):
        w, n_iter = algorithm_1(with_column(X, 1.0), np.where(y, 1, -1), 0.1)
        assert model.certificate_["n_iter"][label] == n_iter
        np.testing.assert_allclose(
            model.coef_[label].toarray().ravel(), w[:-1], rtol=1e-6, atol=1e-6
        )
        assert model.intercept_[label] == pytest.approx(w[-1], abs=1e-6)
    gap = {"stop": "gap", "acceleration": "fista"}
    ovr = LinearOneVsRest(
        0.5, solver="forward_backward", solver_options=gap, class_weight=(3.0, 0.5)
    ).fit(X, Y)
    tree = LinearLabelTree(
        0.5, tree=[[0], [1]], solver="forward_backward", solver_options=gap,
        alpha_exponent=0.3, propensity_weight=0.2,
    ).fit(X, Y)  # fmt: skip
    # A tree's "auto" goes for the gap only if told to.
    whole = {"violation_tol": 0, "max_sweeps": 100_000}
    for model, to_the_gap in ((ovr, {}), (tree, whole)):
        options = {"solver": "auto", "solver_options": None, **to_the_gap}
        auto = type(model)(**{**model.get_params(), **options}).fit(X, Y)
        np.testing.assert_allclose(
            model.certificate_["objective"], auto.certificate_["objective"], rtol=2e-3
        )


@pytest.mark.parametrize("stop", ["paper", "gap"])
def test_a_label_without_positives_gets_the_best_intercept(stop):
    X, y = make(2)
    Y = np.column_stack([y, np.zeros(len(y))])
    options = {"solver": "forward_backward", "solver_options": {"stop": stop}}
    with pytest.warns(DataWarning):
        model = LinearOneVsRest(0.5, **options).fit(X, Y)
    # min 0.5 |b| + 60 (1 + b)^2
    assert model.intercept_[1] == pytest.approx(0.5 / 120 - 1, rel=1e-12)
    assert model.coef_[1].nnz == 0
    assert model.certificate_["n_iter"][1] == 0


def test_pruned_weights_are_certified():
    X, y = make(2)
    Y = np.column_stack([y, X[:, 0] > 0])
    model = LinearLabelTree(
        0.5, tree=[0, 1], solver="forward_backward", prune=0.05, alpha_exponent=0.0,
        propensity_weight=0.0,
    ).fit(X, Y)  # fmt: skip
    assert model.certificate_["n_pruned"].sum() > 0
    assert np.abs(model.coef_.data).min() >= 0.05
    for label in range(2):
        w = model.coef_[label].toarray().ravel().astype(np.float64)
        b = model.intercept_[label]
        s = np.where(Y[:, label], 1, -1)
        loss = np.maximum(0, 1 - s * (X.astype(np.float64) @ w + b)) ** 2
        assert model.certificate_["objective"][label] == pytest.approx(
            0.5 * (np.abs(w).sum() + abs(b)) + loss.sum(), rel=1e-9
        )


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"acceleration": "nesterov"}, DataError, 'acceleration is .*"fista"'),
        ({"stop": "rule"}, DataError, 'expected "paper" or "gap"'),
        ({"first_step": 0}, DataError, "first_step is 0"),
        ({"step_shrink": 1.0}, DataError, "step_shrink is 1.0"),
        ({"step_shrink": 0}, DataError, "step_shrink is 0"),
        ({"min_iter": -1}, DataError, "min_iter is -1"),
        ({"min_iter": 1.5}, TypeError, "min_iter is 1.5"),
        ({"step_tol": -1e-9}, DataError, "step_tol is"),
        ({"eps": 0.1}, DataError, "no option 'eps'.*first_step"),
    ],
)
def test_errors(options, error, text):
    with pytest.raises(error, match=text):
        solve([[1.0], [2.0]], [1, 0], solver="forward_backward", **options)


def test_a_start_that_overflows():
    with pytest.raises(DataError, match="overflows"):
        solve([[1.0], [2.0]], [1, 0], solver="forward_backward", w0=[1e300])
