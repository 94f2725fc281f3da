"""Parameters, files and copies of LinearLabelTree."""

import copy
import pickle

import cloudpickle
import numpy as np
import pytest
import sklearn.base

import proxtree
from proxtree import LinearLabelTree, LinearOneVsRest
from proxtree.exceptions import DataError


@pytest.fixture(scope="module")
def fitted(problem):
    return LinearLabelTree(0.3, n_clusters=2, n_trees=2, class_weight=(2, 1)).fit(
        *problem
    )


@pytest.mark.parametrize(
    ("params", "error"),
    [
        ({"alpha": 0}, DataError),
        ({"n_clusters": 1}, DataError),
        ({"n_clusters": 2.0}, TypeError),
        ({"max_depth": 0}, DataError),
        ({"clustering": "ward"}, DataError),
        ({"tree": "deep"}, TypeError),
        ({"n_trees": 0}, DataError),
        ({"max_sweeps": 0}, DataError),
        ({"max_sweeps": 1.5}, TypeError),
        ({"violation_tol": -1}, DataError),
        ({"prune": -0.1}, DataError),
        ({"root_rows": "some"}, DataError),
        ({"scoring": "margin"}, DataError),
        ({"beam_size": 0}, DataError),
        ({"solver": "newton"}, DataError),
        ({"random_state": -1}, DataError),
        ({"n_threads": 0}, DataError),
        ({"progress": 3}, TypeError),
    ],
)
def test_parameters_are_checked_by_fit(problem, params, error):
    model = LinearLabelTree(**params)
    with pytest.raises(error, match=next(iter(params))):
        model.fit(*problem)
    assert not model.__sklearn_is_fitted__()


def test_params_and_clone(problem):
    model = LinearLabelTree(0.5, n_clusters=7, tree=[[0, 1], 2])
    assert repr(model) == ("LinearLabelTree(alpha=0.5, n_clusters=7, tree=[[0, 1], 2])")
    assert sklearn.base.clone(model).get_params() == model.get_params()
    # What both have, both have under the same name and with the same default.
    tree, flat = (c().get_params() for c in (LinearLabelTree, LinearOneVsRest))
    differ = {name for name in tree.keys() & flat.keys() if tree[name] != flat[name]}
    assert differ == {"alpha_exponent", "propensity_weight"}
    assert flat.keys() - tree.keys() == {"max_iter"}


def same_model(ours, theirs, X):
    for a, b in zip(ours.predict_topk(X), theirs.predict_topk(X), strict=True):
        np.testing.assert_array_equal(a, b)
    assert ours.trees_ == theirs.trees_


@pytest.mark.parametrize("certificates", [False, True])
def test_save_and_load(fitted, problem, tmp_path, certificates):
    path = tmp_path / "any name"
    fitted.save(path, certificates=certificates)
    loaded = proxtree.load(path)
    assert type(loaded) is LinearLabelTree
    assert loaded.get_params() == fitted.get_params()
    assert loaded.certificate_summary() == fitted.certificate_summary()
    same_model(fitted, loaded, problem[0])
    if certificates:
        np.testing.assert_array_equal(loaded.certificate_, fitted.certificate_)
        assert loaded.certificate_.dtype == fitted.certificate_.dtype
    else:
        with pytest.raises(AttributeError, match="saved without certificates"):
            _ = loaded.certificate_
    loaded.save(tmp_path / "again", certificates=certificates)
    assert (tmp_path / "again").read_bytes() == path.read_bytes()


def test_a_given_tree_comes_back(problem, tmp_path):
    X, Y = problem
    model = LinearLabelTree(tree=[[0, 3, 5], [[1, 2], 4], 6]).fit(X, Y)
    model.save(tmp_path / "m")
    loaded = proxtree.load(tmp_path / "m")
    assert loaded.tree == model.tree_
    twin = LinearLabelTree(**loaded.get_params()).fit(X, Y)
    same_model(model, twin, X)
    # Once is enough in the file.
    built = LinearLabelTree(n_clusters=100).fit(X, Y)
    built.save(tmp_path / "built")
    sizes = [(tmp_path / name).stat().st_size for name in ("m", "built")]
    assert sizes[0] < sizes[1] + 1500


@pytest.mark.parametrize(
    "duplicate",
    [
        lambda m: pickle.loads(pickle.dumps(m)),
        lambda m: cloudpickle.loads(cloudpickle.dumps(m)),
        copy.deepcopy,
    ],
)
def test_copies(fitted, problem, duplicate):
    twin = duplicate(fitted)
    assert twin.get_params() == fitted.get_params()
    same_model(fitted, twin, problem[0])
    np.testing.assert_array_equal(twin.certificate_, fitted.certificate_)


def test_a_tree_parameter_is_pickled(problem):
    tree = LinearLabelTree(n_clusters=2).fit(*problem).tree_
    twin = pickle.loads(pickle.dumps(LinearLabelTree(tree=tree)))
    assert twin.tree == tree


def test_depth_one_is_saved_with_full_intercepts(problem, tmp_path):
    model = LinearLabelTree(max_depth=1).fit(*problem)
    model.save(tmp_path / "m")
    loaded = proxtree.load(tmp_path / "m")
    np.testing.assert_array_equal(loaded.intercept_, model.intercept_)
    np.testing.assert_array_equal(loaded.coef_.toarray(), model.coef_.toarray())


def test_progress_counts_problems(problem):
    seen = []
    model = LinearLabelTree(n_clusters=2, progress=lambda *args: seen.append(args))
    model.fit(*problem)
    n_problems = len(model.certificate_)
    assert seen[-1] == (n_problems, n_problems, model.certificate_["nnz"].sum())
