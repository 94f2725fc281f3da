"""Text files to matrices."""

import os
import stat
from operator import index
from pathlib import Path
from typing import NamedTuple, SupportsIndex

import numpy as np
import scipy.sparse as sp

from proxtree import _core
from proxtree._parameters import check_n_threads
from proxtree.exceptions import DataError
from proxtree.io._compression import decompression_errors, is_compressed, plain_side

PathArgument = str | bytes | os.PathLike[str] | os.PathLike[bytes]

# Of a stream: large enough that the parser's threads share it.
_BLOCK_BYTES = 1 << 23


class Dataset(NamedTuple):
    """Features and labels of the same samples.

    Attributes
    ----------
    X : scipy.sparse.csr_matrix of shape (n_samples, n_features), float32
        Canonical: ids sorted in each row, none twice, no stored zeros.
    Y : scipy.sparse.csr_matrix of shape (n_samples, n_labels), uint8
        1 where the sample has the label. Canonical too.
    """

    X: sp.csr_matrix
    Y: sp.csr_matrix


def load_xmc(
    path: PathArgument,
    *,
    n_features: SupportsIndex | None = None,
    n_labels: SupportsIndex | None = None,
    zero_based: bool = True,
    zero_based_labels: bool | None = None,
    header: bool = True,
    n_threads: SupportsIndex | None = None,
) -> Dataset:
    r"""Read a text file of the XMC repository.

    Plain files are memory-mapped and must not be cut short by another process
    meanwhile; compressed files, pipes and devices are read block by block.

    Parameters
    ----------
    path : str, bytes or os.PathLike
        The file; ``.gz``, ``.bz2`` and ``.xz`` are decompressed.
    n_features : int, default=None
        Width of `X`. None means the header's or, without header, the largest id
        plus one. A larger number than the header's makes `X` wider, so that a test
        set fits a model; a smaller one is an error: no feature is ever dropped.
    n_labels : int, default=None
        Width of `Y`, likewise.
    zero_based : bool, default=True
        Whether ids count from 0, as the repository's do, or from 1. The matrices
        always count from 0.
    zero_based_labels : bool, default=None
        The same for labels alone. None means as `zero_based`.
    header : bool, default=True
        Whether the first line is ``n_samples n_features n_labels``.
    n_threads : int, default=None
        Threads that parse, at least 1. None means the CPUs this process may use.
        The result does not depend on it.

    Returns
    -------
    Dataset
        ``X, Y``. They are `scipy.sparse.csr_matrix` and not ``csr_array``, because
        packages of this field still ask for that very class, and scikit-learn takes
        both.

    Raises
    ------
    proxtree.FormatError
        The text breaks the rules of `proxtree.io`; names file, line and token.
    proxtree.DataError
        An argument is out of range.
    OSError
        The file cannot be read, or is a directory.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from proxtree.io import load_xmc
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "tiny.txt")
    ...     _ = path.write_text("2 3 2\n0,1 0:1 2:0.5\n 1:2\n")
    ...     X, Y = load_xmc(path)
    >>> X.toarray()
    array([[1. , 0. , 0.5],
           [0. , 2. , 0. ]], dtype=float32)
    >>> Y.toarray()
    array([[1, 1],
           [0, 0]], dtype=uint8)
    """
    return _load(
        path,
        "xmc" if header else "xmc_without_header",
        n_features,
        n_labels,
        zero_based,
        zero_based_labels,
        n_threads,
    )


def load_svmlight(
    path: PathArgument,
    *,
    n_features: SupportsIndex | None = None,
    n_labels: SupportsIndex | None = None,
    zero_based: bool = True,
    zero_based_labels: bool | None = None,
    n_threads: SupportsIndex | None = None,
) -> Dataset:
    r"""Read a multi-label svmlight file: ``label,label feature:value ...``.

    Parameters
    ----------
    path : str, bytes or os.PathLike
        The file; ``.gz``, ``.bz2`` and ``.xz`` are decompressed.
    n_features : int, default=None
        Width of `X`. None means the largest id plus one, so give it for any file
        that must fit another one. An id beyond it is an error.
    n_labels : int, default=None
        Width of `Y`, likewise.
    zero_based : bool, default=True
        True takes ids as they stand: a file that counts from 1 then leaves column 0
        empty, in every file alike. False takes one off every id, and id 0 is an
        error. The file's own ids never decide.
    zero_based_labels : bool, default=None
        The same for labels alone; None means as `zero_based`. LIBSVM's multi-label
        sets count features from 1 and labels from 0.
    n_threads : int, default=None
        As in `load_xmc`.

    Returns
    -------
    Dataset
        ``X, Y``, as in `load_xmc`.

    Raises
    ------
    proxtree.FormatError
        The text breaks the rules of `proxtree.io`; names file, line and token.
    proxtree.DataError
        An argument is out of range.
    OSError
        The file cannot be read, or is a directory.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from proxtree.io import load_svmlight
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "tiny.svm")
    ...     _ = path.write_text("1,2 1:1 # the first\n2 qid:7 3:0.5\n")
    ...     X, Y = load_svmlight(path, zero_based=False)
    >>> X.toarray()
    array([[1. , 0. , 0. ],
           [0. , 0. , 0.5]], dtype=float32)
    >>> Y.toarray()
    array([[1, 1],
           [0, 1]], dtype=uint8)
    """
    return _load(
        path, "svmlight", n_features, n_labels, zero_based, zero_based_labels, n_threads
    )


def _load(
    path: PathArgument,
    text_format: str,
    n_features: SupportsIndex | None,
    n_labels: SupportsIndex | None,
    zero_based: bool,
    zero_based_labels: bool | None,
    n_threads: SupportsIndex | None,
) -> Dataset:
    name = Path(os.fsdecode(path))
    threads = check_n_threads(n_threads)
    reader = _core.TextReader(
        name,
        format=text_format,
        n_features=_width("n_features", n_features),
        n_labels=_width("n_labels", n_labels),
        zero_based=bool(zero_based),
        zero_based_labels=bool(
            zero_based if zero_based_labels is None else zero_based_labels
        ),
    )
    info = name.stat()
    # A file of the proc kind has no size but content: it can only be streamed.
    if stat.S_ISREG(info.st_mode) and info.st_size and not is_compressed(name):
        reader.push_file(n_threads=threads)
    else:
        # Python's own read gives way to Ctrl-C even when a pipe stays silent.
        with (
            name.open("rb") as file,
            decompression_errors(name),
            plain_side(name, file, "rb") as plain,
        ):
            while block := plain.read(_BLOCK_BYTES):
                reader.push(block, n_threads=threads)
    (x_indptr, x_indices, x_data), (y_indptr, y_indices), shape = reader.finish(
        n_threads=threads
    )
    n_samples = len(x_indptr) - 1
    X = sp.csr_matrix((x_data, x_indices, x_indptr), shape=(n_samples, shape[0]))
    ones = np.ones(len(y_indices), dtype=np.uint8)
    Y = sp.csr_matrix((ones, y_indices, y_indptr), shape=(n_samples, shape[1]))
    X.has_canonical_format = Y.has_canonical_format = True
    return Dataset(X, Y)


def _width(name: str, value: SupportsIndex | None) -> int | None:
    if value is None:
        return None
    number = index(value)
    if not 0 <= number < 2**32:
        raise DataError(f"{name} must be in [0, 2**32), got {number}")
    return number
