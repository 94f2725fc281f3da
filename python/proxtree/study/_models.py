"""How many weights of trained trees are not zero, at each depth."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from proxtree.estimators import LinearLabelTree
from proxtree.exceptions import DataWarning
from proxtree.study._settings import Setting
from proxtree.study._space import SpaceStudy
from proxtree.tree import LabelTree

# The same problem at each depth: no lever that looks at a node's size.
_PLAIN: dict[str, Any] = {
    "alpha_exponent": 0.0,
    "propensity_weight": 0.0,
    "root_rows": "labelled",
}
PENALTIES: dict[str, dict[str, Any]] = {
    "L1": {"alpha": 1.0},
    "L2": {"solver": "dual_coordinate_descent"},
}


class ModelRow(NamedTuple):
    """One trained tree."""

    data_set: str
    penalty: str
    rule: str
    n_clusters: int
    max_depth: int
    seed: int
    depth: int
    n_problems: int
    n_weights: int
    n_intercepts: int
    cpu_s: float


class ModelLevelRow(NamedTuple):
    """The problems of one trained tree in the nodes of one depth."""

    data_set: str
    penalty: str
    rule: str
    n_clusters: int
    max_depth: int
    seed: int
    depth: int
    n_problems: int
    n_weights: int


@dataclass
class ModelStudy:
    """What `train_models` found out about one data set."""

    models: list[ModelRow] = field(default_factory=list)
    levels: list[ModelLevelRow] = field(default_factory=list)
    #: Why a model is not there.
    skipped: list[str] = field(default_factory=list)

    def add(
        self, place: tuple[str, str, str, int, int, int], tree: TrainedTree
    ) -> None:
        """Add the rows of a tree; `place` is what stands in their first columns."""
        depth = len(tree.n_problems)
        self.models.append(
            ModelRow(
                *place,
                depth=depth,
                n_problems=sum(tree.n_problems),
                n_weights=tree.n_weights,
                n_intercepts=tree.n_intercepts,
                cpu_s=tree.cpu_s,
            )
        )
        self.levels += [
            ModelLevelRow(*place, level, tree.n_problems[level], n)
            for level, n in enumerate(tree.n_weights_by_depth)
        ]


def train_models(
    study: SpaceStudy,
    X: Any,
    Y: Any,
    *,
    penalties: Sequence[str] = tuple(PENALTIES),
    one_vs_rest: bool = True,
    n_threads: int | None = None,
    log: Callable[[str], None] = lambda text: None,
) -> ModelStudy:
    """Train the trees of a study's first seed, and one-vs-rest, with L1 and L2.

    Parameters
    ----------
    study : SpaceStudy
        What `study_space` returned for `X` and `Y`.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
    Y : {array-like, sparse matrix, list of lists} of shape (n_samples, n_labels)
    penalties : sequence of {"L1", "L2"}, default=("L1", "L2")
    one_vs_rest : bool, default=True
        Whether one-vs-rest is trained too: with L2 and many labels it has no end.
    n_threads : int, optional
        None: the CPUs this process may use. Weights do not depend on it.
    log : callable, optional
        Called with a line of text now and then.

    Returns
    -------
    ModelStudy

    Notes
    -----
    L1: `LinearLabelTree` with alpha = 1; L2: dual coordinate descent with C = 1;
    both without the levers that make a problem's weight depend on its size, and
    ended by the tree's default rules. A model that has no room in memory is skipped.
    """
    result = ModelStudy()
    trees = dict(study.first_trees)
    if one_vs_rest:
        n = study.n_labels
        trees[Setting("flat", n, 1)] = LabelTree.flat(n)
    for penalty in penalties:
        model = LinearLabelTree(**_PLAIN, **PENALTIES[penalty], n_threads=n_threads)
        # Clipping often gives the same tree again.
        known: dict[LabelTree, TrainedTree] = {}
        for setting, tree in trees.items():
            name = f"{study.data_set}: {penalty}, {setting.rule} K = "
            name += f"{setting.n_clusters}, depth {setting.max_depth}"
            if tree not in known:
                try:
                    known[tree] = _train(model.set_params(tree=tree), X, Y)
                except MemoryError as error:
                    result.skipped.append(f"{name}: {error}")
                    log(f"{name}: skipped, {error}")
                    continue
                log(f"{name}: {known[tree].n_weights:,} weights")
            place = (study.data_set, penalty, *setting, study.seeds[0])
            result.add(place, known[tree])
    return result


class TrainedTree(NamedTuple):
    """What is kept of a model: by depth of the node, and in all."""

    n_problems: list[int]
    n_weights_by_depth: list[int]
    n_intercepts: int
    cpu_s: float

    @property
    def n_weights(self) -> int:
        """Non-zero weights, without intercepts."""
        return sum(self.n_weights_by_depth)


def _train(model: LinearLabelTree, X: Any, Y: Any) -> TrainedTree:
    with warnings.catch_warnings():
        # That some labels have no sample is known, and no news for each model.
        warnings.simplefilter("ignore", DataWarning)
        certificate = model.fit(X, Y).certificate_
    depth = certificate["depth"]
    by_depth = np.bincount(depth, weights=certificate["nnz"]).astype(int).tolist()
    return TrainedTree(
        n_problems=np.bincount(depth).tolist(),
        n_weights_by_depth=by_depth,
        n_intercepts=model.n_nonzero_ - sum(by_depth),
        cpu_s=float(certificate["seconds"].sum()),
    )
