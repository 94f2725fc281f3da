"""The proof that each trained problem carries."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from proxtree.exceptions import ConvergenceWarning

# By the native module's codes.
STATUS = np.array(["converged", "max_iter", "stalled", "cancelled"])
_FIELDS: list[tuple[str, Any]] = [
    ("objective", np.float64),
    ("dual_objective", np.float64),
    ("gap", np.float64),
    ("n_iter", np.int64),
    ("status", STATUS.dtype),
    ("nnz", np.int64),
    ("seconds", np.float64),
]
# A row for each label.
CERTIFICATE = np.dtype(_FIELDS)
# Where a problem is in the trees: the model knows that too.
PLACE = ("tree", "node", "child", "depth")
# A row for each child of each node.
TREE_CERTIFICATE = np.dtype(
    [
        *((name, np.int32) for name in PLACE),
        *_FIELDS,
        ("n_positives", np.int64),
        ("n_pruned", np.int64),
    ]
)


def from_fields(
    fields: Mapping[str, NDArray[Any]], dtype: np.dtype[np.void], n_problems: int
) -> NDArray[np.void]:
    """Return the structured array of arrays by name, `status` as codes.

    Raises
    ------
    ValueError
        If an array has another length than `n_problems`.
    """
    certificate = np.empty(n_problems, dtype)
    for name in dtype.names or ():
        if len(fields[name]) != n_problems:
            raise ValueError(
                f"{name} has {len(fields[name])} entries, not {n_problems}"
            )
        certificate[name] = STATUS[fields[name]] if name == "status" else fields[name]
    return certificate


def to_fields(certificate: NDArray[np.void]) -> dict[str, NDArray[Any]]:
    """Undo `from_fields`; what the model knows is left out."""
    names = certificate.dtype.names or ()
    fields = {name: certificate[name] for name in names if name not in PLACE}
    codes = {name: code for code, name in enumerate(STATUS.tolist())}
    fields["status"] = np.array([codes[s] for s in certificate["status"]], np.uint8)
    return fields


def summary(
    certificate: NDArray[np.void], trained: NDArray[np.bool_]
) -> dict[str, Any]:
    """Return counts by status and the worst relative gap.

    Of the `trained` problems only: one without positives is not solved.
    """
    rows = certificate[trained]
    return {
        "n_trained": len(rows),
        **{f"n_{status}": int((rows["status"] == status).sum()) for status in STATUS},
        "worst_relative_gap": float(relative_gap(rows).max(initial=0.0)),
    }


def relative_gap(certificate: NDArray[np.void]) -> NDArray[np.float64]:
    """Return gap / dual_objective, infinite where the bound is no use."""
    gap, bound = certificate["gap"], certificate["dual_objective"]
    ratio = np.full(len(gap), np.inf)
    np.divide(gap, bound, out=ratio, where=bound > 0)
    ratio[gap <= 0] = 0.0
    return ratio


def warn_unless_converged(
    facts: Mapping[str, Any], what: str, tol: float, n_iter_name: str, *, own_rule: bool
) -> None:
    """Give one `ConvergenceWarning` that counts what the `summary` has unproved.

    A solver with a stop rule of its own is done when that says so: of its problems
    only those count that ran into the limit first.
    """
    others = {s: facts[f"n_{s}"] for s in STATUS[1:].tolist() if facts[f"n_{s}"]}
    if own_rule:
        others.pop("stalled", None)
    if others:
        listed = ", ".join(f"{count} {status}" for status, count in others.items())
        remedies = [f"raise {n_iter_name} or tol"] if "max_iter" in others else []
        if "stalled" in others:
            # Weights stored as float32 cannot come closer to the optimum.
            remedies.append("for stalled ones raise alpha or tol: float32 is exhausted")
        warnings.warn(
            f"{sum(others.values())} of {facts['n_trained']} trained {what}s did not "
            f"reach the relative gap tol={tol:g} ({listed}; worst gap "
            f"{facts['worst_relative_gap']:.2g}); see certificate_; "
            + "; ".join(remedies),
            ConvergenceWarning,
            # Past this function, `_fit` and `fit`.
            stacklevel=4,
        )
