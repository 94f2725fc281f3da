"""Wrong arguments: an error that names them, and an estimator left as it was."""

import numpy as np
import pytest
from scipy import sparse

from proxtree import LinearOneVsRest
from proxtree.exceptions import DataError, NotFittedError


@pytest.mark.parametrize(
    ("params", "error"),
    [
        ({"alpha": 0}, DataError),
        ({"alpha": -1.0}, DataError),
        ({"alpha": np.nan}, DataError),
        ({"alpha": np.inf}, DataError),
        ({"alpha": "1"}, TypeError),
        ({"alpha": True}, TypeError),
        ({"tol": 0}, DataError),
        ({"max_iter": 0}, DataError),
        ({"max_iter": 1.5}, TypeError),
        ({"fit_intercept": 1}, TypeError),
        ({"intercept_scaling": 0}, DataError),
        ({"penalize_intercept": None}, TypeError),
        ({"class_weight": "heavy"}, DataError),
        ({"class_weight": (1, -1)}, DataError),
        ({"alpha_exponent": np.inf}, DataError),
        ({"propensity_weight": -1}, DataError),
        ({"ridge": -1}, DataError),
        ({"solver": "newton"}, DataError),
        ({"solver_options": {"eps": 1}}, DataError),
        ({"solver": "coordinate_descent", "solver_options": {"variant": 1}}, DataError),
        ({"normalize": "l2"}, TypeError),
        ({"n_threads": 0}, DataError),
        ({"n_threads": -1}, DataError),
        ({"n_threads": 1.0}, TypeError),
        ({"random_state": "x"}, TypeError),
        ({"progress": 3}, TypeError),
    ],
)
def test_parameters_are_checked_by_fit(problem, params, error):
    model = LinearOneVsRest(**params)
    # Of several parameters the last one is the wrong one.
    name = list(params)[-1].replace("solver_options", "option|variant")
    with pytest.raises(error, match=name):
        model.fit(*problem)
    assert not model.__sklearn_is_fitted__()


def test_solver_errors_list_what_there_is(problem):
    with pytest.raises(DataError, match='"auto" or "forward_backward" or'):
        LinearOneVsRest(solver="newton").fit(*problem)
    with pytest.raises(DataError, match="no option 'sigma'; its options: var"):
        LinearOneVsRest(solver="coordinate_descent", solver_options={"sigma": 1}).fit(
            *problem
        )


@pytest.mark.parametrize("options", ["eps", [1], 3, False])
def test_options_that_are_no_dict(problem, options):
    model = LinearOneVsRest(solver="coordinate_descent", solver_options=options)
    with pytest.raises(TypeError, match=r"solver_options is .*, expected a dict"):
        model.fit(*problem)


def test_the_named_variant_is_the_default(problem):
    named = {"solver": "coordinate_descent", "solver_options": {"variant": "fixed"}}
    a = LinearOneVsRest(**named).fit(*problem)
    b = LinearOneVsRest(solver="coordinate_descent").fit(*problem)
    np.testing.assert_array_equal(a.coef_.data, b.coef_.data)


def test_no_label_at_all(problem):
    X, Y = problem
    for empty in (sparse.csr_matrix(Y.shape), [[]] * 80, np.zeros((80, 0))):
        with pytest.raises(DataError, match="no label at all"):
            LinearOneVsRest().fit(X, empty)


def test_no_samples():
    with pytest.raises(DataError, match="no samples"):
        LinearOneVsRest().fit(np.empty((0, 3)), np.empty((0, 2)))


@pytest.mark.parametrize(
    "use",
    [
        lambda m: m.predict_topk([[1.0]]),
        lambda m: m.predict([[1.0]]),
        lambda m: m.decision_function([[1.0]]),
        lambda m: m.score_pairs([[1.0]], [0], [0]),
        lambda m: m.save("x"),
        lambda m: m.coef_,
        lambda m: m.certificate_,
        lambda m: m.n_labels_,
    ],
)
def test_before_fit(use):
    model = LinearOneVsRest()
    with pytest.raises(NotFittedError, match="LinearOneVsRest is not fitted"):
        use(model)
    assert not hasattr(model, "coef_")


def test_a_failed_fit_leaves_the_old_model(problem):
    X, Y = problem
    model = LinearOneVsRest().fit(X, Y)
    before = model.coef_.toarray()

    class StopError(Exception):
        pass

    def stop(done, total, n_nonzero):
        raise StopError

    model.set_params(alpha=0.01, progress=stop)
    with pytest.raises(StopError):
        model.fit(X, Y)
    np.testing.assert_array_equal(model.coef_.toarray(), before)
    with pytest.raises(DataError):
        model.set_params(progress=None).fit(X[:5], Y)
    np.testing.assert_array_equal(model.coef_.toarray(), before)


def test_the_callers_matrices_do_not_change(problem):
    X, Y = problem
    before = [m.copy() for m in (X, Y)]
    LinearOneVsRest(normalize=True).fit(X, Y).predict(X)
    for matrix, copy in zip((X, Y), before, strict=True):
        np.testing.assert_array_equal(matrix.data, copy.data)
        np.testing.assert_array_equal(matrix.indices, copy.indices)
