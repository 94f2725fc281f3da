"""What commands print: results on stdout, the rest on stderr."""

from __future__ import annotations

import argparse
import errno
import json
import os
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from proxtree._linear_model import LinearModel
from proxtree.size._text import human_bytes


def log(args: argparse.Namespace, text: str) -> None:
    """Print a message for humans on stderr, unless they asked for quiet."""
    if not args.quiet:
        print(text, file=sys.stderr)


def check_output(path: str) -> None:
    """Raise an OSError, before hours of work, if no file can be written at `path`."""
    folder = Path(path).parent
    if not folder.is_dir():
        code, name = errno.ENOENT, str(folder)
    elif Path(path).is_dir():
        code, name = errno.EISDIR, path
    elif not os.access(folder, os.W_OK) and not Path(path).exists():
        code, name = errno.EACCES, str(folder)
    else:
        return
    raise OSError(code, os.strerror(code), name)


def emit(
    args: argparse.Namespace, facts: Mapping[str, Any], text: Iterable[str]
) -> None:
    """Print `facts` as JSON if asked for, else the lines of `text`."""
    if args.json:
        print(json.dumps(facts))
    else:
        print("\n".join(text))


def pairs(rows: Mapping[str, Any]) -> list[str]:
    """Return lines of names and values in two columns."""
    width = max(map(len, rows), default=0)
    return [f"{name:<{width}}  {value}" for name, value in rows.items()]


def size(n_bytes: int) -> str:
    """Return a number of bytes for humans, the exact one included."""
    short = human_bytes(n_bytes)
    return short if n_bytes < 1000 else f"{short} ({n_bytes:,} bytes)"


def proofs(model: LinearModel) -> str:
    """Return one line about the certificates of all that `model` was trained on."""
    summary, what = model.certificate_summary(), model._problem_name
    if model._stops_early:
        return (
            f"{summary['n_trained']:,} {what}s, stopped early on purpose "
            f"(violation_tol; 0 goes on to a proof); {summary['n_converged']:,} "
            f"converged all the same; worst relative gap "
            f"{summary['worst_relative_gap']:.2g}"
        )
    others = "".join(
        f", {summary[f'n_{status}']:,} {status}"
        for status in ("max_iter", "stalled")
        if summary[f"n_{status}"]
    )
    return (
        f"{summary['n_converged']:,} of {summary['n_trained']:,} {what}s converged"
        f"{others}; worst relative gap {summary['worst_relative_gap']:.2g}"
    )
