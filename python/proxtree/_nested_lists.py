"""Nested lists of labels to the flat arrays of a tree."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from proxtree._parameters import check_int
from proxtree.exceptions import DataError

# Marks a label among the native tree's children; the rest is its id.
LABEL_BIT = 1 << 31


def flatten(lists: Any) -> tuple[int, NDArray[np.uint32], NDArray[np.uint32]]:
    """Return (n_labels, child_ptr, children) of nested lists, breadth first.

    A list is a node, an int a label. That each label occurs once is checked where
    the arrays become a tree.

    Raises
    ------
    DataError
        If a list is empty or occurs in two places (in itself, say), or a label is
        out of range.
    TypeError
        If something is neither a list, tuple or 1-D array nor an int.
    """
    queue = [_items(lists)]
    seen = {id(lists)}
    child_ptr, children = [0], []
    for node in queue:
        if not node:
            raise DataError("nested tree: an empty list is a node without labels")
        for child in node:
            if isinstance(child, Integral) and not isinstance(child, bool):
                label = check_int(child, "label", 0, LABEL_BIT - 1)
                children.append(label | LABEL_BIT)
                continue
            if id(child) in seen:
                raise DataError("nested tree: one list occurs in two places")
            seen.add(id(child))
            children.append(len(queue))
            queue.append(_items(child))
        child_ptr.append(len(children))
    n_labels = len(children) - len(queue) + 1
    return n_labels, np.array(child_ptr, np.uint32), np.array(children, np.uint32)


def _items(node: Any) -> list[Any]:
    if isinstance(node, list | tuple):
        return list(node)
    if isinstance(node, np.ndarray) and node.ndim == 1:
        return list(node)
    raise TypeError(
        f"nested tree: {node!r} is neither a list (a node) nor an int (a label)"
    )
