"""The peers' harness: its processes, records and ratios, with a made-up peer."""

import importlib
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

BENCHES = Path(__file__).parents[1] / "benches"

FAKE = """
import time
import numpy as np

PACKAGES = ("proxtree",)

def burn(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass

burn(0.1)

def training(folder):
    burn(0.5)
    # Small blocks under one that stays: the allocator keeps them when they go.
    return [bytes(1000) for _ in range(100_000)][-1:]

def fit(training, options, path, threads):
    burn(options.get("burn", 0.05))
    [bytes(1000) for _ in range(64_000)]
    return options["best"]

def save(model, path):
    path.mkdir()
    (path / "weights").write_bytes(bytes([model]) * 700)
    (path / "names").write_bytes(b"x" * 50)

def load(path, options):
    return (path / "weights").read_bytes()[0] + options.get("shift", 0)

def predict(model, rows, k):
    return np.full((rows.shape[0], k), -1) + (np.arange(k) == 0) * (model + 1)

def labels(result, k):
    return result
"""


@pytest.fixture
def harness(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHES / "peers"))
    monkeypatch.syspath_prepend(str(BENCHES / "peers" / "worker"))
    return importlib.import_module


@pytest.fixture
def folder(tmp_path):
    """Three labels; label 0 is right for three test rows of four."""
    Y = sparse.csr_matrix(np.array([[1, 0, 0], [1, 1, 0], [0, 0, 1], [1, 0, 0]]))
    X = sparse.csr_matrix(np.eye(4))
    for name, matrix in (("X", X), ("Y", Y)):
        for part in ("train", "test"):
            path = tmp_path / f"{name}_{part}.npz"
            sparse.save_npz(path, matrix.astype(np.float32))
    return tmp_path


def entry(harness, folder, code=FAKE, predictions=None, **options):
    peer = folder / "peer_fake.py"
    peer.write_text(code)
    options = {"best": 0} | options
    Entry = harness("entries").Entry
    return Entry("model", "fake", "", "any", peer, options, predictions or {"": {}})


def runner(harness, seconds=60.0):
    return harness("runs").Runner(lambda _: sys.executable, seconds, 1)


def running(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().split()[2] != "Z"
    except OSError:
        return False


def test_a_model_is_measured_part_by_part(harness, folder):
    ways = {"": {}, "other": {"shift": 1}}
    record = runner(harness).measure(entry(harness, folder, predictions=ways), folder)
    assert record["status"] == "ok"
    # Only the fit is in the fit: not the import (0.1 s), not reading (0.5 s).
    assert record["import_cpu_s"] >= 0.1
    assert record["load_cpu_s"] >= 0.5
    assert 0.05 <= record["fit_cpu_s"] < 0.45
    # 64 MB in the fit; 100 MB, freed before, are not counted and not reused.
    assert 60e6 < record["fit_rise_bytes"] < 90e6
    assert record["bytes"] == 750
    first, other = record["predictions"].values()
    assert (first["P@1"], other["P@1"]) == (75.0, 25.0)
    assert first["P@3"] == 25.0
    assert first["predict_cpu_us"] > 0
    assert 0 < first["latency_p50_us"] <= first["latency_p99_us"]
    assert first["latency_rows"] == 4
    assert "numpy" in record["versions"]


def test_a_hanging_process_ends_with_its_children(harness, folder):
    mark = folder / "child.pid"
    code = (
        "import subprocess, sys, time\n"
        "command = [sys.executable, '-c', 'import time; time.sleep(60)']\n"
        "child = subprocess.Popen(command)\n"
        f"open({str(mark)!r}, 'w').write(str(child.pid))\n"
        "time.sleep(60)\n"
    )
    one = entry(harness, folder, code)
    start = time.monotonic()
    record = runner(harness, 3.0).measure(one, folder)
    assert record["status"] == "no result after 3 s"
    while running(mark.read_text()):
        assert time.monotonic() - start < 30
        time.sleep(0.01)


def test_a_failure_says_how(harness, folder):
    code = FAKE + "def fit(*_): raise MemoryError('no room')\n"
    record = runner(harness).measure(entry(harness, folder, code), folder)
    assert record["status"] == "failed (exit 1): MemoryError: no room"


def test_records_go_on_where_they_ended(harness, folder):
    Records = harness("records").Records
    path = folder / "results.jsonl"
    one = entry(harness, folder)
    records = Records(path, "a", 1, 9)
    assert records.wants("set", one, 1, 100)
    records.add("set", one, {"status": "ok", "fit_cpu_s": 60.0})
    path.write_text(path.read_text() + '{"set": "set", "ro')
    again = Records(path, "a", 1, 9)
    assert len(again.of("set", one)) == 1
    assert not again.wants("set", one, 1, 100)
    assert again.wants("set", one, 2, 100)
    # Long enough already, and a different number of threads is another story.
    assert not again.wants("set", one, 2, 60)
    assert Records(path, "a", 2, 9).wants("set", one, 1, 100)
    assert again.wants("other", one, 1, 100)
    # The number of labels matters where labels are what is solved.
    assert not Records(path, "a", 1, 20).wants("set", one, 1, 100)


def test_records_of_labels_are_of_one_choice(harness, folder):
    Records = harness("records").Records
    path = folder / "results.jsonl"
    one = harness("entries").LABELS[0]
    Records(path, "a", 1, 20).add("set", one, {"status": "ok", "cpu_s": [1.0]})
    assert not Records(path, "a", 1, 20).wants("set", one, 1, 100)
    assert Records(path, "a", 1, 200).wants("set", one, 1, 100)


def test_ours_is_measured_anew_for_each_build(harness, folder):
    records = harness("records")
    path = folder / "results.jsonl"
    ours = harness("entries").MODELS[0]
    records.Records(path, "a", 1, 9).add(
        "set", ours, {"status": "ok", "fit_cpu_s": 1.0}
    )
    assert not records.Records(path, "a", 1, 9).wants("set", ours, 1, 100)
    assert records.Records(path, "b", 1, 9).wants("set", ours, 1, 100)
    assert records.last_build(path) == "a"


def test_what_had_no_result_is_tried_again_on_request(harness, folder):
    Records = harness("records").Records
    path = folder / "results.jsonl"
    one = entry(harness, folder)
    Records(path, "a", 1, 9).add("set", one, {"status": "no result after 3 s"})
    assert not Records(path, "a", 1, 9).wants("set", one, 3, 100)
    assert Records(path, "a", 1, 9, retry=True).wants("set", one, 3, 100)
