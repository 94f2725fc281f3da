"""Model files: the same estimator comes back, or an error says what is wrong."""

import json
import os
from pathlib import Path

import numpy as np
import pytest

import proxtree
from proxtree import LinearOneVsRest, _core
from proxtree.exceptions import FormatError


@pytest.fixture(scope="module")
def fitted(problem):
    X, Y = problem
    params = {
        "class_weight": (2, 1.5),
        "max_iter": 1000,
        "n_threads": 2,
        "normalize": True,
        "solver": "coordinate_descent",
        "solver_options": {"variant": "fixed"},
    }
    return LinearOneVsRest(np.float32(0.5), **params).fit(X, Y), X


@pytest.mark.parametrize("kind", [Path, str, os.fsencode])
def test_round_trip(fitted, tmp_path, kind):
    model, X = fitted
    path = kind(tmp_path / "any näme.x")
    model.save(path)
    assert [p.name for p in tmp_path.iterdir()] == ["any näme.x"]
    twin = proxtree.load(path)
    assert type(twin) is LinearOneVsRest
    assert twin.get_params() == model.get_params()
    for ours, theirs in zip(model.predict_topk(X), twin.predict_topk(X), strict=True):
        np.testing.assert_array_equal(ours, theirs)
    np.testing.assert_array_equal(twin.coef_.toarray(), model.coef_.toarray())
    np.testing.assert_array_equal(twin.intercept_, model.intercept_)
    assert twin.certificate_summary() == model.certificate_summary()
    with pytest.raises(AttributeError, match="saved without certificates"):
        _ = twin.certificate_


def test_certificates_travel_on_request(fitted, tmp_path):
    model, _ = fitted
    model.save(tmp_path / "m", certificates=True)
    twin = proxtree.load(tmp_path / "m")
    np.testing.assert_array_equal(twin.certificate_, model.certificate_)
    assert twin.certificate_.dtype == model.certificate_.dtype
    twin.save(tmp_path / "again", certificates=True)
    assert (tmp_path / "again").read_bytes() == (tmp_path / "m").read_bytes()


def test_certificates_must_be_there_to_be_saved(fitted, tmp_path):
    fitted[0].save(tmp_path / "m")
    with pytest.raises(AttributeError, match="saved without"):
        proxtree.load(tmp_path / "m").save(tmp_path / "m2", certificates=True)
    assert not (tmp_path / "m2").exists()


def test_saving_replaces_a_model(fitted, tmp_path, problem):
    model, _ = fitted
    LinearOneVsRest(0.01).fit(*problem).save(tmp_path / "m")
    model.save(tmp_path / "m")
    loaded = proxtree.load(tmp_path / "m")
    np.testing.assert_array_equal(loaded.coef_.data, model.coef_.data)


def test_a_progress_function_is_not_saved(problem, tmp_path):
    model = LinearOneVsRest(progress=lambda *_: None).fit(*problem)
    model.save(tmp_path / "m")
    assert proxtree.load(tmp_path / "m").progress is None


def test_missing_file_and_directory(tmp_path, fitted):
    with pytest.raises(FileNotFoundError):
        proxtree.load(tmp_path / "none")
    with pytest.raises(OSError, match="directory"):
        proxtree.load(tmp_path)
    with pytest.raises(OSError, match="none"):
        fitted[0].save(tmp_path / "none" / "m")


def write(path, class_name, settings, extra=()):
    """A valid model file of two labels with settings of another kind."""
    model = LinearOneVsRest().fit([[1.0], [2.0]], [[0], [1]])
    model._fitted.model.save(
        path, class_name=class_name, settings=settings, extra=list(extra)
    )


GOOD = {"params": {}, "certificates": {}}


@pytest.mark.parametrize(
    ("class_name", "settings", "text"),
    [
        ("Forest", GOOD, "holds a Forest.*knows LinearOneVsRest"),
        ("", GOOD, "model without a class"),
        ("LinearOneVsRest", {"params": {}}, "settings cannot be read"),
        ("LinearOneVsRest", [], "settings cannot be read"),
        (
            "LinearOneVsRest",
            {**GOOD, "params": {"depth": 3}},
            "settings cannot be read.*depth",
        ),
    ],
)
def test_foreign_settings(tmp_path, class_name, settings, text):
    write(tmp_path / "m", class_name, json.dumps(settings))
    with pytest.raises(FormatError, match=text):
        proxtree.load(tmp_path / "m")


def test_settings_that_are_no_json(tmp_path):
    write(tmp_path / "m", "LinearOneVsRest", "{")
    with pytest.raises(FormatError, match=r"m: settings cannot be read"):
        proxtree.load(tmp_path / "m")


def test_certificates_of_the_wrong_length(tmp_path):
    names = ("objective", "dual_objective", "gap", "seconds")
    extra = [(f"certificate.{n}", "F64", [3], bytes(24)) for n in names]
    extra += [(f"certificate.{n}", "I64", [3], bytes(24)) for n in ("n_iter", "nnz")]
    extra += [("certificate.status", "U8", [3], bytes(3))]
    write(tmp_path / "m", "LinearOneVsRest", json.dumps(GOOD), extra)
    with pytest.raises(FormatError, match="3 entries, not 2"):
        proxtree.load(tmp_path / "m")


def test_another_file(tmp_path):
    (tmp_path / "m").write_text("2 3 2\n0 1:1\n")
    with pytest.raises(FormatError, match="m"):
        proxtree.load(tmp_path / "m")


def test_the_native_model_refuses_nonsense():
    with pytest.raises(FormatError):
        _core.Model(b"nonsense")
