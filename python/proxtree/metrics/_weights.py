"""Weights of labels: checks, and each row's heaviest labels."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from proxtree.exceptions import DataError
from proxtree.metrics._hits import Hits

# Sums of inverses of smaller ones overflow, and scores would be NaN.
_LEAST = 1e-100


def check_propensity(propensity: Any) -> NDArray[np.float64]:
    """Return propensities as a float64 vector with values in (0, 1]."""
    p = np.asarray(propensity)
    if p.ndim != 1:
        raise DataError(f"propensity has shape {p.shape}, expected (n_labels,)")
    if p.dtype.kind not in "fiu":
        raise TypeError(f"propensity has type {p.dtype}, expected real numbers")
    p = p.astype(np.float64)
    good = (p >= _LEAST) & (p <= 1)
    if not good.all():
        label = int(np.argmin(good))
        raise DataError(
            f"propensity[{label}] is {p[label]}, expected a value in (0, 1], at least "
            f"{_LEAST}"
        )
    return p


def best_entries(
    hits: Hits, weights: NDArray[np.float64], k: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the k heaviest entries of each row of the truth.

    Returns
    -------
    entries : array
        Positions among the entries of `hits.Y`, row by row, heaviest first, among
        equal ones the smaller label id first.
    ranks : array
        Place of each within its row, from 0.
    """
    rows = hits.entry_rows
    # Stable, and a row's ids are sorted: ties keep the order of ids.
    order = np.lexsort((-weights[hits.Y.indices], rows))
    ranks = np.arange(len(rows)) - hits.Y.indptr[rows]
    keep = ranks < k
    return order[keep], ranks[keep]


def gains(
    hits: Hits, weights: NDArray[np.float64], k: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the gain at each position, and the best possible, each (n, k)."""
    top = hits.top[:, :k]
    won = np.zeros(top.shape)
    relevant = hits.relevant[:, :k]
    won[relevant] = weights[top[relevant]]
    best = np.zeros(top.shape)
    entries, ranks = best_entries(hits, weights, k)
    best[hits.entry_rows[entries], ranks] = weights[hits.Y.indices[entries]]
    return won, best
