"""The peers' harness: medians, objectives and ratios, worked out by hand."""

import importlib
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

PEERS = Path(__file__).parents[1] / "benches" / "peers"


@pytest.fixture
def harness(monkeypatch):
    monkeypatch.syspath_prepend(str(PEERS))
    monkeypatch.syspath_prepend(str(PEERS / "worker"))
    return importlib.import_module


def test_medians_go_into_lists_and_dicts(harness):
    records = [{"a": [1, n], "b": {"c": n}, "d": f"v{n}"} for n in (1, 9, 2)]
    assert harness("summary").middle(records) == {"a": [1, 2], "b": {"c": 2}, "d": "v2"}


def test_ratios_are_written_as_fractions(harness):
    ratio = harness("summary").ratio
    assert [ratio(r) for r in (0.25, 1 / 1500, 1.0, 2.5)] == [
        "1/4",
        "1/1,500",
        "1",
        "2.5",
    ]


def test_label_objective_by_hand(harness):
    X = sparse.csr_matrix([[1.0, 0.0], [0.0, 2.0]])
    # Scores 0.75, -0.75; hinges 0.25, 0.25; 0.5 (0.5 + 0.5 + 0.25) + 2 / 16.
    value = harness("labels").objective(
        X, np.array([1.0, -1.0]), np.array([0.5, -0.5]), 0.25, 0.5
    )
    assert value == pytest.approx(0.625 + 0.125)


def test_kmeans_objective_is_that_of_the_means(harness):
    rng = np.random.default_rng(0)
    V = rng.random((12, 5))
    # Numbers of clusters may have holes.
    clusters = np.array([0, 3, 7] * 4)
    expected = sum(
        ((V[clusters == c] - V[clusters == c].mean(axis=0)) ** 2).sum()
        for c in (0, 3, 7)
    )
    found = harness("clusters").objective(sparse.csr_matrix(V), clusters)
    assert found == pytest.approx(expected)


def test_our_clusters_are_the_roots_children(harness):
    peer = harness("main").load_peer(PEERS / "worker" / "peer_proxtree.py")
    tree = peer.proxtree.LabelTree.from_nested([[0, 3], 1, [2, 4]])
    clusters = peer.assignment(tree, 5)
    groups = {frozenset(np.flatnonzero(clusters == c).tolist()) for c in clusters}
    assert groups == {frozenset({0, 3}), frozenset({1}), frozenset({2, 4})}


def summary(harness, role, package, setting, **values):
    """A summary of one record; `values` are what it holds."""
    Entry = harness("entries").Entry
    entry = Entry(role, package, setting, "any", Path("peer.py"))
    return harness("summary").Summary(entry, [{"status": "ok", **values}])


def measured(harness, *found, name="debtags"):
    return harness("rules").Measured(name, {s.entry.name: s for s in found})


def labels_of(harness, package, cpu_s, objective, total):
    return summary(
        harness, "labels", package, "C = 1",
        cpu_s=cpu_s, objective=objective, total_cpu_s=total,
    )  # fmt: skip


@pytest.mark.parametrize("worse", [1.0005, 1.01])
def test_labels_by_mean_of_ratios_and_by_sums(harness, worse):
    rules = harness("rules")
    here = measured(
        harness,
        labels_of(harness, "proxtree", [1.0, 2.0], [worse, 1.0], 4.0),
        labels_of(harness, "LIBLINEAR", [10.0, 80.0], [1.0, 1.0], 90.0),
    )
    mean, sums = (rules.labels("LIBLINEAR", 1, sums=s)(here) for s in (False, True))
    assert mean.ratio == pytest.approx(1 / 20)
    assert sums.ratio == pytest.approx(4 / 90)
    assert bool(mean.breach) == bool(sums.breach) == (worse > 1.001)


def model_of(harness, package, setting, seconds, p5, psp5=50.0):
    prediction = {"P@5": p5, "PSP@5": psp5, "status": "ok", "predict_cpu_us": seconds}
    ways = {"": prediction, "fast": prediction | {"predict_cpu_us": seconds / 2}}
    return summary(
        harness, "model", package, setting, fit_cpu_s=seconds, predictions=ways
    )


@pytest.mark.parametrize(
    ("name", "p5", "counts"),
    [
        ("debtags", 59.5, True),
        ("debtags", 59.3, False),
        ("eurlex57k", 58.7, True),
        ("eurlex57k", 58.5, False),
    ],
)
def test_models_count_near_the_accuracy_of_the_fastest(harness, name, p5, counts):
    rules = harness("rules")
    here = measured(
        harness,
        model_of(harness, "proxtree", "tree", 3.0, p5),
        model_of(harness, "PECOS", "defaults", 12.0, 70.0),
        model_of(harness, "omikuji", "1 tree", 6.0, 60.0),
        name=name,
    )
    cell = rules.model("tree", "fit_cpu_s", "PECOS", "omikuji")(here)
    assert (cell.ratio, cell.against) == (0.5, "omikuji, 1 tree")
    assert bool(cell.breach) != counts
    # Of the ways to predict, the peer's fastest counts, and our own first.
    cell = rules.model("tree", "predict_cpu_us", "omikuji")(here)
    assert (cell.ratio, cell.against) == (1.0, "omikuji, 1 tree, fast")


def test_what_was_not_measured_is_no_ratio(harness):
    rules = harness("rules")
    here = measured(harness, model_of(harness, "proxtree", "tree", 3.0, 60.0))
    assert rules.model("tree", "fit_cpu_s", "PECOS")(here) is None
    assert rules.labels("LIBLINEAR", 1, sums=True)(here) is None
    assert rules.least("reading", "napkinXC")(here) is None
