"""Matrices to text files."""

import itertools
import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, SupportsIndex

import numpy as np
import scipy.sparse as sp

from proxtree import _core
from proxtree._parameters import check_n_threads
from proxtree._validation import check_X, check_Y
from proxtree.exceptions import DataError
from proxtree.io._compression import plain_side
from proxtree.io._read import PathArgument

# Formatted at once: some 16 MB of text.
_ENTRIES = 1 << 20


def save_xmc(
    path: PathArgument, X: Any, Y: Any, *, n_threads: SupportsIndex | None = None
) -> None:
    r"""Write a text file of the XMC repository, header included.

    The file appears whole or not at all: it is written under a temporary name
    beside `path`, synced and renamed. `load_xmc` gives back the same bits.

    Parameters
    ----------
    path : str, bytes or os.PathLike
        The file; ``.gz``, ``.bz2`` and ``.xz`` are compressed. A link stays one;
        pipes and devices are written to directly.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Finite values, rounded to float32. Stored zeros are left out; a feature
        stored twice in a row counts with its sum.
    Y : {array-like, sparse matrix, list of lists} of shape (n_samples, n_labels)
        Zeros and ones, or a list of label ids for each sample. A label stored twice
        in a row counts once.
    n_threads : int, default=None
        Threads that format, at least 1. None means the CPUs this process may use.

    Raises
    ------
    proxtree.DataError
        The shapes disagree, a value of `X` is not finite as float32, or one of `Y`
        is neither 0 nor 1.
    OSError
        The file cannot be written; what was at `path` is then still there.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from proxtree.io import save_xmc
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "tiny.txt")
    ...     save_xmc(path, [[0.0, 0.1], [0.0, 0.0]], [[0, 1], []])
    ...     path.read_text()
    '2 2 2\n0,1 1:0.1\n \n'
    """
    x, y = check_X(X), check_Y(Y)
    if x.shape[0] != y.shape[0]:
        raise DataError(
            f"X and Y must have the same number of rows, got {x.shape} and {y.shape}"
        )
    threads = check_n_threads(n_threads)
    name = Path(os.fsdecode(path))
    with _whole_file(name) as file, plain_side(name, file, "wb") as plain:
        plain.write(f"{x.shape[0]} {x.shape[1]} {y.shape[1]}\n".encode())
        for start, stop in _windows(x, y):
            x_indptr, x_indices, x_data = _rows(x, start, stop)
            y_indptr, y_indices, _ = _rows(y, start, stop)
            text = _core.format_rows(
                (x_indptr, x_indices, x_data, (stop - start, x.shape[1])),
                (y_indptr, y_indices, (stop - start, y.shape[1])),
                n_threads=threads,
            )
            plain.write(text)


def _windows(x: sp.csr_matrix, y: sp.csr_matrix) -> Iterator[tuple[int, int]]:
    """Cut the rows so that each part holds about `_ENTRIES` entries."""
    n_rows = x.shape[0]
    before = x.indptr + y.indptr.astype(np.int64) + np.arange(n_rows + 1)
    cuts = np.searchsorted(before, np.arange(0, before[-1], _ENTRIES))
    edges = np.unique(np.append(cuts, n_rows)).tolist()
    return itertools.pairwise(edges)


def _rows(csr: sp.csr_matrix, start: int, stop: int) -> tuple[Any, Any, Any]:
    first, last = csr.indptr[start], csr.indptr[stop]
    indptr = (csr.indptr[start : stop + 1] - first).astype(np.int64)
    return indptr, csr.indices[first:last], csr.data[first:last]


@contextmanager
def _whole_file(path: Path) -> Iterator[BinaryIO]:
    """Open a file for writing that takes the place of `path` only when complete."""
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file():
        # A pipe or device must stay what it is; a directory is an error here.
        with target.open("wb") as direct:
            yield direct
        return
    part = target.with_name(f".{secrets.token_hex(8)}.tmp")
    try:
        file = part.open("xb")
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error
    try:
        with file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if target.exists():
            shutil.copymode(target, part)
        part.replace(target)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
