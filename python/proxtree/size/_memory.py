"""Peak memory of training: an account of what is held at once.

Bytes of the native module's structures, by where they are defined. Everything but
the weights follows from the data, the tree and the number of threads.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from proxtree._solvers import L2_SOLVER
from proxtree.size._sizes import TreeSizes

Floats = NDArray[np.float64]

# What a first call to `fit` adds however small the data: modules, thread stacks.
CALL = 3.5e6
THREAD = 0.3e6
# A stored value: column or row id and value.
VALUE = 8
# solver::Design: a column's two pointers, its sum and its sum of squares.
COLUMN = 32
# solver::Workspace, a row: Row, flag, touched id, compact id; the row and the residual
# of a certificate; and of Newton's buffers, which reach as far as the support does.
WORKSPACE_ROW = 16 + 1 + 4 + 4 + 16 + 16 + 45
# A feature: weight, gradient, three flags, working set, sweep list, candidates.
WORKSPACE_FEATURE = 8 + 8 + 3 + 3 * 4
# solver::Gradient, a feature of L1 problems: its place among those listed and, in
# solves that go on to the gap, among those added up by column.
LISTED_FEATURE = 4
OPEN_FEATURE = 4
# solver::Design, what L1 problems share: columns sorted by their sums and what sorting
# takes; to the gap they are also sorted by square sums, kept with counts of values.
BY_SUM = 4
SORTING = 8 + 8
BY_SQUARE = 4 + 8 + 8
# Share of a node's values that solves gather: in a tree's few sweeps what active rows
# hold in the columns of the support, as solver::copied_bytes has it, and 0.1 that
# larger arrays leave behind where they replace smaller ones; in solves that go on to
# the gap, the columns of the working set on its rows.
GATHERED = 0.6
GATHERED_GROWTH = 1.1
GATHERED_TO_THE_GAP = 0.8
# solver::Siblings, the L2 problems that are solved together: a row's dual variables,
# shared numbers, activity and place in a sweep; a feature's weights in f32 and f64.
LANES = 16
LEAST_SIBLINGS = 4
LEAST_EPS = 1e-2
TOGETHER_ROW = 64 + 8 + 2 + 4
TOGETHER_FEATURE = 64 + 128
# An L2 problem alone: Workspace as far as it is used, its dual variables, its sweep.
ALONE_ROW = 16 + 1 + 4 + 4 + 32 + 4
ALONE_FEATURE = WORKSPACE_FEATURE
# What the L2 problems of a node share: a start for each row and feature, and the
# squared length of a row.
START = 8
SQUARE = 8
# A weight while its node is put together: solver's output, and a sort key; a node of
# more weights than there are features is put together by counting, without keys.
# While the two arrays of the output grow, as much again lies about, but only below the
# size from which glibc moves pages instead. Kept: model::Entry, and for each run a
# feature id and offset: at most as many runs as features that the node uses.
WEIGHT_OUT = 8
WEIGHT_SORTED = 4 + 16
GROWN = 2 * 32e6
WEIGHT_KEPT = 8
RUN_KEPT = 8
RUNS_PER_WEIGHT = 0.6
# train::Record, its arrays in Python, these joined, and a row of `certificate_`.
PROBLEM = 72 + 65 + 65 + 116
# model::NodeClassifiers, two vectors of positives, the node's own structures.
NODE = 400
# What is forgotten here. Fitted, as are the gathered columns and Newton's buffers, to
# fits of data sets on one and two threads (benches/results/size.md).
SLACK = 1.135


def solves_together(arguments: Mapping[str, Any]) -> bool:
    """Return whether siblings are solved together, numbers out of range aside."""
    if arguments["solver"] != L2_SOLVER:
        return False
    is_free = arguments["intercept_scaling"] > 0 and not arguments["penalize_intercept"]
    return not is_free and arguments["solver_options"].get("eps", 1.0) >= LEAST_EPS


@dataclass(frozen=True)
class Account:
    """What memory depends on, besides the weights."""

    trees: Sequence[TreeSizes]
    root_rows: str
    n_samples: int
    n_features: int
    n_labels: int
    nnz_x: int
    nnz_y: int
    weighted: bool
    normalize: bool
    #: Whether problems end at the duality gap alone.
    to_the_gap: bool
    #: Whether the penalty is L2, and then, whether siblings are solved together.
    is_l2: bool
    is_together: bool
    #: Address space that a thread sets aside, where that is what is limited.
    thread_bytes: int = 0

    @classmethod
    def of(
        cls,
        trees: Sequence[TreeSizes],
        X: sparse.csr_matrix[np.float32],
        Y: sparse.csr_matrix[np.uint8],
        *,
        arguments: Mapping[str, Any],
        weighted: bool,
    ) -> Account:
        """Take the shapes of checked X and Y."""
        return cls(
            trees,
            arguments["root_rows"],
            X.shape[0],
            X.shape[1],
            Y.shape[1],
            X.nnz,
            Y.nnz,
            weighted,
            arguments["normalize"],
            arguments["violation_tol"] == 0,
            arguments["solver"] == L2_SOLVER,
            solves_together(arguments),
        )

    def least(self) -> float:
        """Return what no training of these shapes stays below, whatever its trees.

        One thread, no weight; nothing of the data's width is looked at.
        """
        ids = 4.0 * (self.n_samples + self.n_features)
        columns = 0.0
        if self.root_rows == "all":
            columns = float(COLUMN * self.n_features)
        held = 2 * 8.0 * self.n_samples + 4 * self.nnz_y + 2 * 8 * self.n_labels
        held += CALL + THREAD + ids + columns + PROBLEM * self.n_labels
        return SLACK * held + self.thread_bytes * 2

    def peak(self, weights: Sequence[Floats], n_threads: int) -> float:
        """Return the most bytes held at once, given the weights of every node."""
        nodes = max(
            self._nodes(tree, own, n_threads)
            for tree, own in zip(self.trees, weights, strict=True)
        )
        kept = sum(
            self._model(tree, own)
            for tree, own in zip(self.trees, weights, strict=True)
        )
        n, n_labels = self.n_samples, self.n_labels
        held = 2 * 8.0 * n + 4 * self.nnz_y + 2 * 8 * n_labels
        if self.normalize:
            held += VALUE * self.nnz_x + 8 * n
        held += CALL + THREAD * n_threads
        # One more thread than work: it waits for the others.
        return SLACK * (held + nodes + kept) + self.thread_bytes * (n_threads + 1)

    def _model(self, tree: TreeSizes, weights: Floats) -> float:
        """Return what a trained tree keeps, with its predictor's index."""
        indexed = (self.n_features <= 2 * weights).sum()
        return float(
            self._kept(tree, weights).sum()
            + PROBLEM * tree.n_children.sum()
            + 4 * (self.n_features + 1) * indexed
        )

    def _kept(self, tree: TreeSizes, weights: Floats) -> Floats:
        """Return what is kept of each node once it is solved."""
        runs = np.minimum(RUNS_PER_WEIGHT * weights, tree.trained(self.root_rows)[2])
        result: Floats = WEIGHT_KEPT * weights + RUN_KEPT * runs + NODE
        return result

    def _nodes(self, tree: TreeSizes, weights: Floats, n_threads: int) -> float:
        """Return the most that solving a tree's nodes holds besides results."""
        n_rows, nnz, n_features = (
            a.astype(np.float64) for a in tree.trained(self.root_rows)
        )
        is_whole = np.zeros(len(n_rows), bool)
        if self.root_rows == "all":
            is_whole[0] = True
            # It has a column for each feature, whether that occurs or not.
            n_features[0] = self.n_features
        design = VALUE * nnz + COLUMN * n_features
        # The root of all rows is the data as they stand.
        design += np.where(is_whole, 0.0, VALUE * nnz + 8 * n_rows + 4 * n_features)
        design += 4.0 * tree.n_rows * np.where(tree.n_children > 1, 1, 0)
        if self.weighted:
            design += 16 * n_rows
        if self.is_l2:
            design += (START + SQUARE) * n_rows + START * n_features
        else:
            design += (BY_SUM + self.to_the_gap * BY_SQUARE) * n_features
        workspace = self._workspace(tree, n_rows, nnz, n_features)
        assembling = weights * np.where(
            weights > self.n_features, WEIGHT_OUT, WEIGHT_OUT + WEIGHT_SORTED
        )
        assembling += np.minimum(WEIGHT_OUT * weights, GROWN)
        # train::Job: large nodes by all threads, the others by one each.
        work = nnz * tree.n_children
        is_large = work > work.sum() / (4 * n_threads)
        hands = np.where(is_large, n_threads, 1)
        # Nodes of much work come first: what is kept of those that follow is not
        # there yet.
        order = np.argsort(-work, kind="stable")
        kept = self._kept(tree, weights)
        later = np.empty(len(work))
        later[order] = kept.sum() - np.cumsum(kept[order])
        besides = design + assembling - later
        # Sorting comes before anything is gathered.
        sorting = np.zeros(len(nnz)) if self.is_l2 else SORTING * n_features
        gathered = self._gathered(tree, n_rows, nnz, hands)
        solving = hands * workspace + np.maximum(sorting, gathered)
        # The allocator keeps what the solves of the first, largest node free.
        first = int(np.argmax(work))
        kept_back = float(solving[first])
        if not is_large[first]:
            kept_back *= n_threads
        largest = float(
            (besides + np.maximum(solving, kept_back))[is_large].max(initial=0.0)
        )
        small = np.argsort(-(besides + solving)[~is_large])[:n_threads]
        side_by_side = float(besides[~is_large][small].sum())
        side_by_side += max(kept_back, float(solving[~is_large][small].sum()))
        extractors = 4.0 * n_threads * (self.n_samples + self.n_features)
        rows_of_nodes = 4 * float(tree.n_rows.sum()) + 4 * self.n_samples
        return rows_of_nodes + extractors + max(largest, side_by_side)

    def _gathered(
        self, tree: TreeSizes, n_rows: Floats, nnz: Floats, hands: NDArray[np.int64]
    ) -> Floats:
        """Return what the threads at each node copy out of its matrix."""
        if self.is_l2:
            return np.zeros(len(nnz))
        if self.to_the_gap:
            result: Floats = GATHERED_TO_THE_GAP * VALUE * nnz * hands
            return result
        # Each thread begins with one of the problems of the most positives.
        node = np.repeat(np.arange(len(nnz)), tree.n_children)
        order = np.lexsort((-tree.n_positives, node))
        begun = order[np.arange(len(node)) - np.searchsorted(node, node) < hands[node]]
        node, n_positives = node[begun], tree.n_positives[begun]
        minority = np.minimum(n_positives, n_rows[node] - n_positives)
        share = np.sqrt(np.maximum(minority, 0.0) / np.maximum(n_rows[node], 1.0))
        share = np.minimum(GATHERED, GATHERED_GROWTH * share)
        copied = np.bincount(node, share, len(nnz))
        return copied * VALUE * nnz

    def _workspace(
        self, tree: TreeSizes, n_rows: Floats, nnz: Floats, n_features: Floats
    ) -> Floats:
        """Return what a thread holds to solve the problems of each node."""
        if not self.is_l2:
            feature = WORKSPACE_FEATURE + LISTED_FEATURE
            feature += self.to_the_gap * OPEN_FEATURE
            result: Floats = WORKSPACE_ROW * n_rows + feature * n_features
            return result
        # The shared start is solved alone, before any other.
        alone: Floats = ALONE_ROW * n_rows + ALONE_FEATURE * n_features
        if not self.is_together:
            return alone
        trained = tree.n_trained()
        rest = trained % LANES
        is_together = (trained >= LANES) | (rest >= LEAST_SIBLINGS)
        is_alone = (trained < tree.n_children) | ((rest > 0) & (rest < LEAST_SIBLINGS))
        together = TOGETHER_ROW * n_rows + TOGETHER_FEATURE * n_features
        together = is_together * together + is_alone * alone
        return np.maximum(together, alone)
