"""Certificates against an independent float64 computation, all options mixed.

With b = 1 - s z and a^ = 2 c max(0, b), every tau a^ that keeps
|x_j . (s a)| <= alpha for all j (and the intercept's own bound) proves the lower
bound D = sum(a - a^2 / (4 c)); a ridge turns the bound on the features into the
term -|soft(x_j . (s a), alpha)|^2 / (2 ridge).
"""

import warnings

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy import optimize, sparse

from proxtree import LinearOneVsRest, solve
from proxtree.exceptions import ConvergenceWarning, DataWarning


class Problem:
    """min alpha |w|_1 + ridge/2 |w|^2 + intercept_alpha |b| + sum c max(0, 1 - s z)^2.

    `intercept_alpha` is None without an intercept.
    """

    def __init__(self, X, positive, c, alpha, ridge, intercept_alpha):
        self.X = X
        self.s = np.where(positive, 1.0, -1.0)
        self.c = c
        self.alpha = alpha
        self.ridge = ridge
        self.intercept_alpha = intercept_alpha

    def hinge(self, w, b):
        return np.maximum(0, 1 - self.s * (self.X @ w + b))

    def primal(self, w, b):
        value = self.alpha * np.abs(w).sum() + 0.5 * self.ridge * (w @ w)
        value += (self.intercept_alpha or 0) * abs(b)
        return value + (self.c * self.hinge(w, b) ** 2).sum()

    def dual(self, w, b):
        kept = self.c > 0
        s, c, X = self.s[kept], self.c[kept], self.X[kept]
        a = 2 * c * self.hinge(w, b)[kept]
        imbalance = abs((s * a).sum())
        if self.intercept_alpha == 0 and imbalance > 0:
            # Free: sum(s a) = 0 by shrinking the heavier side.
            side = [a[s > 0].sum(), a[s < 0].sum()]
            a[s > 0] *= min(side) / max(side[0], 1e-300)
            a[s < 0] *= min(side) / max(side[1], 1e-300)
        total, square = a.sum(), (a * a / (4 * c)).sum()
        if total == 0 or square == 0:
            return 0.0
        limit = total / (2 * square)
        if self.intercept_alpha and imbalance > 0:
            limit = min(limit, self.intercept_alpha / imbalance)
        pull = np.abs(X.T @ (s * a))
        if self.ridge == 0:
            tau = min(limit, self.alpha / max(pull.max(initial=0), 1e-300))
            return tau * total - tau**2 * square

        def value(tau):
            soft = np.maximum(tau * pull - self.alpha, 0)
            return tau * total - tau**2 * square - (soft @ soft) / (2 * self.ridge)

        found = optimize.minimize_scalar(
            lambda t: -value(t * limit), bounds=(0, 1), options={"xatol": 1e-12}
        )
        return max(value(found.x * limit), value(limit))

    def agrees(self, w, b, objective, dual_objective, gap):
        P, D = self.primal(w, b), self.dual(w, b)
        # Where all samples are fitted, margins cancel to the last bit: P itself is
        # then no more exact than that.
        noise = 1e-14 * self.c.sum()
        assert objective == pytest.approx(P, rel=1e-6, abs=noise)
        assert dual_objective == pytest.approx(D, rel=1e-6, abs=1e-6 * P + noise)
        assert gap == pytest.approx(P - D, rel=0, abs=1e-6 * P + noise)
        # A bound on the optimum is one on every other point's objective.
        others = (P, self.primal(np.zeros(len(w)), 0.0))
        assert 0 <= dual_objective <= min(others) * (1 + 1e-9) + 1e-15 * noise


choices = {
    "seed": st.integers(0, 2**32 - 1),
    "alpha": st.floats(-3, 3).map(lambda e: 10**e),
    "ridge": st.sampled_from([0.0, 0.0, 1e-3, 1.0, 100.0]),
    "tol": st.floats(-4, -1).map(lambda e: 10**e),
    "fit_intercept": st.sampled_from([True, True, True, False]),
    "penalize_intercept": st.booleans(),
    "intercept_scaling": st.sampled_from([1.0, 0.01, 100.0]),
    "solver": st.sampled_from(
        ["auto", "auto", "coordinate_descent", "forward_backward"]
    ),
    "weighted": st.booleans(),
}


def data(seed, weighted, n_labels=1):
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(1, 40)), int(rng.integers(0, 12))
    X = rng.normal(size=(n, d)) * 10.0 ** rng.integers(-2, 3)
    X *= rng.random((n, d)) < rng.choice([0.1, 0.5, 1.0])
    Y = rng.random((n, n_labels)) < rng.choice([0.1, 0.5, 0.9, 1.0])
    weight = rng.choice([0.0, 0.1, 1.0, 7.0], size=n) if weighted else np.ones(n)
    weight[0] = max(weight[0], 1.0)
    Y[0, 0] = True
    return X.astype(np.float32), Y, weight


def intercept_alpha(alpha, options):
    if not options["fit_intercept"]:
        return None
    if not options["penalize_intercept"]:
        return 0.0
    return alpha / options["intercept_scaling"]


@given(
    **choices,
    class_weight=st.sampled_from([None, "balanced", (3.0, 0.2), (1e-3, 1.0)]),
    alpha_exponent=st.sampled_from([0.0, 0.5, -0.3]),
    propensity_weight=st.sampled_from([0.0, 0.5, 3.0]),
    normalize=st.booleans(),
)
@settings(max_examples=100)
def test_every_label_of_a_model(seed, weighted, **options):
    X, Y, weight = data(seed, weighted, n_labels=2)
    model = LinearOneVsRest(**options, max_iter=1000, n_threads=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", DataWarning)
        model.fit(sparse.csr_matrix(X), Y, sample_weight=weight if weighted else None)
    kept = weight > 0
    Y, weight, X = Y[kept], weight[kept], X[kept].astype(np.float64)
    if options["normalize"]:
        norms = np.linalg.norm(X, axis=1, keepdims=True)
        X = (X / np.where(norms > 0, norms, 1)).astype(np.float32).astype(np.float64)
    n = len(X)
    for label, positive in enumerate(Y.T):
        n_positive = int(positive.sum())
        by_class = options["class_weight"] or (1.0, 1.0)
        if by_class == "balanced":
            by_class = [n / (2 * max(m, 1)) for m in (n_positive, n - n_positive)]
        c_propensity = max(0, np.log(n) - 1) * 2.5**0.55
        extra = c_propensity * (n_positive + 1.5) ** -0.55
        c = weight * np.where(
            positive,
            by_class[0] * (1 + options["propensity_weight"] * extra),
            by_class[1],
        )
        exponent, alpha = options["alpha_exponent"], options["alpha"]
        if exponent:
            # Zero positives: the limit is clipped as well.
            power = (n_positive / 100) ** exponent if n_positive or exponent > 0 else 9
            alpha *= np.clip(power, 0.25, 4)
        problem = Problem(
            X, positive, c, alpha, options["ridge"], intercept_alpha(alpha, options)
        )
        proof = model.certificate_[label]
        problem.agrees(
            model.coef_[label].toarray().ravel().astype(np.float64),
            model.intercept_[label],
            proof["objective"],
            proof["dual_objective"],
            proof["gap"],
        )


@given(**choices)
@settings(max_examples=100)
# On the way all samples that weigh anything are fitted: the Hessian is zero there.
@example(
    seed=1849, alpha=0.06, ridge=0.0, tol=1e-5, fit_intercept=False,
    penalize_intercept=True, intercept_scaling=1.0, solver="auto", weighted=True,
)  # fmt: skip
def test_one_problem_and_the_way_to_it(seed, weighted, **options):
    X, Y, weight = data(seed, weighted)
    positive = Y[:, 0]
    solution = solve(
        X, positive, sample_weight=weight, max_iter=1000, history=True, **options
    )
    alpha = options["alpha"]
    problem = Problem(
        X.astype(np.float64),
        positive,
        weight,
        alpha,
        options["ridge"],
        intercept_alpha(alpha, options),
    )
    problem.agrees(
        solution.coef,
        solution.intercept,
        solution.objective,
        solution.dual_objective,
        solution.gap,
    )
    objectives = np.array([objective for _, objective, _ in solution.history])
    noise = 1e-12 * objectives[:-1] + 1e-14 * weight.sum()
    assert (np.diff(objectives) <= noise).all(), objectives
