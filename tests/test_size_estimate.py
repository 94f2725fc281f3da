"""Estimates: exact where everything is trained, unbiased and seeded elsewhere."""

import json
import pickle

import numpy as np
import pytest
from scipy import sparse

import proxtree
from proxtree import LabelTree, LinearLabelTree, plan
from proxtree.size import _file, _sample
from proxtree.size._estimate import Total, _ratio, ratio_total


@pytest.fixture(scope="module")
def data():
    """500 samples of 150 labels in ten groups that share features."""
    rng = np.random.default_rng(5)
    label = rng.integers(0, 150, (500, 2))
    X = sparse.lil_matrix((500, 300), dtype=np.float32)
    for i, labels in enumerate(label):
        for feature in rng.integers(0, 300, 8):
            X[i, feature] = rng.random()
        for j in labels:
            X[i, j % 10] = 1.0
            X[i, 10 + j] = 1.0
    return X.tocsr(), [sorted(set(row)) for row in label.tolist()]


def test_a_sample_of_everything_is_exact(data):
    X, Y = data
    p = plan(X, Y, n_clusters=8, sample=1.0, alpha=0.3, n_threads=1)
    model = LinearLabelTree(tree=p.tree, alpha=0.3, n_threads=1).fit(X, Y)
    trained = int((model.certificate_["n_positives"] > 0).sum())
    assert p.n_sampled == trained
    # Problems without positives count one intercept each.
    spare = p.n_problems - trained
    assert abs(p.nonzeros_estimate - model.n_nonzero_) <= spare
    assert p.nonzeros_interval == (p.nonzeros_estimate, p.nonzeros_estimate)
    by_depth = [
        sum(node.coef.nnz + np.count_nonzero(node.intercept) for node in nodes)
        for nodes in by_depths(model)
    ]
    # Intercepts are spread evenly over depths.
    assert p.depths["nonzeros_estimate"] == pytest.approx(by_depth, rel=0.06)
    report = model.size_report()
    assert report.estimate["bytes_file"] == pytest.approx(
        report.truth["bytes_file"], rel=0.1
    )


def by_depths(model):
    nodes = list(model.nodes())
    counts = model.tree_.depth_table()["n_nodes"]
    ends = np.cumsum(counts)
    return [nodes[end - n : end] for n, end in zip(counts, ends, strict=True) if n]


def test_the_estimate_follows_the_seed_and_not_the_threads(data):
    X, Y = data
    tree = plan(X, Y, n_clusters=8, sample=0).tree
    one = plan(X, Y, tree=tree, n_threads=1)
    again = plan(X, Y, tree=tree, n_threads=3)
    other = plan(X, Y, tree=tree, n_threads=1, random_state=1)
    assert 64 <= one.n_sampled < one.n_problems
    for name in ("nonzeros_estimate", "nonzeros_interval", "bytes_file", "n_sampled"):
        assert getattr(one, name) == getattr(again, name)
    assert one.depths.tobytes() == again.depths.tobytes()
    assert other.nonzeros_estimate != one.nonzeros_estimate


def test_estimates_of_many_seeds_surround_the_truth(data):
    X, Y = data
    tree = plan(X, Y, n_clusters=8, sample=0).tree
    model = LinearLabelTree(tree=tree, n_threads=1).fit(X, Y)
    plans = [plan(X, Y, tree=tree, random_state=s, n_threads=1) for s in range(12)]
    estimates = np.array([p.nonzeros_estimate for p in plans])
    assert estimates.mean() == pytest.approx(model.n_nonzero_, rel=0.1)
    hits = [
        p.nonzeros_interval[0] <= model.n_nonzero_ <= p.nonzeros_interval[1]
        for p in plans
    ]
    assert sum(hits) >= 9
    assert all(p.nonzeros_estimate <= p.nonzeros_bound for p in plans)
    assert all(p.cpu_s_interval[0] <= p.cpu_s <= p.cpu_s_interval[1] for p in plans)


def test_the_ratio_estimate_by_hand():
    # sum(x) = 10; chosen y/p = 3/0.5 + 4/1 = 10, x/p = 2/0.5 + 5/1 = 9.
    x = np.array([2.0, 3.0, 5.0])
    total = ratio_total(np.array([3.0, 4.0]), x, np.array([0, 2]), np.array([0.5, 1.0]))
    assert total.value == pytest.approx(10 * 10 / 9)
    # Only the first is uncertain: residual (3 - 2 * 10/9) / 0.5 * 10 / 9.
    residual = (3 - 2 * 10 / 9) / 0.5 * 10 / 9
    assert total.error == pytest.approx(np.sqrt(2 * 0.5 * residual**2))


def test_the_error_of_a_foretold_total_counts():
    # Ratio 14/5 with both chosen for certain: only the total's own error is left.
    ones = np.ones(2)
    total = _ratio(np.array([6.0, 8.0]), np.array([2.0, 3.0]), Total(10.0, 2.0), ones)
    assert total.value == pytest.approx(28.0)
    assert total.error == pytest.approx(2.0 * 14 / 5)


def test_a_sum_over_all_is_not_rounded():
    rng = np.random.default_rng(1)
    for n in range(1, 200):
        y, x = rng.integers(0, 50, n).astype(float), rng.random(n)
        total = ratio_total(y, x, np.arange(n), np.ones(n))
        assert (total.value, total.error) == (y.sum(), 0)


def test_every_problem_is_chosen_with_its_probability():
    rng = np.random.default_rng(0)
    node = np.repeat(np.arange(200), 4)
    n_positives = rng.integers(1, 200, 800)
    work = _sample.Work(
        node=node,
        n_positives=n_positives,
        cost=1e-5 * np.sqrt(n_positives),
        overhead=np.full(200, 2e-4),
        weights=n_positives**0.8,
    )
    depth = (np.arange(200) > 0).astype(int)
    draws = [_sample.draw(work, depth, 0.04, seed) for seed in range(400)]
    chosen = np.bincount(
        np.concatenate([d.problems for d in draws]), minlength=800
    ) / len(draws)
    probability = np.zeros(800)
    for d in draws:
        probability[d.problems] = d.probability
    seen = probability > 0
    error = np.sqrt(probability * (1 - probability) / len(draws))
    assert np.all(np.abs(chosen - probability)[seen] < 6 * error[seen] + 1e-9)
    assert min(len(d.problems) for d in draws) >= 64
    # The Horvitz-Thompson estimate of a known total.
    assert any(d.node_probability.min() < 0.9 for d in draws)
    totals = [(n_positives[d.problems] / d.probability).sum() for d in draws]
    assert np.mean(totals) == pytest.approx(n_positives.sum(), rel=0.02)


def test_bytes_of_the_tree_are_those_of_the_file(tmp_path):
    rng = np.random.default_rng(1)
    for tree in (
        LabelTree.flat(300),
        LabelTree.from_nested([[299, 0, 150], list(range(1, 150)), *range(151, 299)]),
    ):
        X = rng.random((10, 3))
        Y = [[j] for j in rng.integers(0, 300, 10).tolist()]
        Y[0].append(299)
        with pytest.warns(proxtree.DataWarning):
            model = LinearLabelTree(tree=tree).fit(X, Y)
        model.save(tmp_path / "model")
        raw = (tmp_path / "model").read_bytes()
        size = int.from_bytes(raw[:8], "little")
        start, end = json.loads(raw[8 : 8 + size])["tree0.tree"]["data_offsets"]
        # Up to the codes themselves, and their loss against the entropy.
        assert end - start - 25 <= _file.tree_bytes(tree) <= end - start


def test_reports_survive_files_and_pickles(data, tmp_path):
    X, Y = data
    p = plan(X, Y, n_clusters=8)
    model = LinearLabelTree(tree=p.tree).fit(X, Y)
    assert model.plan_ is p
    report = model.size_report()
    assert report.bound["nonzeros"] >= report.truth["nonzeros"] == model.n_nonzero_
    assert report.estimate["nonzeros"] == p.nonzeros_estimate
    model.save(tmp_path / "model")
    assert report.truth["bytes_file"] == (tmp_path / "model").stat().st_size
    for copy in (proxtree.load(tmp_path / "model"), pickle.loads(pickle.dumps(model))):
        assert copy.size_report().to_dict() == report.to_dict()
        assert str(copy.plan_) == str(p)
        assert copy.plan_.tree == p.tree
    assert "non-zeros" in str(report)
    json.dumps([p.to_dict(), report.to_dict()], allow_nan=False)


def test_a_plan_of_other_settings_is_not_taken_for_the_fit(data):
    X, Y = data
    p = plan(X, Y, n_clusters=8)
    model = LinearLabelTree(tree=p.tree, alpha=3.0).fit(X, Y)
    assert model.plan_.nonzeros_estimate is None
    assert model.size_report().estimate is None
    assert model.plan_.nonzeros_bound == p.nonzeros_bound


def test_a_model_of_an_older_file_says_that_it_has_no_plan(data, tmp_path):
    model = LinearLabelTree(n_clusters=8).fit(*data)
    # Files knew no plan at first.
    model._fitted.plan = None
    model.save(tmp_path / "model")
    model = proxtree.load(tmp_path / "model")
    with pytest.raises(AttributeError, match="does not hold what was planned"):
        _ = model.plan_
    report = model.size_report()
    assert report.bound is None
    assert report.truth["nonzeros"] == model.n_nonzero_
