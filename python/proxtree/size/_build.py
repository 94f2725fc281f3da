"""From sizes, and a sample where there is one, to a `SizePlan`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import add
from typing import Any

import numpy as np
from numpy.typing import NDArray

from proxtree.size import _estimate, _file
from proxtree.size._estimate import Trained
from proxtree.size._memory import Account
from proxtree.size._size_plan import SizePlan
from proxtree.size._sizes import TreeSizes, bound, exact_fields

# Relative error of the account of memory.
MEMORY_ERROR = 0.2


def exact_plan(account: Account, arguments: dict[str, Any], n_threads: int) -> SizePlan:
    """Return the plan of what tree and data alone decide."""
    return SizePlan(
        trees=[t.tree for t in account.trees],
        n_threads=n_threads,
        settings=dict(arguments),
        **exact_fields(
            account.trees,
            account.n_features,
            account.root_rows,
            arguments["intercept_scaling"] > 0,
        ),
    )


def estimated_fields(
    account: Account,
    arguments: dict[str, Any],
    trained: Sequence[Trained],
    n_threads: int,
    fixed_s: float,
) -> dict[str, Any]:
    """Return the fields that a sample of each tree decides.

    `fixed_s` are the CPU seconds of checking and measuring the data, which `fit`
    spends too.
    """
    sizes = account.trees
    intercept = arguments["intercept_scaling"] > 0
    highest = sum(int(bound(t, account.root_rows, intercept).sum()) for t in sizes)
    total = reduce(add, [_estimate.nonzeros(t, intercept) for t in trained])
    known = sum(float(t.nnz.sum()) for t in trained)
    value = min(max(total.value, known), float(highest))
    interval = _estimate.Total(value, total.error).interval(known, highest)
    weights = [
        _limited(t.weights_by_node(len(s.n_rows)), s, account.root_rows)
        for s, t in zip(sizes, trained, strict=True)
    ]
    # The same share of every part at the ends of the interval.
    low, high = (end / max(value, 1.0) for end in interval)

    def file(scale: float) -> float:
        parts = [
            _file.file_bytes(
                s.tree,
                s.trained(account.root_rows)[2],
                account.n_features,
                scale * w,
                min(1.0, scale) * _estimate.n_intercepts(t) if intercept else 0.0,
                t.weights.data,
            )
            for s, w, t in zip(sizes, weights, trained, strict=True)
        ]
        head = _file.HEAD + _file.DEPTH_HEAD * max(s.tree.depth for s in sizes)
        return head + (len(parts) - 1) * _file.TREE_HEAD + sum(parts)

    def peak(scale: float) -> float:
        return account.peak([scale * w for w in weights], n_threads)

    solving = reduce(add, [_estimate.solve_seconds(t) for t in trained])
    preparing = sum(float(_estimate.prepare_seconds(t).sum()) for t in trained)
    wall = _estimate.wall_seconds(sizes, trained, account.root_rows, n_threads)
    half = solving.interval()[1] - solving.value
    cpu_s, wall_s = fixed_s + preparing + solving.value, fixed_s + wall
    return {
        "nonzeros_estimate": value,
        "nonzeros_interval": interval,
        "bytes_file": file(1.0),
        "bytes_file_interval": (
            (1 - _file.ERROR) * file(low),
            (1 + _file.ERROR) * file(high),
        ),
        "peak_memory_bytes": peak(1.0),
        "peak_memory_interval": (
            (1 - MEMORY_ERROR) * peak(low),
            (1 + MEMORY_ERROR) * peak(high),
        ),
        "cpu_s": cpu_s,
        "cpu_s_interval": (max(fixed_s, cpu_s - half), cpu_s + half),
        "wall_s": wall_s,
        "wall_s_interval": (
            max(fixed_s, wall_s - half / n_threads),
            wall_s + half / n_threads,
        ),
        "n_sampled": sum(t.n_problems for t in trained),
    }


def fill_depths(
    table: NDArray[np.void],
    sizes: Sequence[TreeSizes],
    trained: Sequence[Trained],
    intercept: bool,
) -> NDArray[np.void]:
    """Return the table with the weights and intercepts expected at each depth."""
    table = table.copy()
    table["nonzeros_estimate"] = 0.0
    for s, t in zip(sizes, trained, strict=True):
        weights = t.weights_by_node(len(s.n_rows))
        intercepts = np.bincount(t.work.node, minlength=len(weights)) * (
            _estimate.n_intercepts(t) / len(t.work.node) if intercept else 0.0
        )
        np.add.at(table["nonzeros_estimate"], s.depth, weights + intercepts)
    # A total known better than its parts.
    over = np.minimum(table["nonzeros_estimate"], table["nonzeros_bound"])
    table["nonzeros_estimate"] = over
    return table


def _limited(
    weights: NDArray[np.float64], sizes: TreeSizes, root_rows: str
) -> NDArray[np.float64]:
    most = sizes.n_children * sizes.trained(root_rows)[2]
    result: NDArray[np.float64] = np.minimum(weights, most)
    return result
