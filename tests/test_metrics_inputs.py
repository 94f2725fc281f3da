"""What metrics accept, what they refuse, and the rules for odd rows."""

import tracemalloc

import numpy as np
import pytest
from scipy import sparse

import proxtree.exceptions
from proxtree import metrics

Y = sparse.csr_matrix(np.array([[1, 0, 1], [0, 1, 0]]))
LABELS = np.array([[0, 1, 2], [1, 0, 2]])
P = np.array([0.5, 0.25, 0.2])

AT_K = [
    metrics.precision_at_k,
    metrics.recall_at_k,
    metrics.ndcg_at_k,
    metrics.coverage_at_k,
    lambda *args: metrics.psp_at_k(*args, P),
    lambda *args: metrics.psndcg_at_k(*args, P),
    lambda Y, labels, k: metrics.by_frequency(Y, labels, np.eye(3), k),
    lambda Y, labels, k: metrics.evaluate(Y, labels, np.eye(3), ks=(k,)),
]
at_k = pytest.mark.parametrize("metric", AT_K)


def test_k_beyond_the_number_of_labels_still_divides_by_k():
    padded = np.hstack([LABELS, np.full((2, 2), -1)])
    # Three labels exist, all three are named: 2 + 1 hits over 2 rows of 5.
    assert metrics.precision_at_k(Y, padded, 5) == pytest.approx(3 / 10)
    assert metrics.ndcg_at_k([[0]], [[0, -1, -1, -1, -1]], 5) == 1


def test_rows_without_labels_count_as_zero():
    with_empty = sparse.vstack([Y, sparse.csr_matrix((2, 3))]).tocsr()
    labels = np.vstack([LABELS, LABELS])
    for metric in AT_K[:3]:
        assert metric(with_empty, labels, 2) == pytest.approx(metric(Y, LABELS, 2) / 2)
    for metric in AT_K[3:6]:
        assert metric(with_empty, labels, 2) == pytest.approx(metric(Y, LABELS, 2))


@at_k
def test_no_relevant_label_at_all_scores_zero(metric):
    result = metric(sparse.csr_matrix((2, 3)), LABELS, 2)
    if isinstance(result, dict):
        assert set(result.values()) == {0.0}
    elif isinstance(result, float):
        assert result == 0
    else:
        assert not result["recall"].any()


def test_a_repeated_id_counts_once_and_keeps_its_first_place():
    assert metrics.precision_at_k([[0]], [[0, 0, 0]], 3) == pytest.approx(1 / 3)
    assert metrics.ndcg_at_k([[0]], [[0, 0, 0]], 3) == 1
    assert metrics.psp_at_k([[0, 1]], [[0, 0]], 2, [0.5, 0.5]) == 0.5


def test_minus_one_is_never_right_even_beside_the_last_label():
    assert metrics.precision_at_k([[1], [0]], [[0], [-1]], 1) == 0
    # It still takes a place: the hit comes second, 1 / log2(3).
    assert metrics.ndcg_at_k([[0]], [[-1, 0]], 2) == pytest.approx(1 / np.log2(3))


# A stored zero is no label, a repeated entry counts once.
UNTIDY = sparse.coo_matrix(
    (np.array([1, 0, 1, 1, 1]), ([0, 0, 0, 1, 1], [0, 1, 2, 1, 1])), (2, 3)
)


@pytest.mark.parametrize(
    "same",
    [
        Y.toarray(),
        Y.toarray().astype(bool),
        Y.astype(np.float64),
        Y.tocsc(),
        sparse.csr_array(Y),
        [[0, 2], [1]],
        [[2, 0, 2], (1,)],
        UNTIDY,
    ],
)
def test_containers_of_the_truth_give_the_same(same):
    Y_train = np.ones((3, 3))
    expected = metrics.evaluate(Y, LABELS, Y_train, ks=(1, 3))
    assert metrics.evaluate(same, LABELS, Y_train, ks=(1, 3)) == expected


def test_untidy_training_labels_count_once():
    tidy = sparse.vstack([Y, Y]).tocsr()
    untidy = sparse.vstack([UNTIDY, UNTIDY]).tocoo()
    np.testing.assert_array_equal(metrics.propensity(untidy), metrics.propensity(tidy))


@pytest.mark.parametrize(
    "same", [LABELS.tolist(), LABELS.astype(np.int8), LABELS.astype(np.uint64)]
)
def test_integer_types_of_the_ranking_give_the_same(same):
    assert metrics.ndcg_at_k(Y, same, 3) == metrics.ndcg_at_k(Y, LABELS, 3)


def test_lists_alone_set_no_upper_bound_for_ids():
    assert metrics.precision_at_k([[0]], [[7]], 1) == 0
    result = metrics.evaluate([[0], [1]], [[7], [1]], [[0], [1], [2]], ks=(1,))
    assert result["P@1"] == 0.5
    table = metrics.by_frequency([[0], [1]], [[7], [1]], [[0], [1], [2]], 1)
    assert table["n_labels"].sum() == 8


def test_labels_beyond_the_training_rows_have_the_weight_of_none():
    p = metrics.propensity([[0], [0], [1]], n_labels=5)
    assert p.shape == (5,)
    assert p[4] == p[2] < p[1] < p[0]


@at_k
@pytest.mark.parametrize("bad", [3, -2])
def test_ids_out_of_range_are_named(metric, bad):
    labels = LABELS.copy()
    labels[1, 2] = bad
    with pytest.raises(ValueError, match=rf"labels\[1, 2\] is {bad}, .* less than 3"):
        metric(Y, labels, 1)


@at_k
@pytest.mark.parametrize(
    ("truth", "labels", "k", "message"),
    [
        (Y * 2, LABELS, 1, "expected 0 or 1"),
        (Y[:1], LABELS, 1, "expected 2 rows"),
        (Y, LABELS[:, :1], 2, "1 columns, expected at least k = 2"),
        (Y, LABELS[0], 1, "labels has shape"),
        (Y[:0], LABELS[:0], 1, "at least one row"),
        (Y, [[0, 1], [0]], 1, "different lengths"),
        (Y, LABELS, 0, "k is 0"),
    ],
)
def test_bad_input_is_a_value_error(metric, truth, labels, k, message):
    with pytest.raises(proxtree.exceptions.DataError, match=message):
        metric(truth, labels, k)


@at_k
@pytest.mark.parametrize(
    ("labels", "k"), [(LABELS * 1.0, 1), (LABELS.astype(str), 1), (LABELS, 1.0)]
)
def test_wrong_types_are_type_errors(metric, labels, k):
    with pytest.raises(TypeError):
        metric(Y, labels, k)


@pytest.mark.parametrize("bad", [[0.5, 0.0, 1], [0.5, 1.5, 1], [0.5, np.nan, 1]])
def test_propensities_out_of_range_are_named(bad):
    for metric in (metrics.psp_at_k, metrics.psndcg_at_k, metrics.coverage_at_k):
        with pytest.raises(ValueError, match=r"propensity\[1\]"):
            metric(Y, LABELS, 1, bad)
    with pytest.raises(ValueError, match=r"propensity\[1\]"):
        metrics.rerank_by_propensity(LABELS, LABELS, bad)


def test_other_bad_arguments_are_value_errors():
    with pytest.raises(ValueError, match="expected 2 labels"):
        metrics.psp_at_k(Y, LABELS, 1, P[:2])
    with pytest.raises(ValueError, match="at least 3"):
        metrics.propensity(Y)
    with pytest.raises(ValueError, match="A is -1"):
        metrics.propensity(np.eye(3), A=-1)
    with pytest.raises(ValueError, match="B is 0"):
        metrics.propensity(np.eye(3), B=0)
    with pytest.raises(ValueError, match="convention is 'mean'"):
        metrics.psndcg_at_k(Y, LABELS, 1, P, convention="mean")
    with pytest.raises(ValueError, match="scores has shape"):
        metrics.rerank_by_propensity(LABELS, LABELS[:1], P)
    with pytest.raises(ValueError, match="ks is empty"):
        metrics.evaluate(Y, LABELS, ks=())
    for bins in ((1, 2), (0, 2, 2), (), (0, 1.5)):
        with pytest.raises(ValueError, match="bins is"):
            metrics.by_frequency(Y, LABELS, np.eye(3), bins=bins, k=1)


def test_the_callers_objects_do_not_change():
    untidy, labels = UNTIDY.copy(), LABELS.copy()
    labels.flags.writeable = False
    metrics.evaluate(untidy, labels, np.eye(3), ks=(2,))
    np.testing.assert_array_equal(untidy.data, UNTIDY.data)
    np.testing.assert_array_equal(untidy.coords, UNTIDY.coords)
    np.testing.assert_array_equal(labels, LABELS)


def test_memory_stays_proportional_to_rows_and_entries():
    n, n_labels, k = 50_000, 1_000_000, 5
    rng = np.random.default_rng(0)
    indices = rng.integers(0, n_labels, 3 * n)
    truth = sparse.csr_matrix(
        (np.ones(3 * n, np.uint8), indices, np.arange(0, 3 * n + 1, 3)), (n, n_labels)
    )
    labels = np.hstack([indices.reshape(n, 3), rng.integers(0, n_labels, (n, 2))])
    tracemalloc.start()
    try:
        result = metrics.evaluate(truth, labels, truth, ks=(k,))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert result["P@5"] == pytest.approx(0.6, abs=1e-3)
    # 250,000 positions, 150,000 entries and 1,000,000 labels; dense: 50 GB.
    assert peak < 150 * (n * k + 3 * n) + 50 * n_labels


def test_training_labels_must_be_there():
    with pytest.raises(TypeError, match="Y_train is None"):
        metrics.by_frequency(np.eye(3), np.eye(3, dtype=int), None)


def test_ids_that_nothing_can_count_are_refused():
    for metric in (metrics.evaluate, metrics.by_frequency):
        with pytest.raises(ValueError, match="labels holds 1099511627776"):
            metric([[0], [1], [2]], np.full((3, 5), 2**40), [[0], [1], [2]])


def test_propensities_that_no_float_holds_are_refused():
    for A, B in ((1e300, 1.5), (1e300, 1e-3), (5.0, 1e300)):
        with pytest.raises(ValueError, match=r"A is .* and B is .*: propensities are"):
            metrics.propensity(np.eye(4), A=A, B=B)
