"""Checked data, trees and settings, and all that can be said before training."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from proxtree._validation import normalize_rows
from proxtree.size._build import estimated_fields, exact_plan, fill_depths
from proxtree.size._estimate import Trained, train_sample
from proxtree.size._memory import Account
from proxtree.size._size_plan import SizePlan
from proxtree.size._sizes import bound, measure
from proxtree.tree import LabelTree

# Of the work of training: what a sample is allowed by default.
SHARE = 0.05


@dataclass(frozen=True, eq=False)
class Planner:
    """One training that has not begun."""

    X: sparse.csr_matrix[np.float32]
    Y: sparse.csr_matrix[np.uint8]
    sample_weight: NDArray[np.float64] | None
    account: Account
    arguments: dict[str, Any]
    n_threads: int
    exact: SizePlan
    #: CPU seconds of what `fit` does besides training.
    fixed_s: float

    @classmethod
    def of(
        cls,
        X: sparse.csr_matrix[np.float32],
        Y: sparse.csr_matrix[np.uint8],
        sample_weight: NDArray[np.float64] | None,
        trees: Sequence[LabelTree],
        arguments: dict[str, Any],
        n_threads: int,
        fixed_s: float = 0.0,
    ) -> Planner:
        """Measure the trees over checked data."""
        start = time.process_time()
        account = Account.of(
            [measure(X, Y, tree, n_threads) for tree in trees],
            X,
            Y,
            arguments=arguments,
            weighted=sample_weight is not None,
        )
        exact = exact_plan(account, arguments, n_threads)
        fixed_s += time.process_time() - start
        return cls(X, Y, sample_weight, account, arguments, n_threads, exact, fixed_s)

    def with_trees(self, trees: Sequence[LabelTree]) -> Planner:
        """Return the planner of other trees over the same data."""
        return Planner.of(
            self.X,
            self.Y,
            self.sample_weight,
            trees,
            self.arguments,
            self.n_threads,
            self.fixed_s,
        )

    def sample(self, share: float, seed: int) -> list[Trained]:
        """Train a sample of each tree's problems."""
        X = normalize_rows(self.X) if self.arguments["normalize"] else self.X
        return [
            train_sample(
                X,
                self.Y,
                tree,
                self.arguments,
                share=share,
                seed=seed,
                sample_weight=self.sample_weight,
                n_threads=self.n_threads,
            )
            for tree in self.account.trees
        ]

    def estimated(self, share: float, seed: int) -> SizePlan:
        """Return the plan with estimates from a sample."""
        trained = self.sample(share, seed)
        return replace(
            self.exact,
            **estimated_fields(
                self.account, self.arguments, trained, self.n_threads, self.fixed_s
            ),
            depths=fill_depths(
                self.exact.depths,
                self.account.trees,
                trained,
                self.arguments["intercept_scaling"] > 0,
            ),
        )

    def peak_bounds(self, n_threads: int) -> tuple[float, float]:
        """Return the peak without any weight, and with the most there can be."""
        intercept = self.arguments["intercept_scaling"] > 0
        trees = self.account.trees
        none = [np.zeros(len(t.n_rows)) for t in trees]
        most = [
            bound(t, self.account.root_rows, intercept).astype(np.float64)
            for t in trees
        ]
        return self.account.peak(none, n_threads), self.account.peak(most, n_threads)
