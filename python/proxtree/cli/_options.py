"""Options that commands share, and those that an estimator's arguments become."""

from __future__ import annotations

import argparse
import math
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from proxtree._solvers import SOLVERS
from proxtree.estimators import LinearLabelTree, LinearOneVsRest
from proxtree.estimators._label_tree import (
    MAX_SWEEPS,
    ROOT_ROWS,
    SCORINGS,
    VIOLATION_TOL,
)
from proxtree.exceptions import DataError
from proxtree.tree import CLUSTERINGS, LabelTree

if TYPE_CHECKING:
    Commands = argparse._SubParsersAction[argparse.ArgumentParser]

DATA_HELP = (
    'XMC repository or svmlight text, "label,label feature:value ..." a line; '
    ".gz, .bz2 and .xz are decompressed; - is stdin"
)


def add_command(
    commands: Commands,
    name: str,
    run: Callable[[argparse.Namespace], None],
    summary: str,
    description: str,
) -> argparse.ArgumentParser:
    """Add a command with the options that every command has."""
    parser = commands.add_parser(
        name,
        help=summary,
        description=description,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(run=run)
    group = parser.add_argument_group("options of every command")
    group.add_argument(
        "--threads",
        type=int,
        metavar="N",
        help="threads, at least 1 (default: the CPUs this process may use); "
        "results do not depend on it",
    )
    group.add_argument(
        "--seed",
        type=int,
        default=0,
        metavar="N",
        help="seed of whatever is random (default: 0)",
    )
    group.add_argument(
        "--quiet", action="store_true", help="on stderr only warnings and errors"
    )
    group.add_argument(
        "--json", action="store_true", help="machine-readable output on stdout"
    )
    return parser


def add_data_options(parser: argparse.ArgumentParser) -> None:
    """Add how text files are to be read."""
    group = parser.add_argument_group("how DATA is read")
    group.add_argument(
        "--format",
        choices=("auto", "xmc", "svmlight"),
        default="auto",
        help="auto: xmc if the first line is a header of three numbers "
        '"samples features labels", else svmlight (default: auto)',
    )
    for what, dest in (("", "zero_based"), ("-labels", "zero_based_labels")):
        of = "labels alone" if what else "features and labels"
        pair = group.add_mutually_exclusive_group()
        pair.add_argument(
            f"--zero-based{what}",
            dest=dest,
            action="store_true",
            default=None,
            help=f"ids of {of} count from 0"
            + (" (default: as the features)" if what else " (default)"),
        )
        pair.add_argument(
            f"--one-based{what}",
            dest=dest,
            action="store_false",
            default=None,
            help=f"ids of {of} count from 1",
        )


@dataclass(frozen=True)
class _Option:
    """How an argument of the estimator looks on the command line."""

    help: str
    type: Callable[[str], Any] | None = None
    metavar: str | None = None
    choices: tuple[str, ...] | None = None


def _class_weight(text: str) -> Any:
    if text == "balanced":
        return text
    try:
        return tuple(map(float, text.split(",")))
    except ValueError:
        message = f"{text!r}, expected balanced or two numbers such as 2,0.5"
        raise argparse.ArgumentTypeError(message) from None


def solver_options(text: str) -> dict[str, Any]:
    pairs = [pair.split("=", 1) for pair in text.split(",")]
    if any(len(pair) < 2 for pair in pairs):
        message = f"{text!r}, expected pairs such as eps=0.01,variant=fixed"
        raise argparse.ArgumentTypeError(message)
    return {name: _number_or_text(value) for name, value in pairs}


def _number_or_text(text: str) -> int | float | str | None:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return None if text == "none" else text


def byte_count(text: str) -> int:
    """Return the bytes of 50MB, 1.5GiB, 2e9, ..."""
    match = _SIZE.fullmatch(text.strip())
    if match is None:
        # argparse shows it.
        raise argparse.ArgumentTypeError(
            f"{text!r} is no size: write bytes, or kB, MB, GB, KiB, MiB, GiB"
        )
    count = float(match[1]) * _UNITS[match[2].lower()]
    if count == math.inf:
        raise argparse.ArgumentTypeError(f"{text!r} is more than can be counted")
    return int(count)


_SIZE = re.compile(
    r"([0-9]+(?:\.[0-9]*)?(?:e[0-9]+)?) *(|k|m|g|t|kb|mb|gb|tb|kib|mib|gib|tib|b)", re.I
)
_UNITS = {"": 1, "b": 1} | {
    name + end: base**power
    for power, name in enumerate("kmgt", 1)
    for end, base in (("", 1000), ("b", 1000), ("ib", 1024))
}

# By the names of --model.
ESTIMATORS: dict[str, type[LinearLabelTree | LinearOneVsRest]] = {
    "tree": LinearLabelTree,
    "ovr": LinearOneVsRest,
}

# Without type: a switch. Defaults come from the estimators' own signatures.
ESTIMATOR_OPTIONS = {
    "alpha": _Option(
        "weight of the L1 term: larger gives sparser models; LIBLINEAR's C is 1/alpha",
        float,
        "X",
    ),
    "n_clusters": _Option("clusters that a node's labels are split into", int, "N"),
    "max_depth": _Option("greatest depth of a label; 1 is one-vs-rest", int, "N"),
    "clustering": _Option("how a node's labels are split", str, choices=CLUSTERINGS),
    "tree": _Option(
        'train this tree of label ids: a file of "child<TAB>parent" lines', str, "FILE"
    ),
    "n_trees": _Option("trees whose scores are averaged", int, "N"),
    "max_sweeps": _Option(
        f"most sweeps and Newton steps for a problem; none: {MAX_SWEEPS} with solver "
        "auto, else the solver's own limit",
        int,
        "N",
    ),
    "violation_tol": _Option(
        "a problem ends at this share of its first sweep's violations; 0: at --tol; "
        f"none: {VIOLATION_TOL} with solver auto, else the solver's own rule",
        float,
        "X",
    ),
    "prune": _Option("set smaller weights to zero after training", float, "X"),
    "root_rows": _Option("which samples the root sees", str, choices=ROOT_ROWS),
    "scoring": _Option("how margins on a path make a score", str, choices=SCORINGS),
    "beam_size": _Option("nodes of each depth that prediction looks into", int, "N"),
    "solver": _Option("which method trains", str, choices=SOLVERS),
    "tol": _Option("relative duality gap at which a problem is converged", float, "X"),
    "max_iter": _Option("most iterations for a label", int, "N"),
    "fit_intercept": _Option("add a constant to each margin"),
    "intercept_scaling": _Option("value of the intercept's column", float, "X"),
    "penalize_intercept": _Option("keep the intercept in the L1 term"),
    "class_weight": _Option(
        "balanced, or the weights of positives and negatives",
        _class_weight,
        "POS,NEG",
    ),
    "alpha_exponent": _Option(
        "train a problem of n positives with alpha * (n/100)^X, at most a factor 4 off",
        float,
        "X",
    ),
    "propensity_weight": _Option(
        "raise the weight of rare labels' positives", float, "X"
    ),
    "ridge": _Option("weight of the squared l2 term beside L1", float, "X"),
    "C": _Option(
        "weight of the losses with solver dual_coordinate_descent, an L2 problem",
        float,
        "X",
    ),
    "solver_options": _Option(
        "options of the solver", solver_options, "NAME=VALUE,..."
    ),
    "memory_limit": _Option(
        "memory that training may add, such as 2GB; by default what there is",
        byte_count,
        "SIZE",
    ),
    "normalize": _Option("scale rows to unit length, in training and prediction"),
}


def add_estimator_options(
    parser: argparse.ArgumentParser, only: tuple[str, ...] = tuple(ESTIMATORS)
) -> None:
    """Add every argument of the estimators that has no common option.

    `only` the estimators of these names.
    """
    defaults = {model: ESTIMATORS[model]._defaults() for model in only}
    groups = {only: parser.add_argument_group("training")}
    if len(only) > 1:
        for model in only:
            title = f"training, --model {model} only"
            groups[model,] = parser.add_argument_group(title)
    for name, option in ESTIMATOR_OPTIONS.items():
        models = tuple(model for model in only if name in defaults[model])
        if not models:
            continue
        shown = list(dict.fromkeys(_shown(defaults[model][name]) for model in models))
        if len(shown) > 1:
            shown = [f"{m} {_shown(defaults[m][name])}" for m in models]
        # What is not given stays away, so that each model has its own defaults.
        kind: dict[str, Any] = {
            "default": argparse.SUPPRESS,
            "help": f"{option.help} (default: {', '.join(shown)})",
        }
        if option.type is None:
            kind["action"] = argparse.BooleanOptionalAction
        else:
            kind |= {"type": option.type, "choices": option.choices}
            kind["metavar"] = option.metavar
        groups[models].add_argument(_flag(name), **kind)


def _flag(name: str) -> str:
    return "--" + name.replace("_", "-")


def estimator(
    args: argparse.Namespace, n_labels: int
) -> LinearLabelTree | LinearOneVsRest:
    """Return the estimator that the options describe."""
    cls = ESTIMATORS[args.model]
    params = given(args, n_labels)
    for name in params:
        if name not in cls._defaults():
            raise DataError(f"{_flag(name)} is no option of --model {args.model}")
    return cls(
        **params,
        n_threads=args.threads,
        random_state=args.seed,
        progress=wants_bar(args),
    )


def given(args: argparse.Namespace, n_labels: int) -> dict[str, Any]:
    """Return the estimator's arguments that were given."""
    params = {name: getattr(args, name) for name in ESTIMATOR_OPTIONS if name in args}
    if "tree" in params:
        names = [str(label) for label in range(n_labels)]
        params["tree"] = LabelTree.from_file(params["tree"], names)
    return params


def wants_bar(args: argparse.Namespace) -> bool | None:
    """Whether someone watches, and tqdm is there to draw a bar."""
    watched = sys.stderr.isatty() and not args.quiet
    return True if watched and find_spec("tqdm") else None


def _shown(default: Any) -> str:
    if default is None:
        return "none"
    if isinstance(default, bool):
        return "on" if default else "off"
    return str(default)
