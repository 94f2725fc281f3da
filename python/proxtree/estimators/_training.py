"""What every fit does: check, train all problems, keep the model and its proofs."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from proxtree import _certificates, _core
from proxtree._linear_model import LinearModel
from proxtree._parameters import (
    check_bool,
    check_class_weight,
    check_finite,
    check_n_threads,
    check_random_state,
    check_real,
    check_sample_weight,
)
from proxtree._progress import reporting
from proxtree._solvers import (
    L2_SOLVER,
    check_ridge,
    ends_by_own_rule,
    solver_arguments,
)
from proxtree._validation import check_X_Y, csr_arg, pattern_arg
from proxtree.exceptions import DataError, DataWarning
from proxtree.size._growth import check_growth
from proxtree.size._limit import (
    check_memory,
    check_root,
    check_shapes,
    memory_limit,
)
from proxtree.size._planner import Planner
from proxtree.size._size_plan import SizePlan
from proxtree.tree import LabelTree

Csr = sparse.csr_matrix[Any]


class TrainableModel(LinearModel, ABC):
    """A linear model of problems that share parameters and a training routine."""

    # Set by the constructors below.
    alpha: float
    solver: str
    tol: float
    fit_intercept: bool
    intercept_scaling: float
    penalize_intercept: bool
    alpha_exponent: float
    propensity_weight: float
    ridge: float
    C: float
    solver_options: Mapping[str, Any] | None
    normalize: bool
    memory_limit: int | None
    random_state: int | None
    progress: bool | Callable[[int, int, int], object] | None

    def _shared_arguments(self) -> dict[str, Any]:
        """Return the native module's arguments that all models have."""
        class_weight, balanced = check_class_weight(self.class_weight)
        scaling = check_real(self.intercept_scaling, "intercept_scaling")
        given = {} if self.solver_options is None else self.solver_options
        if not isinstance(given, Mapping):
            raise TypeError(f"solver_options is {given!r}, expected a dict or None")
        options = dict(given)
        if "C" in options:
            raise DataError("solver_options holds C: it is a parameter of its own")
        C = check_real(self.C, "C")
        if self.solver == L2_SOLVER:
            options["C"] = C
        return {
            **solver_arguments(self.solver, options),
            "seed": check_random_state(self.random_state),
            "alpha": check_real(self.alpha, "alpha"),
            "alpha_exponent": check_finite(self.alpha_exponent, "alpha_exponent"),
            "propensity_weight": check_real(
                self.propensity_weight, "propensity_weight", zero=True
            ),
            "ridge": check_ridge(self.ridge, self.solver),
            "class_weight": class_weight,
            "balanced": balanced,
            "tol": check_real(self.tol, "tol"),
            # The native module takes 0 for no intercept.
            "intercept_scaling": scaling
            if check_bool(self.fit_intercept, "fit_intercept")
            else 0.0,
            "penalize_intercept": check_bool(
                self.penalize_intercept, "penalize_intercept"
            ),
            "normalize": check_bool(self.normalize, "normalize"),
        }

    @abstractmethod
    def _arguments(self) -> dict[str, Any]:
        """Return all checked arguments of the native module's training."""

    @property
    def _built_shape(self) -> tuple[int, int] | None:
        """Clusters and depth of what `_trees` builds; None if that is nothing."""
        return None

    @abstractmethod
    def _trees(self, X: Csr, Y: Csr, n_threads: int) -> list[LabelTree]:
        """Return the trees to train over checked X and Y."""

    def _fit(
        self, X: Any, Y: Any, sample_weight: ArrayLike | None, n_iter_name: str
    ) -> Self:
        """Train; `n_iter_name` is the parameter that limits iterations."""
        arguments = self._arguments()
        n_threads = check_n_threads(self.n_threads)
        X, Y, weights = training_data(X, Y, sample_weight)
        limit = memory_limit(self.memory_limit)
        check_shapes(X, Y, arguments, limit)
        _check_positives(np.bincount(Y.indices, minlength=Y.shape[1]) > 0)
        if self._built_shape is not None:
            check_root(X, Y, weights, arguments, n_threads, limit)
            check_growth(
                X,
                Y,
                *self._built_shape,
                normalize=arguments["normalize"],
                n_threads=n_threads,
                limited=limit,
            )
        trees = self._trees(X, Y, n_threads)
        planner = Planner.of(X, Y, weights, trees, arguments, n_threads)
        plan = check_memory(planner, limit, check_random_state(self.random_state))
        with reporting(self.progress, self._problem_name) as progress:
            model, fields = _core.train(
                csr_arg(X),
                pattern_arg(Y),
                [tree._native for tree in trees],
                _core.TrainSettings(**arguments),
                sample_weight=weights,
                n_threads=n_threads,
                progress=progress,
            )
        joined = {name: np.concatenate([f[name] for f in fields]) for name in fields[0]}
        trained = joined["n_positives"] > 0
        certificate = self._certificate(model, joined)
        facts = _certificates.summary(certificate, trained)
        # First fitted, then warned: a warning turned error must not lose the model.
        self._set_fitted(model, certificate, facts, _planned(trees, plan))
        if arguments["violation_tol"] == 0:
            _certificates.warn_unless_converged(
                facts,
                self._problem_name,
                arguments["tol"],
                n_iter_name,
                own_rule=ends_by_own_rule(arguments),
            )
        return self


def _planned(trees: list[LabelTree], exact: SizePlan) -> SizePlan:
    """Return what was planned for this very training, with its estimates."""
    known: list[SizePlan] = trees[0]._planned
    return next((plan for plan in reversed(known) if plan.agrees(exact)), exact)


def training_data(
    X: Any, Y: Any, sample_weight: ArrayLike | None
) -> tuple[Csr, Csr, NDArray[np.float64] | None]:
    """Return checked X, Y and weights, without the samples that weigh nothing."""
    X, Y = check_X_Y(X, Y)
    weights = check_sample_weight(sample_weight, X.shape[0])
    if weights is not None and not weights.all():
        kept = weights > 0
        X, Y, weights = X[kept], Y[kept], weights[kept]
    return X, Y, weights


def _check_positives(trained: NDArray[np.bool_]) -> None:
    empty = len(trained) - int(trained.sum())
    if empty == len(trained):
        raise DataError("Y has no label at all: nothing can be trained")
    if empty:
        warnings.warn(
            f"{empty} of {len(trained)} labels have no positive sample: they get no "
            "weights and are never predicted",
            DataWarning,
            # Past this function, `_fit` and `fit`.
            stacklevel=4,
        )
