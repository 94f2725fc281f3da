"""Problems on few of their rows foretell how many weights all rows give."""

import numpy as np
import pytest
from scipy import sparse

from proxtree import LabelTree, LinearLabelTree, _core, plan
from proxtree._validation import csr_arg, pattern_arg
from proxtree.size import _sample, _thin


@pytest.fixture(scope="module")
def data():
    """4000 samples of 40 labels of very different sizes, with noise."""
    rng = np.random.default_rng(3)
    label = np.minimum(rng.geometric(0.1, 4000) - 1, 39)
    rows = np.repeat(np.arange(4000), 12)
    noise = rng.integers(40, 700, (4000, 8))
    # Four features of the label's own twenty, some of them shared with others.
    own = 17 * label[:, None] + rng.integers(0, 20, (4000, 4))
    columns = np.hstack([own, noise]).ravel()
    values = rng.random(len(rows)).astype(np.float32)
    X = sparse.csr_matrix((values, (rows, columns)), shape=(4000, 700))
    Y = sparse.csr_matrix(
        (np.ones(4000, np.uint8), (np.arange(4000), label)), shape=(4000, 40)
    )
    return X, Y


def train(data, thinned, **parameters):
    X, Y = data
    settings = LinearLabelTree(**parameters)._arguments()
    fields, (indptr, _, _), overhead = _core.train_some(
        csr_arg(X),
        pattern_arg(Y),
        LabelTree.flat(40)._native,
        _core.TrainSettings(**settings),
        [],
        [(0, label) for label in thinned],
        sample_weight=None,
        n_threads=1,
    )
    assert len(indptr) == len(overhead) + 1 == len(thinned) + 1
    return fields


def test_rows_are_kept_as_the_account_has_it(data):
    n_positives = np.bincount(data[1].indices, minlength=40)
    assert n_positives.max() > _thin.MOST > n_positives.min()
    fields = train(data, range(40))
    thinning = _thin.Thinning.of(n_positives.astype(float), np.full(40, 4000.0))
    np.testing.assert_array_equal(fields["n_positives"], thinning.n_positives)
    # 300 positives of n, and 900 others of 4000 - n.
    n = n_positives.max()
    assert thinning.n_rows[n_positives.argmax()] == 1200
    assert thinning.log_positives.max() == pytest.approx(np.log(n / 300))
    assert thinning.log_negatives[n_positives.argmax()] == pytest.approx(
        np.log((4000 - n) / 900)
    )


def evenly(ids, kept):
    """Choose `kept` of the sorted ids, evenly spaced: Bresenham's line."""
    seen = np.arange(1, len(ids) + 1) * kept + len(ids) // 2
    return ids[seen // len(ids) > (seen - kept) // len(ids)]


@pytest.mark.parametrize(
    ("parameters", "alpha", "classes"),
    [
        ({}, lambda n: 1.0, lambda n: (1.0, 1.0)),
        ({"class_weight": (2.0, 0.5)}, lambda n: 1.0, lambda n: (2.0, 0.5)),
        (
            {"class_weight": "balanced"},
            lambda n: 1.0,
            lambda n: (2000 / n, 2000 / (4000 - n)),
        ),
        (
            {"alpha_exponent": 0.2},
            lambda n: np.clip((n / 100) ** 0.2, 0.25, 4),
            lambda n: (1.0, 1.0),
        ),
        (
            {"propensity_weight": 0.5},
            lambda n: 1.0,
            lambda n: (
                1 + 0.5 * (np.log(4000) - 1) * 2.5**0.55 * (n + 1.5) ** -0.55,
                1.0,
            ),
        ),
    ],
)
def test_a_kept_row_stands_for_others_of_its_class(data, parameters, alpha, classes):
    X, Y = data
    Y = Y.toarray()
    labels = [0, 5, 30]
    plain = {"alpha_exponent": 0.0, "propensity_weight": 0.0}
    fields = train(data, labels, **{**plain, **parameters})
    for at, label in enumerate(labels):
        positives, others = (
            np.flatnonzero(Y[:, label]),
            np.flatnonzero(Y[:, label] == 0),
        )
        n = len(positives)
        kept = evenly(positives, min(n, 300))
        negatives = evenly(others, max(100, 3 * len(kept)))
        rows = np.sort(np.concatenate([kept, negatives]))
        # Features that occur, as sweeps go through them in an order of their own.
        own = X[rows][:, np.unique(X[rows].indices)]
        is_positive = Y[rows, label]
        scale = np.where(is_positive, n / len(kept), len(others) / len(negatives))
        model = LinearLabelTree(
            tree=LabelTree.flat(1),
            alpha=float(alpha(n)),
            class_weight=classes(n),
            **plain,
        ).fit(own, is_positive[:, None], sample_weight=scale)
        found = model.certificate_
        assert fields["nnz"][at] == found["nnz"][0]
        assert fields["objective"][at] == pytest.approx(found["objective"][0], rel=1e-6)


def test_their_weights_foretell_those_of_all_rows(data):
    X, Y = data
    model = LinearLabelTree(tree=LabelTree.flat(40)).fit(X, Y)
    whole = model.certificate_["nnz"]
    n_positives = model.certificate_["n_positives"].astype(float)
    thinning = _thin.Thinning.of(n_positives, np.full(40, 4000.0))
    thinned = train(data, range(40))["nnz"].astype(float)
    foretold = thinning.whole(np.arange(40), thinned)
    assert foretold.sum() == pytest.approx(whole.sum(), rel=0.35)
    assert np.corrcoef(foretold, whole)[0, 1] > 0.8


def test_weights_grow_with_the_rows_that_are_left_out():
    # 300 of 600 positives and 900 of 4500 others: twice and five times as many.
    thinning = _thin.Thinning.of(np.array([600.0]), np.array([5100.0]))
    found = thinning.whole(np.array([0]), np.array([100.0]))
    # 2^0.23 = 1.172835; 0.183 - 0.02 ln 100 = 0.0908966, and 5^0.0908966 = 1.157535.
    assert found == pytest.approx(135.758, rel=1e-4)


def test_a_problem_of_few_rows_is_not_thinned():
    thinning = _thin.Thinning.of(np.array([30.0]), np.array([120.0]))
    assert thinning.n_rows == 120
    assert thinning.whole(np.array([0]), np.array([17.0])) == 17


def test_intervals_hold_the_truth_as_often_as_they_should(data):
    X, Y = data
    Y = sparse.hstack([Y, Y[np.random.default_rng(0).permutation(4000)]]).tocsr()
    tree = plan(X, Y, n_clusters=5, sample=0).tree
    truth = LinearLabelTree(tree=tree).fit(X, Y).n_nonzero_
    plans = [plan(X, Y, tree=tree, random_state=seed) for seed in range(20)]
    inside = [p.nonzeros_interval[0] <= truth <= p.nonzeros_interval[1] for p in plans]
    assert sum(inside) >= 18
    errors = np.array([p.nonzeros_estimate / truth - 1 for p in plans])
    assert abs(errors.mean()) < 0.08


def test_thinned_problems_are_chosen_with_their_probability():
    rng = np.random.default_rng(0)
    n_positives = rng.integers(1, 900, 500)
    work = _sample.Work(
        node=np.repeat(np.arange(50), 10),
        n_positives=n_positives,
        cost=1e-5 * np.sqrt(n_positives),
        overhead=np.full(50, 2e-4),
        weights=n_positives**0.76,
        thinning=_thin.Thinning.of(n_positives.astype(float), np.full(500, 2e3)),
        thinned_cost=1e-6 * n_positives,
    )
    depth = (np.arange(50) > 0).astype(int)
    draws = [_sample.draw_thinned(work, depth, 0.05, seed) for seed in range(200)]
    assert min(len(problems) for problems, _ in draws) >= 64
    # The Horvitz-Thompson estimate of a known total.
    totals = [(n_positives[problems] / p).sum() for problems, p in draws]
    assert np.mean(totals) == pytest.approx(n_positives.sum(), rel=0.02)
