"""``proxtree plan``."""

import json

import numpy as np
import pytest

from proxtree import plan, save_xmc
from proxtree.cli import main
from proxtree.cli._options import byte_count


@pytest.fixture
def file(tmp_path):
    rng = np.random.default_rng(4)
    X = (rng.random((120, 30)) < 0.2) * np.round(rng.random((120, 30)), 3)
    Y = rng.random((120, 25)) < 0.1
    Y[0] = True
    save_xmc(tmp_path / "train.txt", X, Y)
    return tmp_path / "train.txt", X, Y


def test_the_table_and_the_json_say_the_same(file, capsys):
    path, X, Y = file
    arguments = ["plan", str(path), "--n-clusters", "4", "--threads", "1", "--quiet"]
    assert main([*arguments, "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    expected = plan(X, Y, n_clusters=4, n_threads=1)
    for name in ("nonzeros_bound", "bytes_paper", "nonzeros_estimate", "bytes_file"):
        assert facts[name] == getattr(expected, name)
    assert main(arguments) == 0
    table = capsys.readouterr().out
    assert f"{expected.nonzeros_bound:,}" in table
    assert len(table.splitlines()) > 10


def test_a_budget_lists_candidates(file, capsys):
    path, *_ = file
    arguments = ["plan", str(path), "--n-clusters", "4", "--quiet"]
    assert main([*arguments, "--budget", "1MB"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split()[:4] == ["n_clusters", "max_depth", "alpha", "prune"]
    assert lines[1].split()[:4] == ["4", "6", "1", "0"]
    assert main([*arguments, "--budget", "1MB", "--json"]) == 0
    candidates = json.loads(capsys.readouterr().out)["candidates"]
    assert len(candidates) == len(lines) - 1
    assert main([*arguments, "--budget", "10"]) == 2
    assert "smallest candidate" in capsys.readouterr().err


def test_bounds_alone(file, capsys):
    path, *_ = file
    assert main(["plan", str(path), "--sample", "0", "--quiet"]) == 0
    assert "CPU time" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("50MB", 50_000_000),
        ("1.5 GiB", 3 << 29),
        ("2e9", 2_000_000_000),
        ("7", 7),
        ("10k", 10_000),
    ],
)
def test_sizes_are_read(text, expected):
    assert byte_count(text) == expected


@pytest.mark.parametrize("text", ["many", "1.2.3MB", "-5", "5 bananas", ""])
def test_what_is_no_size_is_refused(text, capsys, file):
    with pytest.raises(SystemExit) as error:
        main(["plan", str(file[0]), f"--budget={text}"])
    assert error.value.code == 2
    assert "is no size" in capsys.readouterr().err


def test_a_size_beyond_numbers_is_refused(capsys, file):
    with pytest.raises(SystemExit) as error:
        main(["plan", str(file[0]), "--budget=1e400MB"])
    assert error.value.code == 2
    assert "'1e400MB' is more than can be counted" in capsys.readouterr().err


def test_train_takes_a_limit(file, capsys, tmp_path):
    path, *_ = file
    arguments = ["train", str(path), "-o", str(tmp_path / "m"), "--quiet"]
    assert main([*arguments, "--memory-limit", "1kB"]) == 2
    assert "the limit is 1000" in capsys.readouterr().err
    assert not (tmp_path / "m").exists()
    assert main([*arguments, "--memory-limit", "4GB"]) == 0
