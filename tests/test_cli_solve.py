"""`proxtree solve`: every solver on single labels."""

import json

import numpy as np
import pytest

import proxtree
from proxtree import plots, solve
from proxtree._solvers import SOLVERS
from proxtree.cli import main


@pytest.fixture(scope="module")
def data(problem, tmp_path_factory):
    path = tmp_path_factory.mktemp("solve") / "train.txt"
    proxtree.save_xmc(path, *problem)
    return path


def run(capsys, *words):
    assert main(["solve", *map(str, words)]) == 0
    return capsys.readouterr().out


def test_json_holds_what_solve_returns(data, problem, capsys):
    fista = "forward_backward:acceleration=fista:min_iter=5"
    solvers = f"auto,{fista},dual_coordinate_descent"
    words = [data, "--labels", "5,2", "--alpha", "0.25", "--tol", "1e-4", "--json"]
    facts = json.loads(run(capsys, *words, "--solvers", solvers))
    X, Y = problem
    assert facts["n_samples"], facts["n_features"] == X.shape
    assert (facts["alpha"], facts["C"]) == (0.25, 4.0)
    assert [label["label"] for label in facts["labels"]] == [5, 2]
    for label in facts["labels"]:
        y = Y[:, [label["label"]]].toarray().ravel()
        assert label["n_positives"] == y.sum()
        expected = [
            solve(X, y, 0.25, tol=1e-4),
            solve(
                X, y, 0.25, tol=1e-4,
                solver="forward_backward", acceleration="fista", min_iter=5,
            ),
            solve(X, y, 0.25, tol=1e-4, solver="dual_coordinate_descent", C=4.0),
        ]  # fmt: skip
        best = expected[0].objective
        rows = label["solutions"]
        assert [r["solver"] for r in rows] == solvers.split(",")
        for row, solution in zip(rows, expected, strict=True):
            for name in ("objective", "gap", "n_iter", "status"):
                assert row[name] == getattr(solution, name)
            assert row["n_nonzero"] == np.count_nonzero(solution.coef)
        assert rows[0]["excess"] == 0
        assert rows[1]["excess"] == pytest.approx(expected[1].objective / best - 1)
        # Another problem: nothing to compare.
        assert rows[2]["excess"] is None


def test_table_of_all_solvers(data, capsys):
    text = run(capsys, data, "--labels", "3", "--alpha", "0.5", "--quiet")
    title, header, *lines = text.splitlines()
    assert title == "label 3: 16 of 80 samples, alpha 0.5 (C = 2)"
    assert header.split()[:3] == ["solver", "objective", "gap"]
    assert [line.split()[0] for line in lines] == list(SOLVERS)
    assert "converged" in lines[0]


def test_no_excess_without_a_proof(data, capsys):
    words = [data, "--labels", "3", "--solvers", "auto", "--max-iter", "1"]
    facts = json.loads(run(capsys, *words, "--tol", "1e-9", "--json"))
    (row,) = facts["labels"][0]["solutions"]
    assert row["status"] == "max_iter"
    assert row["excess"] is None


def test_curves(data, problem, capsys, tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    path = tmp_path / "curves.png"
    run(capsys, data, "--labels", "3", "--solvers", "auto", "--plot", path)
    assert path.read_bytes().startswith(b"\x89PNG")

    drawn = {}
    monkeypatch.setattr(plots, "draw_histories", lambda h, _: drawn.update(h))
    solvers = "auto,forward_backward:min_iter=20,coordinate_descent:variant=liblinear"
    words = [data, "--labels", "3,4", "--solvers", solvers, "--json"]
    facts = json.loads(run(capsys, *words, "--plot", path))
    assert list(drawn) == [f"{i}: {s}" for i in (3, 4) for s in solvers.split(",")]
    for label in facts["labels"]:
        for row in label["solutions"]:
            history = drawn[f"{label['label']}: {row['solver']}"]
            assert history[-1][1:] == (row["objective"], row["gap"])
            assert len(history) > 1


def test_no_matplotlib(data, capsys, tmp_path, monkeypatch):
    monkeypatch.setattr("proxtree.cli._solve.find_spec", lambda _: None)
    words = ["--labels", "3", "--plot", str(tmp_path / "x.png")]
    assert main(["solve", str(data), *words]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err == (
        "proxtree: error: --plot needs matplotlib: pip install 'proxtree[plot]'\n"
    )


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ("", "required: --labels"),
        ("--labels 7", "--labels: 7 is outside [0, 7)"),
        ("--labels 1,x", "--labels is '1,x'"),
        ("--labels=-1", "--labels is '-1'"),
        ("--labels 1 --solvers newton", "solver is 'newton'"),
        ("--labels 1 --solvers auto:eps=1", "no option 'eps'"),
        ("--labels 1 --solvers forward_backward:fista", "'fista' in"),
        ("--labels 1 --alpha 0", "alpha is 0.0"),
        ("--labels 1 --alpha 0 --solvers dual_coordinate_descent", "alpha is 0.0"),
        ("--labels 1 --alpha=-1 --solvers dual_coordinate_descent", "alpha is -1.0"),
        ("--labels 1 --alpha 1e-320 --solvers auto --json", "alpha is 1e-320"),
        ("--labels 1 --max-iter 0", "max_iter is 0"),
        ("--labels 1 --plot /none/x.png", "/none"),
        ("--labels 1 --plot curves.doc", "--plot is 'curves.doc', expected"),
        ("--labels 1 --plot curves", "--plot is 'curves', expected"),
    ],
)
def test_one_line_and_status_two(data, capsys, words, text):
    try:
        status = main(["solve", str(data), "--quiet", *words.split()])
    except SystemExit as error:  # argparse's own way out
        status = error.code
    out, err = capsys.readouterr()
    assert (status, out) == (2, "")
    assert err.startswith("proxtree: error: ")
    assert text in err
    assert err.count("\n") == 1
