"""`proxtree.theory` against explicit balanced trees and exact fractions."""

import math
from fractions import Fraction

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from proxtree import theory

L_PAPER, K_PAPER = 200_000_000, 100


def nodes_of_balanced_tree(n_labels, n_clusters, depth, n_features, alpha):
    """(children, used features) of each node of a tree, walked node by node."""
    stack = [(0, Fraction(n_labels), Fraction(n_features))]
    while stack:
        level, labels, features = stack.pop()
        if level == depth - 1:
            yield labels, features
            continue
        yield n_clusters, features
        stack += [(level + 1, labels / n_clusters, features * alpha)] * n_clusters


def exact_ratio(n_labels, n_clusters, depth, alpha):
    """Equation (15) in fractions, with the geometric sum written out."""
    K = Fraction(n_clusters)
    terms = [(K * alpha) ** i for i in range(depth - 1)]
    return alpha ** (depth - 1) + K / n_labels * sum(terms)


trees = st.tuples(st.integers(2, 6), st.integers(1, 4)).flatmap(
    lambda kd: st.tuples(st.integers(2 * kd[0] ** (kd[1] - 1), 5000), *map(st.just, kd))
)
ratios = st.fractions(0, 1, max_denominator=50)
sizes = st.integers(1, 10**12)
clusters = st.integers(2, 2000)


@given(trees, ratios, st.integers(1, 1000))
def test_sizes_are_those_of_a_tree_walked_node_by_node(tree, alpha, n_features):
    nodes = list(nodes_of_balanced_tree(*tree, n_features, alpha))
    L, K, depth = tree
    assert theory.n_classifiers(L, K, depth) == sum(n for n, _ in nodes)
    dense = theory.dense_size(L, n_features, K, depth)
    assert dense == sum(n * n_features for n, _ in nodes)
    weights = sum(n * features for n, features in nodes)
    found = theory.nnz(L, n_features, K, depth, float(alpha))
    assert found == pytest.approx(float(weights), rel=1e-13)
    ratio = theory.size_ratio(L, K, depth, float(alpha))
    assert ratio == pytest.approx(float(weights / (L * n_features)), rel=1e-13)


@given(sizes, clusters)
def test_max_depth_is_the_last_one_with_two_labels_a_node(L, K):
    depth = theory.max_depth(L, K)
    assert depth == 1 or Fraction(L, K ** (depth - 1)) >= 2
    assert Fraction(L, K**depth) < 2


@pytest.mark.parametrize("K", [2, 3, 10, 100, 1000])
@pytest.mark.parametrize("power", [1, 2, 5, 6])
def test_max_depth_is_exact_at_powers(K, power):
    # Logarithms in floats are wrong for some of these: log(1000, 10) < 3.
    assert theory.max_depth(2 * K**power, K) == power + 1
    assert theory.max_depth(2 * K**power - 1, K) == power


def test_max_depth_of_few_labels():
    assert [theory.max_depth(L, 100) for L in (1, 2, 100, 199, 200)] == [1, 1, 1, 1, 2]


@given(sizes, clusters, st.integers(1, 8), st.floats(0, 1))
def test_ratio_is_that_of_exact_fractions(L, K, depth, alpha):
    exact = exact_ratio(L, K, depth, Fraction(alpha))
    found = theory.size_ratio(L, K, depth, alpha)
    # The smallest floats have fewer digits.
    assert found == pytest.approx(float(exact), rel=1e-13, abs=1e-300)


@pytest.mark.parametrize("K", [2, 7, 49, 100])
@pytest.mark.parametrize("step", [-3, -1, 0, 1, 3])
def test_no_digits_are_lost_where_clusters_times_ratio_is_one(K, step):
    alpha = 1 / K + step * math.ulp(1 / K)
    exact = exact_ratio(K**4, K, 4, Fraction(alpha))
    assert theory.size_ratio(K**4, K, 4, alpha) == pytest.approx(
        float(exact), rel=4e-16
    )
    if step == 0:  # Appendix B.2
        assert float(exact) == pytest.approx(K**-3 + 3 * K / K**4, rel=1e-14)


def test_depth_one_is_one_vs_rest():
    for L, K in [(1, 2), (100, 100), (5000, 7)]:
        assert theory.n_classifiers(L, K, 1) == L
        assert theory.dense_size(L, 11, K, 1) == theory.nnz(L, 11, K, 1, 0.3) == 11 * L
        assert theory.size_ratio(L, K, 1, 0.3) == 1
        assert theory.training_cost(10, 2.0, 3.0, L, K, 1) == 20 * L


def test_as_many_clusters_as_labels():
    # A root of L children, each with one child: all labels twice.
    assert theory.n_classifiers(100, 100, 2) == 200
    assert theory.size_ratio(100, 100, 2, 0.25) == 1.25
    assert theory.alpha_bound(100, 100, 2) == theory.breakeven_alpha(100, 100, 2) == 0
    assert theory.best_depth(100, 100, 0.0) == 1


def test_figure_three_of_the_paper():
    # Read off the figure's own plotting script.
    table = {
        0.3: (0.300, 0.090, 0.0275, 0.0221),
        0.4: (0.400, 0.160, 0.0648, 0.0584),
        0.5: (0.500, 0.250, 0.1263, 0.1263),
        0.6: (0.600, 0.360, 0.2178, 0.2394),
    }
    for alpha, row in table.items():
        found = [theory.size_ratio(L_PAPER, K_PAPER, d, alpha) for d in (2, 3, 4, 5)]
        assert found == pytest.approx(row, abs=5.1e-5)


def test_cost_is_that_of_the_samples_in_each_node():
    # 7 samples of 4 features and 2 labels, 60 labels in a tree with K = 3, d = 3:
    # 2 nodes a level see each sample, with 3, 3 and 60 / 9 problems.
    cost = theory.training_cost(7, 4.0, 2.0, 60, 3, 3)
    assert cost == pytest.approx(7 * 4 * 2 * (3 + 3 + 60 / 9))


@given(st.integers(2, 10**9), clusters, st.floats(1, 50))
def test_cost_at_full_depth_is_at_most_equation_six(L, K, labels):
    depth = next(d for d in range(1, 40) if K**d >= L)
    assume(depth > 1)
    cost = theory.training_cost(1000, 30.0, labels, L, K, depth)
    assert cost <= labels * 1000 * 30 * K * depth * (1 + 1e-12)
