"""The made-up corpora of the growth study, and its exponents."""

import importlib
from pathlib import Path

import numpy as np
import pytest

import proxtree
from proxtree import metrics


@pytest.fixture
def benches(monkeypatch):
    monkeypatch.syspath_prepend(str(Path(__file__).parents[1] / "benches"))
    return importlib.import_module


def test_a_seed_fixes_the_corpus(benches):
    corpus = benches("synthetic").corpus
    (X, Y), (X2, Y2), (X3, _) = (corpus(500, 60, 900, seed=s) for s in (3, 3, 4))
    assert (X != X2).nnz == 0
    assert (Y != Y2).nnz == 0
    assert (X != X3).nnz > 0


def test_rows_are_unit_vectors_with_labels(benches):
    X, Y = benches("synthetic").corpus(2000, 200, 5000, seed=1)
    assert X.shape == (2000, 5000)
    assert Y.shape == (2000, 200)
    norms = np.sqrt(np.asarray(X.multiply(X).sum(axis=1)))
    np.testing.assert_allclose(norms, 1, rtol=1e-5)
    assert X.data.min() > 0
    assert set(Y.data.tolist()) == {1}
    assert Y.sum(axis=1).min() >= 1
    # One label, and Poisson(3) more, some of them twice.
    assert 3 < Y.sum() / 2000 <= 4.2


def test_labels_and_words_follow_zipf(benches):
    X, Y = benches("synthetic").corpus(20_000, 1000, 20_000, seed=0)
    for matrix in (X, Y):
        counts = np.sort(np.bincount(matrix.indices))[::-1].astype(float)
        # Frequency over rank 10 to 300 falls about as 1 / rank.
        ranks = np.unique(np.geomspace(10, 300, 30).astype(int))
        slope = np.polyfit(np.log(ranks), np.log(counts[ranks]), 1)[0]
        assert -1.3 < slope < -0.5


def test_labels_can_be_learned(benches):
    X, Y = benches("synthetic").corpus(3000, 40, 2000, seed=0)
    model = proxtree.LinearLabelTree(n_clusters=10).fit(X[:2500], Y[:2500])
    labels, _ = model.predict_topk(X[2500:], k=1)
    found = metrics.precision_at_k(Y[2500:], labels, 1)
    frequent = np.full((500, 1), np.bincount(Y.indices).argmax())
    # Topics alone, without the labels' own words, give 0.61.
    assert found > 0.75 > 3 * metrics.precision_at_k(Y[2500:], frequent, 1)


def test_an_exponent_is_a_slope_of_logarithms(benches):
    exponent = benches("growth").exponent
    assert exponent([1, 2, 4, 8], [3, 12, 48, 192]) == pytest.approx(2)
    assert exponent([10, 1000], [5, 5]) == pytest.approx(0, abs=1e-12)
