"""Size of a model file before there is a model: what each part will take."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from proxtree._nested_lists import LABEL_BIT
from proxtree.tree import LabelTree

Floats = NDArray[np.float64]

# The file's head with its settings, checksums and plan; a depth of the plan's table;
# a further tree's sections.
HEAD = 2700
DEPTH_HEAD = 250
TREE_HEAD = 900
# Distinct features of a node for each of its weights, at most all it uses; 0.40 to
# 0.56 on five data sets whose nodes have 100 children (benches/RESULTS.md).
RUNS_PER_WEIGHT = 0.5
# A feature's gap and run length, each mostly one byte.
RUN_BYTES = 2.25
WEIGHT_BYTES = 4
# Relative error of all this, besides that of the weights.
ERROR = 0.05


def file_bytes(
    tree: LabelTree,
    n_features: NDArray[np.int64],
    weights: Floats,
    n_intercepts: float,
) -> float:
    """Return the bytes of a tree with these weights and used features by node."""
    child_ptr, _ = tree._native.parts()
    n_children = _differences(child_ptr)
    runs = np.minimum(RUNS_PER_WEIGHT * weights, n_features)
    runs = np.where(n_children == 1, np.minimum(weights, n_features), runs)
    per_run = weights / np.maximum(runs, 1e-9)
    # A run's children are gaps, one byte below 128: of r among K, a share
    # (1 - 128/K)^r of the gaps is larger.
    ids = 1.0 + sum(
        np.clip(1.0 - step / n_children, 0.0, None) ** np.maximum(per_run, 1.0)
        for step in (1 << 7, 1 << 14, 1 << 21)
    )
    n_problems = int(n_children.sum())
    intercept = 8 if tree.n_nodes == 1 else 4
    return float(
        tree_bytes(tree)
        + (weights * (WEIGHT_BYTES + ids)).sum()
        + RUN_BYTES * runs.sum()
        + len(n_children)
        + intercept * n_intercepts
        + n_problems / 8
    )


def tree_bytes(tree: LabelTree) -> int:
    """Return the bytes of the tree itself, exactly."""
    child_ptr, children = tree._native.parts()
    n_children = _differences(child_ptr)
    node = np.repeat(np.arange(len(n_children)), n_children)
    is_label = children >= LABEL_BIT
    ids = (children[is_label] & (LABEL_BIT - 1)).astype(np.int64)
    own = node[is_label]
    before = np.concatenate([[0], ids[:-1]])
    before[np.concatenate([[True], own[1:] != own[:-1]])[: len(own)]] = 0
    step = ids - before
    codes = 1 + ((step << 1) ^ (step >> 63))
    return int(_varint(n_children).sum() + _varint(codes).sum() + (~is_label).sum())


def _differences(pointers: NDArray[np.uint32]) -> NDArray[np.int64]:
    wide = pointers.astype(np.int64)
    result: NDArray[np.int64] = wide[1:] - wide[:-1]
    return result


def _varint(values: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return how many bytes of seven bits each value takes."""
    length = np.ones(len(values), np.int64)
    for shift in range(7, 63, 7):
        length += values >= 1 << shift
    return length
