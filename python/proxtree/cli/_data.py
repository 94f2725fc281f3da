"""Text files named on the command line."""

from __future__ import annotations

import argparse
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from proxtree.exceptions import FormatError
from proxtree.io import Dataset, load_svmlight, load_xmc
from proxtree.io._compression import decompression_errors, plain_side

_HEADER = re.compile(rb"^(\xef\xbb\xbf)?\s*\d+\s+\d+\s+\d+\s*$")


def read_data(
    name: str,
    args: argparse.Namespace,
    n_features: int | None = None,
    n_labels: int | None = None,
) -> Dataset:
    """Read `name` (- is stdin) as the options of `args` say."""
    with _file(name) as path:
        load = load_svmlight
        if args.format == "xmc" or (args.format == "auto" and _has_header(path)):
            load = load_xmc
        try:
            return load(
                path,
                n_features=n_features,
                n_labels=n_labels,
                zero_based=args.zero_based is not False,
                zero_based_labels=args.zero_based_labels,
                n_threads=args.threads,
            )
        except FormatError as error:
            shown = "stdin" if name == "-" else name
            raise FormatError(str(error).replace(str(path), shown)) from None


@contextmanager
def _file(name: str) -> Iterator[Path]:
    """Give a path that can be read twice: first for the format, then whole."""
    path = Path(name)
    if name != "-" and (path.is_file() or path.is_dir() or not path.exists()):
        yield path
        return
    with tempfile.NamedTemporaryFile() as copy:
        if name == "-":
            shutil.copyfileobj(sys.stdin.buffer, copy)
        else:
            with path.open("rb") as pipe, decompression_errors(path):
                shutil.copyfileobj(pipe, copy)
        copy.flush()
        yield Path(copy.name)


def _has_header(path: Path) -> bool:
    with (
        path.open("rb") as file,
        decompression_errors(path),
        plain_side(path, file, "rb") as plain,
    ):
        return _HEADER.match(plain.readline(1000)) is not None
