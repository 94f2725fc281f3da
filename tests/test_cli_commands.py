"""train, predict, evaluate, inspect on small XMC files."""

import io
import json
import subprocess
import sys

import numpy as np
import pytest

import proxtree
from proxtree import LinearLabelTree, LinearOneVsRest, metrics
from proxtree.cli import main


@pytest.fixture(scope="module")
def files(problem, tmp_path_factory):
    """A folder with train.txt, test.txt and m, trained on train.txt."""
    folder = tmp_path_factory.mktemp("cli")
    X, Y = problem
    proxtree.save_xmc(folder / "train.txt", X[:60], Y[:60])
    proxtree.save_xmc(folder / "test.txt", X[60:], Y[60:])
    LinearOneVsRest(0.5).fit(X[:60], Y[:60]).save(folder / "m")
    return folder


def run(capsys, *words):
    """Run a command that must succeed; return its stdout."""
    assert main([str(word) for word in words]) == 0
    return capsys.readouterr().out


def test_train_writes_the_model_that_the_options_describe(
    files, problem, capsys, tmp_path
):
    options = ["--model", "ovr", "--alpha", "0.25", "--no-fit-intercept"]
    options += ["--normalize"]
    options += ["--class-weight", "2,1", "--max-iter", "5000", "--certificates"]
    options += ["--solver", "coordinate_descent", "--solver-options", "variant=fixed"]
    out = run(capsys, "train", files / "train.txt", "-o", tmp_path / "m", *options)
    assert "60" not in out.split("\n")[0]
    model = proxtree.load(tmp_path / "m")
    X, Y = problem
    expected = LinearOneVsRest(
        0.25,
        fit_intercept=False,
        normalize=True,
        class_weight=(2, 1),
        max_iter=5000,
        solver="coordinate_descent",
        solver_options={"variant": "fixed"},
    )
    assert model.get_params() == expected.get_params()
    expected.fit(X[:60], Y[:60])
    np.testing.assert_array_equal(model.coef_.toarray(), expected.coef_.toarray())
    assert len(model.certificate_) == 7


def test_train_writes_a_mapped_file(files, capsys, tmp_path):
    for name, options in (("coded", []), ("mapped", ["--mapped"])):
        run(capsys, "train", files / "train.txt", "-o", tmp_path / name, *options)
    told = [
        run(capsys, "predict", tmp_path / name, files / "test.txt")
        for name in ("coded", "mapped")
    ]
    assert told[0] == told[1]
    mapped = proxtree.load(tmp_path / "mapped")
    assert mapped._fitted.model.is_mapped
    mapped.save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "coded").read_bytes()


def test_train_makes_a_tree_by_default(files, problem, capsys, tmp_path):
    options = ["--alpha", "0.25", "--n-clusters", "2", "--n-trees", "2", "--seed", "5"]
    options += ["--max-depth", "3", "--clustering", "balanced", "--max-sweeps", "7"]
    options += ["--violation-tol", "0.1", "--prune", "0.01", "--beam-size", "4"]
    options += ["--root-rows", "labelled", "--scoring", "squared"]
    text = run(capsys, "train", files / "train.txt", "-o", tmp_path / "m", *options)
    assert "problems, stopped early on purpose" in text
    model = proxtree.load(tmp_path / "m")
    X, Y = problem
    expected = LinearLabelTree(
        0.25,
        n_clusters=2,
        n_trees=2,
        random_state=5,
        max_depth=3,
        clustering="balanced",
        max_sweeps=7,
        violation_tol=0.1,
        prune=0.01,
        beam_size=4,
        root_rows="labelled",
        scoring="squared",
    )
    assert model.get_params() == expected.get_params()
    expected.fit(X[:60], Y[:60])
    for ours, theirs in zip(
        model.predict_topk(X), expected.predict_topk(X), strict=True
    ):
        np.testing.assert_array_equal(ours, theirs)


def test_a_tree_from_a_file(files, capsys, tmp_path):
    lines = ["0\ta", "3\ta", "1\tb", "2\tb", "4\tb", "a\ttop", "b\ttop", "5\ttop"]
    (tmp_path / "tree").write_text("\n".join([*lines, "6\ta"]) + "\n")
    words = ["train", files / "train.txt", "-o", tmp_path / "m"]
    run(capsys, *words, "--tree", tmp_path / "tree")
    nodes = proxtree.load(tmp_path / "m").nodes()
    groups = [sorted(node.children[node.children >= 0].tolist()) for node in nodes]
    assert groups == [[5], [0, 3, 6], [1, 2, 4]]


def test_train_report(files, capsys, tmp_path):
    words = ["train", files / "train.txt", "-o", tmp_path / "m", "--alpha", "0.5"]
    words += ["--model", "ovr"]
    facts = json.loads(run(capsys, *words, "--json"))
    model = proxtree.load(tmp_path / "m")
    assert facts["n_nonzero"] == model.n_nonzero_
    assert facts["file_bytes"] == (tmp_path / "m").stat().st_size
    assert facts["certificates"]["n_converged"] == 7
    assert (tmp_path / "m").read_bytes() == (files / "m").read_bytes()
    assert "7 of 7 labels converged" in run(capsys, *words)


def test_logs_go_to_stderr_unless_quiet(files, capsys, tmp_path):
    words = ["train", str(files / "train.txt"), "-o", str(tmp_path / "m")]
    main(words)
    assert "read 60 samples, 30 features, 7 labels" in capsys.readouterr().err
    main([*words, "--quiet"])
    assert capsys.readouterr().err == ""


def top(files, problem, k):
    X, _ = problem
    return proxtree.load(files / "m").predict_topk(X[60:], k)


def test_predict(files, problem, capsys):
    labels, scores = top(files, problem, 3)
    lines = run(capsys, "predict", files / "m", files / "test.txt", "-k", 3)
    assert [list(map(int, line.split())) for line in lines.splitlines()] == (
        labels.tolist()
    )
    lines = run(capsys, "predict", files / "m", files / "test.txt", "-k3", "--scores")
    for line, ids, values in zip(lines.splitlines(), labels, scores, strict=True):
        found = [pair.split(":") for pair in line.split()]
        assert [int(j) for j, _ in found] == ids.tolist()
        assert [float(z) for _, z in found] == pytest.approx(values, rel=1e-5)


def test_predict_json_and_fewer_labels_than_k(files, problem, capsys):
    labels, scores = top(files, problem, 7)
    words = ["predict", files / "m", files / "test.txt", "-k", 9, "--json", "--scores"]
    rows = [json.loads(line) for line in run(capsys, *words).splitlines()]
    assert [row["labels"] for row in rows] == labels.tolist()
    assert [row["scores"] for row in rows] == scores.tolist()


def test_predict_reads_stdin_by_default(files, problem, capsys, monkeypatch):
    data = (files / "test.txt").read_bytes()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
    assert run(capsys, "predict", files / "m") == run(
        capsys, "predict", files / "m", files / "test.txt"
    )


def test_evaluate(files, problem, capsys):
    _, Y = problem
    words = ["evaluate", files / "m", files / "test.txt", "-k", "1,4"]
    facts = json.loads(run(capsys, *words, "--json"))
    labels, _ = top(files, problem, 4)
    assert facts["metrics"] == metrics.evaluate(Y[60:], labels, ks=(1, 4))
    words += ["--train", files / "train.txt"]
    facts = json.loads(run(capsys, *words, "--json"))
    assert facts["metrics"] == metrics.evaluate(Y[60:], labels, Y[:60], (1, 4))
    table = run(capsys, *words)
    percent = 100 * facts["metrics"]["PSP@4"]
    assert f"{percent:.2f}" in table.split("PSP ")[1].splitlines()[0]


def test_evaluate_by_frequency(files, problem, capsys):
    words = ["evaluate", files / "m", files / "test.txt", "--train"]
    words += [files / "train.txt", "--by-frequency"]
    facts = json.loads(run(capsys, *words, "--json"))
    bins = facts["by_frequency"]
    assert sum(b["n_labels"] for b in bins) == 7
    assert sum(b["gain"] for b in bins) == pytest.approx(facts["metrics"]["P@5"])
    assert "6-20" in run(capsys, *words)


def test_inspect(files, capsys):
    model = proxtree.load(files / "m")
    facts = json.loads(run(capsys, "inspect", files / "m", "--json"))
    assert facts["n_nonzero"] == model.n_nonzero_
    assert facts["params"]["alpha"] == 0.5
    assert facts["file_bytes"] == (files / "m").stat().st_size
    assert facts["dense_bytes"] == 4 * 7 * 31
    weights = np.diff(model.coef_.indptr)
    assert facts["biggest_labels"][0]["n_weights"] == weights.max()
    text = run(capsys, "inspect", files / "m")
    assert "alpha=0.5" in text
    assert "7 of 7 labels converged" in text


def test_inspect_a_tree(problem, capsys, tmp_path):
    model = LinearLabelTree(tree=[[0, 3, 5], [[1, 2], 4], 6]).fit(*problem)
    model.save(tmp_path / "m")
    facts = json.loads(run(capsys, "inspect", tmp_path / "m", "--json"))
    n_weights = [node.coef.nnz for node in model.nodes()]
    columns = ("depth", "n_nodes", "n_children", "n_labels", "n_leaves", "n_weights")
    assert [tuple(row[c] for c in columns) for row in facts["depths"]] == [
        (0, 1, 3, 7, 0, n_weights[0]),
        (1, 2, 5, 6, 1, n_weights[1] + n_weights[2]),
        (2, 1, 2, 2, 4, n_weights[3]),
        (3, 0, 0, 0, 2, 0),
    ]
    text = run(capsys, "inspect", tmp_path / "m")
    assert "problems, stopped early on purpose" in text
    row = ["1", "2", "5", "6", "1", f"{n_weights[1] + n_weights[2]:,}"]
    assert row in [line.split() for line in text.splitlines()]
    several = LinearLabelTree(n_clusters=2, n_trees=2).fit(*problem)
    several.save(tmp_path / "m")
    assert "tree" in run(capsys, "inspect", tmp_path / "m").split()
    depths = json.loads(run(capsys, "inspect", tmp_path / "m", "--json"))["depths"]
    assert {row["tree"] for row in depths} == {0, 1}
    total = sum(node.coef.nnz for node in several.nodes())
    assert sum(row["n_weights"] for row in depths) == total


@pytest.mark.parametrize("name", ["test.txt", "test.txt.gz", "test.txt.xz"])
@pytest.mark.parametrize("form", ["auto", "xmc"])
def test_formats_of_packed_files(files, problem, capsys, tmp_path, name, form):
    X, Y = problem
    proxtree.save_xmc(tmp_path / name, X[60:], Y[60:])
    expected = run(capsys, "predict", files / "m", files / "test.txt")
    words = ["predict", files / "m", tmp_path / name, "--format", form]
    assert run(capsys, *words) == expected


def test_svmlight_and_bases(files, capsys, tmp_path):
    lines = (files / "test.txt").read_text().splitlines()[1:]
    (tmp_path / "zero.svm").write_text("\n".join(lines) + "\n")
    shifted = []
    for line in lines:
        labels, _, features = line.partition(" ")
        pairs = (pair.split(":") for pair in features.split())
        shifted.append(f"{labels} " + " ".join(f"{int(j) + 1}:{v}" for j, v in pairs))
    (tmp_path / "one.svm").write_text("\n".join(shifted) + "\n")
    words = ["evaluate", files / "m", "--json"]
    expected = run(capsys, *words, files / "test.txt")
    assert run(capsys, *words, tmp_path / "zero.svm") == expected
    zero = run(capsys, *words, tmp_path / "zero.svm", "--format", "svmlight")
    assert zero == expected
    one = ["--one-based", "--zero-based-labels"]
    assert run(capsys, *words, tmp_path / "one.svm", *one) == expected


def test_named_pipe(files, capsys, tmp_path):
    fifo = tmp_path / "pipe"
    subprocess.run(["mkfifo", fifo], check=True)
    with subprocess.Popen(f"cat {files / 'test.txt'} > {fifo}", shell=True):
        piped = run(capsys, "predict", files / "m", fifo)
    assert piped == run(capsys, "predict", files / "m", files / "test.txt")
