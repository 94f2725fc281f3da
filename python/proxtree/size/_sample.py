"""Which problems to train for an estimate."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from proxtree.size._memory import LANES, LEAST_SIBLINGS
from proxtree.size._sizes import TreeSizes
from proxtree.size._thin import Thinning

Floats = NDArray[np.float64]

# A sample of this many problems at least; of problems trained on all of their rows
# where thinned ones are trained as well.
LEAST = 64
LEAST_WHOLE = 20
# With so many whole ones for all of the share, thinned ones gain nothing (openlib,
# benches/results/size.md).
ENOUGH = 256
# More thinned ones than this add nothing beside the error of the whole ones.
MOST_THINNED = 400
# Their part of a share of the work, as the share goes to 0, and that of thinned ones.
WHOLE = 0.35
THINNED = 0.1

# What work is expected to cost relative to each other, in seconds of some machine:
# a problem to begin, a problem by its covariate, a node to prepare by its stored
# values. Only the sample's efficiency hangs on them: estimates are ratios of what
# was seen.
PROBLEM_S = 1e-5
COVARIATE_S = 2.5e-9
NODE_S = 3e-5
VALUE_S = 1.2e-8
# The same without an L1 term, by stored values: a problem alone, a node with its
# shared start.
ALONE_S = 6e-8
START_S = 2.5e-8
# As many as are solved together, however few of them there are, by their node's
# values and rows, each of which takes as long as some values; the longer, the more
# features' weights there are beside what a cache holds, and with a power of the sum
# of their smaller classes' shares of the rows. Where too few are left to be solved
# together each takes a part of that. Fitted to all of four data sets
# (benches/results/size.md).
BLOCK_S = 2.4e-8
BLOCK_ROW = 25.0
CACHED_FEATURES = 25e3
BEYOND_CACHE = 3.0
GROWTH_MINORITY = 0.13
BLOCK_ALONE = 0.32
# Of a share of the work, what goes to such problems: the rest is spent on measuring.
TOGETHER_SHARE = 0.7
# Putting a weight in its place.
WEIGHT_S = 1.2e-8
# Expected weights grow with the smaller class, and with the node's rows.
GROWTH = 0.76
GROWTH_ROWS = 0.15
# Without an L1 term they are a share of the node's features that grows with the
# smaller class's share of the rows and falls with the values of a feature (four data
# sets, benches/results/size.md).
GROWTH_SHARE = 0.2
FALL_DENSITY = 0.2
# A node that takes this share of the solving has two problems in the sample: else its
# time would be known from one or none. Or one set of problems that are solved
# together, if that takes no longer than so many seconds: of a root one such set alone
# is 5 to 10 % of the training.
LARGE = 0.1
LARGE_LEAST = 2
LARGE_S = 0.1
LEAST_SCALE = 1e-8
BISECTIONS = 24
# Weights count this much against time where precision is bought.
PRECISION = 4.0
# Problems taken in a node that is prepared: this often what were best if problems
# of a node had nothing in common.
TOGETHER = 2.0


@dataclass(frozen=True, eq=False)
class Work:
    """What is expected of each problem of a tree, in the order of its children."""

    node: NDArray[np.int64]
    n_positives: NDArray[np.int64]
    #: Expected work of solving a problem and of preparing a node.
    cost: Floats
    overhead: Floats
    #: Expected weights, up to a factor.
    weights: Floats
    #: How problems are thinned and what they then cost; None where weights are
    #: known well without.
    thinning: Thinning | None = None
    thinned_cost: Floats | None = None
    #: Which problems are solved together: only such sets as a whole cost what they
    #: do in training. None where each is solved alone.
    unit: NDArray[np.int64] | None = None

    def of_units(self) -> Work:
        """Return the work of each set of problems that are solved together."""
        unit = np.arange(len(self.node)) if self.unit is None else self.unit
        n_units = int(unit.max(initial=-1)) + 1
        # Problems of a unit are alike but for their numbers of positives.
        node, n_positives = np.zeros((2, n_units), np.int64)
        node[unit], n_positives[unit] = self.node, self.n_positives
        return Work(
            node=node,
            n_positives=n_positives,
            cost=np.bincount(unit, self.cost, n_units).astype(np.float64),
            overhead=self.overhead,
            weights=np.bincount(unit, self.weights, n_units).astype(np.float64),
        )


def expected_work(
    sizes: TreeSizes, root_rows: str, is_sparse: bool, is_together: bool = False
) -> Work:
    """Return what the problems of a tree are expected to take.

    Sweeps of a problem with q in the smaller class of n_v rows with nnz_v values
    take time like sqrt(q n_v nnz_v) with an L1 term (`is_sparse`), and like nnz_v
    without one, where siblings may be solved `is_together`.
    """
    n_rows, nnz, n_features = (a.astype(np.float64) for a in sizes.trained(root_rows))
    node = np.repeat(np.arange(len(sizes.n_children)), sizes.n_children)
    n_positives = sizes.n_positives
    minority = n_positives * (1.0 - n_positives / np.maximum(n_rows[node], 1.0))
    if is_sparse:
        cost = COVARIATE_S * np.sqrt(minority * n_rows[node] * nnz[node])
        overhead = NODE_S + VALUE_S * nnz
        weights = (minority + 1.0) ** GROWTH * np.maximum(
            n_rows[node], 1
        ) ** GROWTH_ROWS
    else:
        cost = ALONE_S * nnz[node]
        overhead = NODE_S + START_S * nnz
        share = (minority + 1.0) / (n_rows[node] + 1.0)
        density = np.maximum(nnz, 1.0) / np.maximum(n_features, 1.0)
        # Without any feature there still is an intercept to train.
        weights = np.maximum(n_features, 1.0) / density**FALL_DENSITY
        weights = weights[node] * share**GROWTH_SHARE
    is_trained = n_positives > 0
    unit = None
    if is_together and not is_sparse:
        unit = _blocks(node, n_positives)
        n_here = np.bincount(unit)[unit]
        share = np.bincount(unit, minority)[unit] / np.maximum(n_rows[node], 1.0)
        beyond = n_features**2 / (n_features**2 + CACHED_FEATURES**2)
        pace = BLOCK_S * (nnz + BLOCK_ROW * n_rows) * (1.0 + BEYOND_CACHE * beyond)
        cost = pace[node] * (share + 0.01) ** GROWTH_MINORITY
        cost *= np.where(n_here >= LEAST_SIBLINGS, 1.0 / n_here, BLOCK_ALONE)
    thinning, thinned_cost = None, None
    if is_sparse:
        thinning = Thinning.of(n_positives.astype(np.float64), n_rows[node])
        rows, kept = thinning.n_rows, thinning.n_positives
        values = rows * (nnz / np.maximum(n_rows, 1.0))[node]
        minority = kept * (1.0 - kept / np.maximum(rows, 1.0))
        thinned_cost = PROBLEM_S + NODE_S + VALUE_S * values
        thinned_cost += COVARIATE_S * np.sqrt(minority * rows * values)
    return Work(
        node=node,
        n_positives=n_positives,
        cost=np.where(is_trained, PROBLEM_S + cost, 0.0),
        overhead=overhead,
        weights=np.where(is_trained, weights, 0.0),
        thinning=thinning,
        thinned_cost=thinned_cost,
        unit=unit,
    )


def _blocks(
    node: NDArray[np.int64], n_positives: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return which problems train::solve_node solves together.

    A node's problems in order of falling numbers of positives, by the sixteen; those
    without any are not trained.
    """
    order = np.lexsort((-n_positives, node))
    first = np.searchsorted(node, node)
    place = np.empty(len(node), np.int64)
    place[order] = np.arange(len(node)) - first
    keys = np.stack([node, n_positives == 0, place // LANES])
    unit: NDArray[np.int64] = np.unique(keys, axis=1, return_inverse=True)[1].ravel()
    return unit


@dataclass(frozen=True, eq=False)
class Sample:
    """Chosen problems, in order of their nodes, and how likely each was chosen."""

    problems: NDArray[np.int64]
    probability: Floats
    #: Nodes of the problems, and how likely each was chosen.
    nodes: NDArray[np.int64]
    node_probability: Floats
    #: Which problems were chosen together; None where each was alone.
    unit: NDArray[np.int64] | None = None


def draw(work: Work, depth: NDArray[np.int64], share: float, seed: int) -> Sample:
    """Choose problems that take about `share` of the work, some at least.

    Two stages: nodes, then problems in them, so that few nodes are prepared. Each
    is a systematic sample with unequal probabilities along (depth, size), hence
    spread over depths and over numbers of positives. A problem's probability goes
    with what it adds to the two totals, expected weights and expected cost, over a
    root of its own cost (Neyman's allocation); where that gives too few problems,
    cheap ones are favoured.
    """
    if work.unit is not None:
        return _draw_units(work, work.unit, depth, share, seed)
    n_trainable = int((work.weights > 0).sum())
    least = LEAST
    if work.thinned_cost is not None:
        sample = _draw(work, depth, share, 0.0, seed)
        if len(sample.problems) >= ENOUGH:
            return sample
        least = LEAST_WHOLE
        # All that there is to spend, the more the nearer it is to everything.
        share *= WHOLE + (1.0 - WHOLE) * share
    least = min(least, n_trainable)
    expected = 1.1 * least
    while True:
        sample = _draw(work, depth, share, min(expected, n_trainable), seed)
        if len(sample.problems) >= least:
            return sample
        # How many there are is random; twice as many as needed are enough.
        expected *= 1.2


def _draw_units(
    work: Work,
    unit: NDArray[np.int64],
    depth: NDArray[np.int64],
    share: float,
    seed: int,
) -> Sample:
    units = work.of_units()
    n_units = int((units.weights > 0).sum())
    least = min(LEAST, int((work.weights > 0).sum()))
    expected = least / LANES
    # All that there is to spend, the more the nearer it is to everything.
    share *= TOGETHER_SHARE + (1.0 - TOGETHER_SHARE) * share
    while True:
        sample = _draw(units, depth, share, min(expected, n_units), seed, True)
        problems = np.flatnonzero(np.isin(unit, sample.problems))
        if len(problems) >= least:
            at = np.searchsorted(sample.problems, unit[problems])
            return replace(
                sample,
                problems=problems,
                probability=sample.probability[at],
                unit=at,
            )
        expected *= 1.2


def draw_thinned(
    work: Work, depth: NDArray[np.int64], share: float, seed: int
) -> tuple[NDArray[np.int64], Floats]:
    """Choose problems to thin, `LEAST` at least, and say how likely each was.

    A systematic sample as `draw` takes it, in one stage: no thinned problem gains
    by another of its node. Only weights are to be learnt.
    """
    trained = np.flatnonzero(work.weights > 0)
    if work.thinned_cost is None or not len(trained):
        return np.zeros(0, np.int64), np.zeros(0)
    gain, cost = work.weights[trained], work.thinned_cost[trained]
    budget = THINNED * share * (work.cost.sum() + work.overhead.sum())

    def is_affordable(own: Floats) -> bool:
        return bool((own * cost).sum() <= budget and own.sum() <= MOST_THINNED)

    own = _grow(gain / np.sqrt(cost), np.zeros(len(trained)), is_affordable)
    # One more: systematic samples have the expected number, rounded.
    least = min(LEAST + 1, len(trained))
    if own.sum() < least:
        own = _grow(gain / cost, own, lambda own: bool(own.sum() < least))
    probability = np.zeros(len(work.node))
    probability[trained] = own
    generator = np.random.Generator(np.random.PCG64([seed, len(work.node), 1]))
    order = np.lexsort((work.n_positives, depth[work.node]))
    problems = np.sort(order[_systematic(probability[order], generator.random())])
    return problems, probability[problems]


def _draw(
    work: Work,
    depth: NDArray[np.int64],
    share: float,
    least: float,
    seed: int,
    is_together: bool = False,
) -> Sample:
    probability, node_probability = _probabilities(work, share, least, is_together)
    generator = np.random.Generator(np.random.PCG64([seed, len(work.node)]))
    n_nodes = len(work.overhead)
    order = np.lexsort((work.overhead, depth))
    nodes = order[_systematic(node_probability[order], generator.random())]
    is_chosen = np.zeros(n_nodes, bool)
    is_chosen[nodes] = True
    given = np.zeros(len(work.node))
    here = is_chosen[work.node]
    given[here] = probability[here] / node_probability[work.node[here]]
    order = np.lexsort((work.n_positives, depth[work.node]))
    problems = np.sort(order[_systematic(given[order], generator.random())])
    nodes = np.unique(work.node[problems])
    return Sample(problems, probability[problems], nodes, node_probability[nodes])


def _probabilities(
    work: Work, share: float, least: float, is_together: bool
) -> tuple[Floats, Floats]:
    trainable = work.weights > 0
    n_nodes = len(work.overhead)
    n_here = np.maximum(np.bincount(work.node, trainable, n_nodes), 1.0)
    mean_cost = np.bincount(work.node, work.cost, n_nodes) / n_here
    # How many problems to take where a node is prepared at all.
    depth_of_draw = np.sqrt(work.overhead / np.maximum(mean_cost, PROBLEM_S))
    depth_of_draw = np.clip(TOGETHER * depth_of_draw, 1.0, n_here)
    effective = work.cost + (work.overhead / depth_of_draw)[work.node]
    gain = np.sqrt(
        PRECISION * (work.weights / work.weights.sum()) ** 2
        + (work.cost / work.cost.sum()) ** 2
    )
    budget = share * (work.cost.sum() + work.overhead.sum())
    trained = np.flatnonzero(trainable)
    nodes, gain, cost = work.node[trained], gain[trained], work.cost[trained]
    effective = effective[trained]

    def per_node(own: Floats) -> Floats:
        of_node = np.bincount(nodes, own, n_nodes) / depth_of_draw
        result: Floats = np.minimum(1.0, of_node)
        return result

    def is_affordable(own: Floats) -> bool:
        spent = (own * cost).sum() + (per_node(own) * work.overhead).sum()
        return bool(spent <= budget)

    own = _grow(gain / np.sqrt(effective), np.zeros(len(nodes)), is_affordable)
    if least >= len(nodes):
        own = np.ones(len(nodes))
    elif own.sum() < least:
        # More of the cheap ones.
        own = _grow(gain / effective, own, lambda own: bool(own.sum() < least))
    of_solving = np.bincount(nodes, cost, n_nodes)
    of_node = per_node(own)
    is_large = of_solving > LARGE * of_solving.sum()
    if is_together:
        is_large &= mean_cost <= LARGE_S
    for large in np.flatnonzero(is_large):
        here = nodes == large
        raw = gain[here] / np.sqrt(cost[here])
        own[here] = _at_least(own[here], raw, 1 if is_together else LARGE_LEAST)
        of_node[large] = 1.0
    own = np.minimum(own, of_node[nodes])
    probability = np.zeros(len(work.node))
    probability[trained] = own
    return probability, of_node


def _grow(raw: Floats, base: Floats, goes_on: Callable[[Floats], bool]) -> Floats:
    """Return the largest probabilities like `raw`, at least `base`, that go on."""
    raw = raw / raw.max()
    low, high = LEAST_SCALE, 1.0 / LEAST_SCALE
    for _ in range(BISECTIONS):
        scale = math.sqrt(low * high)
        if goes_on(np.maximum(base, np.minimum(1.0, scale * raw))):
            low = scale
        else:
            high = scale
    result: Floats = np.maximum(base, np.minimum(1.0, high * raw))
    return result


def _at_least(own: Floats, raw: Floats, least: int) -> Floats:
    """Return probabilities like `raw` that come to `least`, where `own` do not."""
    least = min(least, len(own))

    def is_short(own: Floats) -> bool:
        return bool(own.sum() < least)

    return _grow(raw, np.zeros(len(own)), is_short) if is_short(own) else own


def _systematic(probability: Floats, start: float) -> NDArray[np.int64]:
    """Return positions such that each is among them with its probability."""
    passed = np.floor(np.cumsum(probability) - start)
    before = np.concatenate([[np.floor(-start)], passed[:-1]])
    return np.flatnonzero(passed > before)
