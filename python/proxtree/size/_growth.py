"""Too little memory for building a tree is said before it is built."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import log

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from proxtree.size._limit import Limit
from proxtree.size._memory import CALL, SLACK, THREAD, VALUE
from proxtree.size._sizes import measure
from proxtree.tree import LabelTree

# A label, whatever the tree: its rows, its length, its place.
HELD_LABEL = 24.0
# Copies of the label features: Python's, the points of a level and those of the
# next, the centroids and those that replace them.
COPIES = 5
# tree::label_features: blocks of labels, each with the sums of its longest label in
# room that doubles; then all in one piece.
BLOCK = 32
SUM = 2 * 16
PIECES = 2
# tree::Accumulator, a feature: the sum and its bit.
ACCUMULATED = 8 + 1 / 8
# tree::Table: columns at a time, in lanes of eight; a feature's slot and count.
COLUMNS = 128
SLOT = 4 + 4
# A label: products or scores of so many columns at least, with a first centroid's
# norm and distance, the assignment and the one before, places in three lists.
LEAST_COLUMNS = 104
# tree::seeding: the products of the candidates of so many steps, beside the scores.
STEPS = 5
LABEL = 4 + 4 + 2 * 4 + 3 * 8 + 2 * 8


@dataclass(frozen=True)
class Growth:
    """What the memory of building trees depends on: an upper bound of it."""

    n_samples: int
    n_features: int
    nnz_x: int
    nnz_y: int
    #: Features of each label at most, shape (n_labels,).
    lengths: NDArray[np.int64]
    n_clusters: int
    max_depth: int
    normalize: bool
    thread_bytes: int = 0

    def peak(self, n_threads: int) -> float:
        """Return the most bytes held at once."""
        n_labels, nnz = len(self.lengths), float(self.lengths.sum())
        longest = np.maximum.reduceat(self.lengths, np.arange(0, n_labels, BLOCK))
        held = 4 * self.nnz_y + HELD_LABEL * n_labels + CALL + THREAD * n_threads
        if self.normalize:
            held += VALUE * self.nnz_x + 8 * self.n_samples
        features = PIECES * VALUE * nnz + SUM * float(longest.sum())
        features += n_threads * ACCUMULATED * self.n_features
        if self.max_depth == 1 or n_labels <= self.n_clusters:
            clustering = 0.0
        else:
            columns = 8 * -(-min(self.n_clusters, COLUMNS) // 8)
            columns = max(columns, LEAST_COLUMNS)
            table = (4 * columns + SLOT + ACCUMULATED) * self.n_features
            clustering = COPIES * VALUE * nnz + n_threads * table
            columns = max(self.n_clusters, LEAST_COLUMNS) + self._candidates()
            clustering += (4.0 * columns + LABEL) * n_labels
        most = SLACK * (held + max(features, clustering))
        return most + self.thread_bytes * (n_threads + 1)

    def _candidates(self) -> int:
        """Return how many candidates of first centroids are multiplied at once."""
        trials = 2 + int(log(self.n_clusters))
        return 8 * -(-STEPS * trials // 8)


def check_growth(
    X: sparse.csr_matrix[np.float32],
    Y: sparse.csr_matrix[np.uint8],
    n_clusters: int,
    max_depth: int,
    *,
    normalize: bool,
    n_threads: int,
    limited: Limit | None,
) -> None:
    """Refuse to build trees over checked X and Y that may not fit into the limit.

    Raises
    ------
    MemoryError
        With the need, the limit, and the nearest settings it can be built with.
    """
    if limited is None:
        return
    check_labels(X, Y, limited)
    most = Y.T.astype(np.int64) @ np.diff(X.indptr).astype(np.int64)
    growth = Growth(
        X.shape[0],
        X.shape[1],
        X.nnz,
        Y.nnz,
        np.minimum(most, X.shape[1]),
        n_clusters,
        max_depth,
        normalize,
        limited.thread_bytes,
    )
    if growth.peak(n_threads) <= limited.n_bytes:
        return
    # Samples of a label share features: counted where it matters.
    growth = replace(growth, lengths=label_lengths(X, Y, n_threads))
    if growth.peak(n_threads) > limited.n_bytes:
        raise _error(growth, n_threads, limited.n_bytes)


def check_labels(
    X: sparse.csr_matrix[np.float32],
    Y: sparse.csr_matrix[np.uint8],
    limited: Limit | None,
) -> None:
    """Refuse labels that no tree over them fits, before an array has one for each.

    Raises
    ------
    MemoryError
        With the need, the limit, and what would fit.
    """
    if limited is None:
        return
    need = SLACK * (HELD_LABEL * Y.shape[1] + CALL)
    if need > limited.n_bytes:
        raise MemoryError(
            f"no memory for a tree of {Y.shape[1]} labels on {X.shape[0]} samples with "
            f"{X.shape[1]} features: it needs {need:.0f} bytes at least, the limit is "
            f"{limited.n_bytes} (memory_limit, by default what this process may use); "
            "fewer labels need less"
        )


def label_lengths(
    X: sparse.csr_matrix[np.float32], Y: sparse.csr_matrix[np.uint8], n_threads: int
) -> NDArray[np.int64]:
    """Return how many features occur in the samples of each label."""
    n_labels = Y.shape[1]
    # Each label in a node of its own.
    parents = np.r_[np.arange(n_labels, 2 * n_labels), np.full(n_labels, 2 * n_labels)]
    tree = LabelTree.from_parents(np.append(parents, -1))
    return measure(X, Y, tree, n_threads).n_features[1:]


def _error(growth: Growth, n_threads: int, limit: int) -> MemoryError:
    parts = [
        f"no memory for building the tree of {len(growth.lengths)} labels on "
        f"{growth.n_samples} samples with {growth.n_features} features: it needs up "
        f"to {growth.peak(n_threads):.0f} bytes with n_threads={n_threads}, the limit "
        f"is {limit} (memory_limit, by default what this process may use)"
    ]
    fitting = list(_fitting(growth, n_threads, limit))
    if fitting:
        # Training is another matter, checked once there is a tree.
        parts.append("it could be built with " + " or ".join(fitting))
    else:
        parts.append("give a tree= that was built elsewhere, or from a hierarchy")
    return MemoryError("; ".join(parts))


def _fitting(growth: Growth, n_threads: int, limit: int) -> Iterator[str]:
    """Yield settings, each alone a change, that the tree can be built with."""
    fewer = n_threads - 1
    while fewer >= 1:
        if growth.peak(fewer) <= limit:
            yield f"n_threads={fewer}"
            break
        fewer = fewer // 2 if fewer > 1 else 0
    # No clustering, hence no copies for it.
    if replace(growth, max_depth=1).peak(n_threads) <= limit:
        yield "max_depth=1"
