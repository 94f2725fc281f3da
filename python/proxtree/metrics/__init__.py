"""Quality of ranked labels: precision, nDCG, recall, coverage, propensity scores.

All take the top-k arrays of `predict_topk` and compare them with a sparse 0/1
matrix. Values are fractions between 0 and 1 (multiply by 100 for the tables of
papers). Memory is O(n_samples k + labels in Y); nothing becomes dense.

The same rules everywhere:

* position r = 1, 2, ... of a row is `labels[i, r - 1]`; -1 means "no label" and is
  never right;
* a label id that a row names twice counts at its first position only;
* k stays k where a row has fewer labels, or the whole problem fewer than k;
* a row without relevant labels counts as 0 and stays in the mean;
* a data set without any relevant label scores 0.
"""

from proxtree.metrics._propensity import (
    PROPENSITY_PRESETS,
    propensity,
    rerank_by_propensity,
)
from proxtree.metrics._ranking import (
    coverage_at_k,
    ndcg_at_k,
    precision_at_k,
    recall_at_k,
)
from proxtree.metrics._scored import psndcg_at_k, psp_at_k
from proxtree.metrics._summary import by_frequency, evaluate

__all__ = [
    "PROPENSITY_PRESETS",
    "by_frequency",
    "coverage_at_k",
    "evaluate",
    "ndcg_at_k",
    "precision_at_k",
    "propensity",
    "psndcg_at_k",
    "psp_at_k",
    "recall_at_k",
    "rerank_by_propensity",
]
