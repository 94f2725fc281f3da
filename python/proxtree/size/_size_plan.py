"""What planning gives back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from proxtree.size._sizes import DEPTHS
from proxtree.size._text import plan_lines
from proxtree.tree import LabelTree

Interval = tuple[float, float]


@dataclass(frozen=True, eq=False)
class SizePlan:
    """Space, memory and time of a model before it is trained.

    Made by `plan`; a fitted estimator has one as `plan_`. What is estimated is None
    where no problem was trained for it.

    Attributes
    ----------
    tree : LabelTree
        The tree, if there is one: give it to the estimator, which then need not
        build it again. All trees are in `trees`.
    n_problems : int
        Binary problems: children of all nodes.
    nonzeros_bound : int
        The model cannot have more weights and intercepts: for each node its
        children times the features that occur in the rows that it trains on, plus
        one with an intercept. The paper's equation (18), with intercepts.
    nonzeros_estimate, nonzeros_interval : float, (float, float)
        Non-zero weights and intercepts expected.
    bytes_paper : int
        The paper's account (19): 12 bytes for each weight of the bound, rows with a
        label only, no intercept.
    bytes_one_vs_rest : int
        Dense one-vs-rest, (17): 8 n_labels n_features.
    ratio_paper : float
        bytes_paper / bytes_one_vs_rest, (20).
    bytes_libmultilabel : int
        What LibMultiLabel 0.10 would announce for this tree.
    bytes_file, bytes_file_interval : float, (float, float)
        Size of the model file.
    peak_memory_bytes, peak_memory_interval : float, (float, float)
        Most memory that `fit` with this tree adds to a fresh process that holds X
        and Y, on `n_threads`.
    cpu_s, cpu_s_interval, wall_s, wall_s_interval : float, (float, float)
        Seconds of the same fit, on `n_threads`: of CPU, and by the clock of an idle
        machine.
    n_threads : int
        Threads that memory and time are for.
    depths : structured ndarray
        For each depth: n_nodes; n_labels below; n_problems; n_features, summed over
        the nodes; feature_ratio, the mean over its nodes of their features over
        those of their parents, and the same weighted by the nodes' problems (NaN at
        the root); nonzeros_bound and nonzeros_estimate. Features are those of rows
        with a label of the node.
    one_vs_rest : dict
        n_problems, nonzeros_bound, bytes_paper and bytes_libmultilabel of the tree
        of depth one over the same data.
    n_sampled : int
        Problems that were trained for the estimates, on all of their rows or on few.
    candidate : dict
        With a budget: n_clusters, max_depth, alpha and prune.
    expected_loss : float
        With a budget: the share of the weights that the same tree has with the
        alpha and prune that were asked for, but not with these. On test rows of
        debtags P@5 falls with it nearly monotonically: by 0.001 of 0.467 at a loss
        of 0.57, by 0.013 at 0.83 (benches/results/size.md).
    settings : dict
        The arguments that were planned.
    """

    trees: list[LabelTree] = field(repr=False)
    n_problems: int
    nonzeros_bound: int
    bytes_paper: int
    bytes_one_vs_rest: int
    ratio_paper: float
    bytes_libmultilabel: int
    n_threads: int
    one_vs_rest: dict[str, int] = field(repr=False)
    depths: NDArray[np.void] = field(repr=False)
    settings: dict[str, Any] = field(repr=False, default_factory=dict)
    nonzeros_estimate: float | None = None
    nonzeros_interval: Interval | None = None
    bytes_file: float | None = None
    bytes_file_interval: Interval | None = None
    peak_memory_bytes: float | None = None
    peak_memory_interval: Interval | None = None
    cpu_s: float | None = None
    cpu_s_interval: Interval | None = None
    wall_s: float | None = None
    wall_s_interval: Interval | None = None
    n_sampled: int = 0
    candidate: dict[str, Any] | None = None
    expected_loss: float | None = None

    @property
    def tree(self) -> LabelTree:
        """The tree, if there is one; those of an ensemble are in `trees`."""
        if len(self.trees) > 1:
            raise AttributeError(f"there are {len(self.trees)} trees: see trees")
        return self.trees[0]

    def agrees(self, other: SizePlan) -> bool:
        """Whether both are about the same training: settings, data and trees."""
        return (
            self.settings == other.settings
            and self.n_threads == other.n_threads
            and self.nonzeros_bound == other.nonzeros_bound
            and self.bytes_one_vs_rest == other.bytes_one_vs_rest
            and self.trees == other.trees
        )

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the trees, ready for JSON; NaN as None."""
        result: dict[str, Any] = {}
        for part in fields(self):
            value = getattr(self, part.name)
            if part.name == "trees":
                continue
            if part.name == "depths":
                names = value.dtype.names
                value = [dict(zip(names, row, strict=True)) for row in value.tolist()]
                for row in value:
                    row.update({k: None for k, v in row.items() if v != v})
            elif isinstance(value, tuple):
                value = list(value)
            result[part.name] = value
        return result

    @classmethod
    def from_dict(cls, values: dict[str, Any], trees: Sequence[LabelTree]) -> Self:
        """Undo `to_dict`.

        Raises
        ------
        KeyError, TypeError, ValueError
            If it is none of ours.
        """
        values = dict(values)
        rows = values.pop("depths")
        depths = np.zeros(len(rows), DEPTHS)
        for name in DEPTHS.names or ():
            depths[name] = [np.nan if r[name] is None else r[name] for r in rows]
        pairs = {k: tuple(v) for k, v in values.items() if isinstance(v, list)}
        return cls(trees=list(trees), depths=depths, **{**values, **pairs})

    def __str__(self) -> str:
        return "\n".join(plan_lines(self))
