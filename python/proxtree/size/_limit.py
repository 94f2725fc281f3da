"""Too little memory is said before training, with what would fit."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from proxtree import _core
from proxtree._parameters import check_int
from proxtree.size._budget import pruned
from proxtree.size._estimate import Trained
from proxtree.size._planner import SHARE, Planner
from proxtree.size._size_plan import SizePlan

# Thresholds that are tried for weights that take too much.
PRUNES = (0.05, 0.1, 0.2, 0.3, 0.5)


def memory_limit(value: Any) -> int | None:
    """Return the bytes that training may add; None where nobody knows."""
    if value is None:
        return _core.available_bytes()
    return check_int(value, "memory_limit", 1)


def check_memory(planner: Planner, limit: int | None, seed: int) -> SizePlan:
    """Return the plan of a training that fits into `limit` bytes.

    Its bounds decide nearly always: what training needs without a single weight,
    and with the most there can be. Only in between a sample is trained.

    Raises
    ------
    MemoryError
        With the need, the limit, and the nearest settings that fit.
    """
    if limit is None:
        return planner.exact
    low, high = planner.peak_bounds(planner.n_threads)
    if high <= limit:
        return planner.exact
    if low > limit:
        raise _error(planner, low, limit, None)
    trained = planner.sample(SHARE, seed)
    weights = _weights(planner, trained)
    need = planner.account.peak(weights, planner.n_threads)
    if need > limit:
        raise _error(planner, need, limit, trained)
    return planner.exact


def _weights(planner: Planner, trained: list[Trained], prune: float = 0.0) -> Any:
    result = []
    for sizes, t in zip(planner.account.trees, trained, strict=True):
        most = sizes.n_children * sizes.trained(planner.account.root_rows)[2]
        weights = pruned(t, prune).weights_by_node(len(most))
        result.append(np.minimum(weights, most))
    return result


def _error(
    planner: Planner, need: float, limit: int, trained: list[Trained] | None
) -> MemoryError:
    account = planner.account
    parts = [
        f"no memory for training {account.n_labels} labels on {account.n_samples} "
        f"samples with {account.n_features} features: it needs about "
        f"{need:.0f} bytes with n_threads={planner.n_threads}, the limit is {limit} "
        "(memory_limit, by default what this process may use)"
    ]
    fitting = list(_fitting(planner, limit, trained))
    if fitting:
        parts.append("these fit: " + ", ".join(fitting))
    else:
        least = planner.peak_bounds(1)[0]
        parts.append(
            "no other setting of this model fits: one thread needs "
            f"{least:.0f} bytes without a single weight"
        )
    return MemoryError("; ".join(parts))


def _fitting(
    planner: Planner, limit: int, trained: list[Trained] | None
) -> Iterator[str]:
    """Yield settings, each alone a change, that fit by the same account."""
    account = planner.account
    if trained is None:
        # Weights unknown: nothing smaller than one thread's work can be promised.
        weights = [np.zeros(len(t.n_rows)) for t in account.trees]
    else:
        weights = _weights(planner, trained)

    def fits(weights: Any, n_threads: int) -> bool:
        return account.peak(weights, n_threads) <= limit

    n_threads = planner.n_threads - 1
    while n_threads >= 1:
        if fits(weights, n_threads):
            yield f"n_threads={n_threads}"
            break
        n_threads = n_threads // 2 if n_threads > 1 else 0
    if len(account.trees) > 1:
        for n_trees in range(len(account.trees) - 1, 0, -1):
            fewer = replace(account, trees=account.trees[:n_trees])
            if fewer.peak(weights[:n_trees], planner.n_threads) <= limit:
                yield f"n_trees={n_trees}"
                break
    if account.root_rows == "all":
        labelled = replace(account, root_rows="labelled")
        if labelled.peak(weights, planner.n_threads) <= limit:
            yield 'root_rows="labelled"'
    if trained is not None and len(account.trees[0].n_rows) > 1:
        for prune in PRUNES:
            if prune <= planner.arguments["prune"]:
                continue
            if fits(_weights(planner, trained, prune), planner.n_threads):
                yield f"prune={prune}"
                break
