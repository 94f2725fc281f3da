"""Single labels, one after the other, to an L1 solution with a penalised bias.

A peer's file gives

    train_labels(X, Y, C, threads) -> {
        "coef": (n_labels, n_features), dense or sparse, "intercept": (n_labels,),
        "cpu_s": of each label, "total_cpu_s": of all, "gap": certified, if it is}

for alpha (||w||_1 + |b|) + sum of squared hinges with C = 1 / alpha; X is CSR of
float64, Y CSC. Objectives are computed here, from everyone's weights.
"""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from models import load_csr
from scipy import sparse


def objective(X: Any, y: np.ndarray, w: np.ndarray, bias: float, alpha: float) -> float:
    """Return alpha (||w||_1 + |bias|) + sum max(0, 1 - y (X w + bias))^2."""
    loss = np.maximum(0, 1 - y * (X @ w + bias))
    return float(alpha * (np.abs(w).sum() + abs(bias)) + loss @ loss)


def train(peer: ModuleType, spec: dict[str, Any]) -> dict[str, Any]:
    """Train the labels that the workload chose, each at spec["options"]["C"]."""
    folder = Path(spec["folder"])
    C = spec["options"]["C"]
    chosen = np.load(folder / "labels.npz")
    X = load_csr(folder / "X_train.npz").astype(np.float64)
    Y = load_csr(folder / "Y_train.npz").tocsc()[:, chosen["labels"]]
    found = peer.train_labels(X, Y, C, spec["threads"])
    coef = sparse.csr_matrix(found["coef"])
    objectives = []
    for label in range(Y.shape[1]):
        y = 2.0 * Y[:, [label]].toarray().ravel() - 1
        w = coef[[label]].toarray().ravel()
        objectives.append(objective(X, y, w, found["intercept"][label], 1 / C))
    gap = found.get("gap")
    return {
        "positives": chosen["counts"].tolist(),
        "cpu_s": np.asarray(found["cpu_s"], float).tolist(),
        "total_cpu_s": float(found["total_cpu_s"]),
        "objective": objectives,
        "nonzeros": int(coef.count_nonzero()),
        **({} if gap is None else {"gap": np.asarray(gap, float).tolist()}),
    }
