"""Estimates of L2 models come from whole blocks of siblings."""

import numpy as np
import pytest
from scipy import sparse

from proxtree import LinearLabelTree, plan
from proxtree.size import _sample
from proxtree.size._estimate import Total, _ratio

L2 = "dual_coordinate_descent"


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(2)
    X = sparse.random(600, 80, 0.1, "csr", np.float32, random_state=rng)
    weight = 1.0 / (1 + np.arange(200))
    Y = [[j] for j in rng.choice(200, 600, p=weight / weight.sum()).tolist()]
    Y[:200] = [[j] for j in range(200)]
    return X, Y


def test_blocks_are_the_most_frequent_sixteen_and_so_on():
    # Two nodes: 20 children, of which two have no positives, and 3.
    n_positives = np.r_[np.arange(20) % 10, [5, 7, 6]]
    node = np.repeat([0, 1], [20, 3])
    unit = _sample._blocks(node, n_positives)
    # 9, 9, 8, 8, ..., 2, 2 are the first sixteen; then 1, 1; then 0, 0.
    parts = {tuple(np.flatnonzero(unit == u)) for u in np.unique(unit)}
    assert parts == {
        tuple(i for i in range(20) if i % 10 >= 2),
        (1, 11),
        (0, 10),
        (20, 21, 22),
    }


def test_a_sample_takes_blocks_as_a_whole():
    rng = np.random.default_rng(0)
    node = np.repeat(np.arange(30), 40)
    n_positives = rng.integers(1, 50, 1200)
    unit = _sample._blocks(node, n_positives)
    cost = rng.random(30)[node] / np.bincount(unit)[unit]
    work = _sample.Work(
        node=node,
        n_positives=n_positives,
        cost=cost,
        overhead=np.full(30, 0.1),
        weights=1.0 + rng.random(1200),
        unit=unit,
    )
    depth = np.r_[0, np.ones(29, int)]
    draws = [_sample.draw(work, depth, 0.1, seed) for seed in range(300)]
    times = np.zeros(1200)
    probability = np.zeros(1200)
    for d in draws:
        assert len(d.problems) >= 64
        assert set(np.flatnonzero(np.isin(unit, unit[d.problems]))) == set(d.problems)
        assert np.array_equal(np.unique(node[d.problems]), d.nodes)
        # Numbered from 0, one for each block.
        assert len(set(zip(d.unit, unit[d.problems], strict=True))) == d.unit.max() + 1
        times[d.problems] += 1
        probability[d.problems] = d.probability
    seen = times > 0
    # Drawn as often as said, five standard errors of a coin at most.
    error = np.sqrt(probability * (1 - probability) / 300) + 1e-9
    assert (np.abs(times / 300 - probability)[seen] < 5 * error[seen] + 0.01).all()
    # Expansion estimates of a total known: unbiased.
    totals = [(work.weights[d.problems] / d.probability).sum() for d in draws]
    assert np.mean(totals) == pytest.approx(work.weights.sum(), rel=0.03)


def test_the_error_is_that_of_blocks():
    # Two blocks of two, each chosen with probability 1/2: the ratio is (1+3+2+2)/4.
    y, x = np.array([1.0, 3.0, 2.0, 2.0]), np.ones(4)
    p, unit = np.full(4, 0.5), np.array([0, 0, 1, 1])
    known = Total(8.0, 0.0)
    assert _ratio(y, x, known, p, unit) == Total(16.0, 0.0)
    # Residuals 2 (y - 2) are -2, 2, 0, 0: alone, 4/3 * 1/2 * (4 + 4).
    alone = _ratio(y, x, known, p)
    assert alone.value == 16.0
    assert alone.error == pytest.approx(np.sqrt(16 / 3))
    # Blocks of 1 and 2, of 3 and 2: residuals of -2 and 2, 2/1 * 1/2 * (4 + 4).
    apart = _ratio(y[[0, 2, 1, 3]], x, known, p, unit)
    assert apart.error == pytest.approx(np.sqrt(8.0))


def test_a_sample_of_everything_is_the_model(data):
    X, Y = data
    settings = {"solver": L2, "n_clusters": 30, "n_threads": 1}
    p = plan(X, Y, sample=1.0, **settings)
    model = LinearLabelTree(tree=p.tree, solver=L2, n_threads=1).fit(X, Y)
    trained = int((model.certificate_["n_positives"] > 0).sum())
    assert p.n_sampled == trained
    # The orders of samples differ, and with them weights near zero.
    assert p.nonzeros_estimate == pytest.approx(model.n_nonzero_, rel=0.02)
    few = plan(X, Y, tree=p.tree, sample=0.05, solver=L2, n_threads=1)
    assert 64 <= few.n_sampled < trained
    assert few.nonzeros_estimate == pytest.approx(model.n_nonzero_, rel=0.3)
