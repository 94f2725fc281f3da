"""Where no model can be written, `train` says so before it trains."""

import functools
import os
import subprocess
import sys
from pathlib import Path

import pytest

import proxtree
from proxtree.cli import main


@pytest.fixture
def data(tmp_path):
    path = tmp_path / "train.txt"
    path.write_text("2 2 2\n0 0:1\n1 1:1\n")
    return str(path)


@pytest.mark.parametrize(
    ("output", "message"),
    [("missing/m", "No such file or directory"), (".", "Is a directory")],
)
def test_a_bad_output_is_found_before_training(
    data, tmp_path, capsys, monkeypatch, output, message
):
    monkeypatch.chdir(tmp_path)
    assert main(["train", data, "-o", output]) == 2
    err = capsys.readouterr().err
    # One line: nothing was read.
    assert err.count("\n") == 1
    assert message in err
    assert "Path(" not in err


@pytest.mark.skipif(
    sys.platform == "win32" or os.geteuid() == 0, reason="root may write everywhere"
)
def test_a_read_only_folder_is_found_before_training(data, tmp_path, capsys):
    folder = tmp_path / "closed"
    folder.mkdir(mode=0o500)
    assert main(["train", data, "-o", str(folder / "m")]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_errors_of_the_system_read_well(data, capsys):
    for command in (["inspect", "/"], ["train", data, "-o", "/dev/full", "--quiet"]):
        assert main(command) == 2
        err = capsys.readouterr().err
        assert "os error" not in err
        assert "Path(" not in err
        assert command[-2 if "--quiet" in command else -1] in err


@pytest.mark.skipif(sys.platform == "win32", reason="needs a shell's <&-")
@pytest.mark.parametrize(
    ("redirect", "status", "message"),
    [("<&-", 2, "stdin: the file is empty"), (">&- </dev/null", 2, "empty")],
)
def test_closed_streams(data, tmp_path, redirect, status, message):
    assert main(["train", data, "-o", str(tmp_path / "m"), "--quiet"]) == 0
    line = f"{sys.executable} -m proxtree {{}} {tmp_path / 'm'} {redirect}"
    run = functools.partial(
        subprocess.run, shell=True, capture_output=True, text=True, check=False
    )
    result = run(line.format("predict"))
    assert (result.returncode, result.stderr.count("\n")) == (status, 1)
    assert message in result.stderr
    result = run(line.format("inspect"))
    assert (result.returncode, result.stderr) == (0, "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs Linux")
def test_a_full_disk_behind_stdout_is_named(data):
    command = [sys.executable, "-m", "proxtree", "plan", str(data), "--quiet"]
    with Path("/dev/full").open("w") as full:
        result = subprocess.run(
            command, stdout=full, stderr=subprocess.PIPE, text=True, timeout=60
        )
    assert result.returncode == 2
    assert result.stderr.endswith(": 'stdout'\n")
    assert result.stderr.count("\n") == 1


@pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason="needs Linux")
def test_a_file_that_cannot_be_read_is_named(capsys):
    """The system allows to open it, and nothing more."""
    for read in (proxtree.load_xmc, proxtree.load_svmlight):
        with pytest.raises(OSError, match="/proc/self/mem"):
            read("/proc/self/mem")
    assert main(["plan", "/proc/self/mem"]) == 2
    assert "/proc/self/mem" in capsys.readouterr().err
