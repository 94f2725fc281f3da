"""What odd lines of a text file mean: the rules of `proxtree.io`, one by one."""

import re

import numpy as np
import pytest

from proxtree.exceptions import FormatError
from proxtree.io import load_svmlight, load_xmc


@pytest.fixture
def xmc(tmp_path):
    """Load text as an XMC file; dense X and Y."""

    def load(text, loader=load_xmc, **options):
        path = tmp_path / "data.txt"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        X, Y = loader(path, **options)
        return X.toarray(), Y.toarray()

    return load


def same(read, X, Y):
    np.testing.assert_array_equal(read[0], np.array(X, dtype=np.float32))
    np.testing.assert_array_equal(read[1], np.array(Y, dtype=np.uint8))


@pytest.mark.parametrize("first", [" 0:1 2:1", "0:1 2:1", "\t0:1\t2:1", "   0:1 2:1 "])
def test_a_row_may_have_no_label(xmc, first):
    same(xmc(f"2 3 2\n{first}\n1 1:1"), [[1, 0, 1], [0, 1, 0]], [[0, 0], [0, 1]])


@pytest.mark.parametrize("first", ["0", "0 ", "0\t ", " 0"])
def test_a_row_may_have_no_feature(xmc, first):
    same(xmc(f"2 3 2\n{first}\n1 1:1"), [[0, 0, 0], [0, 1, 0]], [[1, 0], [0, 1]])


@pytest.mark.parametrize("blank", [" ", "\t", "  "])
@pytest.mark.parametrize("end", ["", "\n", "\n\n"])
def test_a_blank_line_is_a_row_without_either(xmc, blank, end):
    read = xmc(f"2 2 1\n0 0:1\n{blank}{end}")
    same(read, [[1, 0], [0, 0]], [[1], [0]])
    read = xmc(f"0 0:1\n{blank}{end}", header=False)
    same(read, [[1], [0]], [[1], [0]])


@pytest.mark.parametrize("nl", ["\n", "\r\n"])
def test_an_empty_line_is_a_row_where_the_header_needs_it(xmc, nl):
    lines = ["0 0:1", "", "1 1:1"]
    X, Y = [[1, 0, 0], [0, 0, 0], [0, 1, 0]], [[1, 0], [0, 0], [0, 1]]
    same(xmc(nl.join(["3 3 2", *lines])), X, Y)
    same(xmc(nl.join(["3 3 2", *lines, "", "", ""])), X, Y)
    with pytest.raises(FormatError, match=r"line 1: .* 2 rows, .* 3, 1 of them empty"):
        xmc(nl.join(["2 3 2", *lines]))
    with pytest.raises(FormatError, match=r"line 2: empty line ''"):
        xmc(nl.join(lines), header=False)
    with pytest.raises(FormatError, match=r"line 2: empty line ''"):
        xmc(nl.join(lines), load_svmlight)


@pytest.mark.parametrize("end", ["", "\n", "\n\n\n", "\r\n\r\n"])
def test_empty_lines_at_the_end_are_ignored(xmc, end):
    same(xmc(f"1 2 1\n0 1:1{end}"), [[0, 1]], [[1]])
    same(xmc(f"0 1:1{end}", header=False), [[0, 1]], [[1]])
    # Even where the header promises more: a file cut short is not padded.
    with pytest.raises(FormatError, match=r"says 2 rows, the file has 1"):
        xmc(f"2 2 1\n0 1:1{end}")


@pytest.mark.parametrize(
    "line", ["0  1:1  2:2 ", "0\t1:1\t2:2", "0 \t1:1 2:2\t", "0 1:1 2:2"]
)
@pytest.mark.parametrize("header", ["1 3 1", " 1\t3  1 "])
def test_blanks_and_tabs_separate_in_any_number(xmc, header, line):
    same(xmc(f"{header}\n{line}\n"), [[0, 1, 2]], [[1]])


def test_line_ends_may_be_crlf(xmc):
    text = "3 3 2\n0,1 0:1\n 1:0.5\n \n"
    lf, crlf = xmc(text), xmc(text.replace("\n", "\r\n"))
    same(crlf, *lf)
    same(lf, [[1, 0, 0], [0, 0.5, 0], [0, 0, 0]], [[1, 1], [0, 0], [0, 0]])


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("2 3 2\r0 1:1\r1 1:1\r", 1),
        ("1 3 2\n0 1:1\r", 2),
        ("1 3 2\n0\r1 1:1\n", 2),
        ("1 3 2\n0 1\r:1\n", 2),
        ("1 3 2\n0 1:1\r\r\n", 2),
        ("1 3 2\n\r0 1:1\n", 2),
    ],
)
def test_other_carriage_returns_are_an_error(xmc, text, line):
    with pytest.raises(FormatError, match=f"line {line}: carriage return in '"):
        xmc(text)


@pytest.mark.parametrize("row", ["0 2:5 0:1 1:3", "0 1:3 2:5 0:1"])
def test_unsorted_features_are_sorted(xmc, tmp_path, row):
    same(xmc(f"1 3 1\n{row}"), [[1, 3, 5]], [[1]])
    X, _ = load_xmc(tmp_path / "data.txt")
    assert X.indices.tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    ("row", "token"),
    [
        ("2:1 2:3", "'2:1' and '2:3'"),
        ("2:1 0:5 2:0", "'2:1' and '2:0'"),
        ("1:0 1:0", "'1:0'"),
    ],
)
def test_a_feature_twice_is_an_error(xmc, row, token):
    with pytest.raises(FormatError, match=r"line 3: feature \d occurs twice.*" + token):
        xmc(f"2 3 1\n0 0:1\n0 {row}")


def test_a_feature_twice_is_named_as_in_the_file(xmc):
    with pytest.raises(FormatError, match=r"line 1: feature 3 occurs twice, as '3:1'"):
        xmc("1 3:1 3:1", header=False, zero_based=False)


def test_labels_are_sorted_and_count_once(xmc, tmp_path):
    same(xmc("1 2 4\n3,0,3,0,2 1:1"), [[0, 1]], [[1, 0, 1, 1]])
    _, Y = load_xmc(tmp_path / "data.txt")
    assert Y.indices.tolist() == [0, 2, 3]


def test_a_byte_order_mark_is_skipped(xmc):
    for loader, text in [(load_xmc, "1 2 1\n0 1:1"), (load_svmlight, "0 1:1")]:
        same(xmc(b"\xef\xbb\xbf" + text.encode(), loader), [[0, 1]], [[1]])


def test_svmlight_comments_and_queries_say_nothing(xmc):
    text = "# by hand: 1:1\n0,1 qid:3 0:1 # caf\u00e9 9:9\n  # x\n qid:4\n1 1:2#x\r\n#"
    same(xmc(text, load_svmlight), [[1, 0], [0, 0], [0, 2]], [[1, 1], [0, 0], [0, 1]])
    with pytest.raises(FormatError, match=r"line 5: .*'oops'"):
        xmc(text.replace("1:2", "oops"), load_svmlight)


@pytest.mark.parametrize("token", ["qid:", "qid:x", "qid:-1"])
def test_svmlight_queries_are_numbers(xmc, token):
    with pytest.raises(FormatError, match=f"line 1: expected qid: .* found '{token}'"):
        xmc(f"0 {token} 0:1", load_svmlight)


@pytest.mark.parametrize("token", ["qid:3", "#"])
def test_xmc_has_neither_comments_nor_queries(xmc, token):
    with pytest.raises(FormatError, match=f"line 2: .*found '{re.escape(token)}'"):
        xmc(f"1 2 1\n0 {token} 1:1")
