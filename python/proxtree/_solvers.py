"""The solvers that exist and the options each of them knows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from proxtree._parameters import check_choice
from proxtree.exceptions import DataError

# An option: its default, and what checks a value and returns it.
Option = tuple[Any, Callable[[Any, str], Any]]


def _choice(*values: str) -> Option:
    """Return an option with these values, the first one its default."""
    return values[0], lambda value, name: check_choice(value, name, values)


# The one home of these defaults: the native module takes every option.
OPTIONS: dict[str, dict[str, Option]] = {
    "auto": {},
    "coordinate_descent": {"variant": _choice("fixed")},
}
SOLVERS = tuple(OPTIONS)


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
