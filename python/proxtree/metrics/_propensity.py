"""Propensities of labels."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from proxtree._validation import check_Y
from proxtree.exceptions import DataError
from proxtree.metrics._hits import check_ids, check_labels
from proxtree.metrics._weights import check_propensity

_OTHERS = (0.55, 1.5)

#: (A, B) by the name of a public data set: 0.5, 0.4 for those made from Wikipedia's
#: categories, 0.6, 2.6 for Amazon's recommendations, 0.55, 1.5 for all others.
PROPENSITY_PRESETS: Mapping[str, tuple[float, float]] = MappingProxyType(
    {
        "Amazon-3M": (0.6, 2.6),
        "Amazon-670K": (0.6, 2.6),
        "AmazonCat-13K": _OTHERS,
        "Bibtex": _OTHERS,
        "Delicious": _OTHERS,
        "EURLex-4K": _OTHERS,
        "Mediamill": _OTHERS,
        "Wiki-500K": (0.5, 0.4),
        "Wiki10-31K": _OTHERS,
        "WikiLSHTC-325K": (0.5, 0.4),
    }
)


def propensity(
    Y_train: Any, A: float = 0.55, B: float = 1.5, *, n_labels: int | None = None
) -> NDArray[np.float64]:
    r"""Return the modelled probability that a relevant label was recorded at all.

    .. math:: p_l = \frac{1}{1 + C (N_l + B)^{-A}}, \qquad
              C = (\ln N - 1) (B + 1)^A

    with N the number of training rows and N_l those with label l. Labels without
    a training row get the value of N_l = 0.

    Parameters
    ----------
    Y_train : {array-like, sparse matrix, list of lists} of shape (n_samples, n_labels)
        Labels of the training rows, at least 3 rows. Repeated entries count once.
    A, B : float, default=0.55, 1.5
        A >= 0 and B > 0. `PROPENSITY_PRESETS` has those of public data sets.
    n_labels : int, optional
        Number of labels, where lists of label ids do not show it.

    Returns
    -------
    array of float64 of shape (n_labels,)
        In (0, 1].

    Raises
    ------
    DataError
        If there are fewer than 3 rows (C would be negative), `A` or `B` is out of
        range, or `Y_train` holds another value than 0 and 1.

    References
    ----------
    H. Jain, Y. Prabhu, M. Varma, "Extreme multi-label loss functions for
    recommendation, tagging, ranking & other missing label applications", KDD 2016,
    section 4.

    Examples
    --------
    >>> from proxtree.metrics import PROPENSITY_PRESETS, propensity
    >>> propensity([[0], [0, 1], [0]], n_labels=3).round(3)
    array([0.933, 0.91 , 0.884])
    >>> propensity([[0], [0, 1], [0]], *PROPENSITY_PRESETS["Wiki-500K"]).round(3)
    array([0.94, 0.91])
    """
    if not (np.isfinite(A) and A >= 0):
        raise DataError(f"A is {A}, expected a number of at least 0")
    if not (np.isfinite(B) and B > 0):
        raise DataError(f"B is {B}, expected a number above 0")
    Y = check_Y(Y_train, n_labels=n_labels, name="Y_train")
    n_rows, n_columns = Y.shape
    if n_rows < 3:
        raise DataError(f"Y_train has {n_rows} rows, propensities need at least 3")
    counts = np.bincount(Y.indices, minlength=n_columns)
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        C = (np.log(n_rows) - 1) * np.float64(B + 1) ** A
        inverse: NDArray[np.float64] = 1 + C * (counts + np.float64(B)) ** -A
    if not np.isfinite(inverse).all():
        raise DataError(f"A is {A} and B is {B}: propensities are too small for floats")
    return 1 / inverse


def rerank_by_propensity(
    labels: Any, scores: Any, propensity: Any
) -> NDArray[np.int64]:
    """Return each row's labels with the rarest in front, as PRoXML's evaluation did.

    Labels with a score above 0 come first, smallest propensity first; the others
    follow. What is equal keeps its order. PRoXML's public code does this to the
    five best labels before it computes PSP@k and PSnDCG@k (not P@k), which lifts
    PSP@1 and PSP@3 and leaves PSP@5 as it is: use it to compare with published
    numbers of PRoXML, never with other methods.

    Parameters
    ----------
    labels : array of integers of shape (n_samples, k)
        Ranked label ids, best first, -1 for none; five columns for PRoXML's way.
    scores : array of shape (n_samples, k)
        Their scores.
    propensity : array of shape (n_labels,)
        Of each label, in (0, 1].

    Returns
    -------
    array of int64 of shape (n_samples, k)
        Every row a permutation of the row of `labels`.

    Raises
    ------
    DataError
        If the shapes differ, or an id is outside [-1, n_labels).
    TypeError
        If the labels are not integers.

    References
    ----------
    Code of R. Babbar, B. Schoelkopf, "Data scarcity, robustness and extreme
    multi-label classification", Machine Learning 108, 2019
    (``DistributedPredictor.readFilesForPropensity``).

    Examples
    --------
    >>> from proxtree.metrics import rerank_by_propensity
    >>> rerank_by_propensity([[2, 0, 1]], [[3.0, 2.0, -1.0]], [0.2, 0.1, 0.5])
    array([[0, 2, 1]])
    """
    p = check_propensity(propensity)
    ranked = check_labels(labels)
    check_ids(ranked, len(p))
    values = np.asarray(scores)
    if values.shape != ranked.shape:
        raise DataError(
            f"scores has shape {values.shape}, expected {ranked.shape} as labels"
        )
    # A key above every propensity keeps the rest behind, in its order.
    counts = (values > 0) & (ranked >= 0)
    keys = np.full(ranked.shape, np.inf)
    keys[counts] = p[ranked[counts]]
    order = np.argsort(keys, axis=1, kind="stable")
    return np.take_along_axis(ranked, order, axis=1)
