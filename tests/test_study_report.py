"""Tables and statements of studies, and `proxtree study space`."""

import csv
import json
import sys

import numpy as np
import pytest
from scipy import sparse

import proxtree
from proxtree import LabelTree, LinearLabelTree
from proxtree.cli import main
from proxtree.cli._study import data_set_names
from proxtree.study import (
    ModelStudy,
    settings_for,
    statements,
    study_space,
    to_markdown,
    train_models,
)
from proxtree.study._report import spread
from proxtree.study._space import SpaceStudy, TreeRow


@pytest.fixture(scope="module")
def data():
    """X (240, 50) and Y (240, 30), with a label that never occurs."""
    rng = np.random.default_rng(5)
    label = np.arange(240) % 29
    own = sparse.csr_matrix((np.ones(240), (range(240), label)), (240, 50))
    X = own + sparse.random(240, 50, 0.1, random_state=rng)
    Y = sparse.csr_matrix((np.ones(240, np.uint8), (range(240), label)), (240, 30))
    return sparse.csr_matrix(X.astype(np.float32)), Y


@pytest.fixture(scope="module")
def study(data):
    return study_space("small", *data, n_clusters=4, seeds=[0, 1])


@pytest.fixture(scope="module")
def models(study, data):
    return train_models(study, *data)


@pytest.fixture(scope="module")
def files(data, tmp_path_factory):
    folder = tmp_path_factory.mktemp("study")
    for name in ("one.txt", "set/train.txt"):
        (folder / name).parent.mkdir(exist_ok=True)
        proxtree.save_xmc(folder / name, *data)
    return folder


def made_up(fixed, varied):
    """A study of one seed with these ratios at depths 2 to 6 and 2 to 4."""
    study = SpaceStudy("made up", 1, 1, 5000, [0], 300)
    for setting, ratio in zip(settings_for(5000), [*fixed, *varied], strict=True):
        fields = dict.fromkeys(TreeRow._fields, 0) | setting._asdict()
        study.trees.append(TreeRow(**fields | {"ratio_paper": ratio}))
    return study


@pytest.mark.parametrize(
    ("fixed", "varied", "falls", "end", "varied_falls", "smaller"),
    [
        # EUR-Lex, Wiki10-31K and Amazon-670K of the paper.
        (
            (0.240, 0.223, 0.223, 0.223, 0.223),
            (0.270, 0.185, 0.157),
            True,
            "3 on",
            True,
            False,
        ),
        (
            (0.908, 0.431, 0.359, 0.356, 0.355),
            (0.818, 0.579, 0.507),
            True,
            "4 on",
            True,
            True,
        ),
        (
            (0.624, 0.196, 0.072, 0.046, 0.041),
            (0.290, 0.209, 0.174),
            True,
            "still falls at depth 6",
            True,
            True,
        ),
        ((0.3, 0.4, 0.2, 0.2, 0.2), (0.5, 0.1, 0.2), False, "0.200", False, False),
        ((0.3, 0.3, 0.2, 0.2, 0.2), (0.5, 0.6, 0.3), False, "0.200", False, True),
    ],
)
def test_statements_are_judged(fixed, varied, falls, end, varied_falls, smaller):
    size, depth, by_k, k = (found for _, found in statements(made_up(fixed, varied)))
    assert size == f"{100 * fixed[-1]:.1f} % with 5,000 labels"
    assert depth.startswith("holds" if falls else "does not hold")
    assert depth.endswith(end)
    assert by_k.startswith("holds" if varied_falls else "does not hold")
    assert k.startswith("holds" if smaller else "does not hold")


def test_spread_is_the_sample_deviation_over_seeds(study):
    setting = settings_for(30, 4)[1]
    values = [r.ratio_paper for r in study.trees if r[1:4] == setting]
    mean, deviation = spread(study, setting, lambda row: row.ratio_paper)
    assert mean == pytest.approx(sum(values) / 2)
    assert deviation == pytest.approx(abs(values[0] - values[1]) / 2**0.5)


def test_weights_are_those_of_the_trained_trees(study, models, data):
    assert [(m.penalty, m.rule) for m in models.models] == [
        (penalty, rule)
        for penalty in ("L1", "L2")
        for rule in ["fixed"] * 5 + ["varied"] * 3 + ["flat"]
    ]
    solvers = {"L1": {"alpha": 1.0}, "L2": {"solver": "dual_coordinate_descent"}}
    for row in models.models:
        tree = study.first_trees.get(row[2:5], LabelTree.flat(30))
        with pytest.warns(proxtree.DataWarning, match="1 of 30"):
            model = LinearLabelTree(
                **solvers[row.penalty],
                tree=tree,
                alpha_exponent=0,
                propensity_weight=0,
                root_rows="labelled",
            ).fit(*data)
        weights = [node.coef.nnz for node in model.nodes()]
        assert row.n_weights == sum(weights)
        assert row.n_weights + row.n_intercepts == model.n_nonzero_
        assert row.n_problems == tree.n_problems
        levels = [m for m in models.levels if m[:6] == row[:6]]
        depths = [node["depth"] for node in tree.to_dict()["nodes"]]
        expected = np.bincount(depths, weights=weights).tolist()
        assert [level.n_weights for level in levels] == expected


def test_models_may_be_fewer(study, data):
    found = train_models(study, *data, penalties=["L2"], one_vs_rest=False).models
    assert {(m.penalty, m.rule) for m in found} == {("L2", "fixed"), ("L2", "varied")}
    assert "L2 | fixed 4 | 2 |" in to_markdown(study, ModelStudy(found))


def test_models_without_room_are_skipped(study, data, monkeypatch):
    def fit(self, X, Y):
        raise MemoryError("9 GB needed")

    monkeypatch.setattr(LinearLabelTree, "fit", fit)
    lines = []
    found = train_models(study, *data, penalties=["L1"], log=lines.append)
    assert found.models == []
    assert len(found.skipped) == 9
    assert "small: L1, fixed K = 4, depth 2: 9 GB needed" in found.skipped
    assert "9 GB needed" in lines[0]
    assert "skipped: small: L1, flat K = 30" in to_markdown(study, found)


def test_markdown_has_a_line_for_each_tree_and_model(study, models):
    text = to_markdown(study, models)
    assert text.startswith("## small\n\n240 samples, 50 features, 30 labels. 2 seeds")
    for row in models.models:
        name = "one-vs-rest" if row.rule == "flat" else f"{row.rule} {row.n_clusters}"
        assert f"| {row.penalty} | {name} | {row.max_depth} |" in text
    # Each table's lines have as many cells as its head.
    for block in text.split("\n\n"):
        if block.startswith("|"):
            assert len({line.count("|") for line in block.splitlines()}) == 1


def test_command_writes_tables_and_pictures(files, capsys, tmp_path):
    words = ["study", "space", str(files / "one.txt"), str(files / "set/train.txt")]
    words += ["-o", str(tmp_path / "out"), "--seeds", "2", "--n-clusters", "4"]
    words += ["--penalty", "L1", "--no-one-vs-rest"]
    assert main([*words, "--max-iter", "7", "--models", "--json"]) == 0
    out, err = capsys.readouterr()
    facts = json.loads(out)
    assert set(facts["statements"]) == {"one", "set"}
    assert "one: built the trees of seed 1" in err
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert names == {name.rsplit("/", 1)[1] for name in facts["files"]}
    assert names >= {"space.md", "trees.csv", "levels.csv", "feature_ratios.csv"}
    assert names >= {"models.csv", "model_levels.csv", "feature_ratios_set.png"}
    assert names >= {"ratio_fixed.png", "ratio_varied.png", "weights_L1.png"}
    with (tmp_path / "out/trees.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 2 * 2 * 8
    with (tmp_path / "out/models.csv").open(newline="") as file:
        trained = {(row["penalty"], row["rule"]) for row in csv.DictReader(file)}
    assert trained == {("L1", "fixed"), ("L1", "varied")}
    assert {row["seed"] for row in rows} == {"0", "1"}
    # The same data under two names.
    assert [{**row, "data_set": "set"} for row in rows[:16]] == rows[16:]
    text = (tmp_path / "out/space.md").read_text()
    assert "at most 7 rounds" in text
    with (tmp_path / "out/levels.csv").open(newline="") as file:
        levels = list(csv.DictReader(file))
    # The root has no parent, and so no ratio.
    assert all((r["feature_ratio"] == "") == (r["depth"] == "0") for r in levels)
    assert "## one" in text
    assert "## set" in text


def test_without_matplotlib_tables_are_still_written(
    files, capsys, tmp_path, monkeypatch
):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    words = ["study", "space", str(files / "one.txt"), "-o", str(tmp_path), "--quiet"]
    assert main([*words, "--seeds", "1", "--seed", "3"]) == 0
    out, err = capsys.readouterr()
    assert err.splitlines() == [
        "proxtree: no pictures: plots need matplotlib: pip install 'proxtree[plot]'"
    ]
    assert "space.md" in out
    assert (tmp_path / "trees.csv").read_text().count("one,") == 8
    assert not list(tmp_path.glob("*.png"))


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ("study", "required: STUDY"),
        ("study space", "required: DATA"),
        ("study space {d}/one.txt", "required: -o"),
        ("study space {d}/one.txt -o {d}/no/where", "no"),
        ("study space {d}/none.txt -o {d}/x", "none.txt"),
        ("study space {d}/one.txt -o {d}/one.txt", "one.txt"),
        ("study space {d}/one.txt {d}/one.txt -o {d}/x", "both be called one"),
        ("study space {d}/one.txt -o {d}/x --seeds 0", "seeds is 0"),
        ("study space {d}/one.txt -o {d}/x --seed -1", "random_state is -1"),
        ("study space {d}/one.txt -o {d}/x --n-clusters 1", "n_clusters is 1"),
        ("study space {d}/one.txt -o {d}/x --max-iter 0", "max_iter is 0"),
    ],
)
def test_mistakes_are_one_line(files, capsys, words, text):
    try:
        status = main(words.format(d=files).split())
    except SystemExit as error:
        status = error.code
    out, err = capsys.readouterr()
    assert status == 2
    assert out == ""
    (line,) = err.splitlines()
    assert line.startswith("proxtree: error: ")
    assert text in line


def test_names_of_data_sets():
    paths = ["a/train.txt.xz", "/b/c/train.txt", "d/words.svm", "-"]
    assert data_set_names(paths) == ["a", "c", "words", "stdin"]
