"""The native model against numpy: depth one, trees, ensembles."""

import numpy as np
import pytest
import scipy.sparse as sp

from proxtree._core import Model, normalize_rows
from proxtree.exceptions import DataError

LABEL = 1 << 31
NO_LABELS = np.array([], np.int32)
RULES = {
    "squared": lambda z: -(np.maximum(0, 1 - z) ** 2),
    "cubed": lambda z: -(np.maximum(0, 1 - z) ** 3),
    "log_sigmoid": lambda z: -np.logaddexp(0, -3 * z),
}


def csr(matrix):
    matrix = sp.csr_matrix(matrix, dtype=np.float32)
    return matrix.indptr, matrix.indices, matrix.data, matrix.shape


def random_csr(rng, shape, density):
    return sp.random(
        *shape, density=density, random_state=rng, dtype=np.float32
    ).tocsr()


def topk(model, x, k, *, allowed=None, beam_size=10, n_threads=1):
    return model.predict_topk(
        csr(x), k, allowed=allowed, beam_size=beam_size, n_threads=n_threads
    )


@pytest.fixture(scope="module")
def flat():
    rng = np.random.default_rng(0)
    coef = random_csr(rng, (300, 80), 0.05)
    coef.data -= 0.3
    intercept = rng.normal(size=300) / 10
    model = Model.from_coef(
        csr(coef), intercept, untrained=np.array([4, 200], np.int32), normalize=False
    )
    return model, coef, intercept, random_csr(rng, (150, 80), 0.1)


@pytest.fixture(scope="module")
def deep():
    """Root over 4 inner nodes of 5 labels each; labels in shuffled order."""
    rng = np.random.default_rng(1)
    child_ptr = np.array([0, 4, 9, 14, 19, 24], np.uint32)
    order = rng.permutation(20)
    children = np.r_[1:5, order + LABEL].astype(np.uint32)
    nodes = []
    for n in [4, 5, 5, 5, 5]:
        coef = random_csr(rng, (n, 30), 0.3)
        coef.data -= 0.4
        nodes.append((coef, rng.normal(size=n).astype(np.float32).astype(np.float64)))
    x = random_csr(rng, (100, 30), 0.3)

    def make(scoring, n_trees=1):
        arrays = [(csr(coef), intercept) for coef, intercept in nodes]
        return Model.from_nodes(
            20,
            30,
            [(child_ptr, children, arrays)] * n_trees,
            scoring=scoring,
            untrained=NO_LABELS,
            normalize=False,
        )

    z = [(x @ coef.T).toarray().astype(float) + intercept for coef, intercept in nodes]
    return make, order, x, z


def test_decision_function_is_the_product(flat):
    model, coef, intercept, x = flat
    z = model.decision_function(csr(x), n_threads=2)
    assert z.dtype == np.float32
    np.testing.assert_allclose(z, (x @ coef.T).toarray() + intercept, atol=1e-6)


def test_topk_sorts_the_decision_function(flat):
    model, _, _, x = flat
    z = model.decision_function(csr(x), n_threads=1)
    z[:, [4, 200]] = -np.inf
    order = np.argsort(-z, axis=1, kind="stable")[:, :7]
    labels, scores = topk(model, x, 7)
    assert labels.dtype == np.int32
    np.testing.assert_array_equal(labels, order)
    np.testing.assert_array_equal(scores, np.take_along_axis(z, order, axis=1))


def test_allowed_labels_are_the_only_ones(flat):
    model, _, _, x = flat
    allowed = np.array([7, 4, 250, 7], np.int32)
    labels, scores = topk(model, x, 3, allowed=allowed)
    z = model.decision_function(csr(x), n_threads=1)[:, [7, 250]]
    assert set(labels[:, :2].ravel()) == {7, 250}
    np.testing.assert_array_equal(scores[:, :2], -np.sort(-z, axis=1))
    assert (labels[:, 2] == -1).all()
    assert (scores[:, 2] == -np.inf).all()
    labels, _ = topk(model, x, 3, allowed=NO_LABELS)
    assert (labels == -1).all()


def test_threshold_is_exclusive_and_leaves_untrained_out(flat):
    model, _, _, x = flat
    z = model.decision_function(csr(x), n_threads=1)
    z[:, [4, 200]] = -np.inf
    threshold = float(z[3, 17])
    for t in (model.default_threshold, threshold):
        indptr, indices = model.predict_threshold(csr(x), t, beam_size=1, n_threads=2)
        rows, columns = np.nonzero(z > np.float32(t))
        np.testing.assert_array_equal(indices, columns)
        np.testing.assert_array_equal(np.diff(indptr), np.bincount(rows, minlength=150))


def test_an_empty_row_ranks_the_intercepts(flat):
    model, _, intercept, _ = flat
    trained = np.delete(np.arange(300), [4, 200])
    best = trained[np.argsort(-intercept[trained])][:5]
    labels, scores = topk(model, np.zeros((1, 80)), 5)
    np.testing.assert_array_equal(labels[0], best)
    np.testing.assert_array_equal(scores[0], intercept[best].astype(np.float32))


def test_k_beyond_the_labels_is_padded(flat):
    model, _, _, x = flat
    labels, scores = topk(model, x[:2], 305)
    assert labels.shape == scores.shape == (2, 305)
    assert (np.sort(labels[:, :298]) == np.delete(np.arange(300), [4, 200])).all()
    assert (labels[:, 298:] == -1).all()
    assert (scores[:, 298:] == -np.inf).all()


def test_weights_come_back(flat):
    model, coef, intercept, _ = flat
    arrays, b = model.coef()
    back = sp.csr_matrix((arrays[2], arrays[1], arrays[0]), shape=(300, 80))
    assert (back != coef).nnz == 0
    np.testing.assert_array_equal(b, intercept)
    assert model.n_nonzero == coef.nnz + 300
    assert (model.n_labels, model.n_features, model.n_trees, model.n_nodes) == (
        300,
        80,
        1,
        1,
    )
    np.testing.assert_array_equal(model.untrained, [4, 200])


@pytest.mark.parametrize("scoring", RULES)
@pytest.mark.parametrize("n_trees", [1, 3])
def test_a_wide_beam_is_exhaustive(deep, scoring, n_trees):
    make, order, x, z = deep
    model = make(scoring, n_trees)
    step = RULES[scoring]
    path = np.concatenate(
        [step(z[0][:, [i]]) + step(z[i + 1]) for i in range(4)], axis=1
    )
    expected = np.empty((100, 20))
    expected[:, order] = np.exp(path)
    labels, scores = topk(model, x, 20, beam_size=5, n_threads=2)
    assert (np.sort(labels) == np.arange(20)).all()
    np.testing.assert_allclose(
        scores, np.take_along_axis(expected, labels, axis=1), atol=1e-6
    )
    assert (np.diff(scores) <= 0).all()
    rows, columns = np.divmod(np.random.default_rng(2).permutation(2000), 20)
    pairs = model.score_pairs(
        csr(x), rows.astype(np.int32), columns.astype(np.int32), n_threads=2
    )
    np.testing.assert_allclose(pairs, expected[rows, columns], atol=1e-6)


def test_a_beam_of_one_follows_the_best_node(deep):
    make, order, x, z = deep
    best = RULES["squared"](z[0]) + 1e-9 * z[0]
    labels, _ = topk(make("squared"), x, 6, beam_size=1)
    for row, node in enumerate(best.argmax(axis=1)):
        assert set(labels[row, :5]) == set(order[5 * node : 5 * node + 5])
        assert labels[row, 5] == -1


def test_nodes_and_tree_come_back(deep):
    make, order, _, _ = deep
    model = make("cubed", 2)
    child_ptr, children = model.tree(1)
    np.testing.assert_array_equal(child_ptr, [0, 4, 9, 14, 19, 24])
    np.testing.assert_array_equal(children[4:] - np.uint32(LABEL), order)
    (indptr, _, data), intercept = model.node(1, 2)
    assert len(indptr) == 6
    assert len(data) + len(intercept) < model.n_nonzero
    assert (model.n_trees, model.n_nodes, model.scoring) == (2, 10, "cubed")
    assert model.default_threshold == pytest.approx(np.exp(-1))
    with pytest.raises(IndexError, match="no tree 2"):
        model.tree(2)
    with pytest.raises(IndexError, match="no node 5"):
        model.node(0, 5)
    with pytest.raises(DataError, match="depth one"):
        model.coef()


def test_rows_are_scaled_as_in_training(flat):
    _, coef, intercept, x = flat
    unit = x.copy()
    unit.data = normalize_rows(csr(x))
    norms = np.sqrt(x.multiply(x).sum(axis=1, dtype=np.float64))
    expected = x.toarray() / np.where(norms == 0, 1, norms)
    np.testing.assert_allclose(unit.toarray(), expected, rtol=1e-6)
    inside, before = (
        Model.from_coef(csr(coef), intercept, untrained=NO_LABELS, normalize=n)
        for n in (True, False)
    )
    np.testing.assert_array_equal(
        inside.decision_function(csr(x), n_threads=1),
        before.decision_function(csr(unit), n_threads=1),
    )


def test_stored_zeros_change_nothing(flat):
    model, _, _, x = flat
    dense = np.tile(np.arange(80, dtype=np.int32), 150)
    full = (
        np.arange(0, 150 * 80 + 1, 80, dtype=np.int64),
        dense,
        x.toarray().ravel(),
        (150, 80),
    )
    np.testing.assert_array_equal(
        model.decision_function(full, n_threads=2),
        model.decision_function(csr(x), n_threads=1),
    )


@pytest.mark.parametrize("n_threads", [1, 2, 7])
def test_threads_and_batches_give_the_same_bits(flat, deep, n_threads):
    for model, x in ((flat[0], flat[3]), (deep[0]("log_sigmoid", 2), deep[2])):
        labels, scores = topk(model, x, 5, beam_size=2, n_threads=n_threads)
        for size in (1, 63, 64):
            parts = [
                topk(model, x[i : i + size], 5, beam_size=2)
                for i in range(0, x.shape[0], size)
            ]
            np.testing.assert_array_equal(labels, np.concatenate([p[0] for p in parts]))
            np.testing.assert_array_equal(scores, np.concatenate([p[1] for p in parts]))


def test_wrong_arguments_are_errors(flat):
    model, coef, intercept, x = flat
    with pytest.raises(DataError, match="k must be at least 1"):
        topk(model, x, 0)
    with pytest.raises(OverflowError):
        topk(model, x, -1)
    with pytest.raises(DataError, match="X has 79 features"):
        topk(model, x[:, :79], 1)
    with pytest.raises(DataError, match=r"outside \[0, 300\)"):
        topk(model, x, 1, allowed=np.array([-1], np.int32))
    with pytest.raises(DataError, match="row 150 is outside"):
        model.score_pairs(
            csr(x), np.array([150], np.int32), np.array([0], np.int32), n_threads=1
        )
    with pytest.raises(DataError, match="299 intercepts for 300"):
        Model.from_coef(csr(coef), intercept[1:], untrained=NO_LABELS, normalize=False)
    with pytest.raises(DataError, match="scoring must be one of"):
        Model.from_nodes(
            1, 1, [], scoring="cosine", untrained=NO_LABELS, normalize=False
        )
    with pytest.raises(MemoryError, match="no memory"):
        topk(model, x, 2**58)
