"""Compressed files by the end of their names."""

import bz2
import gzip
import lzma
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Literal, cast

from proxtree.exceptions import FormatError

_SUFFIXES = (".gz", ".bz2", ".xz")


def is_compressed(path: Path) -> bool:
    """Tell whether the name says that the file is compressed."""
    return path.suffix.lower() in _SUFFIXES


@contextmanager
def plain_side(
    path: Path, file: BinaryIO, mode: Literal["rb", "wb"]
) -> Iterator[BinaryIO]:
    """Give the plain side of an open file; the name decides how it is packed."""
    match path.suffix.lower():
        case ".gz":
            # Without name and time the same data give the same bytes.
            with gzip.GzipFile("", mode, fileobj=file, mtime=0) as packed_gz:
                yield cast("BinaryIO", packed_gz)
        case ".bz2":
            with bz2.BZ2File(file, mode) as packed_bz2:
                yield cast("BinaryIO", packed_bz2)
        case ".xz":
            with lzma.LZMAFile(file, mode) as packed_xz:
                yield cast("BinaryIO", packed_xz)
        case _:
            yield file


@contextmanager
def decompression_errors(path: Path) -> Iterator[None]:
    """Turn what the decompressors raise on broken data into one kind of error.

    They raise a bare `OSError`, without an error number, for some of it. What the
    system has against reading gets the name of the file.
    """
    try:
        yield
    except (EOFError, OSError, lzma.LZMAError, zlib.error) as error:
        if isinstance(error, OSError) and error.errno is not None:
            if error.filename is None:
                error.filename = str(path)
            raise
        raise FormatError(f"{path}: broken {path.suffix} data: {error}") from error
