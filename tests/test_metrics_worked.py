"""Metrics on a case small enough to work out by hand."""

import numpy as np
import pytest

from proxtree import metrics

# Rows: two relevant labels, one, none, four (more than k).
Y_TRUE = [[0, 2], [1], [], [0, 1, 2, 3]]
LABELS = np.array([[0, 1, 2], [3, 0, 1], [0, 1, 2], [3, 4, 0]])
# Hits:             1  0  1    0  0  1    0  0  0    1  0  1
# 1/p = 2, 4, 5, 8, 10
P = np.array([0.5, 0.25, 0.2, 0.125, 0.1])
LOG3 = 1 / np.log2(3)  # discount of position 2; those of 1 and 3 are 1 and 1/2


def approx(value):
    return pytest.approx(value, rel=1e-12)


def test_precision_counts_hits_over_rows_times_k():
    # Position 1: rows 0 and 3. First three: 2 + 1 + 0 + 2.
    assert metrics.precision_at_k(Y_TRUE, LABELS, 1) == approx(2 / 4)
    assert metrics.precision_at_k(Y_TRUE, LABELS, 3) == approx(5 / 12)


def test_recall_divides_by_the_labels_of_the_row():
    assert metrics.recall_at_k(Y_TRUE, LABELS, 1) == approx((1 / 2 + 1 / 4) / 4)
    assert metrics.recall_at_k(Y_TRUE, LABELS, 3) == approx((2 / 2 + 1 + 2 / 4) / 4)


def test_ndcg_normalises_over_at_most_k_labels():
    row0 = (1 + 1 / 2) / (1 + LOG3)
    row1 = (1 / 2) / 1
    row3 = (1 + 1 / 2) / (1 + LOG3 + 1 / 2)
    assert metrics.ndcg_at_k(Y_TRUE, LABELS, 1) == approx(2 / 4)
    assert metrics.ndcg_at_k(Y_TRUE, LABELS, 3) == approx((row0 + row1 + row3) / 4)


def test_coverage_counts_different_labels():
    # At 1: {0, 3} of {0, 1, 2, 3}; at 3: {0, 2}, {1}, {3, 0}.
    assert metrics.coverage_at_k(Y_TRUE, LABELS, 1) == approx(2 / 4)
    assert metrics.coverage_at_k(Y_TRUE, LABELS, 3) == approx(4 / 4)


def test_coverage_relative_to_the_rarest_relevant_labels():
    # The rarest relevant label of each row: 2, 1, -, 3. Found at 1: {0, 3}.
    assert metrics.coverage_at_k(Y_TRUE, LABELS, 1, P) == approx(2 / 3)
    # Equal propensities: the smaller id, so {0}, {1}, {0}.
    assert metrics.coverage_at_k(Y_TRUE, LABELS, 1, np.full(5, 0.5)) == approx(2 / 2)
    # It may exceed 1: the target is {1} of both rows, found are 0 and 2.
    assert metrics.coverage_at_k(
        [[0, 1], [1, 2]], [[0], [2]], 1, [0.5, 0.1, 0.5]
    ) == approx(2)


def test_psp_is_a_ratio_of_totals():
    # At 1: won 2 and 8; possible 5, 4, 8.
    assert metrics.psp_at_k(Y_TRUE, LABELS, 1, P) == approx((2 + 8) / (5 + 4 + 8))
    # At 3: won 2 + 5, 4, 8 + 2; possible 5 + 2, 4, 8 + 5 + 4.
    assert metrics.psp_at_k(Y_TRUE, LABELS, 3, P) == approx((7 + 4 + 10) / (7 + 4 + 17))


def test_psndcg_in_both_conventions():
    won = [2 + 5 / 2, 4 / 2, 8 + 2 / 2]
    best = [5 + 2 * LOG3, 4, 8 + 5 * LOG3 + 4 / 2]
    norm = [1 + LOG3, 1, 1 + LOG3 + 1 / 2]
    ratio = sum(w / n for w, n in zip(won, norm, strict=True)) / sum(
        b / n for b, n in zip(best, norm, strict=True)
    )
    per_row = sum(w / b for w, b in zip(won, best, strict=True)) / 4
    assert metrics.psndcg_at_k(Y_TRUE, LABELS, 3, P) == approx(ratio)
    assert metrics.psndcg_at_k(Y_TRUE, LABELS, 3, P, "per_row") == approx(per_row)


def test_rerank_puts_rare_labels_with_positive_scores_first():
    labels = [[0, 1, 2, 3, -1], [4, 3, 2, 1, 0]]
    scores = [[3, 2, 1, 0, -np.inf], [5, 4, 3, 2, 1]]
    # Label 3 of the first row has no positive score: it stays behind.
    expected = [[2, 1, 0, 3, -1], [4, 3, 2, 1, 0]]
    np.testing.assert_array_equal(
        metrics.rerank_by_propensity(labels, scores, P), expected
    )
    # Equal propensities keep the order by score.
    same = metrics.rerank_by_propensity(labels, scores, np.full(5, 0.3))
    np.testing.assert_array_equal(same, labels)


def test_by_frequency_splits_precision_and_recall():
    # Training counts: label 0 has 4, labels 1 and 2 have 2, 3 has 1, 4 has none.
    Y_train = np.array(
        [[1, 1, 1, 0, 0], [1, 1, 0, 1, 0], [1, 0, 1, 0, 0], [1, 0, 0, 0, 0]]
    )
    table = metrics.by_frequency(Y_TRUE, LABELS, Y_train, k=3, bins=(0, 1, 3))
    assert table["low"].tolist() == [0, 1, 3]
    assert table["high"].tolist() == [0, 2, 4]
    # Bins: {4}, {1, 2, 3}, {0}.
    assert table["n_labels"].tolist() == [1, 3, 1]
    assert table["n_true"].tolist() == [0, 5, 2]
    assert table["n_predicted"].tolist() == [1, 7, 4]
    assert table["n_correct"].tolist() == [0, 3, 2]
    assert table["precision"].tolist() == approx([0, 3 / 7, 2 / 4])
    assert table["recall"].tolist() == approx([0, 3 / 5, 2 / 2])
    assert table["gain"].sum() == approx(metrics.precision_at_k(Y_TRUE, LABELS, 3))


def test_evaluate_holds_every_metric_at_every_k():
    Y_train = np.eye(5, dtype=np.uint8)[[0, 0, 0, 1, 2, 3]]
    p = metrics.propensity(Y_train, 0.5, 0.4)
    result = metrics.evaluate(Y_TRUE, LABELS, Y_train, ks=(1, 3), A=0.5, B=0.4)
    expected = {}
    for k in (1, 3):
        expected |= {
            f"P@{k}": metrics.precision_at_k(Y_TRUE, LABELS, k),
            f"nDCG@{k}": metrics.ndcg_at_k(Y_TRUE, LABELS, k),
            f"R@{k}": metrics.recall_at_k(Y_TRUE, LABELS, k),
            f"coverage@{k}": metrics.coverage_at_k(Y_TRUE, LABELS, k),
            f"PSP@{k}": metrics.psp_at_k(Y_TRUE, LABELS, k, p),
            f"PSnDCG@{k}": metrics.psndcg_at_k(Y_TRUE, LABELS, k, p),
        }
    assert result == approx(expected)
    assert all(type(value) is float for value in result.values())
    plain = metrics.evaluate(Y_TRUE, LABELS, ks=(1, 3))
    assert set(plain) == {name for name in expected if not name.startswith("PS")}
