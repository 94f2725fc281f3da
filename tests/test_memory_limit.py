"""Trainings that do not fit are refused before they begin, with what would fit."""

import re
import sys

import numpy as np
import pytest
from scipy import sparse

from proxtree import (
    DataError,
    LabelTree,
    LinearLabelTree,
    LinearOneVsRest,
)
from proxtree.estimators._training import training_data
from proxtree.size._planner import Planner

X = np.eye(40, 8)
Y = [[i % 4] for i in range(40)]


def need(message):
    return int(re.search(r"needs about (\d+) bytes", message)[1])


@pytest.mark.parametrize("cls", [LinearLabelTree, LinearOneVsRest])
def test_a_tiny_limit_is_refused_with_need_and_limit(cls):
    model = cls(memory_limit=1000, n_threads=2)
    with pytest.raises(MemoryError) as error:
        model.fit(X, Y)
    message = str(error.value)
    assert "the limit is 1000" in message
    assert "no other setting of this model fits" in message
    assert need(message) > 1000
    # Nothing half fitted is left.
    assert not model.__sklearn_is_fitted__()


def test_what_is_proposed_fits_and_what_is_not_does_not():
    rng = np.random.default_rng(0)
    wide = rng.random((3000, 60)).astype(np.float32)
    labels = [[j] for j in rng.integers(0, 30, 3000).tolist()]

    def message(**parameters):
        with pytest.raises(MemoryError) as error:
            LinearLabelTree(memory_limit=1, **parameters).fit(wide, labels)
        return str(error.value)

    two, one = need(message(n_threads=2)), need(message(n_threads=1))
    assert one < two
    # Between the two: one thread is proposed, and does.
    limit = 2_000_000 + one
    if limit >= two:
        limit = two - 1
    with pytest.raises(MemoryError, match="these fit: n_threads=1"):
        LinearLabelTree(memory_limit=limit, n_threads=2).fit(wide, labels)
    LinearLabelTree(memory_limit=limit, n_threads=1).fit(wide, labels)


@pytest.mark.parametrize("parameters", [{}, {"n_trees": 2}])
def test_proposals_count_the_weights(parameters):
    rng = np.random.default_rng(0)
    samples = sparse.random(4000, 500, 0.1, "csr", np.float32, random_state=rng)
    labels = [sorted(set(row)) for row in rng.integers(0, 150, (4000, 4)).tolist()]
    n_proposals = 0
    for limit in range(8_800_000, 13_000_000, 400_000):
        settings = {"memory_limit": limit, "n_threads": 2, "max_sweeps": 2}
        settings |= parameters
        try:
            LinearLabelTree(**settings).fit(samples, labels)
        except MemoryError as error:
            fitting = str(error).partition("these fit: ")[2]
            proposed = re.findall(r"(n_\w+|prune)=([\d.]+)", fitting)
            for name, value in proposed:
                number = float(value) if name == "prune" else int(value)
                # Raises if it does not fit.
                LinearLabelTree(**settings | {name: number}).fit(samples, labels)
                n_proposals += 1
    assert n_proposals > 3


def test_a_large_limit_and_none_change_nothing():
    free = LinearLabelTree().fit(X, Y)
    for limit in (None, 10**12):
        model = LinearLabelTree(memory_limit=limit).fit(X, Y)
        assert model.predict_topk(X)[1].tobytes() == free.predict_topk(X)[1].tobytes()


@pytest.mark.parametrize(
    ("limit", "error"), [(0, DataError), (-5, DataError), ("4GB", TypeError)]
)
def test_limits_are_checked(limit, error):
    with pytest.raises(error, match="memory_limit"):
        LinearOneVsRest(memory_limit=limit).fit(X, Y)


RESIDENT = """
import resource, sys
import numpy as np
from scipy import sparse
from proxtree import LinearLabelTree, LabelTree, _core

rng = np.random.default_rng(0)
n, d, per_row = 100_000, 2_000_000, 40
indices = np.sort(rng.integers(0, d, (n, per_row))).ravel()
indptr = np.arange(0, n * per_row + 1, per_row)
X = sparse.csr_matrix((np.ones(n * per_row, np.float32), indices, indptr), shape=(n, d))
X.sum_duplicates()
Y = [[i % 50] for i in range(n)]
status = open("/proc/self/status").read()
used = int(status.split("VmSize:")[1].split()[0])
room = int(sys.argv[1])
limit = used * 1024 + room
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
left = _core.available_bytes()
assert left <= room, (left, room)
try:
    LinearLabelTree(tree=LabelTree.flat(50), n_threads=4).fit(X, Y)
except MemoryError as error:
    print("MemoryError:", error)
else:
    print("done")
"""


def test_what_no_tree_fits_is_refused_before_one_is_built(monkeypatch):
    def build(*_, **__):
        raise AssertionError("a tree is being built")

    monkeypatch.setattr(LabelTree, "build", build)
    with pytest.raises(MemoryError, match="the limit is 1000 "):
        LinearLabelTree(memory_limit=1000).fit(X, Y)
    # Any tree that the full account takes passes.
    with pytest.raises(AssertionError, match="being built"):
        LinearLabelTree(memory_limit=10**12).fit(X, Y)


def test_the_root_alone_never_needs_more_than_a_tree():
    rng = np.random.default_rng(3)
    for n_labels in (1, 2, 7, 40):
        samples = rng.random((60, 30)) * (rng.random((60, 30)) < 0.2)
        labels = [[int(j)] for j in rng.integers(0, n_labels, 60)]
        labels[0] = [n_labels - 1]
        for root_rows in ("all", "labelled"):
            tree = LinearLabelTree(n_clusters=2, root_rows=root_rows, n_threads=1)
            checked = training_data(samples, labels, None)
            trees = tree._trees(*checked[:2], 1)
            needs = [
                Planner.of(*checked, shape, tree._arguments(), 1).peak_bounds(1)[0]
                for shape in ([LabelTree.flat(n_labels)], trees)
            ]
            assert needs[0] <= needs[1]


NO_THREADS = """
import numpy as np, resource
from proxtree import LinearOneVsRest
status = open("/proc/self/status").read()
limit = 1024 * int(status.split("VmSize:")[1].split()[0]) + (1 << 20)
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
try:
    # Below the address space of one more thread's stack.
    LinearOneVsRest(n_threads=4).fit(np.eye(40, 8), [[i % 4] for i in range(40)])
except OSError as error:
    print("OSError:", error)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="RLIMIT_AS bites on Linux")
def test_no_room_for_a_thread_is_an_error_of_the_system(printed_by):
    output = printed_by(NO_THREADS)
    assert output.startswith("OSError: cannot start 4 threads")


@pytest.mark.skipif(sys.platform != "linux", reason="RLIMIT_AS bites on Linux")
def test_the_limit_of_the_address_space_is_the_default(printed_by):
    output = printed_by(RESIDENT, 300 << 20)
    assert output.startswith("MemoryError: no memory for training 50 labels")
    limit = int(re.search(r"the limit is (\d+)", output)[1])
    assert limit <= 300 << 20 < need(output)


TIGHT = """
import resource, sys, warnings
import numpy as np
from scipy import sparse
from proxtree import LinearLabelTree

rng = np.random.default_rng(0)
X = sparse.random(60_000, 3000, 0.02, "csr", np.float32, random_state=rng)
Y = [[int(j)] for j in rng.integers(0, 300, 60_000)]
status = open("/proc/self/status").read()
limit = 1024 * int(status.split("VmSize:")[1].split()[0]) + int(sys.argv[1])
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
try:
    LinearLabelTree(n_clusters=10, max_sweeps=1, n_threads=2).fit(X, Y)
except MemoryError as error:
    print("MemoryError:", error)
else:
    print("done")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="RLIMIT_AS bites on Linux")
@pytest.mark.parametrize("megabytes", [20, 80, 500])
def test_address_space_of_threads_is_counted(megabytes, printed_by):
    # Threads alone reserve 64 MB each, which ended the process later on.
    output = printed_by(TIGHT, megabytes << 20)
    expected = "MemoryError: no memory for" if megabytes < 100 else ""
    assert output.startswith(expected or ("MemoryError", "done"))
    assert megabytes < 500 or output == "done\n"
