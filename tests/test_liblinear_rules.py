"""LIBLINEAR's two solvers against their published rules, written out in numpy."""

import numpy as np
import pytest

from proxtree import solve

MASK = (1 << 64) - 1


class SplitMix64:
    """Vigna's splitmix64.c, and a number below n from its high bits."""

    def __init__(self, seed):
        self.state = seed

    def below(self, n):
        self.state = (self.state + 0x9E3779B97F4A7C15) & MASK
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        return ((z ^ (z >> 31)) * n) >> 64

    def shuffle(self, index, n):
        for i in range(n):
            j = i + self.below(n - i)
            index[i], index[j] = index[j], index[i]


def l1r_l2loss(X, s, C, eps, *, free_bias, seed=0, max_iter=1000):
    """LIBLINEAR -s 5: ||w||_1 + sum C max(0, 1 - s X w)^2; the bias is a column."""
    rows, n = X.shape
    XY = X * s[:, None]
    w, b = np.zeros(n), np.ones(rows)
    square = C @ XY**2
    index, active, G_max_old, first = list(range(n)), n, np.inf, None
    eps *= max(min((s > 0).sum(), (s < 0).sum()), 1) / rows
    rng = SplitMix64(seed)
    for sweep in range(1, max_iter + 1):
        G_max, G_sum = 0.0, 0.0
        rng.shuffle(index, active)
        k = 0
        while k < active:
            j = index[k]
            x, on = XY[:, j], b > 0
            loss_slope = -2 * (C * x * b)[on].sum()
            H = max(2 * (C * x * x)[on].sum(), 1e-12)
            free = free_bias and j == n - 1
            Gp, Gn = (
                (loss_slope, loss_slope) if free else (loss_slope + 1, loss_slope - 1)
            )
            violation = 0.0
            if free or w[j] != 0:
                violation = abs(Gp if w[j] >= 0 else Gn)
            elif Gp < 0:
                violation = -Gp
            elif Gn > 0:
                violation = Gn
            elif Gp > G_max_old / rows and Gn < -G_max_old / rows:
                active -= 1
                index[k], index[active] = index[active], index[k]
                continue
            G_max, G_sum = max(G_max, violation), G_sum + violation
            k += 1
            if free:
                d = -loss_slope / H
            elif Gp < H * w[j]:
                d = -Gp / H
            elif Gn > H * w[j]:
                d = -Gn / H
            else:
                d = -w[j]
            if abs(d) < 1e-12:
                continue

            def l1(d, j=j, free=free):
                return 0.0 if free else abs(w[j] + d) - abs(w[j])

            delta = l1(d) + loss_slope * d
            before = (C * np.maximum(b, 0) ** 2).sum()
            start = b.copy()
            for _ in range(20):
                cond = l1(d) - 0.01 * delta
                b = start - d * x
                if square[j] * d * d + loss_slope * d + cond <= 0:
                    break
                if cond + (C * np.maximum(b, 0) ** 2).sum() - before <= 0:
                    break
                d, delta = d / 2, delta / 2
            else:
                b = 1 - XY @ w - d * x
            w[j] += d
        first = G_sum if first is None else first
        if G_sum <= eps * first:
            if active == n:
                return w, sweep
            active, G_max_old = n, np.inf
        else:
            G_max_old = G_max
    return w, max_iter


def l2r_l2loss_dual(X, s, C, eps, *, seed=0, max_iter=1000):
    """LIBLINEAR -s 1: the dual of 1/2 ||w||^2 + sum C max(0, 1 - s X w)^2."""
    rows = len(s)
    a, w = np.zeros(rows), np.zeros(X.shape[1])
    QD = (X**2).sum(1) + 0.5 / C
    index, active, high = list(range(rows)), rows, np.inf
    rng = SplitMix64(seed)
    for sweep in range(1, max_iter + 1):
        rng.shuffle(index, active)
        high_new, low_new = -np.inf, np.inf
        k = 0
        while k < active:
            i = index[k]
            G = s[i] * (X[i] @ w) - 1 + a[i] * 0.5 / C[i]
            PG = G
            if a[i] == 0:
                if high < G:
                    active -= 1
                    index[k], index[active] = index[active], index[k]
                    continue
                PG = min(G, 0)
            high_new, low_new = max(high_new, PG), min(low_new, PG)
            k += 1
            if abs(PG) > 1e-12:
                old, a[i] = a[i], max(a[i] - G / QD[i], 0)
                w += (a[i] - old) * s[i] * X[i]
        if high_new - low_new <= eps:
            if active == rows:
                return w, sweep
            active, high = rows, np.inf
        else:
            high = high_new if high_new > 0 else np.inf
    return w, max_iter


def case(seed, n=60, d=12):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.4)
    X = X.astype(np.float32).astype(np.float64)
    y = X @ rng.normal(size=d) + rng.normal(size=n) > 1
    return X, np.where(y, 1.0, -1.0), rng.uniform(0.2, 2.0, n)


BIAS = [
    (None, {"fit_intercept": False}),
    (1.0, {}),
    (2.5, {"intercept_scaling": 2.5}),
    (1.0, {"penalize_intercept": False}),
]


def with_column(X, value):
    return X if value is None else np.hstack([X, np.full((len(X), 1), value)])


@pytest.mark.parametrize(("value", "options"), BIAS)
@pytest.mark.parametrize(("eps", "max_iter"), [(0.1, 1000), (1e-4, 1000), (1e-6, 7)])
def test_s5_by_its_rules(value, options, eps, max_iter):
    for seed, alpha in [(1, 1.0), (2, 0.1), (3, 0.03)]:
        X, s, c = case(seed)
        w, n_iter = l1r_l2loss(
            with_column(X, value),
            s,
            c / alpha,
            eps,
            free_bias="penalize_intercept" in options,
            seed=seed,
            max_iter=max_iter,
        )
        found = solve(
            X,
            s,
            alpha,
            solver="coordinate_descent",
            variant="liblinear",
            eps=eps,
            max_iter=max_iter,
            sample_weight=c,
            random_state=seed,
            **options,
        )
        assert found.n_iter == n_iter
        bias = 0 if value is None else w[-1] * value
        np.testing.assert_allclose(found.coef, w[: X.shape[1]], rtol=1e-7, atol=1e-9)
        np.testing.assert_allclose(found.intercept, bias, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize(("value", "options"), BIAS[:3])
@pytest.mark.parametrize(("eps", "max_iter"), [(0.1, 1000), (1e-6, 1000), (1e-6, 7)])
def test_s1_by_its_rules(value, options, eps, max_iter):
    for seed, C in [(1, 1.0), (2, 10.0), (3, 0.1)]:
        X, s, c = case(seed)
        w, n_iter = l2r_l2loss_dual(
            with_column(X, value), s, c * C, eps, seed=seed, max_iter=max_iter
        )
        found = solve(
            X,
            s,
            solver="dual_coordinate_descent",
            C=C,
            eps=eps,
            max_iter=max_iter,
            sample_weight=c,
            random_state=seed,
            **options,
        )
        assert found.n_iter == n_iter
        bias = 0 if value is None else w[-1] * value
        np.testing.assert_allclose(found.coef, w[: X.shape[1]], rtol=1e-7, atol=1e-9)
        np.testing.assert_allclose(found.intercept, bias, rtol=1e-7, atol=1e-9)
