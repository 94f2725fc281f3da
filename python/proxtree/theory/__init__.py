r"""Size and cost of a balanced label tree, from a handful of numbers.

The model of the paper: `n_labels` (L) labels in a tree whose internal nodes above
the last level have `n_clusters` (K) children each, and share the labels evenly;
labels are at `depth` d (1 is one-vs-rest). A child's samples use the fraction
`feature_ratio` (:math:`\alpha`) of the features that its parent's use; every used
feature has a weight in each of the node's classifiers. Numbers of weights come
without intercepts.

Depths may exceed `max_depth`: the formulas go on, but nodes would hold less than two
labels, which no tree's do.

References
----------
H.-Z. Lin, C.-H. Liu and C.-J. Lin, "Exploring space efficiency in a tree-based
linear model for extreme multi-label classification", EMNLP 2024. Equation numbers
are this paper's.

Examples
--------
200 million labels, 100 clusters a node (Figure 3 of the paper): at a feature ratio
of 0.6 the deepest tree is not the smallest.

>>> from proxtree import theory
>>> L, K = 200_000_000, 100
>>> theory.max_depth(L, K)
5
>>> for alpha in (0.3, 0.4, 0.5, 0.6):
...     ratios = [theory.size_ratio(L, K, d, alpha) for d in (2, 3, 4, 5)]
...     print(alpha, *(f"{ratio:.4f}" for ratio in ratios))
0.3 0.3000 0.0900 0.0275 0.0221
0.4 0.4000 0.1600 0.0648 0.0584
0.5 0.5000 0.2500 0.1263 0.1263
0.6 0.6000 0.3600 0.2178 0.2394
>>> theory.best_depth(L, K, 0.6)
4
"""

from proxtree.theory._sizes import (
    dense_size,
    max_depth,
    n_classifiers,
    nnz,
    size_ratio,
    training_cost,
)
from proxtree.theory._theorems import (
    alpha_bound,
    best_depth,
    breakeven_alpha,
    deeper_is_smaller,
)

__all__ = [
    "alpha_bound",
    "best_depth",
    "breakeven_alpha",
    "deeper_is_smaller",
    "dense_size",
    "max_depth",
    "n_classifiers",
    "nnz",
    "size_ratio",
    "training_cost",
]
