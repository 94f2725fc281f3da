r"""Size and cost of a balanced label tree, from a handful of numbers.

The model of the paper: `n_labels` (L) labels in a tree whose internal nodes above
the last level have `n_clusters` (K) children each, and share the labels evenly;
labels are at `depth` d (1 is one-vs-rest). A child's samples use the fraction
`feature_ratio` (:math:`\alpha`) of the features that its parent's use; every used
feature has a weight in each of the node's classifiers. Numbers of weights come
without intercepts.

Depths may exceed `max_depth`: the formulas go on, but nodes would hold less than two
labels, which no tree's do.

References
----------
H.-Z. Lin, C.-H. Liu and C.-J. Lin, "Exploring space efficiency in a tree-based
linear model for extreme multi-label classification", EMNLP 2024. Equation numbers
are this paper's.

Examples
--------
200 million labels, 100 clusters a node (Figure 3 of the paper): at a feature ratio
of 0.6 the deepest tree is not the smallest.

>>> from proxtree import theory
>>> L, K = 200_000_000, 100
>>> theory.max_depth(L, K)
5
>>> for alpha in (0.3, 0.4, 0.5, 0.6):
...     ratios = [theory.size_ratio(L, K, d, alpha) for d in (2, 3, 4, 5)]
...     print(alpha, *(f"{ratio:.4f}" for ratio in ratios))
0.3 0.3000 0.0900 0.0275 0.0221
0.4 0.4000 0.1600 0.0648 0.0584
0.5 0.5000 0.2500 0.1263 0.1263
0.6 0.6000 0.3600 0.2178 0.2394
>>> theory.best_depth(L, K, 0.6)
4
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from proxtree._parameters import check_int, check_real
from proxtree.exceptions import DataError

__all__ = [
    "alpha_bound",
    "best_depth",
    "breakeven_alpha",
    "deeper_is_smaller",
    "dense_size",
    "max_depth",
    "n_classifiers",
    "nnz",
    "size_ratio",
    "training_cost",
]

# With L < 2**63 and K >= 2, `max_depth` is at most 62.
_MOST_DEPTH = 64


def max_depth(n_labels: int, n_clusters: int) -> int:
    r"""Return D, the greatest depth at which nodes still hold two labels.

    Parameters
    ----------
    n_labels : int
        L, at least 1.
    n_clusters : int
        K, at least 2.

    Returns
    -------
    int
        The largest D with :math:`L / K^{D-1} \ge 2` (12), which is
        :math:`\lfloor \log_K (L/2) \rfloor + 1` (13), in exact arithmetic; 1 for a
        single label.

    Raises
    ------
    DataError
        If an argument is out of range.
    TypeError
        If an argument is no integer.

    Examples
    --------
    >>> from proxtree import theory
    >>> theory.max_depth(200_000_000, 100), theory.max_depth(199_999_999, 100)
    (5, 4)
    """
    L, K = _check_tree(n_labels, n_clusters)
    depth, fewest = 1, 2 * K
    while fewest <= L:
        depth, fewest = depth + 1, fewest * K
    return depth


def n_classifiers(n_labels: int, n_clusters: int, depth: int) -> int:
    r"""Return the number of weight vectors: one per child of each node.

    Parameters
    ----------
    n_labels, n_clusters : int
        L at least 1, K at least 2.
    depth : int
        d, from 1 to 64.

    Returns
    -------
    int
        :math:`L + K (K^{d-1} - 1) / (K - 1)`: labels and meta-labels (10).

    Raises
    ------
    DataError
        If an argument is out of range.
    TypeError
        If an argument is no integer.

    Examples
    --------
    >>> from proxtree import theory
    >>> theory.n_classifiers(1000, 10, 3)  # 10 + 100 + 1000
    1110
    """
    L, K = _check_tree(n_labels, n_clusters)
    d = _check_depth(depth)
    meta_labels: int = K * (K ** (d - 1) - 1) // (K - 1)
    return L + meta_labels


def dense_size(n_labels: int, n_features: int, n_clusters: int, depth: int) -> int:
    r"""Return the number of weights if every classifier has all features.

    Parameters
    ----------
    n_labels, n_features : int
        L and n, at least 1.
    n_clusters, depth : int
        K at least 2, d from 1 to 64.

    Returns
    -------
    int
        :math:`(L + K (K^{d-1} - 1) / (K - 1)) n` (11); :math:`L n` at depth 1 (9).
        It never falls with depth: only unused features make trees small.

    Raises
    ------
    DataError
        If an argument is out of range.
    TypeError
        If an argument is no integer.

    Examples
    --------
    >>> from proxtree import theory
    >>> theory.dense_size(1000, 5, 10, 1), theory.dense_size(1000, 5, 10, 3)
    (5000, 5550)
    """
    n = check_int(n_features, "n_features", 1)
    return n_classifiers(n_labels, n_clusters, depth) * n


def nnz(
    n_labels: int, n_features: int, n_clusters: int, depth: int, feature_ratio: float
) -> float:
    r"""Return the number of weights if classifiers have their node's features only.

    Parameters
    ----------
    n_labels, n_features : int
        L and n, at least 1.
    n_clusters, depth : int
        K at least 2, d from 1 to 64.
    feature_ratio : float
        :math:`\alpha` in [0, 1].

    Returns
    -------
    float
        :math:`L n \alpha^{d-1} + K n \sum_{i=0}^{d-2} (K \alpha)^i` (14). The sum
        is :math:`((K \alpha)^{d-1} - 1) / (K \alpha - 1)`, or :math:`d - 1` where
        :math:`K \alpha = 1` (Appendix B.2); added up term by term, it loses no
        digits near there.

    Raises
    ------
    DataError
        If an argument is out of range.
    TypeError
        If an argument has the wrong type.

    Examples
    --------
    >>> from proxtree import theory
    >>> theory.nnz(1000, 500, 10, 3, 0.2)  # 10*500 + 100*100 + 1000*20
    35000.0
    >>> theory.nnz(1000, 500, 10, 3, 0.1)  # 10*500 + 100*50 + 1000*5
    15000.0
    """
    n = check_int(n_features, "n_features", 1)
    L, K = _check_tree(n_labels, n_clusters)
    d, ratio = _check_depth(depth), _check_ratio(feature_ratio)
    return L * n * ratio ** (d - 1) + K * n * _geometric_sum(K * ratio, d - 1)


def size_ratio(
    n_labels: int, n_clusters: int, depth: int, feature_ratio: float
) -> float:
    r"""Return the weights of the tree over those of one-vs-rest.

    Parameters
    ----------
    n_labels, n_clusters, depth : int
        L at least 1, K at least 2, d from 1 to 64.
    feature_ratio : float
        :math:`\alpha` in [0, 1].

    Returns
    -------
    float
        (14) over :math:`L n`:
        :math:`\alpha^{d-1} + (K / L) \sum_{i=0}^{d-2} (K \alpha)^i` (15).
        The ratio of bytes (20) is 1.5 times this: an index for each weight.

    Raises
    ------
    DataError
        If an argument is out of range.
    TypeError
        If an argument has the wrong type.

    Examples
    --------
    >>> from proxtree import theory
    >>> theory.size_ratio(1000, 10, 1, 0.2)
    1.0
    >>> f"{theory.size_ratio(1000, 10, 3, 0.2):.3f}"
    '0.070'
    """
    L, K = _check_tree(n_labels, n_clusters)
    d, ratio = _check_depth(depth), _check_ratio(feature_ratio)
    return _ratio(L, K, d, ratio)


def alpha_bound(n_labels: int, n_clusters: int, depth: int) -> float:
    r"""Return the feature ratio below which Theorem 1 makes the tree the smaller.

    Parameters
    ----------
    n_labels, n_clusters : int
        L at least 1, K at least 2.
    depth : int
        d, from 2 to 64.

    Returns
    -------
    float
        d = 2: :math:`1 - K / L` (0 if that is negative), which is exact. Else the
        root :math:`\alpha` of :math:`\alpha^{d-2} (\alpha + K^{-(D-d)}) = 1`, D
        from `max_depth`. It is at most `breakeven_alpha` wherever
        :math:`K \alpha \ge 2`, so for all but the smallest K.

    Raises
    ------
    DataError
        If an argument is out of range.
    TypeError
        If an argument is no integer.

    Examples
    --------
    The paper's numbers, cut to three digits: 0.999, 0.999, 0.996, 0.819.

    >>> from proxtree import theory
    >>> [int(1000 * theory.alpha_bound(200_000_000, 100, d)) for d in (2, 3, 4, 5)]
    [999, 999, 996, 819]
    """
    L, K = _check_tree(n_labels, n_clusters)
    d = _check_depth(depth, 2)
    if d == 2:
        return max(0.0, (L - K) / L)
    D = max_depth(L, K)
    # Exact powers of K first: one rounding at the division.
    share = K ** max(0, d - D) / K ** max(0, D - d)
    return _root(lambda alpha: alpha ** (d - 2) * (alpha + share))


def breakeven_alpha(n_labels: int, n_clusters: int, depth: int) -> float:
    r"""Return the feature ratio at which tree and one-vs-rest are of one size.

    Parameters
    ----------
    n_labels, n_clusters : int
        L at least 1, K at least 2.
    depth : int
        d, from 2 to 64.

    Returns
    -------
    float
        The :math:`\alpha` at which `size_ratio` (15) is 1, found by bisection to
        the last bits; below it the tree is smaller. 0 if it never is.

    Raises
    ------
    DataError
        If an argument is out of range.
    TypeError
        If an argument is no integer.

    Examples
    --------
    >>> from proxtree import theory
    >>> for d in (2, 3, 4, 5):
    ...     print(d, f"{theory.breakeven_alpha(200_000_000, 100, d):.7f}")
    2 0.9999995
    3 0.9999748
    4 0.9983193
    5 0.8939808
    """
    L, K = _check_tree(n_labels, n_clusters)
    d = _check_depth(depth, 2)
    if d == 2:
        return max(0.0, (L - K) / L)
    return _root(lambda alpha: _ratio(L, K, d, alpha))


def deeper_is_smaller(
    n_labels: int, n_clusters: int, depth: int, feature_ratio: float
) -> bool:
    r"""Return whether a tree one level deeper has fewer weights (Theorem 2).

    Parameters
    ----------
    n_labels, n_clusters, depth : int
        L at least 1, K at least 2, d from 1 to 64.
    feature_ratio : float
        :math:`\alpha` in [0, 1].

    Returns
    -------
    bool
        Whether ``size_ratio`` at d + 1 is below that at d. The difference is
        :math:`\alpha^{d-1} (\alpha - 1 + K^d / L)`, so this is
        :math:`\alpha < 1 - K^d / L` (and, for d > 1, :math:`\alpha > 0`), compared
        in exact arithmetic.

    Raises
    ------
    DataError
        If an argument is out of range.
    TypeError
        If an argument has the wrong type.

    Examples
    --------
    >>> from proxtree import theory
    >>> L, K = 200_000_000, 100
    >>> [theory.deeper_is_smaller(L, K, 4, ratio) for ratio in (0.4, 0.5, 0.6)]
    [True, False, False]
    """
    L, K = _check_tree(n_labels, n_clusters)
    d, ratio = _check_depth(depth), _check_ratio(feature_ratio)
    if ratio == 0 and d > 1:
        return False
    return Fraction(ratio) < 1 - Fraction(K**d, L)


def best_depth(n_labels: int, n_clusters: int, feature_ratio: float) -> int:
    r"""Return the depth of the tree with the fewest weights.

    Parameters
    ----------
    n_labels, n_clusters : int
        L at least 1, K at least 2.
    feature_ratio : float
        :math:`\alpha` in [0, 1].

    Returns
    -------
    int
        From 1 (one-vs-rest) to `max_depth`: the largest d with
        :math:`K^{d-1} < (1 - \alpha) L`; of several best ones, the least deep.

    Raises
    ------
    DataError
        If an argument is out of range.
    TypeError
        If an argument has the wrong type.

    Examples
    --------
    >>> from proxtree import theory
    >>> [theory.best_depth(200_000_000, 100, ratio) for ratio in (0.4, 0.5, 1.0)]
    [5, 4, 1]
    """
    most, depth = max_depth(n_labels, n_clusters), 1
    _check_ratio(feature_ratio)
    while depth < most and deeper_is_smaller(
        n_labels, n_clusters, depth, feature_ratio
    ):
        depth += 1
    return depth


def training_cost(
    n_samples: int,
    nnz_per_row: float,
    labels_per_row: float,
    n_labels: int,
    n_clusters: int,
    depth: int,
) -> float:
    r"""Return the operations of a pass over the data of every binary problem.

    Parameters
    ----------
    n_samples : int
        l, at least 1.
    nnz_per_row : float
        :math:`\bar n`, mean number of non-zero features of a sample, > 0.
    labels_per_row : float
        c, mean number of labels of a sample, > 0.
    n_labels, n_clusters, depth : int
        L at least 1, K at least 2, d from 1 to 64.

    Returns
    -------
    float
        :math:`c\, l\, \bar n\, ((d-1) K + L / K^{d-1})` (5), an upper bound: a sample
        is in at most c nodes of each depth. At depth 1 it is in the root alone:
        :math:`L\, l\, \bar n` (4). With :math:`d = \lceil \log_K L \rceil` (5) is at
        most :math:`c\, l\, \bar n\, K\, \lceil \log_K L \rceil` (6).

    Raises
    ------
    DataError
        If an argument is out of range.
    TypeError
        If an argument has the wrong type.

    Notes
    -----
    A solver's cost is this times its number of passes (3), taken as equal for all
    problems.

    Examples
    --------
    A million labels: how many times cheaper than one-vs-rest are depths 2 and 3?

    >>> from proxtree import theory
    >>> costs = [theory.training_cost(500_000, 80, 5, 10**6, 100, d) for d in (1, 2, 3)]
    >>> [round(costs[0] / cost, 1) for cost in costs]
    [1.0, 19.8, 666.7]
    """
    samples = check_int(n_samples, "n_samples", 1)
    per_row = check_real(nnz_per_row, "nnz_per_row")
    labels = check_real(labels_per_row, "labels_per_row")
    L, K = _check_tree(n_labels, n_clusters)
    d = _check_depth(depth)
    if d == 1:
        return samples * per_row * L
    problems: float = (d - 1) * K + L / K ** (d - 1)
    return samples * per_row * labels * problems


def _ratio(L: int, K: int, depth: int, ratio: float) -> float:
    return ratio ** (depth - 1) + K / L * _geometric_sum(K * ratio, depth - 1)


def _geometric_sum(base: float, n_terms: int) -> float:
    # Horner: only positive terms are added, so nothing cancels, also near base 1.
    total = 0.0
    for _ in range(n_terms):
        total = total * base + 1.0
    return total


def _root(increasing: Callable[[float], float]) -> float:
    """Return where a function that rises from [0, 1] reaches 1, or 0 if above."""
    low, high = 0.0, 1.0
    while low < (middle := (low + high) / 2) < high:
        low, high = (middle, high) if increasing(middle) < 1 else (low, middle)
    return low


def _check_tree(n_labels: Any, n_clusters: Any) -> tuple[int, int]:
    return check_int(n_labels, "n_labels", 1), check_int(n_clusters, "n_clusters", 2)


def _check_depth(depth: Any, low: int = 1) -> int:
    return check_int(depth, "depth", low, _MOST_DEPTH)


def _check_ratio(feature_ratio: Any) -> float:
    ratio = check_real(feature_ratio, "feature_ratio", zero=True)
    if ratio > 1:
        raise DataError(f"feature_ratio is {feature_ratio}, expected at most 1")
    return ratio
