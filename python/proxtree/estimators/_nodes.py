"""The nodes of a trained tree, and the problems that they hold."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from proxtree import _certificates, _core
from proxtree._nested_lists import LABEL_BIT


class Node(NamedTuple):
    """The classifiers of one internal node, a row for each of its children."""

    #: ndarray of int64: a label's id, or minus the id of another internal node.
    children: NDArray[np.int64]
    #: csr_matrix of float32, shape (n_children, n_features): the weights.
    coef: sparse.csr_matrix[np.float32]
    #: ndarray of float64, shape (n_children,): what is added to the margins.
    intercept: NDArray[np.float64]


def iterate(model: _core.Model) -> Iterator[Node]:
    """Yield the nodes of all trees, breadth first, tree after tree."""
    for tree in range(model.n_trees):
        child_ptr, children = _children(model, tree)
        for node, (start, end) in enumerate(pairwise(child_ptr.tolist())):
            (indptr, indices, data), intercept = model.node(tree, node)
            shape = (end - start, model.n_features)
            coef = sparse.csr_matrix((data, indices, indptr), shape=shape)
            yield Node(children[start:end], coef, intercept)


def _children(
    model: _core.Model, tree: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return where each node's children start, and all children: labels or -node."""
    child_ptr, codes = model.tree(tree)
    label_bit = np.uint32(LABEL_BIT)
    ids = (codes & ~label_bit).astype(np.int64)
    return child_ptr.astype(np.int64), np.where(codes & label_bit, ids, -ids)


def problem_places(model: _core.Model) -> dict[str, NDArray[Any]]:
    """Return tree, node, child and depth of every problem."""
    parts: dict[str, list[NDArray[Any]]] = {name: [] for name in _certificates.PLACE}
    for tree in range(model.n_trees):
        child_ptr, children = _children(model, tree)
        node = np.repeat(np.arange(len(child_ptr) - 1), np.diff(child_ptr))
        # Ids go breadth first: a node's depth is known before its children's.
        depth = np.zeros(len(child_ptr) - 1, np.int64)
        for problem in np.flatnonzero(children < 0):
            depth[-children[problem]] = depth[node[problem]] + 1
        parts["tree"].append(np.full(len(children), tree))
        parts["node"].append(node)
        parts["child"].append(children)
        parts["depth"].append(depth[node])
    return {name: np.concatenate(arrays) for name, arrays in parts.items()}
