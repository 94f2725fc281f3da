"""Options that commands share, and those that an estimator's arguments become."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from proxtree._solvers import SOLVERS
from proxtree.estimators import LinearOneVsRest

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
    return "balanced" if text == "balanced" else tuple(map(float, text.split(",")))


def _solver_options(text: str) -> dict[str, str]:
    return dict(pair.split("=", 1) for pair in text.split(","))


# Without type: a switch. Defaults come from the estimator's own signature.
ESTIMATOR_OPTIONS = {
    "alpha": _Option(
        "weight of the L1 term: larger gives sparser models; LIBLINEAR's C is 1/alpha",
        float,
        "X",
    ),
    "solver": _Option("which method trains", str, choices=SOLVERS),
    "tol": _Option("relative duality gap at which a label is converged", float, "X"),
    "max_iter": _Option("most iterations for a label", int, "N"),
    "fit_intercept": _Option("add a constant to each label's scores"),
    "intercept_scaling": _Option("value of the intercept's column", float, "X"),
    "penalize_intercept": _Option("keep the intercept in the L1 term"),
    "class_weight": _Option(
        "balanced, or the weights of positives and negatives",
        _class_weight,
        "POS,NEG",
    ),
    "alpha_exponent": _Option(
        "train a label of n positives with alpha * (n/100)^X, at most a factor 4 off",
        float,
        "X",
    ),
    "propensity_weight": _Option(
        "raise the weight of rare labels' positives", float, "X"
    ),
    "ridge": _Option("weight of the squared l2 term", float, "X"),
    "solver_options": _Option(
        "options of the solver", _solver_options, "NAME=VALUE,..."
    ),
    "normalize": _Option("scale rows to unit length, in training and prediction"),
}


def add_estimator_options(parser: argparse.ArgumentParser) -> None:
    """Add every argument of `LinearOneVsRest` that has no common option."""
    group = parser.add_argument_group("training")
    defaults = LinearOneVsRest._defaults()
    for name, option in ESTIMATOR_OPTIONS.items():
        default = defaults[name]
        flag = "--" + name.replace("_", "-")
        text = f"{option.help} (default: {_shown(default)})"
        if option.type is None:
            group.add_argument(
                flag,
                action=argparse.BooleanOptionalAction,
                default=default,
                help=text,
            )
        else:
            group.add_argument(
                flag,
                type=option.type,
                metavar=option.metavar,
                choices=option.choices,
                default=default,
                help=text,
            )


def estimator(args: argparse.Namespace) -> LinearOneVsRest:
    """Return the estimator that the options describe."""
    params = {name: getattr(args, name) for name in ESTIMATOR_OPTIONS}
    return LinearOneVsRest(
        **params,
        n_threads=args.threads,
        random_state=args.seed,
        progress=wants_bar(args),
    )


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
