"""Settings whose model fits into a number of bytes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from proxtree._solvers import L2_SOLVER
from proxtree.exceptions import DataError
from proxtree.size._build import estimated_fields, fill_depths
from proxtree.size._estimate import Trained
from proxtree.size._planner import Planner
from proxtree.size._size_plan import SizePlan
from proxtree.size._text import human_bytes
from proxtree.tree import LabelTree

# Multiples of alpha that are tried in turn, until the plain one fits.
ALPHAS = (1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0, 32.0, 64.0)
# Weights this small cost less accuracy than a larger alpha does
# (benches/results/size.md).
PRUNES = (0.1, 0.2)
SHALLOW = 2


def candidates(
    planner: Planner, budget_bytes: int, share: float, seed: int, asked: dict[str, Any]
) -> list[SizePlan]:
    """Return plans that fit, the least expected loss first.

    `asked` holds n_clusters and max_depth as the user has them.

    Raises
    ------
    DataError
        If none fits, with what the smallest takes.
    """
    fitting: list[SizePlan] = []
    smallest: SizePlan | None = None
    for max_depth, trees in _shapes(planner, asked["max_depth"]):
        shaped = planner if trees is None else planner.with_trees(trees)
        place = {"n_clusters": asked["n_clusters"], "max_depth": max_depth}
        for plan in _of_shape(shaped, place, budget_bytes, share, seed):
            if smallest is None or _size(plan) < _size(smallest):
                smallest = plan
            if _size(plan) <= budget_bytes:
                fitting.append(plan)
    if not fitting and smallest is not None:
        raise DataError(
            f"budget_bytes is {budget_bytes}, but the smallest candidate, "
            f"{smallest.candidate}, needs up to {human_bytes(_size(smallest))} "
            f"({_size(smallest):.0f} bytes)"
        )
    return sorted(fitting, key=lambda p: (p.expected_loss or 0.0, p.cpu_s or 0.0))


def _size(plan: SizePlan) -> float:
    """Return what the file takes at most, as far as the sample can tell."""
    interval = plan.bytes_file_interval
    return np.inf if interval is None else interval[1]


def _shapes(
    planner: Planner, max_depth: int
) -> Iterator[tuple[int, Sequence[LabelTree] | None]]:
    """Yield the trees as asked, and cut to two levels where that is less."""
    yield max_depth, None
    trees = planner.exact.trees
    if max(tree.depth for tree in trees) > SHALLOW:
        yield SHALLOW, [tree.clip(SHALLOW) for tree in trees]


def _of_shape(
    planner: Planner, place: dict[str, Any], budget: int, share: float, seed: int
) -> Iterator[SizePlan]:
    alpha, prune = planner.arguments["alpha"], planner.arguments["prune"]
    # alpha means nothing to the L2 solver.
    has_alpha = planner.arguments["solver"] != L2_SOLVER
    most = None
    for factor in ALPHAS if has_alpha else (1.0,):
        if not math.isfinite(factor * alpha):
            return
        arguments = {**planner.arguments, "alpha": factor * alpha}
        at = replace(planner, arguments=arguments)
        trained = at.sample(share, seed)
        fits = False
        for threshold in (prune, *(p for p in PRUNES if p > prune)):
            kept = [pruned(t, threshold) for t in trained]
            settings = {**arguments, "prune": threshold}
            plan = replace(
                at.exact,
                settings=settings,
                **estimated_fields(
                    at.account, settings, kept, at.n_threads, at.fixed_s
                ),
                depths=fill_depths(
                    at.exact.depths,
                    at.account.trees,
                    kept,
                    arguments["intercept_scaling"] > 0,
                ),
                candidate={**place, "alpha": factor * alpha, "prune": threshold},
            )
            estimate = plan.nonzeros_estimate or 0.0
            most = estimate if most is None else most
            plan = replace(plan, expected_loss=max(0.0, 1.0 - estimate / max(most, 1)))
            fits = fits or (threshold == prune and _size(plan) <= budget)
            yield plan
        if fits:
            # A larger alpha only loses more.
            return


def pruned(trained: Trained, threshold: float) -> Trained:
    """Return the sample as it is without the weights below `threshold`."""
    kept = _pruned(trained.weights, threshold)
    thinned = trained.thinned
    if thinned is not None:
        thinned = replace(thinned, weights=_pruned(thinned.weights, threshold))
    nnz = np.diff(kept.indptr).astype(np.float64)
    return replace(trained, weights=kept, nnz=nnz, thinned=thinned)


def _pruned(
    weights: sparse.csr_matrix[np.float32], threshold: float
) -> sparse.csr_matrix[np.float32]:
    kept = weights.copy()
    kept.data = np.where(np.abs(kept.data) < threshold, np.float32(0), kept.data)
    kept.eliminate_zeros()
    return kept
