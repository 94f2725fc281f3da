"""Propensity-scored precision and nDCG."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from proxtree.exceptions import DataError
from proxtree.metrics._hits import Hits, find_hits
from proxtree.metrics._ranking import discounts, ideal_dcg, mean_fraction
from proxtree.metrics._weights import check_propensity, gains


def psp_at_k(Y_true: Any, labels: Any, k: int, propensity: Any) -> float:
    r"""Return the propensity-scored precision, relative to the best possible.

    .. math:: PSP@k = \frac{\sum_i \sum_{r=1}^{k} h_{ir} / p_{ir}}
              {\sum_i \sum_{l \in T_i} 1 / p_l}

    with :math:`p_{ir}` the propensity of the label at position r of row i and
    :math:`T_i` the at most k relevant labels of row i with the smallest
    propensities: a ratio of totals, not a mean of ratios.

    Parameters
    ----------
    Y_true, labels, k
        As in `precision_at_k`.
    propensity : array of shape (n_labels,)
        Of each label, in (0, 1]; see `propensity`.

    Returns
    -------
    float
        In [0, 1].

    Raises
    ------
    DataError, TypeError
        As `precision_at_k`; or if a propensity is outside (0, 1].

    References
    ----------
    H. Jain, Y. Prabhu, M. Varma, KDD 2016; normalised as in the extreme
    classification repository. napkinXC and pyxclib compute the same.

    Examples
    --------
    Found 1/0.5 of 1/0.5 + 1/0.25 and all of 1/0.5: (2 + 2) / (4 + 2).

    >>> from proxtree.metrics import psp_at_k
    >>> round(psp_at_k([[0, 1], [0]], [[0], [0]], 1, [0.5, 0.25]), 4)
    0.6667
    """
    p = check_propensity(propensity)
    return psp(find_hits(Y_true, labels, k, len(p)), k, 1 / p)


def psndcg_at_k(
    Y_true: Any,
    labels: Any,
    k: int,
    propensity: Any,
    convention: Literal["ratio", "per_row"] = "ratio",
) -> float:
    r"""Return the propensity-scored nDCG, relative to the best possible.

    With :math:`g_i = \sum_{r=1}^{k} h_{ir} / (p_{ir} \log_2(r + 1))`, its largest
    possible value :math:`b_i` (the relevant labels sorted by propensity, smallest
    first) and :math:`n_i = \sum_{r=1}^{\min(k, |y_i|)} 1 / \log_2(r + 1)`:

    .. math:: \text{ratio: } \frac{\sum_i g_i / n_i}{\sum_i b_i / n_i}
              \qquad \text{per_row: } \frac{1}{N} \sum_i \frac{g_i}{b_i}

    Parameters
    ----------
    Y_true, labels, k
        As in `precision_at_k`.
    propensity : array of shape (n_labels,)
        Of each label, in (0, 1]; see `propensity`.
    convention : {"ratio", "per_row"}, default="ratio"
        "ratio" is what PRoXML, pyxclib and napkinXC compute and the tables of the
        extreme classification repository show: a ratio of totals. "per_row" is
        the nDCG of scikit-learn's ``ndcg_score`` and of trec_eval with gains 1/p:
        a mean of ratios.

    Returns
    -------
    float
        In [0, 1].

    Raises
    ------
    DataError, TypeError
        As `psp_at_k`; or if `convention` is neither.

    Notes
    -----
    AttentionXML leaves out :math:`n_i` (napkinXC calls that PSDCG); none of the
    two conventions gives its numbers.

    References
    ----------
    H. Jain, Y. Prabhu, M. Varma, KDD 2016; the code of the packages named.

    Examples
    --------
    The first row wins 1 / 0.5 of 1 / 0.25, the second all of 1 / 0.5.

    >>> from proxtree.metrics import psndcg_at_k
    >>> Y_true, labels, p = [[0, 1], [0]], [[0], [0]], [0.5, 0.25]
    >>> round(psndcg_at_k(Y_true, labels, 1, p), 4)
    0.6667
    >>> psndcg_at_k(Y_true, labels, 1, p, convention="per_row")
    0.75
    """
    if convention not in ("ratio", "per_row"):
        raise DataError(f'convention is {convention!r}, expected "ratio" or "per_row"')
    p = check_propensity(propensity)
    return psndcg(find_hits(Y_true, labels, k, len(p)), k, 1 / p, convention)


def psp(hits: Hits, k: int, weights: NDArray[np.float64]) -> float:
    """PSP@k with weights 1/p; k at most that of `hits`."""
    won, best = gains(hits, weights, k)
    return _ratio(won, best)


def psndcg(
    hits: Hits, k: int, weights: NDArray[np.float64], convention: str = "ratio"
) -> float:
    """PSnDCG@k with weights 1/p; k at most that of `hits`."""
    won, best = (gain @ discounts(k) for gain in gains(hits, weights, k))
    if convention == "per_row":
        return mean_fraction(won, best)
    # Rows without labels win nothing; 1 only avoids 0 / 0.
    norm = np.where(hits.n_relevant > 0, ideal_dcg(hits.n_relevant, k), 1.0)
    return _ratio(won / norm, best / norm)


def _ratio(won: NDArray[np.float64], best: NDArray[np.float64]) -> float:
    total = float(best.sum())
    # Both are sums of the same terms, in another order: rounding may lift it over 1.
    return min(float(won.sum()) / total, 1.0) if total > 0 else 0.0
