"""When trees are smaller than one-vs-rest, and how deep they should be."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from proxtree.theory._sizes import (
    check_depth,
    check_ratio,
    check_tree,
    max_depth,
    ratio_of_sizes,
)


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
    L, K = check_tree(n_labels, n_clusters)
    d = check_depth(depth, 2)
    if d == 2:
        return max(0.0, (L - K) / L)
    D = max_depth(L, K)
    if d > D:
        # Beyond the range of floats, long before d is 64.
        power = K ** (d - D)
        return _root(
            lambda alpha: Fraction(alpha) ** (d - 2) * (Fraction(alpha) + power)
        )
    share = 1 / K ** (D - d)
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
    L, K = check_tree(n_labels, n_clusters)
    d = check_depth(depth, 2)
    if d == 2:
        return max(0.0, (L - K) / L)
    return _root(lambda alpha: ratio_of_sizes(L, K, d, alpha))


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
    L, K = check_tree(n_labels, n_clusters)
    d, ratio = check_depth(depth), check_ratio(feature_ratio)
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
    check_ratio(feature_ratio)
    while depth < most and deeper_is_smaller(
        n_labels, n_clusters, depth, feature_ratio
    ):
        depth += 1
    return depth


def _root(increasing: Callable[[float], float | Fraction]) -> float:
    """Return where a function that rises from [0, 1] reaches 1, or 0 if above."""
    low, high = 0.0, 1.0
    while low < (middle := (low + high) / 2) < high:
        low, high = (middle, high) if increasing(middle) < 1 else (low, middle)
    return low
