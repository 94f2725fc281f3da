"""Headers of XMC files, and the widths asked for."""

import pytest

from proxtree.exceptions import FormatError
from proxtree.io import load_svmlight, load_xmc


@pytest.fixture
def write(tmp_path):
    def write(text):
        path = tmp_path / "data.txt"
        path.write_text(text)
        return path

    return write


@pytest.mark.parametrize(
    ("said", "body"), [(3, "0 1:1"), (1, "0 1:1\n1 1:1"), (0, "0 1:1")]
)
def test_another_number_of_rows_is_an_error(write, said, body):
    found = body.count("\n") + 1
    message = f"line 1: the header says {said} rows, the file has {found}$"
    with pytest.raises(FormatError, match=message):
        load_xmc(write(f"{said} 3 2\n{body}\n"))


@pytest.mark.parametrize(
    ("header", "found"),
    [
        ("0 1:1", "found '1:1'"),
        ("0,1 1:1", "found '0,1'"),
        ("-1 3 2", "found '-1'"),
        ("2 3.0 2", "found '3.0'"),
        ("2 3 +2", "found '\\+2'"),
        ("N D L", "found 'N'"),
        ("", "found 0 numbers"),
        ("2", "found 1 numbers"),
        ("2 3", "found 2 numbers"),
        ("2 3 2 4", "found more than 3 numbers"),
        ("100000000000000000000 3 2", "found '1000"),
    ],
)
def test_a_header_has_three_numbers(write, header, found):
    with pytest.raises(FormatError, match=f"line 1: expected .*header.*{found}"):
        load_xmc(write(f"{header}\n0 1:1\n1 1:1\n"))


def test_a_header_where_none_was_announced_is_an_error(write):
    with pytest.raises(FormatError, match=r"line 1: expected feature:value.*found '3'"):
        load_xmc(write("1 3 2\n0 1:1\n"), header=False)


def test_a_header_that_lies_allocates_nothing(write):
    # Were row pointers reserved for it, this would need 8 EB.
    with pytest.raises(FormatError, match=r"says 1000000000000000000 rows"):
        load_xmc(write("1000000000000000000 4294967295 4294967295\n0 1:1\n"))
    for header in ["1 4294967296 2", "1 3 4294967296"]:
        with pytest.raises(
            FormatError, match=r"line 1: .*4294967296, the most supported"
        ):
            load_xmc(write(f"{header}\n0 1:1\n"))


@pytest.mark.parametrize("text", ["", "\ufeff"])
def test_an_empty_file_is_an_error(write, text):
    for loader in [load_xmc, load_svmlight]:
        with pytest.raises(FormatError, match=r"data.txt: the file is empty"):
            loader(write(text))


def test_a_file_of_empty_lines_is_an_error(write):
    with pytest.raises(FormatError, match=r"line 1: expected the header"):
        load_xmc(write("\n\n"))
    for text in ["\n\n", "# nothing\n"]:
        with pytest.raises(FormatError, match=r"data.txt: the file holds no row"):
            load_svmlight(write(text))


@pytest.mark.parametrize("end", ["", "\n", "\r\n", "\n\n\n"])
@pytest.mark.parametrize("shape", [(5, 3), (0, 0), (0, 3), (5, 0)])
def test_a_header_without_rows_is_an_empty_matrix(write, shape, end):
    X, Y = load_xmc(write(f"0 {shape[0]} {shape[1]}{end}"))
    assert X.shape == (0, shape[0])
    assert Y.shape == (0, shape[1])


def test_a_wider_matrix_may_be_asked_for(write):
    X, Y = load_xmc(write("1 3 2\n0 2:1\n"), n_features=5, n_labels=4)
    assert X.toarray().tolist() == [[0, 0, 1, 0, 0]]
    assert Y.toarray().tolist() == [[1, 0, 0, 0]]


@pytest.mark.parametrize("row", ["0 3:1", "2 0:1"])
def test_ids_beyond_the_header_stay_an_error_in_a_wider_matrix(write, row):
    with pytest.raises(FormatError, match=r"line 2: .* out of range"):
        load_xmc(write(f"1 3 2\n{row}\n"), n_features=5, n_labels=4)


@pytest.mark.parametrize("name", ["n_features", "n_labels"])
def test_a_narrower_matrix_drops_nothing_silently(write, name):
    with pytest.raises(
        FormatError, match=f"line 1: .*{name} = 7, more than {name} = 5"
    ):
        load_xmc(write("1 7 7\n0 1:1\n"), **{name: 5})


def test_without_header_the_widths_asked_for_are_limits(write):
    path = write("0 2:1\n1 0:1\n")
    X, Y = load_xmc(path, header=False, n_features=3, n_labels=2)
    assert (X.shape, Y.shape) == ((2, 3), (2, 2))
    X, Y = load_svmlight(path, n_features=6, n_labels=8)
    assert (X.shape, Y.shape) == ((2, 6), (2, 8))
    with pytest.raises(
        FormatError, match=r"line 1: feature id of '2:1' .*n_features = 2"
    ):
        load_svmlight(path, n_features=2)
    with pytest.raises(FormatError, match=r"line 2: label id of '1' .*n_labels = 1"):
        load_svmlight(path, n_labels=1)
    with pytest.raises(
        FormatError, match=r"line 1: feature id of '2:1' .*n_features = 0"
    ):
        load_svmlight(path, n_features=0)
