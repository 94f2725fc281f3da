"""One binary problem: its solution, and what proves it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from proxtree import _core
from proxtree._certificates import STATUS
from proxtree._compressed import real_numbers
from proxtree._parameters import check_bool, check_int, check_real, check_sample_weight
from proxtree._solvers import check_solver
from proxtree._validation import check_X, csr_arg
from proxtree.exceptions import DataError

__all__ = ["Solution", "solve", "solve_path"]


@dataclass(frozen=True)
class Solution:
    """A solved problem with its certificate.

    Attributes
    ----------
    coef : ndarray of float64, shape (n_features,)
        Weights.
    intercept : float
        What is added to scores: the weight of the intercept's column times its
        value.
    objective : float
        The objective at `coef` and `intercept`.
    dual_objective : float
        A lower bound on every objective.
    gap : float
        ``objective - dual_objective``, absolute.
    n_iter : int
        Sweeps and Newton steps.
    status : {"converged", "max_iter", "stalled", "cancelled"}
        Converged: ``gap <= tol * dual_objective``.
    seconds : float
        CPU time of the solving thread.
    history : list of (float, float, float)
        (seconds, objective, gap) at each look at the gap; empty unless asked for.
    """

    coef: NDArray[np.float64] = field(repr=False)
    intercept: float
    objective: float
    dual_objective: float
    gap: float
    n_iter: int
    status: Literal["converged", "max_iter", "stalled", "cancelled"]
    seconds: float
    history: list[tuple[float, float, float]] = field(repr=False)


def solve(
    X: Any,
    y: ArrayLike,
    alpha: float = 1.0,
    *,
    solver: str = "auto",
    tol: float = 1e-3,
    max_iter: int | None = None,
    fit_intercept: bool = True,
    intercept_scaling: float = 1.0,
    penalize_intercept: bool = True,
    sample_weight: ArrayLike | None = None,
    ridge: float = 0.0,
    w0: ArrayLike | None = None,
    history: bool = False,
    **solver_options: Any,
) -> Solution:
    r"""Solve one L1-regularised squared-hinge problem and certify the solution.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Features; rounded to float32.
    y : array-like of shape (n_samples,)
        0/1, -1/+1 or booleans.
    alpha : float, default=1.0
        Weight of the L1 term, > 0.
    solver : {"auto", "coordinate_descent"}, default="auto"
        The method; both reach the same objective.
    tol : float, default=1e-3
        Relative duality gap to reach, > 0.
    max_iter : int, optional
        Most sweeps and Newton steps, at least 1; None means 100,000.
    fit_intercept : bool, default=True
        Whether there is an intercept.
    intercept_scaling : float, default=1.0
        Value of the intercept's column, > 0.
    penalize_intercept : bool, default=True
        Whether the weight of that column is in the L1 term; it is never in the
        ridge.
    sample_weight : array-like of shape (n_samples,), optional
        The c_i, at least 0.
    ridge : float, default=0.0
        Weight of the squared l2 term, >= 0.
    w0 : array-like of shape (n_features,), optional
        Weights to begin from; the intercept is always solved for.
    history : bool, default=False
        Whether to record the objective and the gap on the way.
    **solver_options
        For "coordinate_descent": ``variant="fixed"``.

    Returns
    -------
    Solution

    Raises
    ------
    DataError
        If an argument is out of range or the shapes disagree.
    TypeError
        If something is of the wrong kind.

    Notes
    -----
    .. math::

        \min_{w, b} \alpha (\|w\|_1 + |b| / \text{intercept\_scaling})
        + \frac{\text{ridge}}{2} \|w\|_2^2
        + \sum_i c_i \max(0, 1 - s_i (x_i \cdot w + b))^2

    Examples
    --------
    Two mirrored samples, 1 and -1: the optimum is w = 1 - alpha / 4.

    >>> from proxtree import solve
    >>> solution = solve([[1.0], [-1.0]], [1, 0], alpha=2.0, fit_intercept=False)
    >>> solution.coef
    array([0.5])
    >>> solution.objective, solution.status
    (1.5, 'converged')
    """
    options: dict[str, Any] = {
        "solver": solver,
        "tol": tol,
        "max_iter": max_iter,
        "fit_intercept": fit_intercept,
        "intercept_scaling": intercept_scaling,
        "penalize_intercept": penalize_intercept,
        "sample_weight": sample_weight,
        "ridge": ridge,
        "w0": w0,
        "history": history,
    }
    return solve_path(X, y, [alpha], **options, **solver_options)[0]


def solve_path(
    X: Any,
    y: ArrayLike,
    alphas: Iterable[float],
    *,
    solver: str = "auto",
    tol: float = 1e-3,
    max_iter: int | None = None,
    fit_intercept: bool = True,
    intercept_scaling: float = 1.0,
    penalize_intercept: bool = True,
    sample_weight: ArrayLike | None = None,
    ridge: float = 0.0,
    w0: ArrayLike | None = None,
    history: bool = False,
    **solver_options: Any,
) -> list[Solution]:
    """Solve for several `alphas` in the order given, each from the one before.

    Decreasing alphas are the fast order. X is checked and turned into columns
    once; the `seconds` of the first solution have that in them.

    Parameters
    ----------
    X, y
        As in `solve`.
    alphas : iterable of float
        Each > 0.
    solver, tol, max_iter, fit_intercept, intercept_scaling, penalize_intercept
        As in `solve`.
    sample_weight, ridge, history, **solver_options
        As in `solve`.
    w0 : array-like of shape (n_features,), optional
        Where the first one begins.

    Returns
    -------
    list of Solution

    Raises
    ------
    DataError, TypeError
        As in `solve`.

    Examples
    --------
    >>> from proxtree import solve_path
    >>> path = solve_path([[1.0], [-1.0]], [1, 0], [4, 2], fit_intercept=False)
    >>> [solution.coef.tolist() for solution in path]
    [[0.0], [0.5]]
    """
    X = check_X(X)
    n_samples, n_features = X.shape
    if n_samples == 0:
        raise DataError(f"X has shape {X.shape}: there are no samples")
    scaling = check_real(intercept_scaling, "intercept_scaling")
    results = _core.solve_path(
        csr_arg(X),
        _positives(y, n_samples),
        solver=check_solver(solver, solver_options),
        alphas=[check_real(alpha, "alpha") for alpha in alphas],
        tol=check_real(tol, "tol"),
        max_iter=None if max_iter is None else check_int(max_iter, "max_iter", 1),
        # The native module takes 0 for no intercept.
        intercept_scaling=scaling if check_bool(fit_intercept, "fit_intercept") else 0,
        penalize_intercept=check_bool(penalize_intercept, "penalize_intercept"),
        sample_weight=check_sample_weight(sample_weight, n_samples),
        ridge=check_real(ridge, "ridge", zero=True),
        w0=None if w0 is None else _start(w0, n_features),
        history=check_bool(history, "history"),
    )
    return [Solution(**{**r, "status": STATUS[r["status"]].item()}) for r in results]


def _positives(y: ArrayLike, n_samples: int) -> NDArray[np.bool_]:
    values = np.asarray(y)
    if values.shape != (n_samples,):
        raise DataError(f"y has shape {values.shape}, expected ({n_samples},)")
    values = real_numbers(values, "y")
    found = np.unique(values)
    if not (np.isin(found, (0, 1)).all() or np.isin(found, (-1, 1)).all()):
        raise DataError(f"y holds {found[:5].tolist()}, expected 0 and 1 or -1 and 1")
    return np.ascontiguousarray(values > 0)


def _start(w0: ArrayLike, n_features: int) -> NDArray[np.float64]:
    weights = np.require(real_numbers(np.asarray(w0), "w0"), np.float64, ["C", "A"])
    if weights.shape != (n_features,):
        raise DataError(f"w0 has shape {weights.shape}, expected ({n_features},)")
    if not np.isfinite(weights).all():
        raise DataError("w0 holds a value that is not finite")
    return weights
