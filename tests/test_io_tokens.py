"""Numbers and ids in text files: what is read, what is refused, and how it is told."""

from fractions import Fraction

import numpy as np
import pytest

from proxtree.exceptions import DataError, FormatError, ProxtreeError
from proxtree.io import load_svmlight, load_xmc


@pytest.fixture
def write(tmp_path):
    def write(text):
        path = tmp_path / "data.txt"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


def test_an_error_names_file_line_and_token(write):
    path = write("2 3 2\n0 0:1\n1 1:x9\n")
    with pytest.raises(FormatError) as caught:
        load_xmc(path)
    assert str(caught.value) == (
        f"{path}, line 3: expected feature:value with a value that is a finite "
        "float32, found '1:x9'"
    )
    assert isinstance(caught.value, ProxtreeError)
    assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize(
    "value",
    [
        "nan",
        "NaN",
        "-nan",
        "inf",
        "-inf",
        "Infinity",
        "1e39",
        "-1e400",
        "3.5e38",
        "1.797e308",
        "340282357e30",
        "-",
        ".",
        "e5",
        "0x1",
        "1_0",
        "1,5",
        "1:2",
        "1e",
        "--1",
        "1.2.3",
        "1f",
        "",
    ],
)
def test_values_that_are_no_finite_float32_are_an_error(write, value):
    with pytest.raises(
        FormatError, match=f"line 2: .*finite float32, found '0:{value}'"
    ):
        load_xmc(write(f"1 3 2\n0 0:{value} 1:1"))


@pytest.mark.parametrize(
    "value",
    [
        "1",
        "+1",
        "-1.5",
        ".5",
        "5.",
        "1e5",
        "1E-5",
        "0.1",
        "16777217",
        "1e-45",
        "1e-40",
        "3.4028235e38",
        "00012.50",
        "0.5000000298023224",
        "0.10000000149011612",
        "1.17549435e-38",
        "1.1754942e-38",
        "123456789012345678901234567890",
        "-0.0000000000000000000000123",
    ],
)
def test_values_are_rounded_once_to_the_nearest_float32(write, value):
    X, _ = load_xmc(write(f"1 3 2\n0 0:{value} 1:1"))
    assert X.dtype == np.float32
    # Float64 comes near; of it and its neighbours the nearest in exact arithmetic,
    # of two equally near the even one.
    near = np.float32(float(value))
    candidates = [near, np.nextafter(near, np.float32(-3e38))]
    candidates.append(np.nextafter(near, np.float32(3e38)))
    expected = min(
        candidates,
        key=lambda c: (
            abs(Fraction(float(c)) - Fraction(value)),
            c.view(np.uint32) & 1,
        ),
    )
    assert X.data[0].tobytes() == expected.tobytes()


@pytest.mark.parametrize("value", ["0", "-0", "0.000", "1e-46", "-1e-400", "0e9"])
def test_zeros_and_what_rounds_to_them_are_not_stored(write, value):
    X, _ = load_xmc(write(f"2 3 2\n0 0:{value} 2:1\n1 1:{value}"))
    assert X.nnz == 1
    assert X.toarray().tolist() == [[0, 0, 1], [0, 0, 0]]


@pytest.mark.parametrize(
    "label", ["-1", "+3", "1.0", "0x1", "1e0", "a", ",", "0,", ",0", "0,,1"]
)
def test_labels_are_digits(write, label):
    with pytest.raises(FormatError) as caught:
        load_xmc(write(f"2 3 9\n0 0:1\n{label} 0:1"))
    assert "line 3: expected label ids" in str(caught.value)
    assert f"found '{label}'" in str(caught.value)


@pytest.mark.parametrize(
    "entry", ["-2:1", "+2:1", "1.0:1", "0x1:1", ":1", "5", "a:1", "0,1:1"]
)
def test_feature_ids_are_digits(write, entry):
    with pytest.raises(FormatError) as caught:
        load_xmc(write(f"1 9 9\n0 0:1 {entry}"))
    assert "line 2: expected feature:value" in str(caught.value)
    assert f"found '{entry}'" in str(caught.value)


def test_leading_zeros_are_digits_too(write):
    X, Y = load_xmc(write("1 9 9\n008 007:1"))
    assert (X.indices.tolist(), Y.indices.tolist()) == ([7], [8])


@pytest.mark.parametrize(
    ("row", "found"),
    [
        ("2 0:1", "label id of '2'"),
        ("0,7 0:1", "label id of '0,7'"),
        ("0 3:1", "feature id of '3:1'"),
        ("0 9:1", "feature id of '9:1'"),
        ("0 18446744073709551616:1", "feature id of '18446744073709551616:1'"),
        ("18446744073709551617 0:1", "label id of '18446744073709551617'"),
    ],
)
def test_ids_beyond_the_header_are_an_error(write, row, found):
    with pytest.raises(FormatError, match=f"line 3: {found} is out of range: .*header"):
        load_xmc(write(f"2 3 2\n1 2:1\n{row}"))


def test_ids_beyond_32_bits_are_an_error_without_header_too(write):
    for row in ["0 4294967295:1", "4294967295 0:1"]:
        with pytest.raises(FormatError, match=r"line 1: .*4294967295.*most supported"):
            load_xmc(write(row), header=False)


def test_huge_ids_make_wide_matrices_not_large_ones(write):
    X, Y = load_xmc(write("4294967294 4294967294:1\n999999999 0:1"), header=False)
    assert X.shape == Y.shape == (2, 2**32 - 1)
    assert X.indices.tolist() == [4294967294, 0]
    assert Y.indices.tolist() == [4294967294, 999999999]


def test_the_index_base_is_an_argument(write):
    path = write("1 1:1 3:1\n3 2:1\n")
    X, Y = load_xmc(path, header=False)
    assert X.toarray().tolist() == [[0, 1, 0, 1], [0, 0, 1, 0]]
    assert Y.toarray().tolist() == [[0, 1, 0, 0], [0, 0, 0, 1]]
    for loader, options in [(load_xmc, {"header": False}), (load_svmlight, {})]:
        X, Y = loader(path, zero_based=False, **options)
        assert X.toarray().tolist() == [[1, 0, 1], [0, 1, 0]]
        assert Y.toarray().tolist() == [[1, 0, 0], [0, 0, 1]]
        X, Y = loader(path, zero_based=False, zero_based_labels=True, **options)
        assert (X.shape, Y.shape) == ((2, 3), (2, 4))


def test_one_based_ids_fill_the_header_width(write):
    X, Y = load_xmc(write("1 3 2\n2 3:1"), zero_based=False)
    assert X.toarray().tolist() == [[0, 0, 1]]
    assert Y.toarray().tolist() == [[0, 1]]
    with pytest.raises(
        FormatError, match=r"line 2: feature id of '4:1' .* count from 1"
    ):
        load_xmc(write("1 3 2\n2 4:1"), zero_based=False)


@pytest.mark.parametrize(("row", "kind"), [("1 0:1", "feature"), ("0 1:1", "label")])
def test_id_zero_where_ids_count_from_one_is_an_error(write, row, kind):
    with pytest.raises(FormatError, match=f"line 1: {kind} id 0 in .*count from 1"):
        load_svmlight(write(row), zero_based=False)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (b"1 3 2\n0 0:1\xe9", "byte 0xE9 in '0:1\\xe9' is not ASCII"),
        ("1 3 2\n\u0663 0:1".encode(), "byte 0xD9"),
        ("1 3 2\n0\u00a00:1".encode(), "byte 0xC2"),
        ("1 3 2\n0 0:\u22121".encode(), "byte 0xE2"),
        ("1 3 2\n0 0:1".encode("utf-16"), "byte 0xFF"),
        (b"\x1f\x8b\x08\x00 3 2\n0 0:1", "byte 0x8B"),
    ],
)
def test_other_bytes_than_ascii_are_named(write, text, shown):
    with pytest.raises(FormatError) as caught:
        load_xmc(write(text))
    assert shown in str(caught.value)


def test_long_tokens_are_cut_in_messages(write):
    with pytest.raises(FormatError) as caught:
        load_xmc(write("1 3 2\n0 " + "x" * 10_000))
    assert "'" + "x" * 40 + "...'" in str(caught.value)
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize("name", ["n_features", "n_labels"])
def test_widths_must_make_sense(write, name):
    path = write("1 3 2\n0 0:1")
    for value in [-1, 2**32, 10**30]:
        with pytest.raises(DataError, match=f"{name} must be "):
            load_xmc(path, **{name: value})
    with pytest.raises(TypeError):
        load_xmc(path, **{name: 2.5})
