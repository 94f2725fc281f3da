"""Broken sparse matrices are refused before compiled code reads them (A5)."""

import numpy as np
import pytest
from scipy import sparse

from proxtree._validation import check_X, check_Y
from proxtree.exceptions import DataError


def corrupt(matrix, **arrays):
    for name, array in arrays.items():
        setattr(matrix, name, np.asarray(array))
    return matrix


def square(form):
    """A 3 x 3 identity, whose row-wise and column-wise arrays are the same."""
    return getattr(sparse, f"{form}_matrix")(np.eye(3, dtype=np.float32))


@pytest.mark.parametrize("check", [check_X, check_Y])
@pytest.mark.parametrize("form", ["csr", "csc", "bsr"])
@pytest.mark.parametrize(
    ("arrays", "text"),
    [
        ({"indices": [0, 1, 3]}, r"indices holds 3, expected ids in \[0, 3\)"),
        ({"indices": [0, -1, 2]}, "indices holds -1"),
        ({"indices": [0, 1, 2**40]}, "indices holds"),
        ({"indptr": [0, 2, 1, 3]}, "indptr decreases after entry 1"),
        ({"indptr": [0, 1, 2, 9]}, "indptr ends at 9"),
        ({"indptr": [0, 2**40, 2, 3]}, "indptr decreases"),
        ({"indptr": [1, 1, 2, 3]}, "indptr starts at 1"),
        ({"indptr": [-1, 1, 2, 3]}, "indptr starts at -1"),
        ({"indptr": [0, 1, 3]}, "indptr has 3 entries, expected 4"),
        ({"indptr": [0.0, 1.0, 2.0, 3.0]}, "float64"),
        ({"indices": [[0, 1, 2]]}, "2-dimensional"),
        ({"indices": np.array([0, 1, 2**63], np.uint64)}, "out of range"),
    ],
)
def test_compressed(check, form, arrays, text):
    with pytest.raises(DataError, match=text):
        check(corrupt(square(form), **arrays))


@pytest.mark.parametrize("check", [check_X, check_Y])
def test_too_few_values(check):
    with pytest.raises(DataError, match="3 indices and 2 values"):
        check(corrupt(square("csr"), data=np.ones(2, np.float32)))


@pytest.mark.parametrize("check", [check_X, check_Y])
@pytest.mark.parametrize(
    ("arrays", "text"),
    [
        ({"row": [0, 1, 3]}, "row holds 3"),
        ({"col": [0, -1, 2]}, "col holds -1"),
        ({"row": [0, 1]}, "row has 2 entries for 3 values"),
        ({"data": np.ones(4, np.float32)}, "3 entries for 4 values"),
    ],
)
def test_coordinates(check, arrays, text):
    with pytest.raises(DataError, match=text):
        check(corrupt(square("coo"), **arrays))


@pytest.mark.parametrize("check", [check_X, check_Y])
def test_list_of_lists_with_a_column_out_of_range(check):
    matrix = square("lil")
    matrix.rows[1] = [7]
    with pytest.raises(DataError, match="indices holds 7"):
        check(matrix)
