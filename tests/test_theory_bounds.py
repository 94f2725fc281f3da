"""Theorems 1 and 2 of the paper, against the ratio itself; and bad arguments."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from proxtree import theory

L_PAPER, K_PAPER = 200_000_000, 100
sizes = st.integers(2, 10**12)
clusters = st.integers(2, 2000)
alphas = st.floats(0, 1)


def exact_ratio(L, K, depth, alpha):
    terms = [(K * alpha) ** i for i in range(depth - 1)]
    return alpha ** (depth - 1) + Fraction(K, L) * sum(terms)


@given(sizes, clusters, st.integers(2, 6))
def test_breakeven_is_where_the_exact_ratio_crosses_one(L, K, depth):
    alpha = theory.breakeven_alpha(L, K, depth)
    assert 0 <= alpha < 1
    above = Fraction(alpha) + Fraction(1, 2**49)
    assert exact_ratio(L, K, depth, above) > 1
    if alpha > 2**-49:
        below = Fraction(alpha) - Fraction(1, 2**49)
        assert exact_ratio(L, K, depth, below) < 1


@given(sizes, clusters, st.data())
def test_bound_solves_its_equation(L, K, data):
    most = theory.max_depth(L, K)
    depth = data.draw(st.integers(2, max(2, most)))
    bound = Fraction(theory.alpha_bound(L, K, depth))
    if depth == 2:
        assert float(bound) == max(0, float(1 - Fraction(K, L)))
        return
    share = Fraction(1, K ** (most - depth))
    for step, sign in ((-1, -1), (1, 1)):
        alpha = bound + step * Fraction(1, 2**49)
        assert sign * (alpha ** (depth - 2) * (alpha + share) - 1) > 0


@given(sizes, clusters, st.data())
def test_below_the_bound_trees_are_smaller(L, K, data):
    most = theory.max_depth(L, K)
    assume(most >= 2)
    depth = data.draw(st.integers(2, most))
    bound = theory.alpha_bound(L, K, depth)
    assume(depth == 2 or K * bound >= 2)  # what the theorem asks for
    assert bound <= theory.breakeven_alpha(L, K, depth) + 1e-12
    alpha = bound * data.draw(st.floats(0, 0.999))
    assert theory.size_ratio(L, K, depth, alpha) < 1


@given(sizes, clusters, st.integers(1, 6), alphas)
def test_deeper_is_smaller_says_what_the_exact_ratios_say(L, K, depth, alpha):
    here, deeper = (exact_ratio(L, K, d, Fraction(alpha)) for d in (depth, depth + 1))
    assert theory.deeper_is_smaller(L, K, depth, alpha) == (deeper < here)


def test_deeper_is_smaller_at_the_very_edge():
    # 1 - 100^4 / 2e8 is 0.5, a float: equal sizes there.
    edge = 0.5
    assert not theory.deeper_is_smaller(L_PAPER, K_PAPER, 4, edge)
    assert theory.deeper_is_smaller(L_PAPER, K_PAPER, 4, np.nextafter(edge, 0))


@given(sizes, clusters, alphas)
def test_best_depth_has_the_smallest_exact_ratio(L, K, alpha):
    depths = range(1, theory.max_depth(L, K) + 1)
    found = [exact_ratio(L, K, d, Fraction(alpha)) for d in depths]
    assert theory.best_depth(L, K, alpha) == depths[found.index(min(found))]


def test_bound_of_trees_far_deeper_than_there_are():
    # D = 1: a^62 (a + K^63) = 1, where a beside K^63 = 2^3906 is nothing.
    assert theory.alpha_bound(2, 2**62, 64) == pytest.approx(2.0 ** (-3906 / 62))


def test_numbers_of_the_paper():
    bounds = [theory.alpha_bound(L_PAPER, K_PAPER, d) for d in (2, 3, 4, 5)]
    # (1 - 5e-7); the others solve a(a + 1e-4) = 1, a^2(a + 0.01) = 1, a^3(a + 1) = 1.
    assert bounds[0] == 1 - 5e-7
    assert bounds[1] == pytest.approx((-1e-4 + (1e-8 + 4) ** 0.5) / 2, rel=1e-15)
    cubic = [x.real for x in np.roots([1, 0.01, 0, -1]) if abs(x.imag) < 1e-12]
    quartic = [x.real for x in np.roots([1, 1, 0, 0, -1]) if abs(x.imag) < 1e-12]
    assert bounds[2] == pytest.approx(max(cubic), rel=1e-12)
    assert bounds[3] == pytest.approx(max(quartic), rel=1e-12)
    assert [int(1000 * b) / 1000 for b in bounds] == [0.999, 0.999, 0.996, 0.819]
    assert theory.max_depth(L_PAPER, K_PAPER) == 5


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: theory.max_depth(0, 100), "n_labels is 0, expected at least 1"),
        (lambda: theory.max_depth(10, 1), "n_clusters is 1, expected at least 2"),
        (lambda: theory.n_classifiers(10, 2, 0), "depth is 0, expected at least 1"),
        (lambda: theory.n_classifiers(10, 2, 65), "depth is 65, expected at most 64"),
        (lambda: theory.alpha_bound(10, 2, 1), "depth is 1, expected at least 2"),
        (lambda: theory.breakeven_alpha(10, 2, 1), "depth is 1, expected at least 2"),
        (lambda: theory.dense_size(10, 0, 2, 1), "n_features is 0"),
        (lambda: theory.nnz(10, 0, 2, 1, 0.5), "n_features is 0"),
        (lambda: theory.size_ratio(10, 2, 2, 1.5), "feature_ratio is 1.5, expected at"),
        (lambda: theory.size_ratio(10, 2, 2, -0.1), "feature_ratio is -0.1"),
        (lambda: theory.best_depth(10, 100, 2.0), "feature_ratio is 2.0"),
        (lambda: theory.size_ratio(10, 2, 2, float("nan")), "feature_ratio is nan"),
        (lambda: theory.deeper_is_smaller(10, 2, 2, 7), "feature_ratio is 7"),
        (lambda: theory.training_cost(0, 1, 1, 10, 2, 2), "n_samples is 0"),
        (lambda: theory.training_cost(1, 0, 1, 10, 2, 2), "nnz_per_row is 0"),
        (lambda: theory.training_cost(1, 1, -1, 10, 2, 2), "labels_per_row is -1"),
    ],
)
def test_arguments_out_of_range(call, text):
    with pytest.raises(ValueError, match=text):
        call()


def test_arguments_of_the_wrong_type():
    with pytest.raises(TypeError, match=r"n_labels is 10\.0, expected an integer"):
        theory.max_depth(10.0, 2)
    with pytest.raises(TypeError, match="feature_ratio is None, expected a number"):
        theory.best_depth(10, 2, None)
