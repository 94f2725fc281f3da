"""Label sets given as lists of label ids."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from scipy import sparse

from proxtree.exceptions import DataError, DataWarning

# Without `n_labels` the largest id sets the number of labels. Each label costs
# memory even when unused, so ids must not be sparser than this.
_FREE_LABELS = 1_000
_LABELS_PER_ID = 100


def from_label_lists(
    rows: Sequence[Any], n_labels: int | None, name: str
) -> sparse.csr_matrix[np.uint8]:
    """Return the 0/1 matrix whose row i has ones at the label ids of ``rows[i]``.

    Raises
    ------
    TypeError
        If a row is no collection of integers (strings and booleans are none).
    DataError
        If an id is negative or at least `n_labels`; or, without `n_labels`, so
        large that nearly all labels would be unused.
    """
    ids: list[int] = []
    ends = [0]
    for i, row in enumerate(rows):
        ids.extend(_ids_of(row, f"{name}[{i}]"))
        ends.append(len(ids))
    largest = max(ids, default=-1)
    if n_labels is None:
        n_labels = largest + 1
        limit = _FREE_LABELS + _LABELS_PER_ID * len(set(ids))
        if n_labels > limit:
            raise DataError(
                f"{name} has label id {largest} but only {len(set(ids))} different "
                "ids: number the labels from 0, or pass a sparse matrix of the "
                "shape that is meant"
            )
    elif largest >= n_labels:
        raise DataError(f"{name} has label id {largest}, expected ids < {n_labels}")
    if largest <= 1 and any(
        len(set(ids[a:b])) < b - a for a, b in itertools.pairwise(ends)
    ):
        warnings.warn(
            f"{name} is a list, so its rows are read as label ids; if they are rows "
            f"of a 0/1 matrix, pass numpy.asarray({name})",
            DataWarning,
            stacklevel=2,
        )
    matrix = sparse.csr_matrix(
        (np.ones(len(ids), np.uint8), np.array(ids, np.int64), np.array(ends)),
        shape=(len(rows), n_labels),
    )
    matrix.sum_duplicates()
    matrix.data[:] = 1
    return matrix


def _ids_of(row: Any, name: str) -> Iterable[int]:
    if isinstance(row, str | bytes) or not isinstance(row, Iterable):
        raise TypeError(
            f"{name} is {row!r}, expected a list of integer label ids "
            "(or pass a 0/1 matrix)"
        )
    for label in row:
        if isinstance(label, bool | np.bool_) or not isinstance(
            label, int | np.integer
        ):
            raise TypeError(
                f"{name} holds {label!r} of type {type(label).__name__}, "
                "expected integer label ids"
            )
        if label < 0:
            raise DataError(f"{name} holds label id {label}, expected ids >= 0")
        yield int(label)
