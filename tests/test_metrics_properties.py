"""Metrics against plain loops, and properties that must hold for any input."""

import math

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

from proxtree import metrics


@st.composite
def cases(draw):
    """A 0/1 matrix, ranked ids with repeats and -1, propensities, k."""
    n = draw(st.integers(1, 6))
    n_labels = draw(st.integers(1, 7))
    k = draw(st.integers(1, 6))
    bits = st.lists(st.booleans(), min_size=n_labels, max_size=n_labels)
    ids = st.integers(-1, n_labels - 1)
    Y = np.array(draw(st.lists(bits, min_size=n, max_size=n)))
    row = st.lists(ids, min_size=k, max_size=k)
    labels = np.array(draw(st.lists(row, min_size=n, max_size=n)))
    shares = st.sampled_from([0.03, 0.1, 0.3, 0.7, 1.0])
    p = np.array(draw(st.lists(shares, min_size=n_labels, max_size=n_labels)))
    return Y, labels, p, k


def naive(Y, labels, p, k):
    """Every metric from its definition, one row and position after another."""
    n, n_labels = Y.shape
    hit_sum = recall = ndcg = won = best = won_dcg = best_dcg = per_row = 0.0
    found, present = set(), set()
    for y, ranked in zip(Y, labels, strict=True):
        relevant = [label for label in range(n_labels) if y[label]]
        present |= set(relevant)
        named, dcg, gain_dcg = [], 0.0, 0.0
        for r in range(k):
            label = ranked[r]
            if label in relevant and label not in named:
                named.append(label)
                dcg += 1 / math.log2(r + 2)
                gain_dcg += 1 / p[label] / math.log2(r + 2)
        found |= set(named)
        hit_sum += len(named)
        won += sum(1 / p[label] for label in named)
        if not relevant:
            continue
        heaviest = sorted((1 / p[label] for label in relevant), reverse=True)[:k]
        ideal = sum(1 / math.log2(r + 2) for r in range(len(heaviest)))
        ideal_gain = sum(w / math.log2(r + 2) for r, w in enumerate(heaviest))
        recall += len(named) / len(relevant)
        ndcg += dcg / ideal
        best += sum(heaviest)
        won_dcg += gain_dcg / ideal
        best_dcg += ideal_gain / ideal
        per_row += gain_dcg / ideal_gain
    return {
        "P": hit_sum / (n * k),
        "R": recall / n,
        "nDCG": ndcg / n,
        "coverage": len(found) / len(present) if present else 0,
        "PSP": won / best if best else 0,
        "PSnDCG": won_dcg / best_dcg if best_dcg else 0,
        "per row": per_row / n,
    }


def ours(Y, labels, p, k):
    return {
        "P": metrics.precision_at_k(Y, labels, k),
        "R": metrics.recall_at_k(Y, labels, k),
        "nDCG": metrics.ndcg_at_k(Y, labels, k),
        "coverage": metrics.coverage_at_k(Y, labels, k),
        "PSP": metrics.psp_at_k(Y, labels, k, p),
        "PSnDCG": metrics.psndcg_at_k(Y, labels, k, p),
        "per row": metrics.psndcg_at_k(Y, labels, k, p, "per_row"),
    }


@given(cases())
def test_equals_the_definitions(case):
    values = ours(*case)
    assert values == pytest.approx(naive(*case), abs=1e-12)
    assert all(0 <= value <= 1 for value in values.values())


@given(cases(), st.randoms(use_true_random=False))
def test_order_of_rows_does_not_matter(case, random):
    Y, labels, p, k = case
    order = list(range(len(Y)))
    random.shuffle(order)
    shuffled = ours(Y[order], labels[order], p, k)
    assert shuffled == pytest.approx(ours(*case), abs=1e-12)


@given(cases())
def test_renumbering_labels_does_not_matter(case):
    Y, labels, p, k = case
    backwards = np.where(labels < 0, -1, Y.shape[1] - 1 - labels)
    values = ours(Y[:, ::-1], backwards, p[::-1], k)
    assert values == pytest.approx(ours(*case), abs=1e-12)


@given(cases())
def test_the_best_ranking_scores_one(case):
    Y, _, p, k = case
    weights = np.where(Y, 1 / p, 0)
    order = np.argsort(-weights, axis=1, kind="stable")
    labels = np.full((len(Y), k), -1)
    width = min(k, Y.shape[1])
    labels[:, :width] = order[:, :width]
    some = float(Y.any())
    assert metrics.psp_at_k(Y, labels, k, p) == pytest.approx(some)
    assert metrics.psndcg_at_k(Y, labels, k, p) == pytest.approx(some)
    assert metrics.ndcg_at_k(Y, labels, k) == pytest.approx(Y.any(axis=1).mean())


@given(cases(), st.integers(0, 2**32 - 1))
def test_reranking_keeps_psp_over_all_columns(case, seed):
    Y, labels, p, k = case
    scores = np.random.default_rng(seed).normal(size=labels.shape)
    reranked = metrics.rerank_by_propensity(labels, scores, p)
    np.testing.assert_array_equal(np.sort(reranked), np.sort(labels))
    assert metrics.psp_at_k(Y, reranked, k, p) == pytest.approx(
        metrics.psp_at_k(Y, labels, k, p), abs=1e-12
    )


@given(cases())
@settings(max_examples=50)
def test_frequency_bins_add_up(case):
    Y, labels, _, k = case
    Y_train = np.vstack([Y, Y[:1]])
    table = metrics.by_frequency(Y, labels, Y_train, k, bins=(0, 1, 2, 4))
    assert table["n_labels"].sum() == Y.shape[1]
    assert table["n_true"].sum() == Y.sum()
    assert table["n_predicted"].sum() == (labels >= 0).sum()
    assert table["gain"].sum() == pytest.approx(metrics.precision_at_k(Y, labels, k))


@given(st.integers(3, 50), st.floats(0, 2), st.floats(0.01, 10))
def test_propensity_rises_with_frequency_and_stays_in_range(n, A, B):
    Y_train = np.tri(n, 4, -1)[::-1]
    p = metrics.propensity(Y_train, A, B)
    assert ((p > 0) & (p <= 1)).all()
    # Column j has n - 1 - j ones.
    assert (np.diff(p) <= 0).all()


def test_rounding_never_lifts_a_perfect_score_above_one():
    # Without the cap some of these end at 1 + 2e-16.
    rng = np.random.default_rng(0)
    for k in range(1, 65):
        labels = rng.permutation(k)[np.newaxis]
        Y = np.ones((1, k))
        p = rng.uniform(0.01, 1, k)
        assert 1 - 1e-12 < metrics.ndcg_at_k(Y, labels, k) <= 1
        assert 1 - 1e-12 < metrics.psp_at_k(Y, labels, k, p) <= 1


def test_reranking_keeps_the_order_of_ties_in_long_rows():
    # numpy's default sort is stable for short rows only.
    rng = np.random.default_rng(0)
    labels = rng.permutation(200)
    p = rng.choice([0.1, 0.2, 0.3], 200)
    expected = sorted(labels, key=lambda label: p[label])
    reranked = metrics.rerank_by_propensity([labels], np.ones((1, 200)), p)
    np.testing.assert_array_equal(reranked, [expected])
