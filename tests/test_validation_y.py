"""Label matrices: 0/1 of any type and container, or lists of label ids."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from proxtree._validation import check_X_Y, check_Y, pattern_arg
from proxtree.exceptions import DataError, DataWarning

# numpy announces the end of its matrix class, which users still pass.
pytestmark = pytest.mark.filterwarnings("ignore:the matrix subclass")

DENSE = np.array([[0, 1, 1], [0, 0, 0], [1, 0, 0], [0, 0, 1]])


def assert_is_dense(result, expected=DENSE):
    assert result.format == "csr"
    assert result.dtype == np.uint8
    np.testing.assert_array_equal(result.indptr[-1], len(result.data))
    np.testing.assert_array_equal(result.data, 1)
    np.testing.assert_array_equal(result.indices, np.nonzero(expected)[1])
    np.testing.assert_array_equal(result.toarray(), expected)


@pytest.mark.parametrize(
    "kind", [bool, np.int8, np.uint8, np.int64, np.float32, float, ">f8", object]
)
@pytest.mark.parametrize(
    "container", [np.asarray, np.asfortranarray, pd.DataFrame, np.asmatrix]
)
def test_dense(kind, container):
    assert_is_dense(check_Y(container(DENSE.astype(kind))))


@pytest.mark.parametrize("kind", [bool, np.int8, np.uint8, np.int64, np.float64])
@pytest.mark.parametrize("form", ["csr", "csc", "coo", "bsr", "dia", "dok", "lil"])
@pytest.mark.parametrize("interface", ["matrix", "array"])
def test_sparse(kind, form, interface):
    Y = getattr(sparse, f"{form}_{interface}")(DENSE.astype(kind))
    assert_is_dense(check_Y(Y))


@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
def test_stored_zeros_are_no_label_and_repeats_count_once(form):
    data = np.array([1, 1, 0, 0, 1, 1, 0, 1], np.int64)
    indices = np.array([2, 1, 0, 2, 0, 0, 2, 2], np.int32)
    indptr = np.array([0, 3, 4, 6, 8], np.int32)
    Y = sparse.csr_matrix((data, indices, indptr), shape=(4, 3))
    Y = {"csr": Y, "coo": Y.tocoo(), "csc": sparse.csc_matrix(Y)}[form]
    before = Y.data.copy()
    assert_is_dense(check_Y(Y))
    np.testing.assert_array_equal(Y.data, before)


def test_arrays_that_fit_are_shared():
    Y = sparse.csr_matrix(DENSE.astype(np.uint8))
    result = check_Y(Y)
    indptr, indices, shape = pattern_arg(result)
    assert np.shares_memory(result.data, Y.data)
    assert np.shares_memory(indices, Y.indices)
    assert np.shares_memory(indptr, Y.indptr)
    assert shape == (4, 3)


@pytest.mark.parametrize("value", [2, -1, 0.5, np.nan, np.inf])
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_matrix, sparse.csc_array])
def test_another_value_is_named_with_its_place(value, container):
    bad = DENSE.astype(float)
    bad[2, 1] = value
    with pytest.raises(DataError, match=rf"Y\[2, 1\] is {value}.*expected 0 or 1"):
        check_Y(container(bad))


LISTS = [[1, 2], [], [0], [2, 2]]


@pytest.mark.parametrize(
    "Y",
    [
        LISTS,
        tuple(map(tuple, LISTS)),
        [set(row) for row in LISTS],
        [np.array(row, np.int64) for row in LISTS],
        [(np.int32(1), 2), range(0), {0: "x"}, [2]],
        pd.Series(LISTS),
        np.array([*map(list, LISTS)], object),
    ],
)
def test_lists_of_label_ids(Y):
    assert_is_dense(check_Y(Y))


def test_polars_column_of_lists():
    polars = pytest.importorskip("polars")
    assert_is_dense(check_Y(polars.Series(LISTS, dtype=polars.List(polars.Int64))))


def test_lists_with_a_given_number_of_labels():
    assert check_Y([[1], []], n_labels=5).shape == (2, 5)
    with pytest.raises(DataError, match="label id 5, expected ids < 5"):
        check_Y([[5]], n_labels=5)


def test_lists_of_no_labels_at_all():
    assert check_Y([[], []]).shape == (2, 0)


@pytest.mark.parametrize(
    ("Y", "text"),
    [
        ([["3"], ["999"]], r"Y\[0\] holds '3' of type str"),
        ([[0], "12"], r"Y\[1\] is '12'"),
        ([0, 1, 1], r"Y\[0\] is 0, expected a list of integer label ids"),
        ([[0.0]], "0.0 of type float"),
        ([[True, False]], "True of type bool"),
        ([[None]], "NoneType"),
        (np.array([["a"]]), "Y has type <U1"),
    ],
)
def test_what_is_no_label_id_is_a_type_error(Y, text):
    with pytest.raises(TypeError, match=text):
        check_Y(Y)


def test_negative_ids():
    with pytest.raises(DataError, match=r"Y\[1\] holds label id -1"):
        check_Y([[0], [-1]])


def test_a_huge_id_does_not_make_a_billion_labels():
    with pytest.raises(DataError, match="label id 1000000000 but only 2 different"):
        check_Y([[3], [10**9]])
    with pytest.raises(DataError, match="label id"):
        check_Y([[10**30]])


def test_gaps_between_ids_are_fine_up_to_the_rule():
    assert check_Y([[1099]]).shape == (1, 1100)
    with pytest.raises(DataError, match="label id 1100 but only 1 different"):
        check_Y([[1100]])


def test_a_list_that_looks_like_a_dense_matrix_warns():
    with pytest.warns(DataWarning, match=r"numpy\.asarray\(Y\)"):
        check_Y([[0, 1, 1], [0, 0, 1]])


@pytest.mark.parametrize(
    ("Y", "text"),
    [
        (np.zeros(4), r"Y has shape \(4,\).*n_labels.*Y\.reshape\(-1, 1\)"),
        (np.zeros((2, 2, 2)), r"Y has shape \(2, 2, 2\)"),
    ],
)
def test_wrong_dimensions(Y, text):
    with pytest.raises(DataError, match=text):
        check_Y(Y)


def test_wrong_sizes_name_the_shape():
    with pytest.raises(DataError, match=r"shape \(4, 3\), expected 5 rows"):
        check_Y(DENSE, n_samples=5)
    with pytest.raises(DataError, match=r"shape \(4, 3\), expected 2 labels"):
        check_Y(DENSE, n_labels=2)


def test_pair_with_different_numbers_of_rows_names_both_shapes():
    with pytest.raises(DataError, match=r"\(5, 2\).*\(4, 3\).*X comes first"):
        check_X_Y(np.ones((5, 2)), DENSE)


def test_swapped_pair_gets_a_hint():
    with pytest.raises(DataError, match="are X and Y swapped"):
        check_X_Y(DENSE, np.full((4, 2), 0.5))
    with pytest.raises(DataError) as caught:
        check_X_Y(np.full((4, 2), 0.5), np.full((4, 2), 0.5))
    assert "swapped" not in str(caught.value)


def test_pair_without_rows():
    with pytest.raises(DataError, match="no samples"):
        check_X_Y(np.empty((0, 2)), np.empty((0, 3)))
