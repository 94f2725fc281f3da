"""Problems on few of their rows: what they cost, and what their weights foretell."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# Rows that are kept, as train::thin has them in the native module.
MOST = 300
FOR_EACH = 3
LEAST = 100

# Weights of the whole problem over those of the thinned one: with g the logarithm of
# positives over those kept, and l that of negatives, about
# exp(g POSITIVE + l (NEGATIVE - SLOWER log(weights))). Fitted to all problems of four
# data sets together; each set was also left out (benches/results/size.md). An estimate
# corrects their common error by what whole problems have.
POSITIVE = 0.23
NEGATIVE = 0.183
SLOWER = 0.02


@dataclass(frozen=True, eq=False)
class Thinning:
    """How each problem of a tree is thinned: arrays of shape (n_problems,)."""

    #: Rows that are kept, and positives among them.
    n_rows: Floats
    n_positives: Floats
    #: Logarithms of how many positives and negatives there are for each kept.
    log_positives: Floats
    log_negatives: Floats

    @classmethod
    def of(cls, n_positives: Floats, n_rows: Floats) -> Thinning:
        """Return how problems with so many positives among so many rows are thinned."""
        positives = np.minimum(n_positives, MOST)
        others = np.maximum(n_rows - n_positives, 0)
        negatives = np.minimum(others, np.maximum(LEAST, FOR_EACH * positives))

        def log_ratio(of_all: Floats, kept: Floats) -> Floats:
            result: Floats = np.log(np.maximum(of_all, 1) / np.maximum(kept, 1))
            return result

        return cls(
            positives + negatives,
            positives,
            log_ratio(n_positives, positives),
            log_ratio(others, negatives),
        )

    def whole(self, problems: NDArray[np.int64], weights: Floats) -> Floats:
        """Return the weights that these problems are expected to have on all rows."""
        slower = NEGATIVE - SLOWER * np.log(np.maximum(weights, 1.0))
        growth = POSITIVE * self.log_positives[problems]
        growth += slower * self.log_negatives[problems]
        result: Floats = weights * np.exp(growth)
        return result
