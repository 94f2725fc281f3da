"""``proxtree solve``."""

from __future__ import annotations

import argparse
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from proxtree._parameters import check_real
from proxtree._solvers import L2_SOLVER, SOLVERS, solver_arguments
from proxtree._validation import normalize_rows
from proxtree.cli import _options
from proxtree.cli._data import read_data
from proxtree.cli._output import check_output, emit, log
from proxtree.exceptions import DataError
from proxtree.solving import Solution, solve

if TYPE_CHECKING:
    from proxtree.cli._options import Commands


@dataclass(frozen=True)
class _Method:
    """A solver with options, and how the user wrote both."""

    text: str
    solver: str
    options: dict[str, Any]


def add(commands: Commands) -> None:
    """Add the command."""
    parser = _options.add_command(
        commands,
        "solve",
        run,
        "solve single labels with every solver, side by side",
        "Train chosen labels, one problem each, with all solvers: objective, duality "
        "gap,\nnon-zero weights, iterations, CPU seconds, and how far each ended above "
        "the best\nobjective that is proved. dual_coordinate_descent solves the L2 "
        "problem, by default\nwith C = 1/alpha; its objective is another one.\n\n"
        "examples:\n"
        "  proxtree solve train.txt --labels 0,5,7 --alpha 0.1\n"
        "  proxtree solve train.txt --labels 5 --plot curves.png --solvers \\\n"
        "      auto,forward_backward,forward_backward:acceleration=fista:stop=gap",
    )
    parser.add_argument("data", metavar="DATA", help=_options.DATA_HELP)
    parser.add_argument(
        "--labels",
        required=True,
        metavar="ID,...",
        help="the labels to solve, counted from 0",
    )
    parser.add_argument(
        "--solvers",
        default=",".join(SOLVERS),
        metavar="NAME,...",
        help="which, options after colons as in the second example "
        f"(default: {','.join(SOLVERS)})",
    )
    parser.add_argument(
        "--alpha",
        type=float,
        default=1.0,
        metavar="X",
        help="weight of the L1 term; LIBLINEAR's C is 1/alpha (default: 1.0)",
    )
    parser.add_argument(
        "--tol",
        type=float,
        default=1e-3,
        metavar="X",
        help="relative duality gap at which a problem is converged (default: 0.001)",
    )
    parser.add_argument(
        "--max-iter",
        type=int,
        metavar="N",
        help="most iterations (default: each solver's own)",
    )
    parser.add_argument(
        "--normalize", action="store_true", help="scale rows to unit l2 norm"
    )
    parser.add_argument(
        "--plot",
        metavar="FILE.png",
        help="draw objective and gap against CPU seconds; needs matplotlib: "
        "pip install 'proxtree[plot]'",
    )
    _options.add_data_options(parser)


def run(args: argparse.Namespace) -> None:
    """Read, solve every label with every method, compare."""
    labels = _labels(args.labels)
    alpha = check_real(args.alpha, "alpha")
    if not math.isfinite(1 / alpha):
        raise DataError(
            f"alpha is {alpha}: C = 1 / alpha is more than float64 can hold"
        )
    methods = [_method(text) for text in args.solvers.split(",")]
    if args.plot:
        check_output(args.plot)
        if find_spec("matplotlib") is None:
            raise ImportError("--plot needs matplotlib: pip install 'proxtree[plot]'")
        _check_picture(args.plot)
    X, Y = read_data(args.data, args)
    if max(labels) >= Y.shape[1]:
        raise DataError(
            f"--labels: {max(labels)} is outside [0, {Y.shape[1]}), the labels of "
            f"{args.data}"
        )
    if args.normalize:
        X = normalize_rows(X)
    columns = Y.tocsc()
    facts: list[dict[str, Any]] = []
    histories = {}
    text: list[str] = []
    for label in labels:
        y = columns[:, [label]].toarray().ravel()
        solutions = []
        for method in methods:
            log(args, f"label {label}: {method.text} ...")
            solutions.append(_solve(X, y, args, method))
            name = method.text if len(labels) == 1 else f"{label}: {method.text}"
            histories[name] = solutions[-1].history
        n_positives = int(np.count_nonzero(y))
        rows = _compared(methods, solutions)
        facts.append({"label": label, "n_positives": n_positives, "solutions": rows})
        title = f"label {label}: {n_positives:,} of {X.shape[0]:,} samples, "
        title += f"alpha {args.alpha:g} (C = {1 / args.alpha:g})"
        text += ["", title, *_table(rows)]
    if args.plot:
        # Loaded when asked for, as matplotlib is.
        from proxtree.plots import draw_histories

        draw_histories(histories, args.plot)
        log(args, f"curves: {args.plot}")
    shapes = {"n_samples": X.shape[0], "n_features": X.shape[1]}
    penalty = {"alpha": args.alpha, "C": 1 / args.alpha}
    emit(args, {**shapes, **penalty, "labels": facts}, text[1:])


def _check_picture(path: str) -> None:
    from proxtree.plots import picture_formats

    known = picture_formats()
    if Path(path).suffix[1:].lower() not in known:
        raise DataError(
            f"--plot is {path!r}, expected a name that ends in .{', .'.join(known)}"
        )


def _labels(text: str) -> list[int]:
    try:
        labels = [int(label) for label in text.split(",")]
    except ValueError:
        labels = [-1]
    if min(labels) < 0:
        raise DataError(f"--labels is {text!r}, expected ids such as 0,5,7")
    return labels


def _method(text: str) -> _Method:
    """Read ``name:option=value:option=value``."""
    solver, *pairs = text.split(":")
    for pair in pairs:
        if "=" not in pair:
            raise DataError(f"--solvers: {pair!r} in {text!r} is no option=value")
    options = _options.solver_options(",".join(pairs)) if pairs else {}
    # Complains about what there is not.
    solver_arguments(solver, options)
    return _Method(text, solver, options)


def _solve(
    X: Any, y: NDArray[np.uint8], args: argparse.Namespace, method: _Method
) -> Solution:
    return solve(
        X,
        y,
        args.alpha,
        solver=method.solver,
        tol=args.tol,
        max_iter=args.max_iter,
        history=args.plot is not None,
        random_state=args.seed,
        # The same weight of the losses beside the penalty.
        **({"C": 1 / args.alpha} if method.solver == L2_SOLVER else {})
        | method.options,
    )


def _compared(
    methods: Sequence[_Method], solutions: Sequence[Solution]
) -> list[dict[str, Any]]:
    """Return what came out, with the excess over the best proved objective."""
    pairs = list(zip(methods, solutions, strict=True))
    # The L2 problem is another one: its objective says nothing beside the others'.
    best = min(
        (
            s.objective
            for m, s in pairs
            if m.solver != L2_SOLVER and s.status == "converged"
        ),
        default=None,
    )
    return [
        {
            "solver": method.text,
            "objective": solution.objective,
            "gap": solution.gap,
            "n_nonzero": int(np.count_nonzero(solution.coef)),
            "n_iter": solution.n_iter,
            "seconds": solution.seconds,
            "status": solution.status,
            "excess": solution.objective / best - 1
            if best and method.solver != L2_SOLVER
            else None,
        }
        for method, solution in pairs
    ]


def _table(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    cells = [
        ["solver", "objective", "gap", "non-zeros", "iterations", "CPU s", "excess", ""]
    ]
    for row in rows:
        excess = row["excess"]
        cells.append(
            [
                row["solver"],
                f"{row['objective']:.6g}",
                f"{row['gap']:.2g}",
                f"{row['n_nonzero']:,}",
                f"{row['n_iter']:,}",
                f"{row['seconds']:.3f}",
                "-" if excess is None else f"{100 * excess:.3f} %",
                row["status"],
            ]
        )
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return [
        "  ".join(
            # Words to the left, numbers to the right.
            cell.ljust(width) if at in (0, len(line) - 1) else cell.rjust(width)
            for at, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in cells
    ]
