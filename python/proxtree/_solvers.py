"""The solvers that exist and the options each of them knows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from proxtree._parameters import check_choice, check_int, check_real
from proxtree.exceptions import DataError

# An option: its default, and what checks a value and returns it.
Option = tuple[Any, Callable[[Any, str], Any]]


def _choice(*values: str) -> Option:
    """Return an option with these values, the first one its default."""
    return values[0], lambda value, name: check_choice(value, name, values)


def _none_or(*values: str) -> Option:
    """Return an option that is None by default, or one of these values."""
    return (
        None,
        lambda value, name: (
            None if value is None else check_choice(value, name, values)
        ),
    )


def _share(value: Any, name: str) -> float:
    """Return `value` as a float strictly between 0 and 1."""
    number = check_real(value, name)
    if number >= 1:
        raise DataError(f"{name} is {value}, expected a number between 0 and 1")
    return number


def _positive(default: float) -> Option:
    """Return an option with a number above zero."""
    return default, check_real


# The one home of these defaults: the native module takes every option.
OPTIONS: dict[str, dict[str, Option]] = {
    "auto": {},
    # What PRoXML's released code does.
    "forward_backward": {
        "acceleration": _none_or("fista"),
        "stop": _choice("paper", "gap"),
        "first_step": _positive(0.1),
        "step_shrink": (0.1, _share),
        "min_iter": (300, lambda value, name: check_int(value, name, 0)),
        "step_tol": (1e-4, lambda value, name: check_real(value, name, zero=True)),
    },
    "coordinate_descent": {
        "variant": _choice("fixed", "liblinear"),
        "eps": _positive(0.01),
    },
    "dual_coordinate_descent": {"C": _positive(1.0), "eps": _positive(0.1)},
}
SOLVERS = tuple(OPTIONS)
# Of another problem: no alpha, no ridge, and C as the weight of the losses.
L2_SOLVER = "dual_coordinate_descent"


def ends_by_own_rule(arguments: Mapping[str, Any]) -> bool:
    """Whether what `solver_arguments` returned stops by another rule than the gap."""
    options: Mapping[str, Any] = arguments["solver_options"]
    return (
        arguments["solver"] == L2_SOLVER
        or options.get("variant") == "liblinear"
        or options.get("stop") == "paper"
    )


def check_ridge(value: Any, solver: str) -> float:
    """Return `ridge`, which an L2 solver has no place for."""
    ridge = check_real(value, "ridge", zero=True)
    if ridge > 0 and solver == L2_SOLVER:
        raise DataError(
            f"ridge is {value}, expected 0 with solver "
            '"dual_coordinate_descent", whose squared term is 1/2 ||w||^2; '
            "C weighs it"
        )
    return ridge


def solver_arguments(solver: Any, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the native module's `solver` and its options, defaults filled in.

    Raises
    ------
    DataError
        With what there is to choose from.
    TypeError
        If the value of an option is of the wrong kind.
    """
    name = check_choice(solver, "solver", SOLVERS)
    known = OPTIONS[name]
    for option in options:
        if option not in known:
            has = ", ".join(known) or "none"
            raise DataError(
                f'solver "{name}" has no option {option!r}; its options: {has}'
            )
    return {
        "solver": name,
        "solver_options": {
            option: check(options.get(option, default), option)
            for option, (default, check) in known.items()
        },
    }
