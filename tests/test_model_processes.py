"""One model, many threads and forked children."""

import multiprocessing
import os
import signal
import threading
import time
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import scipy.sparse as sp

from proxtree._core import Model

WATCHDOG_S = 20


@pytest.fixture(scope="module", params=["whole", "mapped"])
def model_and_rows(request, tmp_path_factory):
    rng = np.random.default_rng(3)
    coef = sp.random(500, 400, 0.05, "csr", np.float32, rng)
    x = sp.random(400, 400, 0.05, "csr", np.float32, rng)
    model = Model.from_coef(
        (coef.indptr, coef.indices, coef.data, coef.shape),
        rng.normal(size=500),
        untrained=np.array([], np.int32),
        normalize=True,
    )
    if request.param == "mapped":
        path = tmp_path_factory.mktemp("mapped") / "m"
        model.save(path, class_name="", settings="", extra=[], mapped=True)
        model = Model.load(path)[0]
        assert model.is_mapped
    return model, (x.indptr, x.indices, x.data, x.shape)


def predict(model, x, n_threads=2):
    return model.predict_topk(x, 5, allowed=None, beam_size=1, n_threads=n_threads)


def test_eight_threads_share_a_model(model_and_rows):
    model, x = model_and_rows
    expected = predict(model, x, n_threads=1)
    with ThreadPoolExecutor(8) as pool:
        for labels, scores in pool.map(lambda _: predict(model, x), range(40)):
            np.testing.assert_array_equal(labels, expected[0])
            np.testing.assert_array_equal(scores, expected[1])


def fork_and_predict(model, x):
    """Exit status of a child that predicts; fails the test after the watchdog."""
    with warnings.catch_warnings():
        # Forking beside threads is the case to be tested.
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        try:
            predict(model, x)
            os._exit(0)
        finally:
            os._exit(1)
    end = time.monotonic() + WATCHDOG_S
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.002)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    pytest.fail(f"a forked child hangs in predict for {WATCHDOG_S} s")


@pytest.mark.parametrize("n_forks", [20, pytest.param(200, marks=pytest.mark.slow)])
def test_forked_children_predict_beside_busy_threads(model_and_rows, n_forks):
    model, x = model_and_rows
    stop = threading.Event()

    def busy():
        while not stop.is_set():
            predict(model, x)

    threads = [threading.Thread(target=busy) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        assert [fork_and_predict(model, x) for _ in range(n_forks)] == [0] * n_forks
    finally:
        stop.set()
        for thread in threads:
            thread.join()


def test_a_fork_pool_predicts_after_the_parent_did(model_and_rows):
    model, x = model_and_rows
    expected = predict(model, x)[0]
    with multiprocessing.get_context("fork").Pool(2) as pool:
        result = pool.starmap_async(predict, [(model, x)] * 4)
        for labels, _ in result.get(timeout=WATCHDOG_S):
            np.testing.assert_array_equal(labels, expected)
