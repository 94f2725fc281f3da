"""Mapped model files: the same estimator, and damage is an error where it is met."""

import copy
import json
import pickle

import cloudpickle
import numpy as np
import pytest

import proxtree
from proxtree import LinearLabelTree, LinearOneVsRest
from proxtree.exceptions import FormatError

KINDS = {
    "tree": lambda: LinearLabelTree(0.3, n_clusters=2, normalize=True),
    "ensemble": lambda: LinearLabelTree(0.3, n_clusters=2, n_trees=2),
    "l2 tree": lambda: LinearLabelTree(n_clusters=2, solver="dual_coordinate_descent"),
    "one-vs-rest": lambda: LinearOneVsRest(0.5),
}


@pytest.fixture(scope="module", params=KINDS)
def pair(request, problem, tmp_path_factory):
    """A model, the same one mapped, and the mapped file."""
    X, Y = problem
    # A label without positives.
    Y = Y.copy()
    Y.data[Y.indices == 3] = 0
    with pytest.warns(proxtree.exceptions.DataWarning, match="no positive"):
        model = KINDS[request.param]().fit(X, Y)
    path = tmp_path_factory.mktemp("mapped") / "m"
    model.save(path, certificates=True, mapped=True)
    mapped = proxtree.load(path)
    assert mapped._fitted.model.is_mapped
    assert not model._fitted.model.is_mapped
    return model, mapped, path


def same(ours, theirs):
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_array_equal(a, b)
        assert a.dtype == b.dtype


def test_predictions_are_the_same_bits(pair, problem):
    model, mapped, _ = pair
    X, _ = problem
    for rows in (X, X[3]):
        for options in ({}, {"allowed": [1, 3, 5]}, {"n_threads": 3}, {"beam_size": 1}):
            same(
                model.predict_topk(rows, 4, **options),
                mapped.predict_topk(rows, 4, **options),
            )
        assert (model.predict(rows) != mapped.predict(rows)).nnz == 0
    labels = np.tile(np.arange(7), 80)
    pairs = np.repeat(np.arange(80), 7), labels
    same([model.score_pairs(X, *pairs)], [mapped.score_pairs(X, *pairs)])
    if isinstance(model, LinearOneVsRest):
        same([model.decision_function(X)], [mapped.decision_function(X)])


def test_all_else_is_the_same(pair, tmp_path):
    model, mapped, path = pair
    assert mapped.get_params() == model.get_params()
    assert mapped.n_nonzero_ == model.n_nonzero_
    assert mapped.n_features_in_ == model.n_features_in_
    assert mapped.size_report().to_dict() == model.size_report().to_dict()
    np.testing.assert_array_equal(mapped.certificate_, model.certificate_)
    if isinstance(model, LinearOneVsRest):
        np.testing.assert_array_equal(mapped.coef_.toarray(), model.coef_.toarray())
        np.testing.assert_array_equal(mapped.intercept_, model.intercept_)
    else:
        for ours, theirs in zip(model.nodes(), mapped.nodes(), strict=True):
            np.testing.assert_array_equal(ours.coef.toarray(), theirs.coef.toarray())
            np.testing.assert_array_equal(ours.intercept, theirs.intercept)
    for name, saved in (("ours", model), ("theirs", mapped)):
        saved.save(tmp_path / name)
    assert (tmp_path / "theirs").read_bytes() == (tmp_path / "ours").read_bytes()
    mapped.save(tmp_path / "mapped", certificates=True, mapped=True)
    assert (tmp_path / "mapped").read_bytes() == path.read_bytes()


@pytest.mark.parametrize(
    "through",
    [
        lambda m: pickle.loads(pickle.dumps(m)),
        lambda m: cloudpickle.loads(cloudpickle.dumps(m)),
        copy.deepcopy,
    ],
)
def test_copies_hold_the_whole_model(pair, problem, through):
    model, mapped, _ = pair
    twin = through(mapped)
    assert not twin._fitted.model.is_mapped
    same(twin.predict_topk(problem[0]), model.predict_topk(problem[0]))


def test_a_file_may_be_replaced_while_it_is_in_use(pair, problem, tmp_path):
    model, _, path = pair
    X, Y = problem
    own = tmp_path / "m"
    own.write_bytes(path.read_bytes())
    mapped = proxtree.load(own)
    LinearOneVsRest(0.1).fit(X, Y).save(own, mapped=True)
    assert own.read_bytes() != path.read_bytes()
    same(mapped.predict_topk(X), model.predict_topk(X))


def weights_at(data):
    """Where the weights of the first tree are in the file's bytes."""
    end = 8 + int.from_bytes(data[:8], "little")
    return end + json.loads(data[8:end])["tree0.entries"]["data_offsets"][0]


def test_damage_is_an_error_of_whoever_meets_it(pair, problem, tmp_path):
    path = tmp_path / "broken"
    data = bytearray(pair[2].read_bytes())
    data[weights_at(data) + 5] ^= 4
    path.write_bytes(data)
    mapped = proxtree.load(path)
    message = rf"^{path}: section tree0\.entries is damaged \(node 0\)"
    X, _ = problem
    for meet in (
        lambda: mapped.predict_topk(X),
        lambda: mapped.predict_topk(X, n_threads=2),
        lambda: mapped.predict(X),
        lambda: mapped.score_pairs(X, np.arange(80), np.arange(80) % 7),
        lambda: mapped.size_report(),
        lambda: mapped.save(tmp_path / "m"),
        lambda: pickle.dumps(mapped),
        lambda: (
            list(mapped.nodes())
            if isinstance(mapped, LinearLabelTree)
            else mapped.coef_
        ),
    ):
        with pytest.raises(FormatError, match=message):
            meet()
    assert not (tmp_path / "m").exists()


@pytest.mark.parametrize("length", [0, 7, 100, -1])
def test_a_file_cut_short_is_found_at_load(pair, tmp_path, length):
    path = tmp_path / "cut"
    path.write_bytes(pair[2].read_bytes()[:length])
    with pytest.raises(FormatError, match="cut: not a proxtree model, or a damaged"):
        proxtree.load(path)


def test_mapped_is_a_bool(pair, tmp_path):
    with pytest.raises(TypeError, match="mapped"):
        pair[0].save(tmp_path / "m", mapped="yes")
