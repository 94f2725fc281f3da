"""The solvers that exist and the options each of them knows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from proxtree._parameters import check_choice
from proxtree.exceptions import DataError

# Option values that a solver accepts; the first one is its default.
OPTIONS: dict[str, dict[str, tuple[str, ...]]] = {
    "auto": {},
    "coordinate_descent": {"variant": ("fixed",)},
}
SOLVERS = tuple(OPTIONS)


def check_solver(solver: Any, options: Mapping[str, Any]) -> str:
    """Return `solver` if it exists and knows all `options`.

    Raises
    ------
    DataError
        With what there is to choose from.
    """
    name = check_choice(solver, "solver", SOLVERS)
    known = OPTIONS[name]
    for option, value in options.items():
        if option not in known:
            has = ", ".join(known) or "none"
            raise DataError(
                f'solver "{name}" has no option {option!r}; its options: {has}'
            )
        check_choice(value, option, known[option])
    return name
