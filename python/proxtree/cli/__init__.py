"""The command line: ``proxtree COMMAND``."""

from __future__ import annotations

import argparse
import errno
import os
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn, TextIO

from proxtree import __version__
from proxtree.cli import (
    _demo,
    _evaluate,
    _inspect,
    _plan,
    _predict,
    _solve,
    _study,
    _train,
)
from proxtree.exceptions import ConvergenceWarning, DataWarning, ProxtreeError

__all__ = ["main"]

_COMMANDS = (_train, _predict, _evaluate, _inspect, _solve, _plan, _study, _demo)

_DESCRIPTION = """\
Train sparse linear classifiers for thousands of labels, with a proof of how close
each is to its optimum; predict, evaluate and inspect them.
"""

_EPILOG = """\
from a data file to numbers:
  proxtree train train.txt -o my.model
  proxtree predict my.model test.txt -k 5 --scores
  proxtree evaluate my.model test.txt --train train.txt
  proxtree inspect my.model

"proxtree COMMAND --help" tells more. Without any data, try: proxtree demo
"""

# As a shell reports a process that SIGINT or SIGPIPE has ended.
_INTERRUPTED = 130
_BROKEN_PIPE = 141

# What writing to a full or broken disk ends with.
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        self.exit(2, f"proxtree: error: {message} (see {self.prog} --help)\n")


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command.

    Parameters
    ----------
    argv : sequence of str, optional
        The words after ``proxtree``; those of the process by default.

    Returns
    -------
    int
        0 if all went well, 2 after an error that the user can mend (one line on
        stderr says what), 130 after Ctrl-C, 141 if the reader of stdout went away.
    """
    _open_closed_streams()
    args = _parser().parse_args(argv)
    with warnings.catch_warnings():
        warnings.showwarning = _show_warning
        for category in (ConvergenceWarning, DataWarning):
            warnings.simplefilter("always", category)
        try:
            args.run(args)
            sys.stdout.flush()
        except BrokenPipeError:
            # Python flushes once more at exit; that must not fail again.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return _BROKEN_PIPE
        except KeyboardInterrupt:
            print("proxtree: interrupted", file=sys.stderr)
            return _INTERRUPTED
        except (ProxtreeError, OSError, ImportError, MemoryError, TypeError) as error:
            if isinstance(error, OSError) and error.filename is None:
                # Files have names, so this was written to.
                error.filename = "stdout" if error.errno in _FULL else None
            text = str(error) or type(error).__name__
            print(f"proxtree: error: {' '.join(text.split())}", file=sys.stderr)
            return 2
    return 0


def _open_closed_streams() -> None:
    """Give what a shell's ``<&-`` or ``>&-`` closed an empty file to work with."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            # It stays open as long as the process, as the stream would have.
            stream = Path(os.devnull).open(mode, encoding="utf-8")  # noqa: SIM115
            setattr(sys, name, stream)


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="proxtree",
        description=_DESCRIPTION,
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=__version__)
    commands = parser.add_subparsers(
        title="commands", metavar="COMMAND", required=True, parser_class=_Parser
    )
    for module in _COMMANDS:
        module.add(commands)
    return parser


def _show_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    print(f"proxtree: warning: {message}", file=file or sys.stderr)
