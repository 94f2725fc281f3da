"""K-means of the label features, as at the root of a tree.

A peer's file gives

    cluster(V, n_clusters, seed, options, threads) -> anything      timed
    assignment(result, n_labels) -> cluster of each label

V is CSR of float32 without empty rows. The objective is computed here.
"""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from clock import clock
from models import load_csr
from scipy import sparse

N_CLUSTERS = 100
SEEDS = range(5)
# No further seed after so many seconds: objectives of slow peers are noisier.
CPU_ENOUGH = 60.0


def objective(V: Any, clusters: np.ndarray) -> float:
    """Return the sum of squared distances from the clusters' means."""
    _, clusters = np.unique(clusters, return_inverse=True)
    V = V.astype(np.float64)
    n = len(clusters)
    members = sparse.csr_matrix((np.ones(n), (clusters, np.arange(n))))
    sums = members @ V
    sizes = np.asarray(members.sum(axis=1)).ravel()
    norms = np.asarray(sums.multiply(sums).sum(axis=1)).ravel()
    return float(V.multiply(V).sum() - (norms / sizes).sum())


def cluster(peer: ModuleType, spec: dict[str, Any]) -> dict[str, Any]:
    """Cluster from each seed; CPU and objective are means over the seeds."""
    V = load_csr(Path(spec["folder"]) / "V.npz")
    n_clusters = min(N_CLUSTERS, V.shape[0] // 2)
    runs: list[dict[str, float]] = []
    objectives = []
    for seed in SEEDS:
        out: dict[str, float] = {}
        with clock("kmeans", out):
            result = peer.cluster(V, n_clusters, seed, spec["options"], spec["threads"])
        runs.append(out)
        objectives.append(objective(V, peer.assignment(result, V.shape[0])))
        if sum(run["kmeans_cpu_s"] for run in runs) > CPU_ENOUGH:
            break
    return {
        "cpu_s": float(np.mean([run["kmeans_cpu_s"] for run in runs])),
        "wall_s": float(np.mean([run["kmeans_wall_s"] for run in runs])),
        "objective": float(np.mean(objectives)),
        "n_clusters": n_clusters,
        "n_seeds": len(runs),
    }
