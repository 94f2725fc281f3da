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
from proxtree._parameters import (
    check_bool,
    check_int,
    check_random_state,
    check_real,
    check_sample_weight,
)
from proxtree._solvers import check_ridge, solver_arguments
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
        Sweeps and Newton steps, or proximal steps.
    status : {"converged", "max_iter", "stalled", "cancelled"}
        Converged: ``gap <= tol * dual_objective``.
    seconds : float
        CPU time of the solving thread.
    history : list of (float, float, float)
        (CPU seconds, objective, gap) at each look at the gap; empty unless asked
        for.
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
    random_state: int | None = 0,
    **solver_options: Any,
) -> Solution:
    r"""Solve one regularised squared-hinge problem and certify the solution.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Features; rounded to float32.
    y : array-like of shape (n_samples,)
        0/1, -1/+1 or booleans.
    alpha : float, default=1.0
        Weight of the L1 term, > 0; "dual_coordinate_descent" makes no use of it.
    solver : {"auto", "forward_backward", "coordinate_descent", \
"dual_coordinate_descent"}, default="auto"
        The method. "auto" is fast. "forward_backward" is PRoXML's own.
        "coordinate_descent" is LIBLINEAR's ``-s 5``, mended or as it is.
        "dual_coordinate_descent" is LIBLINEAR's ``-s 1`` and solves the L2 problem
        below.
    tol : float, default=1e-3
        Relative duality gap to reach, > 0.
    max_iter : int, optional
        Most iterations, at least 1: sweeps and Newton steps together, or proximal
        steps. None means 100,000; where a solver ends by the rule of released code,
        that code's limit: 1,000 sweeps of LIBLINEAR's, 1,800 steps of PRoXML's.
    fit_intercept : bool, default=True
        Whether there is an intercept.
    intercept_scaling : float, default=1.0
        Value of the intercept's column, > 0.
    penalize_intercept : bool, default=True
        Whether the weight of that column is in the L1 term (for the L2 problem: in
        the squared term); it is never in the ridge.
    sample_weight : array-like of shape (n_samples,), optional
        The c_i, at least 0.
    ridge : float, default=0.0
        Weight of the squared l2 term beside the L1 term, >= 0.
    w0 : array-like of shape (n_features,), optional
        Weights to begin from; the intercept begins at 0.
    history : bool, default=False
        Whether to record the objective and the gap on the way. Solvers that do not
        look at the gap themselves are watched now and then, off the clock, which
        `seconds` leaves out too.
    random_state : int or None, default=0
        Seed of the order of coordinates of ``variant="liblinear"`` and
        "dual_coordinate_descent"; None means 0. The others draw no random numbers.
    **solver_options
        For "forward_backward", by default what PRoXML's released code does:

        acceleration : {None, "fista"}, default=None
            "fista" adds momentum, dropped whenever it points uphill. Steps then
            only shrink, but for a new search where momentum is dropped.
        stop : {"paper", "gap"}, default="paper"
            "paper" ends once `min_iter` iterations are done and the last one
            changed the weights, intercept's column included, by at most `step_tol`
            of their Euclidean norm. "gap" ends on `tol` alone, looking every tenth
            iteration, later every twentieth part of those done.
        first_step : float, default=0.1
            The step that each iteration tries first, > 0.
        step_shrink : float, default=0.1
            What a step that is too long is multiplied by, in (0, 1), until the
            quadratic bound on the loss holds.
        min_iter : int, default=300
            At least 0; of ``stop="paper"``, and `max_iter` goes before it.
        step_tol : float, default=1e-4
            At least 0; of ``stop="paper"``.

        For "coordinate_descent":

        variant : {"fixed", "liblinear"}, default="fixed"
            "liblinear" is LIBLINEAR's ``-s 5``, rule by rule: it ends once the
            violations of a sweep add up to `eps` times min(positives, negatives)
            / n_samples of the first sweep's, or after `max_iter` sweeps, then with
            features still left out by shrinking. Nothing is certain about its
            objective but the certificate. "fixed" brings all features back before
            each look at the gap and ends on `tol` alone.
        eps : float, default=0.01
            > 0. "fixed": sweeps before the first look at the gap end once no
            violation is above ``eps * alpha``, then a tenth of that, and so on.

        For "dual_coordinate_descent":

        C : float, default=1.0
            Weight of the losses, > 0.
        eps : float, default=0.1
            > 0. Sweeps end once the projected derivatives of the dual of one sweep
            lie within `eps`.

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

    and for "dual_coordinate_descent"

    .. math::

        \min_{w, b} \frac{1}{2} (\|w\|_2^2 + (b / \text{intercept\_scaling})^2)
        + C \sum_i c_i \max(0, 1 - s_i (x_i \cdot w + b))^2 ,

    without b in the first term if it is not penalised.

    A solver that ended by a rule of its own, short of `tol`, has the status
    "stalled".

    "forward_backward" repeats ``w = soft(w - step * gradient, step * alpha)``, the
    intercept's column treated like all others (Algorithm 1 of PRoXML), and certifies
    the intercept as it is left. Constants and limits are those of the released code,
    xmc-aalto/proxml. It differs from the paper's algorithm and from this solver:

    * alpha is fixed at 0.1 there and the losses are weighted by an option instead
      (C = 1 unless given, so ``alpha=0.1`` is its default problem, LIBLINEAR's C =
      10); here alpha varies and the losses weigh 1.
    * It computes a gradient for each step tried and does not use it; here that is
      left out. A step tried in vain costs little here: rows are added up only until
      the bound is broken.
    * The bound is the same, but computed so that rounding cannot decide.
    * It ends by the change of the weights only, never by objective, optimality
      conditions or gap; the tolerance option has no effect. Its readme speaks of
      an exact solution; the certificate says how far the weights are from one.
    * Its last, incomplete batch of labels stores weights under the wrong labels.
      Nothing like that is copied here.

    References
    ----------
    R. Babbar and B. Schölkopf, "Data scarcity, robustness and extreme multi-label
    classification", Machine Learning 108, 2019, Algorithm 1.

    A. Beck and M. Teboulle, "A fast iterative shrinkage-thresholding algorithm for
    linear inverse problems", SIAM Journal on Imaging Sciences 2, 2009.

    B. O'Donoghue and E. Candès, "Adaptive restart for accelerated gradient schemes",
    Foundations of Computational Mathematics 15, 2015.

    G.-X. Yuan, K.-W. Chang, C.-J. Hsieh and C.-J. Lin, "A comparison of
    optimization methods and software for large-scale L1-regularized linear
    classification", JMLR 11, 2010.

    C.-J. Hsieh, K.-W. Chang, C.-J. Lin, S. S. Keerthi and S. Sundararajan, "A dual
    coordinate descent method for large-scale linear SVM", ICML 2008.

    Examples
    --------
    Two mirrored samples, 1 and -1: the optimum is w = 1 - alpha / 4.

    >>> from proxtree import solve
    >>> solution = solve([[1.0], [-1.0]], [1, 0], alpha=2.0, fit_intercept=False)
    >>> solution.coef
    array([0.5])
    >>> solution.objective, solution.status
    (1.5, 'converged')

    The L2 problem, w^2 / 2 + 2 C (1 - w)^2: the optimum is 4 C / (1 + 4 C).

    >>> l2 = {"solver": "dual_coordinate_descent", "C": 1.0, "eps": 1e-9}
    >>> solve([[1.0], [-1.0]], [1, 0], fit_intercept=False, **l2).coef.round(6)
    array([0.8])
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
        "random_state": random_state,
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
    random_state: int | None = 0,
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
    sample_weight, ridge, history, random_state, **solver_options
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
    if not isinstance(alphas, Iterable):
        raise TypeError(f"alphas is {alphas!r}, expected numbers in a list")
    results = _core.solve_path(
        csr_arg(X),
        _positives(y, n_samples),
        **solver_arguments(solver, solver_options),
        alphas=[check_real(alpha, "alpha") for alpha in alphas],
        tol=check_real(tol, "tol"),
        max_iter=None if max_iter is None else check_int(max_iter, "max_iter", 1),
        # The native module takes 0 for no intercept.
        intercept_scaling=scaling if check_bool(fit_intercept, "fit_intercept") else 0,
        penalize_intercept=check_bool(penalize_intercept, "penalize_intercept"),
        sample_weight=check_sample_weight(sample_weight, n_samples),
        ridge=check_ridge(ridge, solver),
        w0=None if w0 is None else _start(w0, n_features),
        history=check_bool(history, "history"),
        seed=check_random_state(random_state),
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
