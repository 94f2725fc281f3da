"""Check the arrays inside scipy matrices before any compiled code reads them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from proxtree.exceptions import DataError


def raw_csr(matrix: Any, name: str) -> sparse.csr_matrix[Any]:
    """Return a scipy matrix of any format as CSR that shares what it can.

    Column ids may still be unsorted or repeated and zeros may be stored; but
    values are real numbers in native byte order and every index is in range,
    which scipy itself does not check before its compiled routines use them. The
    argument and its flags never change.

    Raises
    ------
    DataError
        If the matrix is not two-dimensional or an index array is malformed.
    TypeError
        If the values are no real numbers.
    """
    check_shape(matrix.shape, name)
    n_rows, n_columns = matrix.shape
    if matrix.format == "csc":
        parts = _compressed(matrix, n_columns, n_rows, name)
        return sparse.csc_matrix(parts, shape=matrix.shape).tocsr()
    if matrix.format == "bsr":
        height, width = matrix.data.shape[1:]
        data, indices, indptr = _compressed(
            matrix, n_rows // height, n_columns // width, name
        )
        blocks = sparse.bsr_matrix((data, indices, indptr), shape=matrix.shape)
        return _from_coordinates(blocks.tocoo(), name)
    if matrix.format == "coo":
        return _from_coordinates(matrix, name)
    if matrix.format != "csr":
        matrix = matrix.tocsr()
    parts = _compressed(matrix, n_rows, n_columns, name)
    return sparse.csr_matrix(parts, shape=matrix.shape)


def check_shape(shape: tuple[int, ...], name: str) -> None:
    """Raise a `DataError` that names the shape unless it has two dimensions."""
    if len(shape) == 2:
        return
    columns, one, fix = "n_features", "sample", "(1, -1)"
    if name.startswith("Y"):
        columns, one, fix = "n_labels", "label", "(-1, 1)"
    hint = f"; for one {one} use {name}.reshape{fix}" if len(shape) == 1 else ""
    raise DataError(f"{name} has shape {shape}, expected (n_samples, {columns}){hint}")


def real_numbers(array: NDArray[Any], name: str) -> NDArray[Any]:
    """Return an array of numbers in native byte order; objects become float64.

    Raises
    ------
    TypeError
        If the array holds strings, complex numbers, dates or other things.
    DataError
        If it holds a Python integer that is beyond float64.
    """
    if array.dtype.kind == "O":
        if any(isinstance(value, str | bytes) for value in array.flat):
            raise TypeError(f"{name} holds strings, expected numbers")
        try:
            return array.astype(np.float64)
        except (TypeError, ValueError) as error:
            raise TypeError(f"{name} must hold real numbers: {error}") from None
        except OverflowError:
            raise DataError(f"{name} holds a number beyond float32") from None
    if array.dtype.kind not in "biuf":
        raise TypeError(f"{name} has type {array.dtype}, expected real numbers")
    return np.require(array, array.dtype.newbyteorder("="), "A")


Parts = tuple[NDArray[Any], NDArray[Any], NDArray[Any]]


def _compressed(matrix: Any, n_major: int, n_minor: int, name: str) -> Parts:
    """Return (data, indices, indptr), checked, of a CSR, CSC or BSR matrix."""
    indptr = _index_array(matrix.indptr, f"{name}.indptr")
    indices = _index_array(matrix.indices, f"{name}.indices")
    data = real_numbers(np.asarray(matrix.data), name)
    if len(indptr) != n_major + 1:
        raise DataError(
            f"{name}.indptr has {len(indptr)} entries, expected {n_major + 1} "
            f"for shape {matrix.shape}"
        )
    nnz = int(indptr[-1])
    if indptr[0] != 0:
        raise DataError(f"{name}.indptr starts at {indptr[0]}, expected 0")
    if nnz > min(len(indices), len(data)):
        raise DataError(
            f"{name}.indptr ends at {nnz}, but there are {len(indices)} indices "
            f"and {len(data)} values"
        )
    falls = indptr[1:] < indptr[:-1]
    if falls.any():
        raise DataError(f"{name}.indptr decreases after entry {int(falls.argmax())}")
    indices, data = indices[:nnz], data[:nnz]
    _check_range(indices, n_minor, f"{name}.indices")
    return data, indices, indptr


def _from_coordinates(matrix: Any, name: str) -> sparse.csr_matrix[Any]:
    # scipy's own conversion adds repeated entries, which Y must not.
    data = real_numbers(np.asarray(matrix.data), name)
    rows = _index_array(matrix.row, f"{name}.row")
    columns = _index_array(matrix.col, f"{name}.col")
    n_rows, n_columns = matrix.shape
    for ids, size, axis in ((rows, n_rows, "row"), (columns, n_columns, "col")):
        if len(ids) != len(data):
            raise DataError(
                f"{name}.{axis} has {len(ids)} entries for {len(data)} values"
            )
        _check_range(ids, size, f"{name}.{axis}")
    order = np.argsort(rows, kind="stable")
    indptr = np.zeros(n_rows + 1, np.int64)
    np.cumsum(np.bincount(rows, minlength=n_rows), out=indptr[1:])
    return sparse.csr_matrix((data[order], columns[order], indptr), shape=matrix.shape)


def _index_array(array: Any, name: str) -> NDArray[Any]:
    """As contiguous int32 or int64 in native byte order, shared if it is that."""
    array = np.asarray(array)
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise DataError(
            f"{name} is {array.ndim}-dimensional {array.dtype}, "
            "expected a one-dimensional array of integers"
        )
    if array.dtype.kind == "u" and array.size and array.max() > np.iinfo(np.int64).max:
        raise DataError(f"{name} holds {array.max()}, which is out of range")
    fits = np.can_cast(array.dtype, np.int32)
    return np.require(array, np.int32 if fits else np.int64, ["C", "A"])


def _check_range(ids: NDArray[Any], size: int, name: str) -> None:
    if len(ids) and (ids.min() < 0 or ids.max() >= size):
        bad = ids[(ids < 0) | (ids >= size)][0]
        raise DataError(f"{name} holds {bad}, expected ids in [0, {size})")
