"""What users do wrong on the command line: one line, exit status 2."""

import inspect
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import proxtree
from proxtree import LinearLabelTree, LinearOneVsRest
from proxtree.cli import main
from proxtree.cli._options import ESTIMATOR_OPTIONS


@pytest.fixture(scope="module")
def files(problem, tmp_path_factory):
    folder = tmp_path_factory.mktemp("cli")
    proxtree.save_xmc(folder / "train.txt", *problem)
    LinearOneVsRest().fit(*problem).save(folder / "m")
    (folder / "bad.txt").write_text("2 3 2\n0 0:1\n1 9:1\n")
    (folder / "nan.txt").write_text("1 3 2\n0 0:nan\n")
    (folder / "wide.txt").write_text("1 99 2\n0 98:1\n")
    (folder / "unlabelled.txt").write_text("1 3 2\n 0:1\n")
    (folder / "one.svm").write_text("0 0:1\n")
    (folder / "none.xmc").write_text("0 30 7\n")
    (folder / "two.xmc").write_text("2 30 7\n0 0:1\n1 1:1\n")
    return folder


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ("", "required: COMMAND"),
        ("grow", "invalid choice: 'grow'"),
        ("train {d}/train.txt", "required: -o"),
        ("train {d}/none.txt -o {d}/x", "none.txt"),
        ("train {d} -o {d}/x", "directory"),
        ("train {d}/bad.txt -o {d}/x", "bad.txt, line 3: "),
        ("train {d}/nan.txt -o {d}/x", "line 2: "),
        ("train {d}/unlabelled.txt -o {d}/x", "no label at all"),
        ("train {d}/one.svm -o {d}/x --one-based", "one.svm, line 1: "),
        ("train {d}/one.svm -o {d}/x --one-based --zero-based", "not allowed with"),
        ("train {d}/train.txt -o {d}/none/x", "none"),
        ("train {d}/train.txt -o {d}/x --alpha 0", "alpha is 0.0"),
        ("train {d}/train.txt -o {d}/x --alpha big", "invalid float value: 'big'"),
        ("train {d}/train.txt -o {d}/x --solver newton", "coordinate_descent"),
        ("train {d}/train.txt -o {d}/x --class-weight 1", "class_weight is (1.0,)"),
        ("train {d}/train.txt -o {d}/x --class-weight a,b", "'a,b', expected balanced"),
        ("train {d}/train.txt -o {d}/x --solver-options eps", "'eps', expected pairs"),
        ("train {d}/train.txt -o {d}/x --solver-options eps=1", "no option 'eps'"),
        ("train {d}/train.txt -o {d}/x --threads 0", "n_threads"),
        ("train {d}/train.txt -o {d}/x --model svm", "--model"),
        (
            "train {d}/train.txt -o {d}/x --max-iter 9",
            "--max-iter is no option of --mo",
        ),
        ("train {d}/train.txt -o {d}/x --model ovr --prune 1", "--prune is no option"),
        ("train {d}/train.txt -o {d}/x --max-depth 0", "max_depth is 0"),
        ("train {d}/train.txt -o {d}/x --clustering ward", "balanced_2means"),
        ("train {d}/train.txt -o {d}/x --tree {d}/none", "none"),
        ("train {d}/train.txt -o {d}/x --tree {d}/one.svm", "one.svm, line 1: "),
        ("train {d}/train.txt -o {d}/x --seed -1", "random_state is -1"),
        ("predict {d}/none", "none"),
        ("predict {d}/train.txt {d}/train.txt", "train.txt"),
        ("predict {d}/m {d}/wide.txt", "wide.txt"),
        ("predict {d}/m {d}/train.txt -k 0", "k is 0"),
        ("evaluate {d}/m {d}/train.txt -k 1,x", "-k: '1,x', expected whole numbers"),
        ("evaluate {d}/m {d}/none.xmc", "none.xmc has 0 samples"),
        ("evaluate {d}/m {d}/train.txt --train {d}/two.xmc", "two.xmc has 2 samples"),
        ("evaluate {d}/m {d}/train.txt -k 0", "k"),
        ("evaluate {d}/m {d}/train.txt --by-frequency", "add --train"),
        ("inspect {d}/train.txt", "train.txt"),
    ],
)
def test_one_line_and_status_two(files, capsys, words, text):
    try:
        status = main(words.format(d=files).split())
    except SystemExit as error:  # argparse's own way out
        status = error.code
    out, err = capsys.readouterr()
    assert status == 2
    assert out == ""
    # The log of what was read may come first.
    last = err.splitlines()[-1]
    assert last.startswith("proxtree: error: ")
    assert text in last
    assert err.count("proxtree: error") == 1
    assert not (files / "x").exists()


def test_stdin_is_named_in_errors(files):
    result = call("predict", files / "m", input=b"1 30 7\nx y\n")
    assert result.returncode == 2
    assert b"stdin, line 2: " in result.stderr


def test_warnings_are_one_line(files, capsys, tmp_path):
    words = ["train", files / "train.txt", "-o", tmp_path / "m", "--tol", "1e-12"]
    words += ["--model", "ovr"]
    assert main([str(word) for word in [*words, "--max-iter", "1", "--quiet"]]) == 0
    err = capsys.readouterr().err
    assert err.startswith("proxtree: warning: 7 of 7 trained labels did not")
    assert err.count("\n") == 1


@pytest.mark.parametrize("command", ["", "train", "predict", "evaluate", "inspect"])
def test_help(capsys, command):
    with pytest.raises(SystemExit) as caught:
        main([*command.split(), "--help"])
    assert caught.value.code == 0
    text = capsys.readouterr().out
    assert "proxtree train train.txt -o my.model" in text or command not in (
        "",
        "train",
    )
    assert "--json" in text or not command
    assert "--threads" in text or not command


def test_every_estimator_argument_has_an_option():
    signature = {
        name
        for estimator in (LinearLabelTree, LinearOneVsRest)
        for name in inspect.signature(estimator).parameters
    }
    shared = {"n_threads": "--threads", "random_state": "--seed", "progress": "--quiet"}
    assert signature == set(ESTIMATOR_OPTIONS) | set(shared)


def test_help_shows_the_estimators_defaults(capsys):
    with pytest.raises(SystemExit):
        main(["train", "--help"])
    text = " ".join(capsys.readouterr().out.split())
    assert "is 1/alpha (default: 1.0)" in text
    assert "problem is converged (default: 0.001)" in text
    assert "at most a factor 4 off (default: tree 0.1, ovr 0.0)" in text


def test_version(capsys):
    with pytest.raises(SystemExit):
        main(["--version"])
    assert capsys.readouterr().out.strip() == proxtree.__version__


def call(*words, **options):
    """Run in a process of its own."""
    command = [sys.executable, "-m", "proxtree", *map(str, words)]
    return subprocess.run(command, capture_output=True, timeout=60, **options)


def test_as_a_module(files):
    result = call("inspect", files / "m")
    assert result.returncode == 0
    assert b"LinearOneVsRest" in result.stdout


def test_a_reader_that_goes_away(files):
    # More output than a pipe holds.
    proxtree.save_xmc(files / "long.txt", *(m[[0] * 9000] for m in _data(files)))
    command = [sys.executable, "-m", "proxtree", "predict", str(files / "m")]
    command += [str(files / "long.txt"), "--scores"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(timeout=60) == 141


def test_a_reader_that_never_was(files):
    # So little output that it is first written at the end.
    read, write = os.pipe()
    os.close(read)
    command = [sys.executable, "-m", "proxtree", "inspect", str(files / "m")]
    buffered = {k: v for k, v in os.environ.items() if k != "PYTHONUNBUFFERED"}
    result = subprocess.run(
        command, stdout=write, stderr=subprocess.PIPE, env=buffered, timeout=60
    )
    os.close(write)
    assert result.stderr == b""
    assert result.returncode == 141


def _data(files):
    return proxtree.load_xmc(files / "train.txt")


def _wait_until_it_reads(pid):
    """Wait, on Linux, for the system call read(0): start-up may take its time."""
    call = Path(f"/proc/{pid}/syscall")
    for _ in range(300):
        time.sleep(0.1)
        if call.exists() and call.read_text().startswith("0 0x0 "):
            return


def test_interrupt_while_waiting_for_stdin(files):
    command = [sys.executable, "-m", "proxtree", "predict", str(files / "m")]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        _wait_until_it_reads(process.pid)
        os.kill(process.pid, signal.SIGINT)
        assert process.wait(timeout=20) == 130
        assert process.stderr.read() == b"proxtree: interrupted\n"
