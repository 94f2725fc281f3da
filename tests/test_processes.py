"""Ctrl-C, threads and forks beside native work (failures.md 2f)."""

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from proxtree import LinearOneVsRest

# Random labels on dense rows at a tiny alpha: minutes of work in each fit.
SLOW = """
import sys, time
import numpy as np
from scipy import sparse
from proxtree import LinearOneVsRest, _core
rng = np.random.default_rng(0)
X = rng.normal(size=(3000, 600)).astype(np.float32)
Y = rng.random((3000, 400)) < 0.3
"""

FIT = """
model = LinearOneVsRest(1e-3, tol=1e-12, n_threads=2)
act = lambda: model.fit(X, Y)
def check():
    assert not model.__sklearn_is_fitted__() and "_fitted" not in vars(model)
    model.set_params(alpha=1e4, tol=1e-3).fit(X[:50], Y[:50, :3])
    assert model.n_labels_ == 3
"""

PREDICT = """
coef = rng.normal(size=(4000, 600)).astype(np.float32)
indptr = np.arange(4001, dtype=np.int64) * 600
indices = np.tile(np.arange(600, dtype=np.int64), 4000)
model = LinearOneVsRest(n_threads=2)
model._set_fitted(
    _core.Model.from_coef(
        (indptr, indices, coef.ravel(), coef.shape), np.zeros(4000),
        untrained=np.empty(0, np.int32), normalize=False,
    ), None, {},
)
X = sparse.csr_matrix(np.tile(X, (10, 1)))
act = lambda: model.predict_topk(X)
def check():
    assert model.predict_topk(X[:5])[0].shape == (5, 5)
"""

INTERRUPTED = """
print("ready", flush=True)
try:
    act()
except KeyboardInterrupt:
    print(time.time(), flush=True)
    check()
    print("works again")
else:
    print("finished before it was interrupted")
"""


@pytest.mark.parametrize("action", [FIT, PREDICT], ids=["fit", "predict"])
def test_ctrl_c_ends_native_work_within_a_second(action):
    with subprocess.Popen(
        [sys.executable, "-c", SLOW + action + INTERRUPTED],
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout.readline() == "ready\n"
        time.sleep(0.7)
        assert process.poll() is None
        sent = time.time()
        os.kill(process.pid, signal.SIGINT)
        answer = process.stdout.readline()
        assert float(answer) - sent < 1.0
        assert process.stdout.read() == "works again\n"
        assert process.wait(timeout=60) == 0


@pytest.fixture(scope="module")
def busy():
    """A problem of about half a second on one thread at alpha 0.1."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(800, 200)).astype(np.float32)
    return X, rng.random((800, 30)) < 0.3


def bits(model):
    coef = model.coef_
    return b"".join(
        part.tobytes()
        for part in (coef.indptr, coef.indices, coef.data, model.intercept_)
    )


def test_other_python_threads_run_during_a_fit(busy):
    ticks, done = [], threading.Event()

    def tick():
        while not done.wait(0.01):
            ticks.append(time.perf_counter())

    clock = threading.Thread(target=tick)
    clock.start()
    start = time.perf_counter()
    LinearOneVsRest(0.1, tol=1e-4, n_threads=1).fit(*busy)
    end = time.perf_counter()
    done.set()
    clock.join()
    during = np.array([start, *(t for t in ticks if start < t < end), end])
    assert end - start > 0.2
    assert np.diff(during).max() < (end - start) / 3


def test_fits_in_two_threads_give_the_same_model(busy):
    with ThreadPoolExecutor(2) as pool:
        fits = [
            pool.submit(LinearOneVsRest(10.0, n_threads=n).fit, *busy) for n in (1, 2)
        ]
        first, second = (bits(fit.result()) for fit in fits)
    assert first == second == bits(LinearOneVsRest(10.0).fit(*busy))


def test_one_model_predicts_from_many_threads(busy):
    X, _ = busy
    model = LinearOneVsRest(10.0).fit(*busy)
    expected = model.predict_topk(X, 3)
    with ThreadPoolExecutor(8) as pool:
        for labels, scores in pool.map(lambda _: model.predict_topk(X, 3), range(16)):
            np.testing.assert_array_equal(labels, expected[0])
            np.testing.assert_array_equal(scores, expected[1])


@pytest.mark.skipif(sys.platform != "linux", reason="counts threads in /proc")
def test_n_threads_is_honoured(busy):
    def n_tasks():
        return len(list(Path("/proc/self/task").iterdir()))

    def most_threads(n_threads):
        before, counts = settled(), []
        LinearOneVsRest(
            0.1,
            tol=1e-4,
            n_threads=n_threads,
            progress=lambda *_: counts.append(n_tasks()),
        ).fit(*busy)
        assert settled() <= before
        return max(counts) - before

    def settled():
        # Threads leave the list a moment after their pool is gone.
        seen = [n_tasks()]
        while seen[-10:] != [seen[-1]] * 10:
            time.sleep(0.02)
            seen.append(n_tasks())
        return seen[-1]

    assert most_threads(3) - most_threads(1) == 2


def test_a_huge_n_threads_is_no_harm(problem):
    one, many = (LinearOneVsRest(n_threads=n).fit(*problem) for n in (1, 10**6))
    assert bits(one) == bits(many)


def _child(X, Y, model, expected):
    np.testing.assert_array_equal(model.predict_topk(X)[0], expected)
    assert bits(model) == bits(LinearOneVsRest(100.0).fit(X, Y))


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_forked_children_can_predict_and_fit(busy):
    X, Y = busy
    model = LinearOneVsRest(100.0).fit(X, Y)
    expected = model.predict_topk(X)[0]
    stop = threading.Event()

    def keep_busy():
        while not stop.is_set():
            model.predict_topk(X)

    other = threading.Thread(target=keep_busy)
    other.start()
    context = multiprocessing.get_context("fork")
    deadline = time.monotonic() + 20
    try:
        for _ in range(8):
            child = context.Process(target=_child, args=(X, Y, model, expected))
            child.start()
            child.join(max(0.0, deadline - time.monotonic()))
            if child.exitcode is None:
                child.kill()
            assert child.exitcode == 0
    finally:
        stop.set()
        other.join()
