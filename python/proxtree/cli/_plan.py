"""``proxtree plan``."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from proxtree.cli import _options
from proxtree.cli._data import read_data
from proxtree.cli._output import emit, log
from proxtree.size import SizePlan, plan
from proxtree.size._planner import SHARE
from proxtree.size._text import human_bytes

if TYPE_CHECKING:
    from proxtree.cli._options import Commands


def add(commands: Commands) -> None:
    """Add the command."""
    parser = _options.add_command(
        commands,
        "plan",
        run,
        "say what training a tree will take, before it begins",
        "Build the tree, measure it, train a sample of its problems, and say\n"
        "what the model will take: weights, bytes, memory, time. --max-depth 1 plans\n"
        "one-vs-rest.\n\n"
        "example:\n  proxtree plan train.txt --budget 50MB",
    )
    parser.add_argument("data", metavar="DATA", help=_options.DATA_HELP)
    parser.add_argument(
        "--budget",
        type=_options.byte_count,
        metavar="SIZE",
        help="list settings whose model file takes at most this, best first",
    )
    parser.add_argument(
        "--sample",
        type=float,
        default=SHARE,
        metavar="X",
        help="share of the training's work to spend on estimates; 0: none, bounds "
        f"alone (default: {SHARE})",
    )
    _options.add_data_options(parser)
    _options.add_estimator_options(parser, only=("tree",))


def run(args: argparse.Namespace) -> None:
    """Read, plan, print."""
    X, Y = read_data(args.data, args)
    log(
        args,
        f"read {X.shape[0]:,} samples, {X.shape[1]:,} features, "
        f"{Y.shape[1]:,} labels from {args.data}",
    )
    planned = plan(
        X,
        Y,
        sample=args.sample,
        budget_bytes=args.budget,
        n_threads=args.threads,
        random_state=args.seed,
        **_options.given(args, Y.shape[1]),
    )
    if isinstance(planned, SizePlan):
        emit(args, planned.to_dict(), str(planned).split("\n"))
    else:
        facts = {"candidates": [p.to_dict() for p in planned]}
        emit(args, facts, _candidates(planned))


def _candidates(plans: list[SizePlan]) -> list[str]:
    """Return a line for each candidate."""
    names = ("n_clusters", "max_depth", "alpha", "prune")
    lines = [
        "".join(f"{name:>11}" for name in names)
        + f"{'loss':>9}{'non-zeros':>13}{'file':>11}{'memory':>11}{'CPU s':>9}"
    ]
    for p in plans:
        row: dict[str, Any] = p.candidate or {}
        cells = "".join(f"{row[name]:>11g}" for name in names)
        cells += f"{p.expected_loss or 0.0:>9.3f}{p.nonzeros_estimate or 0:>13,.0f}"
        cells += f"{human_bytes(p.bytes_file or 0):>11}"
        cells += f"{human_bytes(p.peak_memory_bytes or 0):>11}{p.cpu_s or 0:>9.3g}"
        lines.append(cells)
    return lines
