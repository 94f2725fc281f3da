"""sparsekmeans, as LibMultiLabel calls it: at most 300 rounds, tol 1e-4."""

from __future__ import annotations

import sparsekmeans

PACKAGES = ("sparsekmeans",)


def cluster(V, n_clusters, seed, options, threads):
    kind = getattr(sparsekmeans, options["kind"])
    model = kind(n_clusters=n_clusters, n_threads=threads, random_state=seed)
    return model.fit(V)


def assignment(result, n_labels):
    return result
