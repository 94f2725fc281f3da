"""The proof that each trained label carries."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from proxtree.exceptions import ConvergenceWarning

# By the native module's codes.
STATUS = np.array(["converged", "max_iter", "stalled", "cancelled"])
CERTIFICATE = np.dtype(
    [
        ("objective", np.float64),
        ("dual_objective", np.float64),
        ("gap", np.float64),
        ("n_iter", np.int64),
        ("status", STATUS.dtype),
        ("nnz", np.int64),
        ("seconds", np.float64),
    ]
)


def from_fields(fields: dict[str, NDArray[Any]]) -> NDArray[np.void]:
    """Return the structured array of arrays by name, `status` as codes."""
    certificate = np.empty(len(fields["gap"]), CERTIFICATE)
    for name in CERTIFICATE.names or ():
        certificate[name] = STATUS[fields[name]] if name == "status" else fields[name]
    return certificate


def to_fields(certificate: NDArray[np.void]) -> dict[str, NDArray[Any]]:
    """Undo `from_fields`."""
    fields = {name: certificate[name] for name in CERTIFICATE.names or ()}
    codes = {name: code for code, name in enumerate(STATUS.tolist())}
    fields["status"] = np.array([codes[s] for s in certificate["status"]], np.uint8)
    return fields


def summary(
    certificate: NDArray[np.void], trained: NDArray[np.bool_]
) -> dict[str, Any]:
    """Return counts by status and the worst relative gap.

    Of the `trained` labels only: one without positives is not solved.
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
    certificate: NDArray[np.void], trained: NDArray[np.bool_], tol: float
) -> None:
    """Give one `ConvergenceWarning` that counts the labels without a proof."""
    facts = summary(certificate, trained)
    others = {s: facts[f"n_{s}"] for s in STATUS[1:].tolist() if facts[f"n_{s}"]}
    if others:
        listed = ", ".join(f"{count} {status}" for status, count in others.items())
        warnings.warn(
            f"{sum(others.values())} of {facts['n_trained']} trained labels did not "
            f"reach the relative gap tol={tol:g} ({listed}; worst gap "
            f"{facts['worst_relative_gap']:.2g}); see certificate_, and raise "
            "max_iter or tol",
            ConvergenceWarning,
            stacklevel=3,
        )
