"""``proxtree evaluate``."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from proxtree import metrics
from proxtree._loading import load
from proxtree.cli import _options
from proxtree.cli._data import read_data
from proxtree.cli._output import emit, log
from proxtree.exceptions import DataError

if TYPE_CHECKING:
    from proxtree.cli._options import Commands


def add(commands: Commands) -> None:
    """Add the command."""
    parser = _options.add_command(
        commands,
        "evaluate",
        run,
        "compare predictions with the labels of a data file",
        "Print precision, nDCG, recall and coverage at several k; with --train also "
        "the\npropensity-scored PSP and PSnDCG. Tables are in percent, --json gives "
        "fractions.\n\nexample:\n"
        "  proxtree evaluate my.model test.txt --train train.txt",
    )
    parser.add_argument("model", metavar="MODEL", help="what train wrote")
    parser.add_argument("data", metavar="DATA", help=_options.DATA_HELP)
    parser.add_argument(
        "-k",
        type=_ks,
        default=(1, 3, 5),
        metavar="K,...",
        help="numbers of labels to look at (default: 1,3,5)",
    )
    parser.add_argument(
        "--train",
        metavar="DATA",
        help="the training data, read in the same way: how frequent each label is",
    )
    parser.add_argument(
        "--by-frequency",
        action="store_true",
        help="also split by how often labels occur in the training data",
    )
    _options.add_data_options(parser)


def _ks(text: str) -> tuple[int, ...]:
    try:
        return tuple(int(k) for k in text.split(","))
    except ValueError:
        message = f"{text!r}, expected whole numbers such as 1,3,5"
        raise argparse.ArgumentTypeError(message) from None


def run(args: argparse.Namespace) -> None:
    """Read, predict, compare."""
    if args.by_frequency and args.train is None:
        raise DataError("--by-frequency needs the training data: add --train DATA")
    model = load(args.model)
    shape = (model.n_features_in_, model.n_labels_)
    X, Y = read_data(args.data, args, *shape)
    _check_n_samples(args.data, Y, 1)
    Y_train = None
    if args.train is not None:
        Y_train = read_data(args.train, args, *shape).Y
        _check_n_samples(args.train, Y_train, 3)
    k = max(args.k)
    labels, _ = model.predict_topk(X, k, n_threads=args.threads)
    scores = metrics.evaluate(Y, labels, Y_train, args.k)
    log(args, f"{X.shape[0]:,} samples, {Y.shape[1]:,} labels")
    facts: dict[str, Any] = {"n_samples": X.shape[0], "metrics": scores}
    text = table(scores, args.k)
    if args.by_frequency:
        bins = metrics.by_frequency(Y, labels, Y_train, k)
        names = bins.dtype.names or ()
        facts["by_frequency"] = [
            dict(zip(names, row, strict=True)) for row in bins.tolist()
        ]
        text = [*text, "", *_frequency_table(facts["by_frequency"], k)]
    emit(args, facts, text)


def _check_n_samples(name: str, Y: Any, least: int) -> None:
    if Y.shape[0] < least:
        raise DataError(
            f"{name} has {Y.shape[0]} samples, evaluate needs at least {least}"
        )


def table(scores: Mapping[str, float], ks: Iterable[int]) -> list[str]:
    """Return lines with a metric each, in percent, a column for each k."""
    ks = list(ks)
    names = dict.fromkeys(key.split("@")[0] for key in scores)
    lines = [f"{'percent':<9}" + "".join(f"{f'@{k}':>8}" for k in ks)]
    for name in names:
        cells = "".join(f"{100 * scores[f'{name}@{k}']:>8.2f}" for k in ks)
        lines.append(f"{name:<9}{cells}")
    return lines


def _frequency_table(bins: list[dict[str, Any]], k: int) -> list[str]:
    lines = [
        f"{'training rows':<16}{'labels':>8}{'relevant':>10}"
        f"{f'precision@{k}':>14}{f'recall@{k}':>11}{f'part of P@{k}':>14}"
    ]
    for b in bins:
        span = f"{b['low']:,}" if b["low"] == b["high"] else f"{b['low']:,}-"
        if b["low"] != b["high"]:
            span += f"{b['high']:,}"
        lines.append(
            f"{span:<16}{b['n_labels']:>8,}{b['n_true']:>10,}"
            f"{100 * b['precision']:>14.2f}{100 * b['recall']:>11.2f}"
            f"{100 * b['gain']:>14.2f}"
        )
    return lines
