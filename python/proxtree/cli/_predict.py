"""``proxtree predict``."""

from __future__ import annotations

import argparse
import json
import sys
from typing import TYPE_CHECKING

from proxtree._loading import load
from proxtree.cli import _options
from proxtree.cli._data import read_data

if TYPE_CHECKING:
    from proxtree.cli._options import Commands


def add(commands: Commands) -> None:
    """Add the command."""
    parser = _options.add_command(
        commands,
        "predict",
        run,
        "print the best labels of each row",
        "Print a line for each row of DATA: its best label ids, best first, "
        'separated by blanks;\n"label:score" with --scores; a JSON object with '
        "--json. The file's own labels play no part.\n\n"
        "example:\n  proxtree predict my.model test.txt -k 3 --scores",
    )
    parser.add_argument("model", metavar="MODEL", help="what train wrote")
    parser.add_argument(
        "data",
        metavar="DATA",
        nargs="?",
        default="-",
        help=f"{_options.DATA_HELP} (default: -)",
    )
    parser.add_argument(
        "-k", type=int, default=5, metavar="N", help="labels per row (default: 5)"
    )
    parser.add_argument("--scores", action="store_true", help="print scores too")
    _options.add_data_options(parser)


def run(args: argparse.Namespace) -> None:
    """Read, predict, print."""
    model = load(args.model)
    X, _ = read_data(args.data, args, model.n_features_in_)
    labels, scores = model.predict_topk(X, args.k, n_threads=args.threads)
    for label_row, score_row in zip(labels.tolist(), scores.tolist(), strict=True):
        found = [(j, z) for j, z in zip(label_row, score_row, strict=True) if j >= 0]
        if args.json:
            row = {"labels": [j for j, _ in found]}
            if args.scores:
                row["scores"] = [z for _, z in found]
            line = json.dumps(row)
        elif args.scores:
            line = " ".join(f"{j}:{z:.6g}" for j, z in found)
        else:
            line = " ".join(str(j) for j, _ in found)
        sys.stdout.write(line + "\n")
