"""The conventions of scikit-learn, and every way of copying an estimator."""

import copy
import pickle

import cloudpickle
import joblib
import numpy as np
import pytest
import sklearn
from sklearn.utils.validation import check_is_fitted

from proxtree import LinearOneVsRest


def test_params():
    model = LinearOneVsRest(0.5, normalize=True)
    params = model.get_params()
    assert list(params) == [
        "alpha",
        "solver",
        "tol",
        "max_iter",
        "fit_intercept",
        "intercept_scaling",
        "penalize_intercept",
        "class_weight",
        "alpha_exponent",
        "propensity_weight",
        "ridge",
        "C",
        "solver_options",
        "normalize",
        "memory_limit",
        "n_threads",
        "random_state",
        "progress",
    ]
    assert params["alpha"] == 0.5
    assert model.set_params(alpha=2.0, tol=0.1) is model
    assert (model.alpha, model.tol) == (2.0, 0.1)
    with pytest.raises(ValueError, match="no parameter 'beta'; it has alpha, solver"):
        model.set_params(alpha=3.0, beta=1)
    assert model.alpha == 2.0


def test_repr_shows_what_was_changed():
    assert repr(LinearOneVsRest()) == "LinearOneVsRest()"
    changed = LinearOneVsRest(0.1, normalize=True, class_weight=(2, 1))
    assert repr(changed) == (
        "LinearOneVsRest(alpha=0.1, class_weight=(2, 1), normalize=True)"
    )


def test_clone(problem):
    options = {"variant": "fixed"}
    model = LinearOneVsRest(
        0.3, solver="coordinate_descent", solver_options=options
    ).fit(*problem)
    twin = sklearn.base.clone(model)
    assert twin.get_params() == model.get_params()
    assert not twin.__sklearn_is_fitted__()


def test_tags_say_multi_label_classifier():
    tags = sklearn.utils.get_tags(LinearOneVsRest())
    assert sklearn.base.is_classifier(LinearOneVsRest())
    assert tags.classifier_tags.multi_label
    assert tags.target_tags.multi_output
    assert tags.input_tags.sparse


def test_check_is_fitted(problem):
    model = LinearOneVsRest()
    with pytest.raises(sklearn.exceptions.NotFittedError):
        check_is_fitted(model)
    check_is_fitted(model.fit(*problem))


def test_pipeline_and_cross_validation(problem):
    from sklearn.model_selection import cross_val_predict
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import MaxAbsScaler

    X, Y = problem
    pipeline = make_pipeline(MaxAbsScaler(), LinearOneVsRest())
    direct = LinearOneVsRest().fit(MaxAbsScaler().fit_transform(X), Y)
    np.testing.assert_array_equal(
        pipeline.fit(X, Y).predict(X).toarray(),
        direct.predict(MaxAbsScaler().fit_transform(X)).toarray(),
    )
    out = cross_val_predict(LinearOneVsRest(), X, Y.toarray(), cv=2, method="predict")
    assert out.shape == (80, 7)


def via_joblib(model, folder):
    joblib.dump(model, folder / "model")
    return joblib.load(folder / "model")


@pytest.mark.parametrize(
    "duplicate",
    [
        lambda m, _: pickle.loads(pickle.dumps(m)),
        lambda m, _: cloudpickle.loads(cloudpickle.dumps(m)),
        lambda m, _: copy.deepcopy(m),
        lambda m, _: copy.copy(m),
        via_joblib,
    ],
)
def test_copies_predict_the_same_bits(problem, tmp_path, duplicate):
    X, Y = problem
    model = LinearOneVsRest(0.5, normalize=True)
    assert not duplicate(model, tmp_path).__sklearn_is_fitted__()
    model.fit(X, Y)
    before = model.coef_.toarray()
    twin = duplicate(model, tmp_path)
    assert twin.get_params() == model.get_params()
    for ours, theirs in zip(model.predict_topk(X), twin.predict_topk(X), strict=True):
        np.testing.assert_array_equal(ours, theirs)
    np.testing.assert_array_equal(twin.coef_.toarray(), before)
    np.testing.assert_array_equal(twin.certificate_, model.certificate_)


def test_a_pickle_does_not_hold_the_weights_twice(problem):
    model = LinearOneVsRest(0.01).fit(*problem)
    before = len(pickle.dumps(model))
    assert model.coef_.nnz
    assert len(pickle.dumps(model)) == before
