"""Trees that may not fit into memory are refused before they are built."""

import re
import sys

import numpy as np
import pytest
from scipy import sparse

from proxtree import LabelTree, LinearLabelTree, label_features
from proxtree.estimators._training import training_data
from proxtree.size._growth import Growth, label_lengths

LIMIT = 12_000_000


@pytest.fixture(scope="module")
def data():
    """Few values in many features: clustering takes more than training."""
    rng = np.random.default_rng(4)
    X = sparse.random(3000, 40_000, 5e-4, "csr", np.float32, random_state=rng)
    return X, [[i % 1000] for i in range(3000)]


def need(message):
    return int(re.search(r"needs up to (\d+) bytes", message)[1])


def test_label_lengths_are_those_of_the_label_features():
    rng = np.random.default_rng(1)
    X = (rng.random((60, 40)) * (rng.random((60, 40)) < 0.1)).astype(np.float32)
    Y = (rng.random((60, 13)) < 0.1).astype(np.uint8)
    Y[:, 5] = 0
    checked = training_data(sparse.csr_matrix(X), sparse.csr_matrix(Y), None)[:2]
    expected = ((Y.T.astype(int) @ (X != 0)) > 0).sum(axis=1)
    assert label_lengths(*checked, 1).tolist() == expected.tolist()


def test_a_tree_that_may_not_fit_is_not_begun(data, monkeypatch):
    def build(*_, **__):
        raise AssertionError("a tree is being built")

    monkeypatch.setattr("proxtree.estimators._label_tree.label_features", build)
    X, Y = data
    settings = {"n_clusters": 50, "n_threads": 2}
    with pytest.raises(MemoryError, match="for building the tree of 1000") as error:
        LinearLabelTree(memory_limit=LIMIT, **settings).fit(X, Y)
    message = str(error.value)
    assert f"the limit is {LIMIT} " in message
    assert need(message) > LIMIT
    # With as much as it says, the build begins.
    with pytest.raises(AssertionError, match="being built"):
        LinearLabelTree(memory_limit=need(message) + 1, **settings).fit(X, Y)
    with pytest.raises(MemoryError, match="for building the tree"):
        LinearLabelTree(memory_limit=need(message) - 1, **settings).fit(X, Y)


def test_a_given_tree_needs_no_memory_to_be_built(data):
    X, Y = data
    tree = LabelTree.build(label_features(X, Y), n_clusters=50, n_threads=1)
    model = LinearLabelTree(tree=tree, memory_limit=LIMIT, max_sweeps=1, n_threads=1)
    assert model.fit(X, Y).n_nonzero_ > 0


def test_what_is_proposed_for_the_build_passes(data):
    X, Y = data
    settings = {"n_clusters": 50, "n_threads": 8, "max_sweeps": 1}
    with pytest.raises(MemoryError) as error:
        LinearLabelTree(memory_limit=LIMIT, **settings).fit(X, Y)
    limit = need(str(error.value)) - 1
    with pytest.raises(MemoryError, match="be built with n_threads=7") as error:
        LinearLabelTree(memory_limit=limit, **settings).fit(X, Y)
    proposed = re.findall(
        r"(n_threads|max_depth)=(\d+)", str(error.value).split(";")[1]
    )
    assert [name for name, _ in proposed] == ["n_threads", "max_depth"]
    for name, value in proposed:
        LinearLabelTree(memory_limit=limit, **settings | {name: int(value)}).fit(X, Y)


MEASURED = """
import sys
from pathlib import Path
import numpy as np
from scipy import sparse
from proxtree import LabelTree, label_features

def resident():
    text = Path("/proc/self/status").read_text()
    return 1024 * int(text.split("VmHWM:")[1].split()[0])

rng = np.random.default_rng(0)
X = sparse.random(20_000, 60_000, 1e-3, "csr", np.float32, random_state=rng)
Y = [[i % 8000, (7 * i) % 5000] for i in range(20_000)]
Path("/proc/self/clear_refs").write_text("5")
before = resident()
features = label_features(X, Y, n_threads=2)
LabelTree.build(features, n_clusters=int(sys.argv[1]), n_threads=2)
print(resident() - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="VmHWM is Linux's")
@pytest.mark.parametrize("n_clusters", [10, 100])
def test_the_bound_is_above_what_is_measured(n_clusters, printed_by):
    measured = int(printed_by(MEASURED, n_clusters))
    rng = np.random.default_rng(0)
    X = sparse.random(20_000, 60_000, 1e-3, "csr", np.float32, random_state=rng)
    Y = [[i % 8000, (7 * i) % 5000] for i in range(20_000)]
    X, Y, _ = training_data(X, Y, None)
    lengths = label_lengths(X, Y, 1)
    growth = Growth(*X.shape, X.nnz, Y.nnz, lengths, n_clusters, 6, False)
    assert measured <= growth.peak(2) <= 2.5 * measured


TIGHT = """
import resource, sys
import numpy as np
from scipy import sparse
from proxtree import LinearLabelTree

rng = np.random.default_rng(0)
X = sparse.random(20_000, 100_000, 5e-4, "csr", np.float32, random_state=rng)
Y = [[i % 10_000] for i in range(20_000)]
status = open("/proc/self/status").read()
limit = 1024 * int(status.split("VmSize:")[1].split()[0]) + int(sys.argv[1])
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
try:
    LinearLabelTree(n_threads=1, max_sweeps=1).fit(X, Y)
except MemoryError as error:
    print("MemoryError:", error)
else:
    print("done")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="RLIMIT_AS bites on Linux")
def test_the_limit_of_the_address_space_counts_for_the_build(printed_by):
    refused = printed_by(TIGHT, 190 << 20)
    assert refused.startswith("MemoryError: no memory for building the tree of 10000")
    assert printed_by(TIGHT, 600 << 20) == "done\n"
