"""failures.md 2b for X: every container and type gives the same canonical CSR."""

import joblib
import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from proxtree._validation import check_X, csr_arg
from proxtree.exceptions import DataError, ProxtreeError

# numpy announces the end of its matrix class, which users still pass.
pytestmark = pytest.mark.filterwarnings("ignore:the matrix subclass")

DENSE = np.array([[0, 1.5, 0, -2], [0, 0, 0, 0], [3, 0, 0.1, 0]])


def assert_is_dense(result, expected=DENSE):
    """Canonical float32 CSR with exactly these values."""
    assert result.format == "csr"
    assert result.dtype == np.float32
    assert result.indices.dtype == result.indptr.dtype
    for row in range(result.shape[0]):
        columns = result.indices[result.indptr[row] : result.indptr[row + 1]]
        np.testing.assert_array_equal(columns, np.flatnonzero(expected[row]))
    np.testing.assert_array_equal(result.toarray(), expected.astype(np.float32))


def unsorted_with_zeros_and_repeats():
    """DENSE as 1.5 = 1 + 0.5 in row 0, a zero in row 1, row 2 backwards."""
    data = np.array([-2, 0.5, 1, 0, 0.1, 3])
    indices = np.array([3, 1, 1, 2, 2, 0], np.int32)
    indptr = np.array([0, 3, 4, 6], np.int32)
    return sparse.csr_matrix((data, indices, indptr), shape=(3, 4))


def with_index_types(indptr_type, indices_type):
    matrix = sparse.csr_array(DENSE)
    matrix.indptr = matrix.indptr.astype(indptr_type)
    matrix.indices = matrix.indices.astype(indices_type)
    return matrix


CONTAINERS = {
    "dense": lambda: DENSE.copy(),
    "list": lambda: DENSE.tolist(),
    "fortran": lambda: np.asfortranarray(DENSE),
    "big_endian": lambda: DENSE.astype(">f8"),
    "matrix": lambda: np.asmatrix(DENSE),
    "object": lambda: DENSE.astype(object),
    "dataframe": lambda: pd.DataFrame(DENSE),
    "mixed_dataframe": lambda: pd.DataFrame(
        {i: list(c) for i, c in enumerate(DENSE.T)}
    ),
    "strided": lambda: np.repeat(np.repeat(DENSE, 2, 0), 2, 1)[::2, ::2],
    **{
        f"{form}_{kind}": lambda form=form, kind=kind: getattr(
            sparse, f"{form}_{kind}"
        )(DENSE)
        for form in ("csr", "csc", "coo", "bsr", "dia", "dok", "lil")
        for kind in ("matrix", "array")
    },
    "unsorted": unsorted_with_zeros_and_repeats,
    "unsorted_csc": lambda: sparse.csc_array(unsorted_with_zeros_and_repeats()),
    "repeated_coo": lambda: unsorted_with_zeros_and_repeats().tocoo(),
    "int64": lambda: with_index_types(np.int64, np.int64),
    "int64_indptr": lambda: with_index_types(np.int64, np.int32),
    "int64_indices": lambda: with_index_types(np.int32, np.int64),
    "uint16_indices": lambda: with_index_types(np.int32, np.uint16),
    "uint64": lambda: with_index_types(np.uint64, np.uint64),
    "big_endian_index": lambda: with_index_types(">i4", ">i8"),
}


@pytest.mark.parametrize("name", CONTAINERS)
def test_every_container_gives_the_same_matrix(name):
    assert_is_dense(check_X(CONTAINERS[name]()))


def test_polars_frame():
    polars = pytest.importorskip("polars")
    assert_is_dense(check_X(polars.DataFrame(DENSE)))


def test_half_floats():
    # Dense only: scipy has no sparse matrices of float16.
    assert_is_dense(check_X(DENSE.astype(np.float16)), DENSE.astype(np.float16))


@pytest.mark.parametrize(
    "kind", [bool, np.int8, np.uint8, np.int64, np.uint64, np.longdouble]
)
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_matrix, sparse.csc_array])
def test_number_types(kind, container):
    counts = np.array([[0, 1, 1], [1, 0, 0]])
    assert_is_dense(check_X(container(counts.astype(kind))), counts)


def test_float64_is_rounded_once():
    value = 1 + 2.0**-24 + 2.0**-50  # above the tie between 1 and 1 + 2^-23
    assert check_X([[value]])[0, 0] == np.float32(1 + 2.0**-23)
    repeated = sparse.coo_array(([1.0, 2.0**-24, 2.0**-50], ([0] * 3, [0] * 3)))
    assert check_X(repeated)[0, 0] == np.float32(1 + 2.0**-23)


def test_repeated_booleans_count_once():
    repeated = sparse.coo_array(([True, True], ([0, 0], [0, 0])), shape=(1, 1))
    assert check_X(repeated)[0, 0] == 1


def test_repeated_small_integers_do_not_wrap_around():
    repeated = sparse.coo_array(
        (np.array([100, 100], np.int8), ([0, 0], [0, 0])), shape=(1, 1)
    )
    assert check_X(repeated)[0, 0] == 200


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "bsr"])
def test_big_endian_values_of_a_sparse_matrix(form):
    X = unsorted_with_zeros_and_repeats().asformat(form)
    X.data = X.data.astype(">f8")
    assert_is_dense(check_X(X))


def test_underflow_leaves_no_stored_zero():
    assert check_X(sparse.csr_array([[1e-50, 1.0]])).nnz == 1


@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_arrays_that_fit_are_shared(index):
    X = with_index_types(index, index).astype(np.float32)
    indptr, indices, data, shape = csr_arg(check_X(X))
    assert np.shares_memory(data, X.data)
    assert shape == (3, 4)
    if index == np.int32:
        assert np.shares_memory(indices, X.indices)
        assert np.shares_memory(indptr, X.indptr)


def test_spare_room_behind_the_last_value_is_ignored():
    X = sparse.csr_matrix(DENSE.astype(np.float32))
    X.indices = np.append(X.indices, 99)
    X.data = np.append(X.data, np.float32(np.nan))
    assert_is_dense(check_X(X))


def test_the_callers_matrix_does_not_change():
    X = unsorted_with_zeros_and_repeats()
    parts = [a.copy() for a in (X.data, X.indices, X.indptr)]
    flags = dict(vars(X))
    check_X(X)
    for before, after in zip(parts, (X.data, X.indices, X.indptr), strict=True):
        np.testing.assert_array_equal(before, after)
    assert vars(X).keys() == flags.keys()


def test_a_wrong_flag_is_not_believed():
    X = unsorted_with_zeros_and_repeats()
    X.has_sorted_indices = X.has_canonical_format = True
    assert_is_dense(check_X(X))


def test_read_only_and_memory_mapped_arrays(tmp_path):
    X = sparse.csr_matrix(DENSE.astype(np.float32))
    for array in (X.data, X.indices, X.indptr):
        array.flags.writeable = False
    assert_is_dense(check_X(X))
    joblib.dump(X, tmp_path / "x")
    mapped = joblib.load(tmp_path / "x", mmap_mode="r")
    assert isinstance(mapped.data, np.memmap)
    assert_is_dense(check_X(mapped))
    assert np.shares_memory(check_X(mapped).data, mapped.data)


def test_unaligned_values():
    room = np.zeros(4 * 4 + 1, np.uint8)
    values = room[1:].view(np.float32)
    values[:] = [1.5, -2, 3, 0.1]
    X = sparse.csr_matrix(DENSE.astype(np.float32))
    X.data = values
    assert not X.data.flags.aligned
    assert_is_dense(check_X(X))
    assert check_X(X).data.flags.aligned


@pytest.mark.parametrize(
    ("value", "shown"),
    [(np.nan, "nan"), (np.inf, "inf"), (-np.inf, "-inf"), (1e39, r"1e\+39")],
)
@pytest.mark.parametrize("container", [np.asarray, np.asfortranarray, sparse.csr_array])
def test_a_bad_value_is_named_with_its_place(value, shown, container):
    bad = DENSE.copy()
    bad[2, 1] = value
    with pytest.raises(DataError, match=rf"X\[2, 1\] is {shown}"):
        check_X(container(bad))


def test_a_sum_of_repeats_beyond_float32_is_an_error():
    big = sparse.coo_array(([3e38, 3e38], ([0, 0], [0, 0])), shape=(1, 1))
    with pytest.raises(DataError, match="6e"):
        check_X(big)


@pytest.mark.parametrize(
    "bad",
    [
        np.array([["a", "b"]]),
        np.array([["1", 2]], object),
        np.array([[1j]]),
        np.array([["2020-01-01"]], "M8[D]"),
        [[None, {}]],
        pd.DataFrame({"text": ["a"]}),
        np.ma.masked_array([[1.0]], [[True]]),
    ],
)
def test_what_is_no_number_is_a_type_error(bad):
    with pytest.raises(TypeError, match="X "):
        check_X(bad)


@pytest.mark.parametrize(
    ("bad", "text"),
    [
        (
            np.ones(5),
            r"X has shape \(5,\), expected \(n_samples, n_features\).*reshape",
        ),
        (np.float64(1), r"X has shape \(\)"),
        (np.ones((1, 2, 3)), r"X has shape \(1, 2, 3\)"),
        (sparse.coo_array(np.ones(4)), r"X has shape \(4,\)"),
        ([[1, 2], [3]], "X is no matrix"),
    ],
)
def test_wrong_dimensions(bad, text):
    with pytest.raises(DataError, match=text):
        check_X(bad)


def test_wrong_number_of_features():
    with pytest.raises(DataError, match=r"shape \(3, 4\), expected 7 features"):
        check_X(DENSE, n_features=7)


def test_no_rows_and_no_columns_pass():
    assert check_X(np.empty((0, 4))).shape == (0, 4)
    assert check_X(sparse.csr_matrix((3, 0))).shape == (3, 0)


def test_errors_are_value_errors_of_our_own():
    with pytest.raises(ValueError, match="shape") as caught:
        check_X(np.ones(3))
    assert isinstance(caught.value, ProxtreeError)
