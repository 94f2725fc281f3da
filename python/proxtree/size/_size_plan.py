"""What planning gives back."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

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
    settings: dict[str, Any] = field(repr=False)
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

    @property
    def tree(self) -> LabelTree:
        """The tree, if there is one; those of an ensemble are in `trees`."""
        if len(self.trees) > 1:
            raise AttributeError(f"there are {len(self.trees)} trees: see trees")
        return self.trees[0]
