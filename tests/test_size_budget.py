"""Settings for a budget fit into it, the least loss first."""

import numpy as np
import pytest

from proxtree import DataError, LinearLabelTree, plan


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(2)
    X = (rng.random((400, 120)) < 0.1) * rng.random((400, 120))
    Y = rng.random((400, 40)) < 0.05
    Y[0] = True
    return X, Y


def test_candidates_fit_once_trained(data):
    X, Y = data
    start = {"n_clusters": 4, "alpha": 0.1, "n_threads": 1}
    plain = plan(X, Y, **start)
    budget = int(0.7 * plain.bytes_file)
    found = plan(X, Y, budget_bytes=budget, **start)
    losses = [p.expected_loss for p in found]
    assert losses == sorted(losses)
    assert losses[0] > 0
    for p in (found[0], found[-1]):
        assert p.bytes_file_interval[1] <= budget
        assert set(p.candidate) == {"n_clusters", "max_depth", "alpha", "prune"}
        settings = {name: p.candidate[name] for name in ("alpha", "prune")}
        model = LinearLabelTree(tree=p.tree, n_threads=1, **settings).fit(X, Y)
        report = model.size_report()
        assert report.truth["bytes_file"] <= budget
        assert report.estimate["nonzeros"] == pytest.approx(model.n_nonzero_, rel=0.15)
        assert p.tree.depth <= p.candidate["max_depth"]


def test_a_budget_that_everything_fits_costs_nothing(data):
    X, Y = data
    found = plan(X, Y, budget_bytes=10**9, n_clusters=4, alpha=0.1)
    assert found[0].expected_loss == 0
    assert found[0].candidate["alpha"] == 0.1
    assert found[0].candidate["prune"] == 0
    assert {p.candidate["max_depth"] for p in found} == {2, 6}


def test_multiples_of_alpha_stay_numbers(data):
    # Nothing but intercepts is left: less than no alpha can make it.
    with pytest.raises(DataError, match="budget_bytes is 1, but the smallest"):
        plan(*data, budget_bytes=1, alpha=1e308)


def test_too_small_a_budget_says_what_the_smallest_needs(data):
    X, Y = data
    with pytest.raises(DataError, match=r"smallest candidate, .*needs up to"):
        plan(X, Y, budget_bytes=100, n_clusters=4, alpha=0.1)
