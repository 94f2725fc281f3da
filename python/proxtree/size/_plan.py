"""`plan`: what a training will take, before it begins."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

from proxtree._parameters import check_n_threads
from proxtree.estimators import LinearLabelTree
from proxtree.estimators._training import training_data
from proxtree.size._size_plan import SizePlan
from proxtree.size._sizes import exact_fields, measure


def plan(
    X: Any, Y: Any, *, sample_weight: ArrayLike | None = None, **parameters: Any
) -> SizePlan:
    """Return space, memory and time of a `LinearLabelTree` without training it."""
    estimator = LinearLabelTree(**parameters)
    arguments = estimator._arguments()
    n_threads = check_n_threads(estimator.n_threads)
    X, Y, _ = training_data(X, Y, sample_weight)
    trees = estimator._trees(X, Y, n_threads)
    sizes = [measure(X, Y, tree, n_threads) for tree in trees]
    return SizePlan(
        trees=trees,
        n_threads=n_threads,
        settings=arguments,
        **exact_fields(
            sizes,
            X.shape[1],
            arguments["root_rows"],
            arguments["intercept_scaling"] > 0,
        ),
    )
