"""The size of trees before training, and the features that their nodes share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from proxtree import theory
from proxtree._parameters import check_n_threads
from proxtree._validation import check_X_Y
from proxtree.size._sizes import DENSE_BYTES, PAPER_BYTES, TreeSizes, means, measure
from proxtree.study._settings import Setting, settings_for
from proxtree.tree import LabelTree, label_features

# Of the histograms of feature ratios.
BIN_WIDTH = 0.02
_N_BINS = 50


class TreeRow(NamedTuple):
    """One tree: its size in the paper's account, beside what the theory says."""

    data_set: str
    rule: str
    n_clusters: int
    max_depth: int
    seed: int
    depth: int
    n_nodes: int
    n_problems: int
    nonzeros_bound: int
    bytes_paper: int
    bytes_one_vs_rest: int
    ratio_paper: float
    feature_ratio: float
    feature_ratio_weighted: float
    theory_depth: int
    theory_ratio: float
    theory_ratio_weighted: float


class LevelRow(NamedTuple):
    """The nodes of one tree at one depth."""

    data_set: str
    rule: str
    n_clusters: int
    max_depth: int
    seed: int
    depth: int
    n_nodes: int
    n_problems: int
    n_features: int
    nonzeros_bound: int
    feature_ratio: float
    feature_ratio_weighted: float


class HistogramRow(NamedTuple):
    """How many nodes of all seeds have a feature ratio in [low, high)."""

    data_set: str
    rule: str
    n_clusters: int
    max_depth: int
    depth: int
    low: float
    high: float
    n_nodes: int


@dataclass
class SpaceStudy:
    """What `study_space` found out about one data set."""

    data_set: str
    n_samples: int
    n_features: int
    n_labels: int
    seeds: Sequence[int]
    max_iter: int
    trees: list[TreeRow] = field(default_factory=list)
    levels: list[LevelRow] = field(default_factory=list)
    histogram: list[HistogramRow] = field(default_factory=list)
    #: The trees of the first seed.
    first_trees: dict[Setting, LabelTree] = field(default_factory=dict)


def study_space(
    data_set: str,
    X: Any,
    Y: Any,
    *,
    n_clusters: int = 100,
    seeds: Sequence[int] = (0, 1, 2, 3, 4),
    max_iter: int = 300,
    n_threads: int | None = None,
    log: Callable[[str], None] = lambda text: None,
) -> SpaceStudy:
    """Build trees of several depths and seeds, and measure how large they are.

    Parameters
    ----------
    data_set : str
        Name in tables.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
    Y : {array-like, sparse matrix, list of lists} of shape (n_samples, n_labels)
    n_clusters : int, default=100
        K where it is fixed, with depths 2 to 6; also studied is
        ``K = ceil(n_labels ** (1 / depth))`` with depths 2 to 4.
    seeds : sequence of int, default=(0, 1, 2, 3, 4)
        Seeds of K-means, at least one.
    max_iter : int, default=300
        Most rounds of K-means at a node.
    n_threads : int, optional
        None: the CPUs this process may use. Results do not depend on it.
    log : callable, optional
        Called with a line of text now and then.

    Returns
    -------
    SpaceStudy

    Raises
    ------
    DataError
        If `X` or `Y` is malformed or an argument is out of range.

    Notes
    -----
    The deepest tree of a fixed K is built once for each seed, the others are it,
    clipped. Ratios are equation (20), intercepts and rows without labels left out.
    The feature ratio of a node is the number of features in the samples with a
    label below it, over that of its parent (Appendix E). The theory's ratio is 1.5
    times equation (15) with the mean of the measured ratios, plain and weighted by
    the nodes' binary problems, at depth ``min(max_depth, D)``: no balanced tree is
    deeper than D.
    """
    X, Y = check_X_Y(X, Y)
    threads = check_n_threads(n_threads)
    n_samples, n_features = X.shape
    study = SpaceStudy(
        data_set, n_samples, n_features, Y.shape[1], tuple(seeds), max_iter
    )
    features = label_features(X, Y, n_threads=threads)
    settings = settings_for(study.n_labels, n_clusters)
    ratios: dict[tuple[Setting, int], list[NDArray[np.float64]]] = {}
    for seed in seeds:
        trees = _grow(features, settings, seed, max_iter, threads)
        log(f"{data_set}: built the trees of seed {seed}")
        study.first_trees = study.first_trees or trees
        # Clipping often gives the same tree again.
        known: dict[LabelTree, TreeSizes] = {}
        for setting, tree in trees.items():
            if tree not in known:
                known[tree] = measure(X, Y, tree, threads)
            _add_tree(study, setting, seed, known[tree], ratios)
        log(f"{data_set}: measured the trees of seed {seed}")
    for place in sorted(ratios, key=lambda place: (settings.index(place[0]), place[1])):
        study.histogram += _bins(data_set, *place, np.concatenate(ratios[place]))
    return study


def _grow(
    features: sparse.csr_matrix[np.float32],
    settings: Sequence[Setting],
    seed: int,
    max_iter: int,
    n_threads: int,
) -> dict[Setting, LabelTree]:
    deepest: dict[tuple[str, int], LabelTree] = {}
    for setting in sorted(settings, key=lambda s: -s.max_depth):
        key = (setting.rule, setting.n_clusters)
        if key not in deepest:
            deepest[key] = LabelTree.build(
                features,
                n_clusters=setting.n_clusters,
                max_depth=setting.max_depth,
                max_iter=max_iter,
                random_state=seed,
                n_threads=n_threads,
            )
    return {s: deepest[s.rule, s.n_clusters].clip(s.max_depth) for s in settings}


def _add_tree(
    study: SpaceStudy,
    setting: Setting,
    seed: int,
    sizes: TreeSizes,
    ratios: dict[tuple[Setting, int], list[NDArray[np.float64]]],
) -> None:
    tree = sizes.tree
    place = (study.data_set, *setting, seed)
    ratio, weight = sizes.feature_ratios(), sizes.n_children[1:]
    weights = sizes.n_children * sizes.n_features
    n_weights = int(weights.sum())
    dense = DENSE_BYTES * study.n_labels * study.n_features
    plain, weighted = means(ratio, weight)
    depth = min(setting.max_depth, theory.max_depth(study.n_labels, setting.n_clusters))
    study.trees.append(
        TreeRow(
            *place,
            depth=tree.depth,
            n_nodes=tree.n_nodes,
            n_problems=tree.n_problems,
            nonzeros_bound=n_weights,
            bytes_paper=PAPER_BYTES * n_weights,
            bytes_one_vs_rest=dense,
            ratio_paper=PAPER_BYTES * n_weights / dense,
            feature_ratio=plain,
            feature_ratio_weighted=weighted,
            theory_depth=depth,
            theory_ratio=_theory(study.n_labels, setting, depth, plain),
            theory_ratio_weighted=_theory(study.n_labels, setting, depth, weighted),
        )
    )
    for level in range(tree.depth):
        here = sizes.depth == level
        below = here[1:]
        plain, weighted = means(ratio[below], weight[below])
        study.levels.append(
            LevelRow(
                *place,
                depth=level,
                n_nodes=int(here.sum()),
                n_problems=int(sizes.n_children[here].sum()),
                n_features=int(sizes.n_features[here].sum()),
                nonzeros_bound=int(weights[here].sum()),
                feature_ratio=plain,
                feature_ratio_weighted=weighted,
            )
        )
        if below.any():
            ratios.setdefault((setting, level), []).append(ratio[below])


def _theory(n_labels: int, setting: Setting, depth: int, ratio: float) -> float:
    if np.isnan(ratio):
        return np.nan
    return 1.5 * theory.size_ratio(n_labels, setting.n_clusters, depth, ratio)


def _bins(
    data_set: str, setting: Setting, depth: int, ratio: NDArray[np.float64]
) -> list[HistogramRow]:
    # A ratio of exactly one belongs to the last bin.
    at = np.minimum((ratio / BIN_WIDTH).astype(int), _N_BINS - 1)
    counts = np.bincount(at, minlength=_N_BINS)
    return [
        HistogramRow(
            data_set,
            *setting,
            depth,
            round(BIN_WIDTH * i, 2),
            round(BIN_WIDTH * (i + 1), 2),
            int(n),
        )
        for i, n in enumerate(counts)
        if n
    ]
