"""What trees ask of each node, and the bytes that follow: exact, before training."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from proxtree import _core
from proxtree._nested_lists import LABEL_BIT
from proxtree._validation import csr_arg, pattern_arg
from proxtree.tree import LabelTree

DEPTHS = np.dtype(
    [
        ("depth", np.int64),
        ("n_nodes", np.int64),
        ("n_labels", np.int64),
        ("n_problems", np.int64),
        ("n_features", np.int64),
        ("feature_ratio", np.float64),
        ("feature_ratio_weighted", np.float64),
        ("nonzeros_bound", np.int64),
        ("nonzeros_estimate", np.float64),
    ]
)

# Paper: a float64 and an int32 for each weight; dense one-vs-rest a float64.
PAPER_BYTES = 12
DENSE_BYTES = 8


@dataclass(frozen=True, eq=False)
class TreeSizes:
    """The nodes of one tree: arrays of int64, shape (n_nodes,).

    Of the rows that carry a label of the node, as the paper counts them.
    """

    tree: LabelTree
    depth: NDArray[np.int64]
    n_children: NDArray[np.int64]
    n_rows: NDArray[np.int64]
    nnz: NDArray[np.int64]
    n_features: NDArray[np.int64]
    #: Positives of each child, shape (n_problems,), in the order of the nodes.
    n_positives: NDArray[np.int64]
    #: Rows, stored values and features of the root with all rows of the data.
    whole_root: tuple[int, int, int]

    def trained(self, root_rows: str) -> tuple[NDArray[np.int64], ...]:
        """Return rows, stored values and features of the nodes as trained."""
        columns = (self.n_rows.copy(), self.nnz.copy(), self.n_features.copy())
        if root_rows == "all":
            for column, whole in zip(columns, self.whole_root, strict=True):
                column[0] = whole
        return columns

    def n_trained(self) -> NDArray[np.int64]:
        """Return how many children of each node have a positive."""
        ends = np.cumsum(self.n_children)
        trained = np.concatenate([[0], np.cumsum(self.n_positives > 0)])
        result: NDArray[np.int64] = trained[ends] - trained[ends - self.n_children]
        return result

    def parents(self) -> NDArray[np.int64]:
        """Return the parent of each node but the root."""
        child_ptr, children = self.tree._native.parts()
        node = np.repeat(np.arange(len(child_ptr) - 1), np.diff(child_ptr.astype(int)))
        # Ids go breadth first, so that children that are nodes come in order.
        return node[children < LABEL_BIT]

    def feature_ratios(self) -> NDArray[np.float64]:
        """Return used features over the parent's, of each node but the root."""
        of_parent = self.n_features[self.parents()]
        ratio: NDArray[np.float64] = self.n_features[1:] / np.maximum(of_parent, 1)
        return ratio


def measure(
    X: sparse.csr_matrix[np.float32],
    Y: sparse.csr_matrix[np.uint8],
    tree: LabelTree,
    n_threads: int,
) -> TreeSizes:
    """Measure every node of a tree over checked X and Y."""
    columns = _core.measure(
        csr_arg(X), pattern_arg(Y), tree._native, n_threads=n_threads
    )
    whole = tuple(int(columns[name][-1]) for name in ("n_rows", "nnz", "n_features"))
    nodes = {name: column[:-1] for name, column in columns.items()}
    return TreeSizes(
        tree=tree,
        **nodes,
        n_positives=_positives(tree, nodes["n_rows"], Y),
        whole_root=(whole[0], whole[1], whole[2]),
    )


def _positives(
    tree: LabelTree, n_rows: NDArray[np.int64], Y: sparse.csr_matrix[np.uint8]
) -> NDArray[np.int64]:
    """Return the positives of every problem."""
    _, children = tree._native.parts()
    is_label = children >= LABEL_BIT
    counts = np.bincount(Y.indices, minlength=Y.shape[1])
    result = np.empty(len(children), np.int64)
    result[is_label] = counts[children[is_label] & (LABEL_BIT - 1)]
    result[~is_label] = n_rows[children[~is_label]]
    return result


def bound(sizes: TreeSizes, root_rows: str, intercept: bool) -> NDArray[np.int64]:
    """Return for each node the most weights and intercepts: equation (18)."""
    n_features = sizes.trained(root_rows)[2]
    result: NDArray[np.int64] = sizes.n_children * (n_features + int(intercept))
    return result


def exact_fields(
    trees: Sequence[TreeSizes], n_features: int, root_rows: str, intercept: bool
) -> dict[str, Any]:
    """Return all fields of a plan that tree and data alone decide."""
    n_labels = trees[0].tree.n_labels
    paper = sum(int((t.n_children * t.n_features).sum()) for t in trees)
    bounds = [bound(t, root_rows, intercept) for t in trees]
    flat_paper = n_labels * int(trees[0].n_features[0])
    flat_whole = trees[0].trained(root_rows)[2][0]
    dense = DENSE_BYTES * n_labels * n_features
    return {
        "n_problems": sum(int(t.n_children.sum()) for t in trees),
        "nonzeros_bound": sum(int(b.sum()) for b in bounds),
        "bytes_paper": PAPER_BYTES * paper,
        "bytes_one_vs_rest": dense,
        "ratio_paper": PAPER_BYTES * paper / dense if dense else 0.0,
        "bytes_libmultilabel": libmultilabel_bytes(paper),
        "one_vs_rest": {
            "n_problems": n_labels,
            "nonzeros_bound": int(n_labels * (flat_whole + int(intercept))),
            "bytes_paper": PAPER_BYTES * flat_paper,
            "bytes_libmultilabel": libmultilabel_bytes(flat_paper),
        },
        "depths": depth_table(trees, bounds),
    }


def libmultilabel_bytes(n_weights: int) -> int:
    """Return what LibMultiLabel 0.10 announces for so many used-feature weights.

    16 bytes each (int64 index, float64), of which it takes 2/3 to be non-zero.
    """
    return 16 * 2 * n_weights // 3


def depth_table(
    trees: Sequence[TreeSizes], bounds: Sequence[NDArray[np.int64]]
) -> NDArray[np.void]:
    """Return a row for each depth that has nodes."""
    tables = [t.tree.depth_table() for t in trees]
    table = np.zeros(max(t.tree.depth for t in trees), DEPTHS)
    table["depth"] = np.arange(len(table))
    table["nonzeros_estimate"] = np.nan
    for t, counts, own in zip(trees, tables, bounds, strict=True):
        n = t.tree.depth
        for name, source in (("n_nodes",) * 2, ("n_labels",) * 2):
            table[name][:n] += counts[source][:n]
        table["n_problems"][:n] += counts["n_children"][:n]
        for name, values in (("n_features", t.n_features), ("nonzeros_bound", own)):
            np.add.at(table[name], t.depth, values)
    ratios = np.concatenate([t.feature_ratios() for t in trees])
    depth = np.concatenate([t.depth[1:] for t in trees])
    weight = np.concatenate([t.n_children[1:] for t in trees])
    for row in table:
        # Nothing at the root, which has no parent.
        here = depth == row["depth"]
        plain, weighted = means(ratios[here], weight[here])
        row["feature_ratio"], row["feature_ratio_weighted"] = plain, weighted
    return table


def means(ratio: NDArray[np.float64], weight: NDArray[np.int64]) -> tuple[float, float]:
    """Return the plain and the weighted mean, NaN of nothing."""
    if not len(ratio):
        return np.nan, np.nan
    return float(ratio.mean()), float(np.average(ratio, weights=weight))
