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


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"class_weight": "balanced"},
        {"alpha_exponent": 0.5},
        {"propensity_weight": 1.0},
        {"class_weight": (2.0, 0.5)},
    ],
)
def test_their_weights_foretell_those_of_all_rows(data, parameters):
    X, Y = data
    model = LinearLabelTree(tree=LabelTree.flat(40), **parameters).fit(X, Y)
    whole = model.certificate_["nnz"]
    n_positives = model.certificate_["n_positives"].astype(float)
    thinned = train(data, range(40), **parameters)["nnz"].astype(float)
    thinning = _thin.Thinning.of(n_positives, np.full(40, 4000.0))
    foretold = thinning.whole(np.arange(40), thinned)
    assert foretold.sum() == pytest.approx(whole.sum(), rel=0.35)
    assert np.corrcoef(foretold, whole)[0, 1] > 0.8


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
