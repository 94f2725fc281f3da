"""What LinearOneVsRest finds, against numpy, and that containers do not matter."""

import joblib
import numpy as np
import pytest
from scipy import sparse

from proxtree import LinearOneVsRest, normalize_rows
from proxtree.exceptions import ConvergenceWarning, DataWarning


def certificate(X, positive, w, intercept, alpha, c=None, ridge=0.0, scaling=1.0):
    """P, D and the gap in float64 (papers: penalised intercept as a column)."""
    A = np.hstack([X.toarray().astype(float), np.full((X.shape[0], 1), scaling)])
    s = np.where(positive, 1.0, -1.0)
    A *= s[:, None]
    c = np.ones(len(s)) if c is None else c
    v = np.append(w.astype(float), intercept / scaling)
    slack = np.maximum(0, 1 - A @ v)
    r = np.full(A.shape[1], ridge)
    r[-1] = 0.0
    primal = alpha * np.abs(v).sum() + (r * v * v).sum() / 2 + (c * slack**2).sum()
    a = 2 * c * slack
    pull = np.abs(A.T @ a)

    def dual(a):
        excess = np.maximum(0, np.abs(A.T @ a) - alpha)
        cost = (excess[r > 0] ** 2 / (2 * r[r > 0])).sum()
        return (a - a**2 / (4 * c)).sum() - cost

    if ridge:
        return primal, dual(a)
    best = min(2 * a.sum() / (a**2 / c).sum(), alpha / pull.max())
    return primal, dual(best * a)


@pytest.mark.parametrize("solver", ["auto", "coordinate_descent"])
@pytest.mark.parametrize("alpha", [0.1, 1.0, 10.0])
@pytest.mark.parametrize("scaling", [1.0, 3.0])
def test_certificates_hold_in_float64(problem, solver, alpha, scaling):
    X, Y = problem
    model = LinearOneVsRest(alpha, solver=solver, intercept_scaling=scaling).fit(X, Y)
    records = model.certificate_
    for j in range(Y.shape[1]):
        positive = Y[:, [j]].toarray().ravel() == 1
        w = model.coef_[j].toarray().ravel()
        primal, bound = certificate(
            X, positive, w, model.intercept_[j], alpha, scaling=scaling
        )
        assert records["objective"][j] == pytest.approx(primal, rel=1e-6)
        assert records["dual_objective"][j] == pytest.approx(bound, rel=1e-6)
        assert records["gap"][j] == pytest.approx(primal - bound, abs=1e-6 * primal)
        assert records["status"][j] == "converged"
        assert primal - bound <= 1e-3 * bound * (1 + 1e-6)
        assert records["nnz"][j] == np.count_nonzero(w)


def test_fitted_attributes(problem):
    X, Y = problem
    model = LinearOneVsRest()
    assert model.fit(X, Y) is model
    assert (model.n_features_in_, model.n_labels_) == (30, 7)
    np.testing.assert_array_equal(model.classes_, np.arange(7))
    assert model.coef_.format == "csr"
    assert model.coef_.shape == (7, 30)
    assert model.coef_.dtype == np.float32
    assert model.intercept_.dtype == np.float64
    assert model.n_nonzero_ == model.coef_.nnz + np.count_nonzero(model.intercept_)
    assert model.certificate_.dtype.names == (
        "objective",
        "dual_objective",
        "gap",
        "n_iter",
        "status",
        "nnz",
        "seconds",
    )


def bits(model):
    coef = model.coef_
    parts = (coef.indptr, coef.indices, coef.data, model.intercept_)
    return b"".join(part.tobytes() for part in parts)


def test_threads_do_not_change_a_bit(problem):
    X, Y = problem
    one, two = (LinearOneVsRest(n_threads=n).fit(X, Y) for n in (1, 2))
    assert bits(one) == bits(two)
    for field in ("objective", "dual_objective", "gap", "n_iter", "status", "nnz"):
        np.testing.assert_array_equal(one.certificate_[field], two.certificate_[field])


def _index64(X):
    X = X.copy()
    X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    return X


def _backwards(X):
    order = np.concatenate(
        [np.arange(a, b)[::-1] for a, b in zip(X.indptr, X.indptr[1:], strict=False)]
    )
    return sparse.csr_matrix((X.data[order], X.indices[order], X.indptr), X.shape)


def _read_only(X):
    X = X.copy()
    for part in (X.data, X.indices, X.indptr):
        part.flags.writeable = False
    return X


@pytest.mark.parametrize(
    "change",
    [
        lambda X: X.astype(np.float64),
        _index64,
        _backwards,
        lambda X: X.tocsc(),
        lambda X: X.toarray(),
        lambda X: np.asfortranarray(X.toarray()),
        lambda X: X.toarray().astype(">f8"),
        _read_only,
        sparse.coo_array,
    ],
)
def test_containers_do_not_change_a_bit(problem, change):
    X, Y = problem
    expected = LinearOneVsRest().fit(X, Y)
    result = LinearOneVsRest().fit(change(X), change(Y))
    assert bits(result) == bits(expected)


def test_memory_mapped_and_label_lists(problem, tmp_path):
    X, Y = problem
    joblib.dump(X, tmp_path / "x")
    mapped = joblib.load(tmp_path / "x", mmap_mode="r")
    lists = [Y[i].indices.tolist() for i in range(Y.shape[0])]
    assert bits(LinearOneVsRest().fit(mapped, lists)) == bits(
        LinearOneVsRest().fit(X, Y)
    )


def test_normalize_is_part_of_the_model(problem):
    X, Y = problem
    inside = LinearOneVsRest(0.1, normalize=True).fit(X, Y)
    outside = LinearOneVsRest(0.1).fit(normalize_rows(X), Y)
    assert bits(inside) == bits(outside)
    np.testing.assert_array_equal(
        inside.decision_function(3 * X),
        outside.decision_function(normalize_rows(3 * X)),
    )


def test_no_intercept(problem):
    model = LinearOneVsRest(fit_intercept=False).fit(*problem)
    np.testing.assert_array_equal(model.intercept_, 0)


def test_huge_alpha_leaves_no_weights(problem):
    model = LinearOneVsRest(1e6).fit(*problem)
    assert model.n_nonzero_ == 0
    np.testing.assert_array_equal(model.certificate_["objective"], 80)


def test_label_without_positives(problem):
    X, Y = problem
    wider = sparse.hstack([Y[:, :2], sparse.csr_matrix((80, 1), dtype=np.uint8)])
    with pytest.warns(DataWarning, match="1 of 3 labels have no positive"):
        model = LinearOneVsRest().fit(X, wider)
    assert model.coef_[2].nnz == 0
    labels, scores = model.predict_topk(X, 3)
    assert set(labels[:, 2]) == {-1}
    assert set(scores[:, 2]) == {-np.inf}
    assert set(labels[:, :2].ravel()) == {0, 1}
    # All samples are negative: min alpha |b| + 80 max(0, 1 + b)^2 at b = -(1 - 1/160).
    assert model.intercept_[2] == pytest.approx(-(1 - 1 / 160))
    assert model.certificate_summary()["n_trained"] == 2


@pytest.mark.filterwarnings("error")
def test_label_with_only_positives(problem):
    X, Y = problem
    model = LinearOneVsRest().fit(X, sparse.hstack([Y[:, :1], np.ones((80, 1))]))
    assert model.certificate_["status"][1] == "converged"
    assert (model.decision_function(X)[:, 1] > 0.5).all()


def test_one_label_and_rows_without_features():
    X = np.array([[1.0, 0.0], [0.0, 0.0], [0.0, 1.0], [0.0, 0.0]])
    model = LinearOneVsRest(0.1).fit(X, [[0], [], [], []])
    labels, scores = model.predict_topk(np.zeros((1, 2)), 1)
    assert labels.tolist() == [[0]]
    assert scores[0, 0] == np.float32(model.intercept_[0])


def test_too_few_iterations_warn_once_with_counts(problem):
    with pytest.warns(ConvergenceWarning) as caught:
        model = LinearOneVsRest(0.01, tol=1e-9, max_iter=1).fit(*problem)
    assert len(caught) == 1
    status = model.certificate_["status"]
    n = int((status != "converged").sum())
    assert n > 0
    assert f"{n} of 7 trained labels did not" in str(caught[0].message)
    assert f"{(status == 'max_iter').sum()} max_iter" in str(caught[0].message)
    assert caught[0].filename == __file__
