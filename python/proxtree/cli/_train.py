"""``proxtree train``."""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import TYPE_CHECKING

from proxtree.cli import _options
from proxtree.cli._data import read_data
from proxtree.cli._output import check_output, emit, log, pairs, proofs, size

if TYPE_CHECKING:
    from proxtree.cli._options import Commands


def add(commands: Commands) -> None:
    """Add the command."""
    parser = _options.add_command(
        commands,
        "train",
        run,
        "train a model on a data file",
        "Train sparse linear classifiers, a tree of them or one for each label, and "
        "save them\nas one file.\n\n"
        "example:\n  proxtree train train.txt -o my.model --alpha 0.5 --normalize",
    )
    parser.add_argument("data", metavar="DATA", help=_options.DATA_HELP)
    parser.add_argument(
        "-o",
        "--output",
        metavar="MODEL",
        required=True,
        help="the model's file, exactly this name; replaced if it is there",
    )
    parser.add_argument(
        "--model",
        choices=tuple(_options.ESTIMATORS),
        default="tree",
        help="tree: a label tree, quick to train; ovr: one-vs-rest, every label "
        "proved (default: tree)",
    )
    parser.add_argument(
        "--certificates",
        action="store_true",
        help="keep every problem's certificate in the file",
    )
    parser.add_argument(
        "--mapped",
        action="store_true",
        help="write a larger file that is mapped and starts at once, whatever its size",
    )
    _options.add_data_options(parser)
    _options.add_estimator_options(parser)


def run(args: argparse.Namespace) -> None:
    """Read, train, save, say what came out."""
    check_output(args.output)
    X, Y = read_data(args.data, args)
    log(
        args,
        f"read {X.shape[0]:,} samples, {X.shape[1]:,} features, "
        f"{Y.shape[1]:,} labels from {args.data}",
    )
    start = time.perf_counter()
    estimator = _options.estimator(args, Y.shape[1]).fit(X, Y)
    wall = time.perf_counter() - start
    estimator.save(args.output, certificates=args.certificates, mapped=args.mapped)
    facts = {
        "model": args.output,
        "n_samples": X.shape[0],
        "n_features": X.shape[1],
        "n_labels": Y.shape[1],
        "n_nonzero": estimator.n_nonzero_,
        "file_bytes": Path(args.output).stat().st_size,
        "wall_s": wall,
        "cpu_s": float(estimator.certificate_["seconds"].sum()),
        "certificates": estimator.certificate_summary(),
    }
    emit(
        args,
        facts,
        pairs(
            {
                "model": args.output,
                "training time": f"{wall:.2f} s, solving {facts['cpu_s']:.2f} s of CPU",
                "non-zeros": f"{estimator.n_nonzero_:,}",
                "file": size(facts["file_bytes"]),
                "certificates": proofs(estimator),
            }
        ),
    )
