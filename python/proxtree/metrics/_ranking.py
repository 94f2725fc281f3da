"""Metrics in which all labels weigh the same."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from proxtree.metrics._hits import Hits, find_hits
from proxtree.metrics._weights import best_entries, check_propensity


def precision_at_k(Y_true: Any, labels: Any, k: int) -> float:
    r"""Return the mean share of the first k labels that are relevant.

    .. math:: P@k = \frac{1}{N k} \sum_{i=1}^{N} \sum_{r=1}^{k} h_{ir}

    with :math:`h_{ir} = 1` where the label at position r of row i is relevant.

    Parameters
    ----------
    Y_true : {array-like, sparse matrix, list of lists} of shape (n_samples, n_labels)
        0/1 matrix, or a list of label ids for each row.
    labels : array of integers of shape (n_samples, >= k)
        Ranked label ids, best first, -1 for none.
    k : int
        At least 1. The divisor is k even if there are fewer labels than k.

    Returns
    -------
    float
        In [0, 1].

    Raises
    ------
    DataError
        If shapes do not match, an id is outside [-1, n_labels), `Y_true` holds
        another value than 0 and 1, or k < 1.
    TypeError
        If `k` or the labels are not integers.

    References
    ----------
    K. Bhatia et al., "The extreme classification repository", 2016.

    Examples
    --------
    >>> from proxtree.metrics import precision_at_k
    >>> precision_at_k([[0, 2], [1]], [[0, 1], [2, 1]], k=2)
    0.5
    """
    return precision(find_hits(Y_true, labels, k), k)


def recall_at_k(Y_true: Any, labels: Any, k: int) -> float:
    r"""Return the mean share of a row's labels that are among its first k.

    .. math:: R@k = \frac{1}{N} \sum_{i: |y_i| > 0} \frac{1}{|y_i|}
              \sum_{r=1}^{k} h_{ir}

    Parameters
    ----------
    Y_true, labels, k
        As in `precision_at_k`.

    Returns
    -------
    float
        In [0, 1]; a row with more than k labels cannot reach 1.

    Raises
    ------
    DataError, TypeError
        As `precision_at_k`.

    References
    ----------
    M. Wydmuch et al., napkinXC, ``recall_at_k``.

    Examples
    --------
    >>> from proxtree.metrics import recall_at_k
    >>> recall_at_k([[0, 2], [1]], [[0, 1], [2, 1]], k=2)
    0.75
    """
    return recall(find_hits(Y_true, labels, k), k)


def ndcg_at_k(Y_true: Any, labels: Any, k: int) -> float:
    r"""Return the normalised discounted cumulative gain of the first k labels.

    .. math:: nDCG@k = \frac{1}{N} \sum_{i: |y_i| > 0}
              \frac{\sum_{r=1}^{k} h_{ir} / \log_2(r + 1)}
                   {\sum_{r=1}^{\min(k, |y_i|)} 1 / \log_2(r + 1)}

    Parameters
    ----------
    Y_true, labels, k
        As in `precision_at_k`.

    Returns
    -------
    float
        In [0, 1]. nDCG@1 equals P@1.

    Raises
    ------
    DataError, TypeError
        As `precision_at_k`.

    References
    ----------
    K. Jarvelin, J. Kekalainen, "Cumulated gain-based evaluation of IR techniques",
    ACM TOIS 20(4), 2002; in this form: the extreme classification repository.

    Examples
    --------
    The second row's only label comes second: 1 / log2(3) = 0.63.

    >>> from proxtree.metrics import ndcg_at_k
    >>> round(ndcg_at_k([[0, 2], [1]], [[0, 2], [2, 1]], k=2), 4)
    0.8155
    """
    return ndcg(find_hits(Y_true, labels, k), k)


def coverage_at_k(Y_true: Any, labels: Any, k: int, propensity: Any = None) -> float:
    r"""Return how many different labels are ever found, relative to those there are.

    .. math:: C@k = \frac{|\{l : l \text{ is relevant and among the first } k
              \text{ of some row}\}|}{|T|}

    with T all labels that occur in `Y_true`, as in napkinXC. With `propensity`, T
    is the set of labels that are among the k relevant ones of smallest propensity
    of some row, as PRoXML has it; that ratio may exceed 1.

    Parameters
    ----------
    Y_true, labels, k
        As in `precision_at_k`.
    propensity : array of shape (n_labels,), optional
        Of each label, in (0, 1]. Among equal ones the smaller id comes first.

    Returns
    -------
    float
        In [0, 1] without `propensity`.

    Raises
    ------
    DataError, TypeError
        As `precision_at_k`.

    References
    ----------
    R. Babbar, B. Schoelkopf, "Data scarcity, robustness and extreme multi-label
    classification", Machine Learning 108, 2019, and its released code
    (``computeRelativeCoverage``).

    Examples
    --------
    >>> from proxtree.metrics import coverage_at_k
    >>> coverage_at_k([[0, 1], [0]], [[0], [0]], k=1)
    0.5
    """
    p = None if propensity is None else check_propensity(propensity)
    hits = find_hits(Y_true, labels, k, None if p is None else len(p))
    return coverage(hits, k, None if p is None else 1 / p)


def precision(hits: Hits, k: int) -> float:
    """P@k; k at most that of `hits`."""
    return int(hits.relevant[:, :k].sum()) / (hits.n_rows * k)


def recall(hits: Hits, k: int) -> float:
    """R@k; k at most that of `hits`."""
    found = hits.relevant[:, :k].sum(axis=1)
    return mean_fraction(found, hits.n_relevant)


def ndcg(hits: Hits, k: int) -> float:
    """nDCG@k; k at most that of `hits`."""
    return mean_fraction(
        hits.relevant[:, :k] @ discounts(k), ideal_dcg(hits.n_relevant, k)
    )


def coverage(hits: Hits, k: int, weights: NDArray[np.float64] | None = None) -> float:
    """C@k; k at most that of `hits`. With weights: relative to each row's heaviest."""
    found = np.unique(hits.top[:, :k][hits.relevant[:, :k]])
    if weights is None:
        target = np.unique(hits.Y.indices)
    else:
        target = np.unique(hits.Y.indices[best_entries(hits, weights, k)[0]])
    return len(found) / len(target) if len(target) else 0.0


def discounts(k: int) -> NDArray[np.float64]:
    """1 / log2(r + 1) of the positions r = 1..k."""
    return 1 / np.log2(np.arange(2, k + 2))


def ideal_dcg(n_relevant: NDArray[np.int64], k: int) -> NDArray[np.float64]:
    """Sum of the discounts of the first min(k, n_relevant) positions of each row."""
    sums = np.append(0.0, np.cumsum(discounts(k)))
    return sums[np.minimum(n_relevant, k)]


def mean_fraction(part: NDArray[Any], whole: NDArray[Any]) -> float:
    """Mean of part / whole over all rows, 0 where `whole` is 0, at most 1."""
    # Both are sums of the same terms, in another order: rounding may lift it over 1.
    fractions = np.divide(
        part, whole, out=np.zeros(len(part), np.float64), where=whole > 0
    )
    return min(float(fractions.mean()), 1.0)
