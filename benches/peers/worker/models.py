"""Whole models: train and save, or load and predict.

A peer's file gives, for models:

    fit(training, options, path, threads) -> model        timed
    save(model, path)                                     bytes on disk afterwards
    load(path, options) -> model
    predict(model, rows, k) -> anything                   timed, one thread
    labels(result, k) -> int array (n_samples, k), best first, -1 is none

and, where its own containers are not CSR of float32,

    training(folder) -> what `fit` takes                  timed in a column of its own
    rows(X) -> what `predict` takes                       not timed
    one_row(rows, i) -> what `predict` takes for row i    not timed
    BATCH: rows in one call of `predict` (all of them)
"""

from __future__ import annotations

import time
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from clock import clock, cpu_seconds
from scipy import sparse

TOP_K = 5
# The first call pays for pages and caches; the median of the others counts.
PREDICT_CALLS = 4
LATENCY_ROWS = 1000
# A row's latency is the least of these: what others do on the machine is no latency.
LATENCY_PASSES = 5
# Calls end here; slow peers get fewer rows and passes.
SECONDS_ENOUGH = 30.0


def load_csr(path: Path) -> Any:
    """Read a matrix that scipy's `save_npz` wrote."""
    return sparse.csr_matrix(sparse.load_npz(path), dtype=np.float32)


def bytes_on_disk(path: Path) -> int:
    """Return the bytes of a file, or of all files of a folder."""
    files = [path] if path.is_file() else path.rglob("*")
    return sum(file.stat().st_size for file in files if file.is_file())


def fit(peer: ModuleType, spec: dict[str, Any]) -> dict[str, Any]:
    """Train on the workload's folder and save to spec["model"]."""
    folder, path = Path(spec["folder"]), Path(spec["model"])
    out: dict[str, Any] = {}
    with clock("load", out):
        if hasattr(peer, "training"):
            training = peer.training(folder)
        else:
            training = tuple(load_csr(folder / f"{name}_train.npz") for name in "XY")
    with clock("fit", out, memory=True):
        model = peer.fit(training, spec["options"], path, spec["threads"])
    peer.save(model, path)
    out["bytes"] = bytes_on_disk(path)
    return out


def predict(peer: ModuleType, spec: dict[str, Any]) -> dict[str, Any]:
    """Load spec["model"], predict the test rows at once and one by one."""
    X = load_csr(Path(spec["folder"]) / "X_test.npz")
    out: dict[str, Any] = {}
    with clock("open", out, memory=True):
        model = peer.load(Path(spec["model"]), spec["options"])
    rows = peer.rows(X) if hasattr(peer, "rows") else X
    batch = getattr(peer, "BATCH", X.shape[0])
    times = []
    started = time.perf_counter()
    for _ in range(PREDICT_CALLS):
        cpu = cpu_seconds()
        results = [
            peer.predict(model, rows[at : at + batch], TOP_K)
            for at in range(0, X.shape[0], batch)
        ]
        times.append(cpu_seconds() - cpu)
        if time.perf_counter() - started > SECONDS_ENOUGH:
            break
    out["predict_cpu_us"] = 1e6 * float(np.median(times[1:] or times)) / X.shape[0]
    np.save(spec["labels"], np.vstack([peer.labels(r, TOP_K) for r in results]))
    return out | _latency(peer, model, rows, X.shape[0])


def _latency(peer: ModuleType, model: Any, rows: Any, n: int) -> dict[str, Any]:
    one_row = getattr(peer, "one_row", lambda rows, i: rows[i])
    # Evenly spaced: rows may be in an order.
    chosen = np.unique(np.linspace(0, n - 1, min(n, LATENCY_ROWS)).astype(int))
    singles = [one_row(rows, int(i)) for i in chosen]
    least = np.full(len(singles), np.inf)
    started = time.perf_counter()
    for _ in range(LATENCY_PASSES):
        for i, single in enumerate(singles):
            start = time.perf_counter()
            peer.predict(model, single, TOP_K)
            end = time.perf_counter()
            least[i] = min(least[i], end - start)
            if end - started > SECONDS_ENOUGH:
                break
        else:
            continue
        break
    known = least[np.isfinite(least)]
    return {
        "latency_p50_us": 1e6 * float(np.percentile(known, 50)),
        "latency_p99_us": 1e6 * float(np.percentile(known, 99)),
        "latency_rows": len(known),
    }
