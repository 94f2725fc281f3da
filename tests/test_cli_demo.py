"""The demo on the data that ship with the package."""

import json
import sys

from proxtree.cli import main


def test_demo(capsys):
    assert main(["demo", "--quiet", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["models"].keys() == {"tree", "ovr"}
    for model in facts["models"].values():
        # About what issue threads of this data state for alpha 1: 53 / 43 / 33.
        for k, percent in ((1, 53), (3, 43), (5, 33)):
            assert abs(100 * model["metrics"][f"P@{k}"] - percent) < 1.5
        assert model["file_bytes"] < facts["dense_bytes"] / 100
    tree, flat = facts["models"]["tree"], facts["models"]["ovr"]
    assert flat["certificates"]["n_converged"] == 2316
    assert 29 < flat["n_nonzero"] / 2316 < 33
    assert tree["n_nonzero"] < flat["n_nonzero"]
    assert tree["certificates"]["n_trained"] > 2316
    assert len(facts["examples"]) == 10
    for example in facts["examples"]:
        assert len(example["predicted"]) == 5
        for name, right in zip(example["predicted"], example["right"], strict=True):
            assert right == (name in example["true"])


def test_demo_for_humans(capsys):
    assert main(["demo"]) == 0
    out, err = capsys.readouterr()
    assert "training 2,316 labels" in err
    for word in ("P@1", "nDCG@3", "PSP@5", "training time", "non-zeros", "dense"):
        assert word in out
    names = ["LinearLabelTree", "LinearOneVsRest"]
    assert out.splitlines()[0].split() == names
    (proved,) = (line for line in out.splitlines() if line.startswith("proved"))
    assert proved.split()[-1] == "2,316"
    assert out.count("\n    ") == 10


def test_without_scikit_learn_one_line_says_what_to_install(capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn.feature_extraction.text", None)
    assert main(["demo", "--quiet"]) == 2
    assert capsys.readouterr().err == (
        "proxtree: error: TF-IDF needs scikit-learn: pip install 'proxtree[text]'\n"
    )
