"""What `save_xmc` writes, and that `load_xmc` gives it back."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from proxtree.exceptions import DataError
from proxtree.io import _write, load_xmc, save_xmc

float32 = st.floats(width=32, allow_nan=False, allow_infinity=False)


@st.composite
def datasets(draw):
    """Canonical X and Y; X with denormals, negative values and empty rows."""
    n, d, n_labels = (draw(st.integers(0, 6)) for _ in range(3))
    x = draw(st.lists(float32, min_size=n * d, max_size=n * d))
    y = draw(st.lists(st.booleans(), min_size=n * n_labels, max_size=n * n_labels))
    return (
        sp.csr_matrix(np.array(x, dtype=np.float32).reshape(n, d)),
        sp.csr_matrix(np.array(y, dtype=np.uint8).reshape(n, n_labels)),
    )


def same_bits(read, X, Y):
    for got, sent in [(read.X, X), (read.Y, Y)]:
        assert got.shape == sent.shape
        assert got.data.tobytes() == sent.data.tobytes()
        np.testing.assert_array_equal(got.indices, sent.indices)
        np.testing.assert_array_equal(got.indptr, sent.indptr)


@settings(max_examples=100, deadline=None)
@given(datasets())
def test_saved_matrices_come_back_bit_for_bit(tmp_path_factory, dataset):
    path = tmp_path_factory.getbasetemp() / "round_trip.txt"
    save_xmc(path, *dataset)
    same_bits(load_xmc(path), *dataset)


def test_extreme_values_come_back_bit_for_bit(tmp_path):
    info = np.finfo(np.float32)
    values = [info.max, info.min, info.tiny, info.smallest_subnormal, info.eps, 0.1]
    X = sp.csr_matrix(np.array([values, [-v for v in values]], dtype=np.float32))
    Y = sp.csr_matrix((2, 0), dtype=np.uint8)
    save_xmc(tmp_path / "x", X, Y)
    same_bits(load_xmc(tmp_path / "x"), X, Y)


def test_rows_are_cut_into_parts_without_a_seam(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    X = sp.random(500, 40, 0.2, "csr", dtype=np.float32, rng=rng)
    Y = sp.csr_matrix(sp.random(500, 9, 0.1, "csr", rng=rng) > 0, dtype=np.uint8)
    save_xmc(tmp_path / "whole", X, Y)
    for entries in [1, 7, 100]:
        monkeypatch.setattr(_write, "_ENTRIES", entries)
        save_xmc(tmp_path / "parts", X, Y)
        assert (tmp_path / "parts").read_bytes() == (tmp_path / "whole").read_bytes()
    same_bits(load_xmc(tmp_path / "whole"), sp.csr_matrix(X), Y)


def odd_csr():
    """Unsorted, with a duplicate (2 + 1 = 3 at row 0, column 1) and a stored zero."""
    X = sp.csr_matrix((2, 3), dtype=np.float32)
    X.data = np.array([5, 2, 1, 0], dtype=np.float32)
    X.indices = np.array([2, 1, 1, 0], dtype=np.int32)
    X.indptr = np.array([0, 3, 4], dtype=np.int32)
    return X


DENSE_X = np.array([[0, 3, 5], [0, 0, 0]], dtype=np.float32)
DENSE_Y = np.array([[1, 0], [0, 1]])


def int64(X):
    X = sp.csr_matrix(X)
    X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    return X


@pytest.mark.parametrize(
    "convert",
    [
        np.asarray,
        np.asfortranarray,
        lambda a: a.astype(">f8"),
        lambda a: a.astype(np.int64),
        lambda a: a.astype(object),
        sp.csr_array,
        sp.csc_matrix,
        sp.coo_array,
        int64,
    ],
)
def test_every_container_gives_the_same_file(tmp_path, convert):
    save_xmc(tmp_path / "x", convert(DENSE_X), convert(DENSE_Y))
    assert (tmp_path / "x").read_text() == "2 3 2\n0 1:3 2:5\n1\n"


def test_odd_csr_is_sorted_summed_and_left_alone(tmp_path):
    X, Y = odd_csr(), odd_csr()
    Y.data = np.array([1, 1, 1, 0], dtype=np.float32)
    before = [a.copy() for m in (X, Y) for a in (m.data, m.indices, m.indptr)]
    save_xmc(tmp_path / "x", X, Y)
    # A label stored twice counts once; a stored zero is none.
    assert (tmp_path / "x").read_text() == "2 3 3\n1,2 1:3 2:5\n \n"
    after = [a for m in (X, Y) for a in (m.data, m.indices, m.indptr)]
    for old, new in zip(before, after, strict=True):
        np.testing.assert_array_equal(old, new)


def test_read_only_arrays_can_be_saved(tmp_path):
    X, Y = sp.csr_matrix(DENSE_X), sp.csr_matrix(DENSE_Y)
    for matrix in (X, Y):
        for array in (matrix.data, matrix.indices, matrix.indptr):
            array.flags.writeable = False
    save_xmc(tmp_path / "x", X, Y)
    assert (tmp_path / "x").read_text() == "2 3 2\n0 1:3 2:5\n1\n"


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 1e39])
def test_values_that_are_no_finite_float32_are_refused(tmp_path, value):
    X = np.array([[0, 1, 0], [0, 1, value]])
    with pytest.raises(DataError, match=r"X\[1, 2\] is .* expected a finite number"):
        save_xmc(tmp_path / "x", X, DENSE_Y)
    assert list(tmp_path.iterdir()) == []


def test_lists_hold_label_ids(tmp_path):
    save_xmc(tmp_path / "x", DENSE_X.tolist(), [[0], [1]])
    assert (tmp_path / "x").read_text() == "2 3 2\n0 1:3 2:5\n1\n"


def test_values_that_round_to_zero_are_left_out(tmp_path):
    save_xmc(tmp_path / "x", [[1e-50, 1.0]], [[0]])
    assert (tmp_path / "x").read_text() == "1 2 1\n0 1:1\n"


@pytest.mark.parametrize("value", [2, -1, 0.5, np.nan])
def test_labels_are_zeros_and_ones(tmp_path, value):
    with pytest.raises(DataError, match=rf"Y\[1, 1\] is {value}, expected 0 or 1"):
        save_xmc(tmp_path / "x", DENSE_X, np.array([[1, 0], [0, value]]))


def test_shapes_must_agree(tmp_path):
    with pytest.raises(
        DataError, match=r"same number of rows, got \(2, 3\) and \(1, 2\)"
    ):
        save_xmc(tmp_path / "x", DENSE_X, DENSE_Y[:1])


@pytest.mark.parametrize("dtype", [np.complex64, str])
def test_other_things_than_real_numbers_are_refused(tmp_path, dtype):
    with pytest.raises(TypeError, match=r"X .* real numbers"):
        save_xmc(tmp_path / "x", DENSE_X.astype(dtype), DENSE_Y)
    with pytest.raises(TypeError, match=r"Y .* real numbers"):
        save_xmc(tmp_path / "x", DENSE_X, DENSE_Y.astype(dtype))


def test_a_vector_is_no_matrix(tmp_path):
    with pytest.raises(DataError, match=r"Y has shape \(2,\)"):
        save_xmc(tmp_path / "x", DENSE_X, DENSE_Y[0])
