"""The solvers of LIBLINEAR through `solve`: other packages, proofs, seeds, errors."""

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.svm import LinearSVC

from proxtree import solve
from proxtree.exceptions import DataError

L1 = {"solver": "coordinate_descent", "variant": "liblinear"}
L2 = {"solver": "dual_coordinate_descent"}


@pytest.fixture(scope="module")
def binary(problem):
    X, Y = problem
    return X, Y[:, [0]].toarray().ravel().astype(int)


def l2_objective(X, y, w, b, C, c=1.0, scale=1.0):
    hinge = np.maximum(0, 1 - (2 * y - 1) * (X.astype(np.float64) @ w + b))
    return 0.5 * (w @ w + (b / scale) ** 2) + C * (c * hinge**2).sum()


def minimum(X, y, C, c):
    """The L2 optimum with an unpenalised intercept, by BFGS."""
    X = X.toarray().astype(np.float64)
    s = 2.0 * y - 1

    def objective(v):
        hinge = np.maximum(0, 1 - s * (X @ v[:-1] + v[-1]))
        pull = -2 * C * c * s * hinge
        gradient = np.append(v[:-1] + X.T @ pull, pull.sum())
        return 0.5 * v[:-1] @ v[:-1] + C * (c * hinge**2).sum(), gradient

    start = np.zeros(X.shape[1] + 1)
    return minimize(objective, start, jac=True, method="BFGS", options={"gtol": 1e-9})


@pytest.mark.parametrize("intercept", [{}, {"fit_intercept": False}])
@pytest.mark.parametrize("C", [0.1, 1.0, 10.0])
def test_l2_is_that_of_scikit_learn(binary, intercept, C):
    X, y = binary
    theirs = LinearSVC(C=C, dual=False, tol=1e-10, **intercept)
    theirs.fit(X.astype(np.float64), y)
    ours = solve(X, y, C=C, eps=1e-9, max_iter=10**6, **L2, **intercept)
    np.testing.assert_allclose(ours.coef, theirs.coef_[0], atol=2e-6)
    np.testing.assert_allclose(ours.intercept, theirs.intercept_, atol=2e-6)
    assert ours.status == "converged"


@pytest.mark.parametrize("alpha", [0.1, 1.0])
def test_l1_is_that_of_scikit_learn_and_of_auto(binary, alpha):
    X, y = binary
    theirs = LinearSVC(penalty="l1", dual=False, C=1 / alpha, tol=1e-7, max_iter=10**6)
    theirs.fit(X.astype(np.float64), y)
    ours = solve(X, y, alpha, eps=1e-7, max_iter=10**6, **L1)
    best = solve(X, y, alpha, tol=1e-9)
    assert ours.objective == pytest.approx(best.objective, rel=1e-6)
    np.testing.assert_allclose(ours.coef, theirs.coef_[0], atol=1e-4)


@pytest.mark.parametrize("C", [0.03, 1.0, 30.0])
def test_a_free_intercept_of_the_l2_problem(binary, C):
    X, y = binary
    c = np.random.default_rng(3).uniform(0.2, 2.0, len(y))
    best = minimum(X, y, C, c)
    ours = solve(
        X,
        y,
        C=C,
        eps=1e-8,
        max_iter=10**6,
        penalize_intercept=False,
        sample_weight=c,
        **L2,
    )
    assert ours.objective == pytest.approx(best.fun, rel=1e-9)
    assert ours.dual_objective == pytest.approx(best.fun, rel=1e-6)
    np.testing.assert_allclose(ours.intercept, best.x[-1], atol=1e-4)
    assert ours.status == "converged"


@pytest.mark.parametrize("options", [{}, {"intercept_scaling": 4.0}])
@pytest.mark.parametrize("eps", [1.0, 0.1, 1e-8])
def test_the_l2_certificate_is_true(binary, options, eps):
    X, y = binary
    scale = options.get("intercept_scaling", 1.0)
    best = solve(X, y, C=2.0, eps=1e-10, max_iter=10**6, **L2, **options)
    found = solve(X, y, C=2.0, eps=eps, **L2, **options)
    own = l2_objective(X, y, found.coef, found.intercept, 2.0, scale=scale)
    assert found.objective == pytest.approx(own, rel=1e-12)
    assert found.dual_objective <= best.objective * (1 + 1e-12)
    assert found.objective >= best.objective * (1 - 1e-12)
    assert found.gap == found.objective - found.dual_objective
    is_close = found.gap <= 1e-3 * found.dual_objective
    assert found.status == ("converged" if is_close else "stalled")


@pytest.mark.parametrize("options", [{}, {"penalize_intercept": False}])
def test_the_l1_certificate_keeps_the_intercept_of_the_method(binary, options):
    X, y = binary
    found = solve(X, y, 0.3, eps=0.5, tol=1e-9, **L1, **options)
    exact = solve(X, y, 0.3, w0=found.coef, max_iter=1, tol=1e-9, **options)
    # An exact intercept for these weights would be another one.
    assert found.intercept != exact.intercept
    z = X.astype(np.float64) @ found.coef + found.intercept
    hinge = np.maximum(0, 1 - (2 * y - 1) * z)
    bias = 0.0 if options else abs(found.intercept)
    own = 0.3 * (np.abs(found.coef).sum() + bias) + hinge @ hinge
    assert found.objective == pytest.approx(own, rel=1e-12)
    best = solve(X, y, 0.3, tol=1e-10, **options).objective
    assert found.dual_objective <= best
    # The bound is of use although the intercept is off.
    assert found.dual_objective > 0.1 * best
    assert found.status == "stalled"


def test_c_weighs_losses_as_sample_weights_do(binary):
    X, y = binary
    tight = {"eps": 1e-9, "max_iter": 10**6}
    a = solve(X, y, C=3.0, **tight, **L2)
    b = solve(X, y, C=1.0, sample_weight=np.full(len(y), 3.0), **tight, **L2)
    np.testing.assert_allclose(a.coef, b.coef, rtol=1e-7, atol=1e-9)
    assert a.objective == pytest.approx(b.objective)


def test_alpha_has_no_part_in_the_l2_problem(binary):
    a, b = (solve(*binary, alpha, **L2) for alpha in (0.5, 7.0))
    np.testing.assert_array_equal(a.coef, b.coef)
    assert a.objective == b.objective


@pytest.mark.parametrize("options", [L1, L2])
def test_seeds(binary, options):
    found = [solve(*binary, 0.1, random_state=seed, **options) for seed in (0, None, 1)]
    np.testing.assert_array_equal(found[0].coef, found[1].coef)
    assert (found[0].coef != found[2].coef).any()


def test_a_start_that_is_the_end(binary):
    tight = {"eps": 1e-7, "max_iter": 10**5, "fit_intercept": False}
    for options in (L1, L2):
        cold = solve(*binary, 0.1, **tight, **options)
        # The rule of -s 5 is relative to the first sweep: it has no end of its own.
        warm = solve(*binary, 0.1, w0=cold.coef, **tight | {"max_iter": 2}, **options)
        assert warm.objective == pytest.approx(cold.objective, rel=1e-6)
        assert cold.n_iter > 20


@pytest.mark.parametrize("options", [L1, L2])
def test_history_has_a_look_for_each_sweep(binary, options):
    plain = solve(*binary, 0.1, **options)
    found = solve(*binary, 0.1, history=True, **options)
    # Watching changes nothing.
    np.testing.assert_array_equal(found.coef, plain.coef)
    seconds, objectives, gaps = np.array(found.history).T
    assert len(seconds) == found.n_iter + 2
    assert (np.diff(seconds) >= 0).all()
    assert objectives[-1] == found.objective
    assert gaps[-1] == pytest.approx(found.gap)
    bounds = objectives - gaps
    assert (bounds <= found.objective).all()
    if options is L2:
        # Coordinate ascent on the dual.
        assert (np.diff(bounds[1:]) >= -1e-9 * found.objective).all()
    else:
        assert (np.diff(objectives) <= 1e-9 * objectives[0]).all()


def test_the_limit_of_sweeps(binary):
    for options in (L1, L2):
        found = solve(*binary, 0.01, eps=1e-12, tol=1e-15, max_iter=3, **options)
        assert (found.status, found.n_iter) == ("max_iter", 3)
        found = solve(*binary, 0.01, eps=1e-300, tol=1e-15, **options)
        assert found.n_iter <= 1000


def test_eps_is_where_the_fixed_variant_first_looks(binary):
    loose, tight = (
        solve(
            *binary, 0.1, tol=1e-6, history=True, solver="coordinate_descent", eps=eps
        )
        for eps in (100.0, 1e-9)
    )
    # After one sweep, and after as many as there may be.
    assert loose.history[1][1] > 1.01 * tight.history[1][1]
    assert loose.objective == pytest.approx(tight.objective, rel=1e-5)


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({**L2, "ridge": 0.1}, DataError, "ridge is 0.1, expected 0 with solver"),
        ({**L2, "C": 0}, DataError, "C is 0, expected a finite number > 0"),
        ({**L2, "C": "1"}, TypeError, "C is '1', expected a number"),
        ({**L2, "eps": -1}, DataError, "eps is -1"),
        ({**L1, "eps": 0}, DataError, "eps is 0"),
        ({**L1, "C": 1}, DataError, "no option 'C'; its options: variant, eps"),
        ({**L1, "variant": "newton"}, DataError, 'expected "fixed" or "liblinear"'),
        ({"random_state": -1}, DataError, "random_state is -1"),
        ({**L2, "C": 1e308, "sample_weight": [9.0, 9.0]}, DataError, "overflow"),
    ],
)
def test_errors(options, error, text):
    with pytest.raises(error, match=text):
        solve([[1.0], [2.0]], [1, 0], **options)
