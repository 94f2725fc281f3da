"""What a sample of trained problems says about all of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from proxtree import _core
from proxtree._solvers import L2_SOLVER
from proxtree._validation import csr_arg, pattern_arg
from proxtree.size._memory import solves_together
from proxtree.size._sample import (
    ENOUGH,
    WEIGHT_S,
    Sample,
    Work,
    draw,
    draw_thinned,
    expected_work,
)
from proxtree.size._sizes import TreeSizes

Floats = NDArray[np.float64]

# Half the width of an interval in standard errors. More than the usual two: errors
# of ratios from few problems have long tails.
WIDTH = 2.5
# Seconds differ by this much between equal runs.
NOISE = 0.1


@dataclass(frozen=True)
class Total:
    """An estimated sum and its standard error."""

    value: float
    error: float

    def __add__(self, other: Total) -> Total:
        return Total(self.value + other.value, float(np.hypot(self.error, other.error)))

    def interval(self, low: float = 0.0, high: float = np.inf) -> tuple[float, float]:
        """Return the interval, within what is known for certain."""
        half = WIDTH * self.error
        return max(low, self.value - half), min(high, self.value + half)


@dataclass(frozen=True, eq=False)
class Thinned:
    """Problems trained on few of their rows."""

    problems: NDArray[np.int64]
    #: Which of them are a sample of all, and how likely each was chosen.
    chosen: NDArray[np.int64]
    probability: Floats
    #: Their weights, a row for each problem.
    weights: sparse.csr_matrix[np.float32]


@dataclass(frozen=True, eq=False)
class Trained:
    """A sample's problems, trained, with all that their tree's totals need."""

    work: Work
    sample: Sample
    nnz: Floats
    intercepts: Floats
    seconds: Floats
    overhead_s: Floats
    #: Weights, a row for each problem.
    weights: sparse.csr_matrix[np.float32]
    #: Where all are not trained whole, the sample's problems and others.
    thinned: Thinned | None

    def total(self, y: Floats, x: Floats) -> Total:
        """Return the sum of y over all problems, expected to go with x."""
        chosen = self.sample
        return ratio_total(y, x, chosen.problems, chosen.probability, chosen.unit)

    @property
    def n_problems(self) -> int:
        """Return how many problems were trained, on all of their rows or on few."""
        known = self.sample if self.thinned is None else self.thinned
        return len(known.problems)

    def total_weights(self) -> Total:
        """Return the weights of all problems.

        What thinned problems let expect of all, times what whole ones have of it.
        """
        thinned, thinning = self.thinned, self.work.thinning
        if thinned is None or thinning is None:
            return self.total(self.nnz, self.work.weights)
        expected = thinning.whole(
            thinned.problems, np.diff(thinned.weights.indptr).astype(np.float64)
        )
        foretold = ratio_total(
            expected[np.searchsorted(thinned.problems, thinned.chosen)],
            self.work.weights,
            thinned.chosen,
            thinned.probability,
        )
        own = expected[np.searchsorted(thinned.problems, self.sample.problems)]
        if foretold.value <= 0.0 or own.sum() <= 0.0:
            return self.total(self.nnz, self.work.weights)
        return _ratio(self.nnz, own, foretold, self.sample.probability)

    def weights_by_node(self, n_nodes: int) -> Floats:
        """Return the weights expected in each node."""
        total = self.total_weights().value
        each = self.work.weights.copy()
        each[self.sample.problems] = 0.0
        # The trained as they are, the others such that the total is as estimated.
        rest = max(0.0, total - float(self.nnz.sum()))
        each *= rest / max(float(each.sum()), 1e-300)
        each[self.sample.problems] = self.nnz
        return np.bincount(self.work.node, each, n_nodes).astype(np.float64)


def ratio_total(
    y: Floats,
    x: Floats,
    chosen: NDArray[np.int64],
    probability: Floats,
    unit: NDArray[np.int64] | None = None,
) -> Total:
    """Return the ratio estimate of sum(y): sum(x) sum(y/p) / sum(x/p) over `chosen`.

    `y` is known for the chosen alone, `x` for all; those of a `unit` were chosen
    together. Source: Särndal, Swensson,
    Wretman, "Model assisted survey sampling", 1992, sections 5.6 and 7.3.
    """
    return _ratio(y, x[chosen], Total(float(x.sum()), 0.0), probability, unit)


def _ratio(
    y: Floats,
    x: Floats,
    total: Total,
    probability: Floats,
    unit: NDArray[np.int64] | None = None,
) -> Total:
    """Return the ratio estimate of sum(y) over all, given that of sum(x).

    The error of `total` is independent of the sample that y and x are known for.
    """
    scale = 1.0 / probability
    covered = float((scale * x).sum())
    if covered <= 0.0:
        return Total(0.0, 0.0)
    ratio = float((scale * y).sum()) / covered
    # Exactly 1 where all are chosen: their sum is then known without rounding.
    inflation = total.value / covered
    residual = scale * (y - ratio * x) * inflation
    if unit is not None:
        residual = np.bincount(unit, residual).astype(np.float64)
        probability = probability[np.unique(unit, return_index=True)[1]]
    n = len(residual)
    lost = n / max(n - 1, 1)
    variance = lost * float(((1.0 - probability) * residual**2).sum())
    variance += (ratio * total.error) ** 2
    return Total(float((scale * y).sum()) * inflation, float(np.sqrt(variance)))


def train_sample(
    X: sparse.csr_matrix[np.float32],
    Y: sparse.csr_matrix[np.uint8],
    sizes: TreeSizes,
    arguments: dict[str, Any],
    *,
    share: float,
    seed: int,
    sample_weight: Floats | None,
    n_threads: int,
) -> Trained:
    """Train a sample of a tree's problems; X is scaled already if it is to be."""
    is_sparse = arguments["solver"] != L2_SOLVER
    work = expected_work(
        sizes, arguments["root_rows"], is_sparse, solves_together(arguments)
    )
    sample = draw(work, sizes.depth, share, seed)
    if len(sample.problems) < ENOUGH and (sample.probability < 1.0).any():
        thinned = draw_thinned(work, sizes.depth, share, seed)
    else:
        thinned = np.zeros(0, np.int64), np.zeros(0)
    return train_these(
        X, Y, sizes, arguments, work, sample, thinned, sample_weight, n_threads
    )


def train_these(
    X: sparse.csr_matrix[np.float32],
    Y: sparse.csr_matrix[np.uint8],
    sizes: TreeSizes,
    arguments: dict[str, Any],
    work: Work,
    sample: Sample,
    thinned: tuple[NDArray[np.int64], Floats],
    sample_weight: Floats | None,
    n_threads: int,
) -> Trained:
    """Train the problems of a sample, and those that are `thinned`."""
    chosen, probability = thinned
    problems = np.union1d(sample.problems, chosen) if len(chosen) else chosen
    first = np.concatenate([[0], np.cumsum(sizes.n_children)])
    parts = np.split(
        sample.problems, np.searchsorted(sample.problems, first[sample.nodes[1:]])
    )
    fields, (indptr, indices, data), overhead = _core.train_some(
        csr_arg(X),
        pattern_arg(Y),
        sizes.tree._native,
        _core.TrainSettings(**arguments),
        [
            (int(node), (part - first[node]).tolist())
            for node, part in zip(sample.nodes, parts, strict=True)
        ],
        [
            (int(node), int(problem - first[node]))
            for problem, node in zip(problems, work.node[problems], strict=True)
        ],
        sample_weight=sample_weight,
        n_threads=n_threads,
    )
    n = len(sample.problems)
    shape = (n + len(problems), X.shape[1])
    weights = sparse.csr_matrix((data, indices, indptr), shape=shape)
    return Trained(
        work=work,
        sample=sample,
        nnz=fields["nnz"][:n].astype(np.float64),
        intercepts=(fields["intercept"][:n] != 0).astype(np.float64),
        seconds=fields["seconds"][:n],
        overhead_s=overhead[: len(sample.nodes)],
        weights=weights[:n],
        thinned=Thinned(problems, chosen, probability, weights[n:])
        if len(problems)
        else None,
    )


def nonzeros(trained: Trained, intercept: bool) -> Total:
    """Return the weights and intercepts of a tree."""
    total = trained.total_weights()
    if not intercept:
        return total
    return total + Total(_n_constants(trained.work), 0.0) + _intercepts(trained)


def _n_constants(work: Work) -> float:
    """Return how many problems have no positives, but rows.

    They have the best constant; nodes that no row reaches have nothing.
    """
    is_trained = work.n_positives > 0
    has_rows = np.bincount(work.node, is_trained) > 0
    return float((~is_trained & has_rows[work.node]).sum())


def _intercepts(trained: Trained) -> Total:
    is_trained = (trained.work.n_positives > 0).astype(np.float64)
    return trained.total(trained.intercepts, is_trained)


def n_intercepts(trained: Trained) -> float:
    """Return how many problems are expected to have an intercept."""
    return _intercepts(trained).value + _n_constants(trained.work)


def solve_seconds(trained: Trained) -> Total:
    """Return the CPU seconds of solving all problems of a tree."""
    total = trained.total(trained.seconds, trained.work.cost)
    return Total(total.value, float(np.hypot(total.error, NOISE * total.value)))


def prepare_seconds(trained: Trained) -> Floats:
    """Return the CPU seconds of preparing each node and of keeping its weights."""
    work, sample = trained.work, trained.sample
    seen = float(work.overhead[sample.nodes].sum())
    preparing = work.overhead * (float(trained.overhead_s.sum()) / max(seen, 1e-300))
    # A sample has too few weights to time them: as fast as the rest is.
    expected = float(work.cost[sample.problems].sum()) + seen
    taken = float(trained.seconds.sum() + trained.overhead_s.sum())
    weight_s = WEIGHT_S * taken / max(expected, 1e-300)
    result: Floats = preparing + weight_s * trained.weights_by_node(len(preparing))
    return result


def wall_seconds(
    sizes: Sequence[TreeSizes], trained: Sequence[Trained], root_rows: str, threads: int
) -> float:
    """Return the time by the clock of all nodes on idle CPUs.

    Large nodes are prepared by one thread and solved by all, the others go to one
    thread each.
    """
    wall = 0.0
    for tree, t in zip(sizes, trained, strict=True):
        prepare = prepare_seconds(t)
        work = tree.trained(root_rows)[1] * tree.n_children
        large = work > work.sum() / (4 * threads)
        alone = float(prepare[large].sum())
        wall += alone
        wall += (solve_seconds(t).value + float(prepare.sum()) - alone) / threads
    return wall
