"""All metrics at once, and where in the label frequencies they come from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from proxtree._validation import check_Y
from proxtree.exceptions import DataError
from proxtree.metrics._hits import Hits, check_k, check_labels, find_hits, has_width
from proxtree.metrics._propensity import propensity
from proxtree.metrics._ranking import coverage, ndcg, precision, recall
from proxtree.metrics._scored import psndcg, psp


def evaluate(
    Y_true: Any,
    labels: Any,
    Y_train: Any = None,
    ks: Sequence[int] = (1, 3, 5),
    *,
    A: float = 0.55,
    B: float = 1.5,
) -> dict[str, float]:
    """Return every metric at every k.

    Parameters
    ----------
    Y_true : {array-like, sparse matrix, list of lists} of shape (n_samples, n_labels)
        The labels of the rows that were ranked.
    labels : array of integers of shape (n_samples, >= max(ks))
        Ranked label ids, best first, -1 for none.
    Y_train : {array-like, sparse matrix, list of lists}, optional
        The labels of the training rows, for the propensities. Without it the
        propensity-scored metrics are left out.
    ks : sequence of int, default=(1, 3, 5)
        Numbers of labels looked at.
    A, B : float, default=0.55, 1.5
        As in `propensity`.

    Returns
    -------
    dict
        "P@k", "nDCG@k", "R@k", "coverage@k", "PSP@k" and "PSnDCG@k" (ratio
        convention) for every k, such as "P@1": fractions in [0, 1].

    Raises
    ------
    DataError, TypeError
        As `precision_at_k` and `propensity`; or if `ks` is empty.

    Examples
    --------
    >>> from proxtree.metrics import evaluate
    >>> Y_train = [[0], [0, 1], [0, 2]]
    >>> scores = evaluate([[0], [1, 2]], [[0, 1], [0, 2]], Y_train, ks=(1, 2))
    >>> {name: round(scores[name], 3) for name in ("P@1", "nDCG@2", "PSP@1")}
    {'P@1': 0.5, 'nDCG@2': 0.693, 'PSP@1': 0.494}
    """
    ks = [check_k(k) for k in ks]
    if not ks:
        raise DataError("ks is empty, expected at least one k")
    hits, Y_train = _hits_and_train(Y_true, labels, Y_train, max(ks))
    result = {
        f"{name}@{k}": metric(hits, k)
        for name, metric in (
            ("P", precision),
            ("nDCG", ndcg),
            ("R", recall),
            ("coverage", coverage),
        )
        for k in ks
    }
    if Y_train is not None:
        weights = 1 / propensity(Y_train, A, B)
        result |= {
            f"{name}@{k}": scored(hits, k, weights)
            for name, scored in (("PSP", psp), ("PSnDCG", psndcg))
            for k in ks
        }
    return result


def by_frequency(
    Y_true: Any,
    labels: Any,
    Y_train: Any,
    k: int = 5,
    bins: Sequence[int] = (0, 1, 6, 21, 101, 1001),
) -> NDArray[np.void]:
    r"""Return how well the labels of each range of training frequencies are found.

    For the labels F of a bin, with :math:`h_{ir}` as in `precision_at_k` and
    :math:`l_{ir}` the label at position r of row i:

    .. math:: \text{precision} =
              \frac{\sum_{ir: l_{ir} \in F} h_{ir}}{|\{(i, r): l_{ir} \in F\}|}
              \quad \text{recall} =
              \frac{\sum_{ir: l_{ir} \in F} h_{ir}}{\sum_i |y_i \cap F|}
              \quad \text{gain} = \frac{\sum_{ir: l_{ir} \in F} h_{ir}}{N k}

    Parameters
    ----------
    Y_true, labels
        As in `evaluate`.
    Y_train : {array-like, sparse matrix, list of lists}
        The labels of the training rows, which are counted.
    k : int, default=5
        Number of labels looked at.
    bins : sequence of int, default=(0, 1, 6, 21, 101, 1001)
        Smallest count of each bin, rising, the first 0: the default has bins for
        0, 1-5, 6-20, 21-100, 101-1000 and more training rows.

    Returns
    -------
    structured array, one entry for each bin
        "low", "high": smallest and largest count (of the last bin: the number of
        training rows). "n_labels": labels in the bin. "n_true": relevant entries
        of `Y_true`, "n_predicted": positions among the first k, "n_correct": those
        that are relevant. "precision", "recall" (0 where nothing was predicted or
        relevant), "gain": the bin's part of P@k, so that they add up to it.

    Raises
    ------
    DataError, TypeError
        As `evaluate`; or if `bins` does not start at 0 or does not rise.

    Examples
    --------
    >>> from proxtree.metrics import by_frequency
    >>> Y_train = [[0], [0, 1], [0, 2]]
    >>> table = by_frequency([[0], [1, 2]], [[0, 1], [0, 2]], Y_train, 2, (0, 2))
    >>> table["low"], table["high"], table["recall"]
    (array([0, 2]), array([1, 3]), array([0.5, 1. ]))
    """
    lows = np.asarray(bins)
    if (
        lows.ndim != 1
        or lows.dtype.kind not in "iu"
        or lows.size == 0
        or lows[0] != 0
        or (np.diff(lows) <= 0).any()
    ):
        raise DataError(f"bins is {bins}, expected rising integers that start at 0")
    if Y_train is None:
        raise TypeError("Y_train is None, expected the labels of the training rows")
    hits, Y_train = _hits_and_train(Y_true, labels, Y_train, k)
    counts = np.bincount(Y_train.indices, minlength=hits.n_labels)
    bin_of = np.searchsorted(lows, counts, side="right") - 1

    def total(label_ids: NDArray[Any]) -> NDArray[np.int64]:
        return np.bincount(bin_of[label_ids], minlength=len(lows))

    columns = {
        "low": lows.astype(np.int64),
        "high": np.append(lows[1:] - 1, max(Y_train.shape[0], lows[-1])),
        "n_labels": total(np.arange(hits.n_labels)),
        "n_true": total(hits.Y.indices),
        "n_predicted": total(hits.top[hits.top >= 0]),
        "n_correct": total(hits.top[hits.relevant]),
    }
    correct = columns["n_correct"]
    table = np.zeros(
        len(lows),
        [(name, np.int64) for name in columns]
        + [(name, np.float64) for name in ("precision", "recall", "gain")],
    )
    for name, column in columns.items():
        table[name] = column
    table["precision"] = correct / np.maximum(columns["n_predicted"], 1)
    table["recall"] = correct / np.maximum(columns["n_true"], 1)
    table["gain"] = correct / (hits.n_rows * hits.top.shape[1])
    return table


def _hits_and_train(Y_true: Any, labels: Any, Y_train: Any, k: int) -> tuple[Hits, Any]:
    """Look the labels up in a label space that holds those of all three."""
    if Y_train is None:
        return find_hits(Y_true, labels, k), None
    widths = [Y.shape[1] for Y in (Y_train, Y_true) if has_width(Y)]
    n_labels = (
        widths[0]
        if widths
        else max(
            check_Y(Y_train, name="Y_train").shape[1],
            check_Y(Y_true, name="Y_true").shape[1],
            int(check_labels(labels).max(initial=-1)) + 1,
        )
    )
    hits = find_hits(Y_true, labels, k, n_labels)
    return hits, check_Y(Y_train, n_labels=n_labels, name="Y_train")
