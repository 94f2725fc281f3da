"""Which of the ranked labels are relevant."""

from __future__ import annotations

import operator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from proxtree._validation import check_Y
from proxtree.exceptions import DataError

_MAX_LABELS = 2**31


@dataclass(frozen=True)
class Hits:
    """Ranked labels of n rows beside the truth.

    Attributes
    ----------
    top : int64 array of shape (n, k)
        Label ids, -1 for none.
    relevant : bool array of shape (n, k)
        Whether the label is one of the row's and was not named before.
    Y : csr_matrix of shape (n, n_labels)
        The truth, canonical.
    n_labels : int
        Every id is less; at least the number of columns of `Y`.
    """

    top: NDArray[np.int64]
    relevant: NDArray[np.bool_]
    Y: sparse.csr_matrix[np.uint8]
    n_labels: int

    @property
    def n_rows(self) -> int:
        """Number of rows, at least 1."""
        return len(self.top)

    @property
    def n_relevant(self) -> NDArray[np.int64]:
        """Number of relevant labels of each row."""
        return np.diff(self.Y.indptr).astype(np.int64)

    @property
    def entry_rows(self) -> NDArray[np.int64]:
        """Row of each entry of `Y`, in its order."""
        return np.repeat(np.arange(self.n_rows), self.n_relevant)


def find_hits(Y_true: Any, labels: Any, k: int, n_labels: int | None = None) -> Hits:
    """Look the first k labels of each row up in `Y_true`.

    Cost: a binary search among the entries of `Y_true` for each ranked label.

    Parameters
    ----------
    Y_true : {array-like, sparse matrix, list of lists} of shape (n, n_labels)
    labels : array of integers of shape (n, >= k)
    k : int
    n_labels : int, optional
        What `Y_true` must have. Unset, lists of label ids set no upper bound.

    Raises
    ------
    DataError
        If shapes do not match, `Y_true` holds other values than 0 and 1, or an id
        is outside [-1, n_labels).
    TypeError
        If `k` or the labels are not integers.
    """
    k = check_k(k)
    ranked = check_labels(labels)
    if ranked.shape[1] < k:
        raise DataError(
            f"labels has {ranked.shape[1]} columns, expected at least k = {k} "
            "(pad with -1)"
        )
    Y = check_Y(Y_true, n_samples=ranked.shape[0], n_labels=n_labels, name="Y_true")
    if n_labels is None:
        n_labels = Y.shape[1]
        if not has_width(Y_true):
            n_labels = max(n_labels, int(ranked.max(initial=-1)) + 1)
    check_ids(ranked, n_labels)
    top = ranked[:, :k]
    rows = np.arange(len(top))
    true_keys = np.repeat(rows * n_labels, np.diff(Y.indptr)) + Y.indices
    # The end mark gives a search past the last entry something to compare with.
    true_keys = np.append(true_keys, np.iinfo(np.int64).max)
    keys = rows[:, np.newaxis] * n_labels + top
    found = true_keys[np.searchsorted(true_keys, keys)] == keys
    return Hits(top, found & (top >= 0) & ~_repeated(top), Y, n_labels)


def has_width(Y: Any) -> bool:
    """Whether `Y` shows its number of labels, as lists of label ids do not."""
    return len(getattr(Y, "shape", ())) == 2


def check_k(k: int) -> int:
    """Return `k` as an int of at least 1."""
    if isinstance(k, bool | np.bool_):
        raise TypeError("k is a bool, expected an integer")
    try:
        value = int(operator.index(k))
    except TypeError:
        raise TypeError(f"k is {k!r}, expected an integer") from None
    if value < 1:
        raise DataError(f"k is {value}, expected at least 1")
    return value


def check_labels(labels: Any) -> NDArray[np.int64]:
    """Return ranked labels as an int64 array with at least one row."""
    try:
        array = np.asarray(labels)
    except ValueError:
        raise DataError("labels has rows of different lengths (pad with -1)") from None
    if array.ndim != 2 or array.shape[0] == 0:
        raise DataError(
            f"labels has shape {array.shape}, expected (n_samples, >= k) with at "
            "least one row"
        )
    if array.dtype.kind not in "iu":
        raise TypeError(f"labels has type {array.dtype}, expected integers")
    # Counts of all labels are kept, also where only the ids say how many there are.
    if array.max(initial=0) >= _MAX_LABELS:
        raise DataError(
            f"labels holds {array.max()}, expected label ids below {_MAX_LABELS}"
        )
    return array.astype(np.int64)


def check_ids(labels: NDArray[np.int64], n_labels: int) -> None:
    """Raise unless all ids are in [-1, n_labels)."""
    bad = (labels < -1) | (labels >= n_labels)
    if bad.any():
        row, column = (int(i) for i in np.argwhere(bad)[0])
        raise DataError(
            f"labels[{row}, {column}] is {labels[row, column]}, expected a label id "
            f"less than {n_labels}, or -1 for none"
        )


def _repeated(top: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether an earlier position of the row holds the same id."""
    order = np.argsort(top, axis=1, kind="stable")
    ids = np.take_along_axis(top, order, axis=1)
    repeated = np.zeros(top.shape, dtype=np.bool_)
    np.put_along_axis(repeated, order[:, 1:], ids[:, 1:] == ids[:, :-1], axis=1)
    return repeated
