"""Too little memory is said before training, with what would fit."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from proxtree import _core
from proxtree._parameters import check_int
from proxtree.size._budget import pruned
from proxtree.size._estimate import Trained
from proxtree.size._memory import Account
from proxtree.size._planner import SHARE, Planner
from proxtree.size._size_plan import SizePlan
from proxtree.tree import LabelTree

# Thresholds that are tried for weights that take too much.
PRUNES = (0.05, 0.1, 0.2, 0.3, 0.5)

# Features and labels from which measuring them takes a second or more.
WIDE = 1 << 24

# The stack of a native thread, and what glibc reserves for its heap, used or not.
THREAD_BYTES = (2 + 64) << 20


class Limit(NamedTuple):
    """What training may add."""

    n_bytes: int
    #: What each thread takes of that by merely being there.
    thread_bytes: int = 0


def memory_limit(value: Any) -> Limit | None:
    """Return what training may add; None where nobody knows."""
    if value is not None:
        return Limit(check_int(value, "memory_limit", 1))
    free = _core.available_bytes()
    if free is None:
        return None
    return Limit(free, THREAD_BYTES if _has_address_limit() else 0)


def _has_address_limit() -> bool:
    try:
        # Unix alone has it.
        resource = import_module("resource")
    except ImportError:
        return False
    return bool(resource.getrlimit(resource.RLIMIT_AS)[0] != resource.RLIM_INFINITY)


def _counting_threads(planner: Planner, limit: Limit) -> Planner:
    account = replace(planner.account, thread_bytes=limit.thread_bytes)
    return replace(planner, account=account)


def check_memory(planner: Planner, limited: Limit | None, seed: int) -> SizePlan:
    """Return the plan of a training that fits into the limit.

    Its bounds decide nearly always: what training needs without a single weight,
    and with the most there can be. Only in between a sample is trained.

    Raises
    ------
    MemoryError
        With the need, the limit, and the nearest settings that fit.
    """
    if limited is None:
        return planner.exact
    planner, limit = _counting_threads(planner, limited), limited.n_bytes
    low, high = planner.peak_bounds(planner.n_threads)
    if high <= limit:
        return planner.exact
    if low > limit and not any(_fitting(planner, limit, None)):
        raise _error(planner, low, limit, None)
    # Weights decide; here and for what is proposed.
    trained = (replace(planner, n_threads=1) if low > limit else planner).sample(
        SHARE, seed
    )
    weights = _weights(planner, trained)
    need = planner.account.peak(weights, planner.n_threads)
    if need > limit:
        raise _error(planner, need, limit, trained)
    return planner.exact


def check_shapes(
    X: sparse.csr_matrix[np.float32],
    Y: sparse.csr_matrix[np.uint8],
    arguments: dict[str, Any],
    limited: Limit | None,
) -> None:
    """Refuse wide shapes that no training fits, before an array of their width is made.

    Of others all is measured within a moment, and what is said of them is nearer.

    Raises
    ------
    MemoryError
        With the need, the limit, and what would fit.
    """
    if limited is None or X.shape[1] + Y.shape[1] < WIDE:
        return
    account = Account.of([], X, Y, arguments=arguments, weighted=False)
    account = replace(account, thread_bytes=limited.thread_bytes)
    need, limit = account.least(), limited.n_bytes
    if need <= limit:
        return
    fewer = "; fewer features (hashing) or labels need less"
    labelled = replace(account, root_rows="labelled")
    if _may_choose_rows(arguments) and labelled.least() <= limit:
        fewer = f'; root_rows="labelled" might fit{fewer}'
    raise MemoryError(
        f"{_shapes(account)}: one thread needs {need:.0f} bytes without a single "
        f"weight, the limit is {limit} (memory_limit, by default what this process "
        f"may use){fewer}"
    )


def check_root(
    X: sparse.csr_matrix[np.float32],
    Y: sparse.csr_matrix[np.uint8],
    sample_weight: NDArray[np.float64] | None,
    arguments: dict[str, Any],
    n_threads: int,
    limited: Limit | None,
) -> None:
    """Refuse what does not fit whatever the tree, before memory goes into a tree.

    No tree takes less than its root alone, on one thread and without a weight.

    Raises
    ------
    MemoryError
        As `check_memory`.
    """
    if limited is None:
        return
    limit = limited.n_bytes
    flat = LabelTree.flat(Y.shape[1])
    planner = Planner.of(X, Y, sample_weight, [flat], arguments, n_threads)
    planner = _counting_threads(planner, limited)
    if planner.peak_bounds(1)[0] > limit and not any(_fitting(planner, limit, None)):
        need, _ = planner.peak_bounds(planner.n_threads)
        raise _error(planner, need, limit, None)


def _weights(planner: Planner, trained: list[Trained], prune: float = 0.0) -> Any:
    result = []
    for sizes, t in zip(planner.account.trees, trained, strict=True):
        most = sizes.n_children * sizes.trained(planner.account.root_rows)[2]
        weights = pruned(t, prune).weights_by_node(len(most))
        result.append(np.minimum(weights, most))
    return result


def _may_choose_rows(arguments: dict[str, Any]) -> bool:
    """Whether root_rows is a parameter of the model, one-vs-rest having none."""
    return bool(arguments["root_rows"] == "all" and arguments["scoring"] != "margin")


def _shapes(account: Account) -> str:
    return (
        f"no memory for training {account.n_labels} labels on {account.n_samples} "
        f"samples with {account.n_features} features"
    )


def _error(
    planner: Planner, need: float, limit: int, trained: list[Trained] | None
) -> MemoryError:
    account = planner.account
    parts = [
        f"{_shapes(account)}: it needs about "
        f"{need:.0f} bytes with n_threads={planner.n_threads}, the limit is {limit} "
        "(memory_limit, by default what this process may use)"
    ]
    fitting = list(_fitting(planner, limit, trained))
    if fitting:
        parts.append("these fit: " + ", ".join(fitting))
    else:
        least = planner.peak_bounds(1)[0]
        parts.append(
            "no other setting of this model fits: one thread needs "
            f"{least:.0f} bytes without a single weight"
        )
    return MemoryError("; ".join(parts))


def _fitting(
    planner: Planner, limit: int, trained: list[Trained] | None
) -> Iterator[str]:
    """Yield settings, each alone a change, that fit by the same account."""
    account = planner.account
    if trained is None:
        # What might fit: with the weights unknown nothing can be promised.
        weights = [np.zeros(len(t.n_rows)) for t in account.trees]
    else:
        weights = _weights(planner, trained)

    def fits(weights: Any, n_threads: int) -> bool:
        return account.peak(weights, n_threads) <= limit

    n_threads = planner.n_threads - 1
    while n_threads >= 1:
        if fits(weights, n_threads):
            yield f"n_threads={n_threads}"
            break
        n_threads = n_threads // 2 if n_threads > 1 else 0
    if len(account.trees) > 1:
        for n_trees in range(len(account.trees) - 1, 0, -1):
            fewer = replace(account, trees=account.trees[:n_trees])
            if fewer.peak(weights[:n_trees], planner.n_threads) <= limit:
                yield f"n_trees={n_trees}"
                break
    if _may_choose_rows(planner.arguments):
        labelled = replace(account, root_rows="labelled")
        if labelled.peak(weights, planner.n_threads) <= limit:
            yield 'root_rows="labelled"'
    if trained is not None and len(account.trees[0].n_rows) > 1:
        for prune in PRUNES:
            if prune <= planner.arguments["prune"]:
                continue
            if fits(_weights(planner, trained, prune), planner.n_threads):
                yield f"prune={prune}"
                break
