"""`plan`: what a training will take, before it begins."""

from __future__ import annotations

import time
from typing import Any, overload

from numpy.typing import ArrayLike

from proxtree._parameters import (
    check_int,
    check_n_threads,
    check_random_state,
    check_real,
)
from proxtree.exceptions import DataError
from proxtree.size._budget import candidates
from proxtree.size._growth import check_growth, check_labels
from proxtree.size._limit import memory_limit
from proxtree.size._planner import SHARE, Planner
from proxtree.size._size_plan import SizePlan


@overload
def plan(
    X: Any,
    Y: Any,
    *,
    sample: float = ...,
    budget_bytes: None = ...,
    sample_weight: ArrayLike | None = ...,
    **parameters: Any,
) -> SizePlan: ...
@overload
def plan(
    X: Any,
    Y: Any,
    *,
    sample: float = ...,
    budget_bytes: int,
    sample_weight: ArrayLike | None = ...,
    **parameters: Any,
) -> list[SizePlan]: ...
def plan(
    X: Any,
    Y: Any,
    *,
    sample: float = SHARE,
    budget_bytes: int | None = None,
    sample_weight: ArrayLike | None = None,
    **parameters: Any,
) -> SizePlan | list[SizePlan]:
    """Return space, memory and time of a `LinearLabelTree` without training it.

    The tree is built and measured, which bounds the model for certain, and a few
    problems are trained exactly as `fit` would train them, which estimates the
    rest. Give `plan.tree` to the estimator, and `fit` need not build it again.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
    Y : {array-like, sparse matrix, list of lists} of shape (n_samples, n_labels)
        As in `fit`.
    sample : float, default=0.05
        About which share of the work of training to spend on the estimates, in
        [0, 1], and never fewer than 64 problems; see Notes. With 0 nothing is
        trained, and what would be estimated is None.
    budget_bytes : int, optional
        Look for settings whose model file takes at most this many bytes, by the upper
        end of its interval. Tried are the tree as asked and cut to depth 2, growing
        multiples of `alpha` until one fits, and `prune` 0.1 and 0.2; each alpha
        trains a sample of its own.
    sample_weight : array-like of shape (n_samples,), optional
        As in `fit`.
    **parameters
        Those of `LinearLabelTree`, with its defaults; ``max_depth=1`` plans
        one-vs-rest as a tree trains it. `random_state` also seeds the sample.

    Returns
    -------
    SizePlan, or list of SizePlan with `budget_bytes`
        The same for any `n_threads`, but for memory and times. The list holds
        settings that fit, least expected loss first; see `SizePlan.expected_loss`.

    Raises
    ------
    DataError
        If a parameter or a value is out of range; if no settings fit into
        `budget_bytes`, with what the smallest take.
    MemoryError
        If building the tree, which planning does, may take more than `memory_limit`.
    TypeError
        If something is of the wrong kind, or there is no such parameter.

    Notes
    -----
    Problems are chosen with unequal probabilities p, spread over depths and
    numbers of positives. A total over all problems is then the ratio estimate
    ``sum(x) * sum(y / p) / sum(x / p)``: y the weights or seconds of the chosen, x
    what data and tree let expect of every problem.

    With an L1 term, most of the problems that are chosen are thinned: trained on at
    most 300 positives and three times as many negatives, which stand for the others
    by their weights. What they foretell of all weights is corrected by the ratio
    that problems trained on all rows have to it; these alone decide about seconds.
    L2 problems that are solved together are chosen together.
    Intervals are 2.5 standard errors wide to each side, within what is known for
    certain.

    References
    ----------
    H.-Z. Lin, C.-H. Liu and C.-J. Lin, "Exploring space efficiency in a tree-based
    linear model for extreme multi-label classification", EMNLP 2024, section 6.2.

    Examples
    --------
    >>> from proxtree import LinearLabelTree, plan
    >>> X = [[1, 0, 1, 0], [1, 0, 0, 1], [0, 1, 1, 0], [0, 1, 0, 1]] * 5
    >>> Y = [[0], [1], [2], [3]] * 5
    >>> p = plan(X, Y, tree=[[0, 1], [2, 3]], alpha=0.1, n_threads=1)

    Two problems at the root, where 4 features occur, and two in each node below,
    where 3 do; with an intercept each:

    >>> p.nonzeros_bound == 2 * (4 + 1) + 2 * (3 + 1) + 2 * (3 + 1)
    True
    >>> p.bytes_paper == 12 * (2 * 4 + 2 * 3 + 2 * 3)
    True
    >>> model = LinearLabelTree(tree=p.tree, alpha=0.1).fit(X, Y)
    >>> model.n_nonzero_ <= p.nonzeros_bound
    True
    """
    # `estimators` needs this package.
    from proxtree.estimators import LinearLabelTree
    from proxtree.estimators._training import training_data

    share = _check_share(sample)
    estimator = LinearLabelTree(**parameters)
    arguments = estimator._arguments()
    n_threads = check_n_threads(estimator.n_threads)
    seed = check_random_state(estimator.random_state)
    if budget_bytes is not None:
        check_int(budget_bytes, "budget_bytes", 1)
    start = time.process_time()
    X, Y, weights = training_data(X, Y, sample_weight)
    fixed_s = time.process_time() - start
    limited = memory_limit(estimator.memory_limit)
    # Of what planning takes: what training would is the answer, not an error.
    check_labels(X, Y, limited)
    if estimator._built_shape is not None:
        check_growth(
            X,
            Y,
            *estimator._built_shape,
            normalize=arguments["normalize"],
            n_threads=n_threads,
            limited=limited,
        )
    trees = estimator._trees(X, Y, n_threads)
    planner = Planner.of(X, Y, weights, trees, arguments, n_threads, fixed_s)
    if budget_bytes is not None:
        if share == 0:
            raise DataError("sample is 0: budget_bytes needs estimates")
        asked = {"n_clusters": estimator.n_clusters, "max_depth": estimator.max_depth}
        found = candidates(planner, budget_bytes, share, seed, asked)
        for candidate in found:
            for tree in candidate.trees:
                tree._remember(candidate)
        return found
    result = planner.estimated(share, seed) if share > 0 else planner.exact
    for tree in trees:
        tree._remember(result)
    return result


def _check_share(value: Any) -> float:
    share = check_real(value, "sample", zero=True)
    if share > 1:
        raise DataError(f"sample is {value}, expected a share in [0, 1]")
    return share
