"""One measured process: fit and save, or load and predict. Knows no package.

Runs in the environment of whatever is measured, so it imports numpy and scipy alone;
a peer's own file imports the peer and calls `main` with its functions. Data and
results are files:

    python tree_PEER.py fit FOLDER MODEL '{"option": ...}'
    python tree_PEER.py predict FOLDER MODEL LABELS.npy

FOLDER holds X_train.npz, Y_train.npz and X_test.npz (CSR, float32, as scipy's
`save_npz` writes them). What was measured is printed as one line of JSON.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

TOP_K = 5
# The first call pays for pages and caches; the median of the others counts.
PREDICT_CALLS = 4


def cpu_seconds() -> float:
    """CPU that this process has used, all threads, user and system."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def main(
    packages: list[str],
    fit: Callable[[Any, Any, dict[str, Any]], Any],
    save: Callable[[Any, Path], None],
    load: Callable[[Path], Any],
    predict: Callable[[Any, Any, int], Any],
    labels: Callable[[Any], np.ndarray],
) -> None:
    """Do what the command line says.

    `predict` is timed: the best k labels of each row, on one thread. `labels` turns
    what it returns into ids, best first, shape (n_samples, k); -1 stands for none.
    """
    command, folder, model_path = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
    out: dict[str, Any] = {
        "versions": {name: version(name) for name in [*packages, "numpy", "scipy"]}
    }
    if command == "fit":
        X, Y = (_load(folder / f"{name}_train.npz") for name in "XY")
        cpu, wall = cpu_seconds(), time.perf_counter()
        model = fit(X, Y, json.loads(sys.argv[4]))
        out["cpu_s"] = cpu_seconds() - cpu
        out["wall_s"] = time.perf_counter() - wall
        save(model, model_path)
    else:
        X = _load(folder / "X_test.npz")
        model = load(model_path)
        times = []
        for _ in range(PREDICT_CALLS):
            cpu = cpu_seconds()
            result = predict(model, X, TOP_K)
            times.append(cpu_seconds() - cpu)
        out["cpu_s_per_row"] = float(np.median(times[1:])) / X.shape[0]
        np.save(sys.argv[4], labels(result))
    print(json.dumps(out))


def _load(path: Path) -> Any:
    return sparse.csr_matrix(sparse.load_npz(path), dtype=np.float32)
