"""Turn whatever users pass as X and Y into canonical CSR, or say what is wrong.

Canonical: sorted column ids, each once a row, no stored zeros. Arrays that fit
are shared, never copied and never changed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from proxtree import _core
from proxtree._compressed import check_shape, raw_csr, real_numbers
from proxtree._label_lists import from_label_lists
from proxtree.exceptions import DataError

CsrArg = tuple[NDArray[Any], NDArray[Any], NDArray[np.float32], tuple[int, int]]
PatternArg = tuple[NDArray[Any], NDArray[Any], tuple[int, int]]


def check_X(
    X: Any, n_features: int | None = None, name: str = "X"
) -> sparse.csr_matrix[np.float32]:
    """Return `X` as canonical float32 CSR.

    Parameters
    ----------
    X : {array-like, sparse matrix, DataFrame} of shape (n_samples, n_features)
        Any numeric or boolean type; rounded to float32 once. Repeated entries
        of a sparse matrix are added (before rounding), booleans count once.
    n_features : int, optional
        The number of columns that `X` must have.
    name : str, default="X"
        What error messages call it.

    Returns
    -------
    csr_matrix of float32
        Shares the arrays of `X` where they fit.

    Raises
    ------
    DataError
        If `X` is not two-dimensional, has the wrong number of columns, malformed
        index arrays, or a value that is NaN, infinite or beyond float32.
    TypeError
        If `X` does not hold real numbers.
    """
    if sparse.issparse(X):
        matrix = raw_csr(X, name)
        values, indptr, indices = matrix.data, matrix.indptr, matrix.indices
        if not _is_sorted_and_unique(indptr, indices):
            if values.dtype.kind not in "bf":
                values = values.astype(np.float64)
            copy = sparse.csr_matrix(
                (values, indices, indptr), shape=matrix.shape, copy=True
            )
            copy.sum_duplicates()
            values, indptr, indices = copy.data, copy.indptr, copy.indices
        data = _to_float32(values, indptr, indices, name)
        result = sparse.csr_matrix((data, indices, indptr), shape=matrix.shape)
    else:
        result = _from_dense(_dense(X, name), name)
    if n_features is not None and result.shape[1] != n_features:
        raise DataError(
            f"{name} has shape {result.shape}, expected {n_features} features"
        )
    return _without_zeros(result)


def check_Y(
    Y: Any,
    n_samples: int | None = None,
    n_labels: int | None = None,
    name: str = "Y",
) -> sparse.csr_matrix[np.uint8]:
    """Return `Y` as canonical uint8 CSR of ones.

    Parameters
    ----------
    Y : {array-like, sparse matrix, list of lists} of shape (n_samples, n_labels)
        0/1 values of any type; or a list with a list of label ids for each
        sample. A list is always read as label ids. Repeated entries count once.
    n_samples, n_labels : int, optional
        The shape that `Y` must have. Label ids without `n_labels` give as many
        labels as the largest id asks for, if that is at most 1000 plus 100 times
        the number of different ids.
    name : str, default="Y"
        What error messages call it.

    Returns
    -------
    csr_matrix of uint8
        Shares the arrays of `Y` where they fit.

    Raises
    ------
    DataError
        If a value is neither 0 nor 1, a label id is out of range, or the shape
        is wrong.
    TypeError
        If `Y` holds strings or other things that are no numbers.
    """
    if sparse.issparse(Y):
        result = _ones(raw_csr(Y, name), name)
    elif isinstance(Y, list | tuple):
        result = from_label_lists(Y, n_labels, name)
    elif _is_column_of_lists(Y):
        result = from_label_lists(list(Y), n_labels, name)
    else:
        dense = _dense(Y, name)
        _check_binary(dense, lambda at: np.unravel_index(at, dense.shape), name)
        result = sparse.csr_matrix(dense.astype(np.uint8))
    n_rows, n_columns = result.shape
    if n_samples is not None and n_rows != n_samples:
        raise DataError(f"{name} has shape {result.shape}, expected {n_samples} rows")
    if n_labels is not None and n_columns != n_labels:
        raise DataError(f"{name} has shape {result.shape}, expected {n_labels} labels")
    return result


def check_X_Y(
    X: Any, Y: Any
) -> tuple[sparse.csr_matrix[np.float32], sparse.csr_matrix[np.uint8]]:
    """Return `X` and `Y` in canonical form, with at least one row and as many rows.

    Raises
    ------
    DataError
        As `check_X` and `check_Y`; with both shapes if the rows do not match, and
        a hint where the two seem to be swapped.
    """
    checked_X = check_X(X)
    try:
        checked_Y = check_Y(Y)
    except DataError as error:
        if checked_X.nnz and (checked_X.data == 1).all():
            raise DataError(
                f"{error} (X holds only 0 and 1: are X and Y swapped?)"
            ) from None
        raise
    if checked_X.shape[0] != checked_Y.shape[0]:
        raise DataError(
            f"X has shape {checked_X.shape} and Y has shape {checked_Y.shape}: "
            "both need a row for each sample (X comes first, then Y)"
        )
    if checked_X.shape[0] == 0:
        raise DataError(f"X has shape {checked_X.shape}: there are no samples")
    return checked_X, checked_Y


def csr_arg(X: sparse.csr_matrix[np.float32]) -> CsrArg:
    """Return a canonical matrix as the native module takes it."""
    return X.indptr, X.indices, X.data, X.shape


def pattern_arg(Y: sparse.csr_matrix[np.uint8]) -> PatternArg:
    """Return a canonical 0/1 matrix as the native module takes it."""
    return Y.indptr, Y.indices, Y.shape


def normalize_rows(X: Any) -> sparse.csr_matrix[np.float32]:
    """Scale each row to unit l2 norm; zero rows stay.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)

    Returns
    -------
    csr_matrix of float32, shape (n_samples, n_features)

    Raises
    ------
    DataError
        As for the `X` of an estimator.

    Examples
    --------
    >>> from proxtree import normalize_rows
    >>> normalize_rows([[3.0, 4.0], [0.0, 0.0]]).toarray()
    array([[0.6, 0.8],
           [0. , 0. ]], dtype=float32)
    """
    X = check_X(X)
    data = _core.normalize_rows(csr_arg(X))
    return sparse.csr_matrix((data, X.indices, X.indptr), shape=X.shape)


def _dense(X: Any, name: str) -> NDArray[Any]:
    if isinstance(X, np.ma.MaskedArray):
        raise TypeError(f"{name} is a masked array; fill or drop the masked values")
    try:
        array = np.asarray(X)
    except ValueError as error:
        raise DataError(f"{name} is no matrix: {error}") from None
    check_shape(array.shape, name)
    return real_numbers(array, name)


def _is_column_of_lists(Y: Any) -> bool:
    """Whether `Y` is like a DataFrame's column that holds lists."""
    return len(getattr(Y, "shape", ())) == 1 and np.asarray(Y).dtype == object


def _is_sorted_and_unique(indptr: NDArray[Any], indices: NDArray[Any]) -> bool:
    # scipy's flags may be wrong, and asking for them writes into the matrix.
    if len(indices) < 2:
        return True
    rises = indices[1:] > indices[:-1]
    starts = indptr[1:-1]
    rises[starts[(starts > 0) & (starts < len(indices))] - 1] = True
    return bool(rises.all())


def _cast(values: NDArray[Any]) -> NDArray[np.float32]:
    with np.errstate(over="ignore", under="ignore"):
        return np.require(values, np.float32, ["C", "A"])


def _to_float32(
    values: NDArray[Any], indptr: NDArray[Any], indices: NDArray[Any], name: str
) -> NDArray[np.float32]:
    data = _cast(values)
    finite = np.isfinite(data)
    if not finite.all():
        at = int(np.argmin(finite))
        row = int(np.searchsorted(indptr, at, side="right")) - 1
        raise _not_finite(name, row, int(indices[at]), values[at])
    return data


def _from_dense(dense: NDArray[Any], name: str) -> sparse.csr_matrix[np.float32]:
    data = _cast(dense)
    finite = np.isfinite(data)
    if not finite.all():
        row, column = np.unravel_index(int(np.argmin(finite)), dense.shape)
        raise _not_finite(name, int(row), int(column), dense[row, column])
    return sparse.csr_matrix(data)


def _not_finite(name: str, row: int, column: int, value: Any) -> DataError:
    return DataError(
        f"{name}[{row}, {column}] is {value}, expected a finite number that "
        "float32 can hold"
    )


def _without_zeros(
    matrix: sparse.csr_matrix[np.float32],
) -> sparse.csr_matrix[np.float32]:
    if not (matrix.data == 0).any():
        return matrix
    copy = matrix.copy()
    copy.eliminate_zeros()
    return copy


def _ones(matrix: sparse.csr_matrix[Any], name: str) -> sparse.csr_matrix[np.uint8]:
    values, indptr, indices = matrix.data, matrix.indptr, matrix.indices

    def place(at: int) -> tuple[int, int]:
        return int(np.searchsorted(indptr, at, side="right")) - 1, int(indices[at])

    _check_binary(values, place, name)
    data = np.require(values, np.uint8, "C")
    fits = _is_sorted_and_unique(indptr, indices) and bool(data.all())
    result = sparse.csr_matrix(
        (data, indices, indptr), shape=matrix.shape, copy=not fits
    )
    if not fits:
        # Zeros first: a repeated entry must not count for a stored zero.
        result.eliminate_zeros()
        result.sum_duplicates()
        result.data[:] = 1
    return result


def _check_binary(
    values: NDArray[Any], place: Callable[[int], tuple[Any, ...]], name: str
) -> None:
    good = (values == 0) | (values == 1)
    if not good.all():
        at = int(np.argmin(good))
        row, column = place(at)
        raise DataError(
            f"{name}[{row}, {column}] is {values.flat[at]}, expected 0 or 1"
        )
