"""Sizes and costs of balanced trees: equations (4) to (15)."""

from __future__ import annotations

from typing import Any

from proxtree._parameters import check_int, check_real
from proxtree.exceptions import DataError

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
    L, K = check_tree(n_labels, n_clusters)
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
    L, K = check_tree(n_labels, n_clusters)
    d = check_depth(depth)
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
    L, K = check_tree(n_labels, n_clusters)
    d, ratio = check_depth(depth), check_ratio(feature_ratio)
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
    L, K = check_tree(n_labels, n_clusters)
    d, ratio = check_depth(depth), check_ratio(feature_ratio)
    return ratio_of_sizes(L, K, d, ratio)


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
    L, K = check_tree(n_labels, n_clusters)
    d = check_depth(depth)
    if d == 1:
        return samples * per_row * L
    problems: float = (d - 1) * K + L / K ** (d - 1)
    return samples * per_row * labels * problems


def ratio_of_sizes(L: int, K: int, depth: int, ratio: float) -> float:
    """Return (15) of checked arguments."""
    return ratio ** (depth - 1) + K / L * _geometric_sum(K * ratio, depth - 1)


def _geometric_sum(base: float, n_terms: int) -> float:
    # Horner: only positive terms are added, so nothing cancels, also near base 1.
    total = 0.0
    for _ in range(n_terms):
        total = total * base + 1.0
    return total


def check_tree(n_labels: Any, n_clusters: Any) -> tuple[int, int]:
    """Return L and K if they are in range."""
    return check_int(n_labels, "n_labels", 1), check_int(n_clusters, "n_clusters", 2)


def check_depth(depth: Any, low: int = 1) -> int:
    """Return d if it is in range."""
    return check_int(depth, "depth", low, _MOST_DEPTH)


def check_ratio(feature_ratio: Any) -> float:
    """Return the feature ratio if it is in [0, 1]."""
    ratio = check_real(feature_ratio, "feature_ratio", zero=True)
    if ratio > 1:
        raise DataError(f"feature_ratio is {feature_ratio}, expected at most 1")
    return ratio
