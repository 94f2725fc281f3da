"""proxtree's estimators, solver, trees and reader."""

from __future__ import annotations

import time
import warnings

import numpy as np

import proxtree

PACKAGES = ("proxtree",)
# A warning on labels without samples is no news here.
warnings.simplefilter("ignore", proxtree.DataWarning)


def fit(training, options, path, threads):
    options = dict(options)
    estimator = getattr(proxtree, options.pop("estimator", "LinearLabelTree"))
    return estimator(n_threads=threads, **options).fit(*training)


def save(model, path):
    model.save(path)


def load(path, options):
    return proxtree.load(path)


def predict(model, rows, k):
    return model.predict_topk(rows, k, n_threads=1)


def labels(result, k):
    return result[0]


def train_labels(X, Y, C, threads):
    """Certified one-vs-rest; a label's time is that of its solve and certificate."""
    model = proxtree.LinearOneVsRest(alpha=1 / C, tol=1e-3, n_threads=threads)
    X = X.astype(np.float32)
    # First calls fault pages in.
    proxtree.LinearOneVsRest(n_threads=threads).fit(X, Y[:, -1:])
    cpu = time.process_time()
    model.fit(X, Y)
    cpu = time.process_time() - cpu
    certificate = model.certificate_
    return {
        "coef": model.coef_.astype(np.float64),
        "intercept": model.intercept_,
        "cpu_s": certificate["seconds"],
        "total_cpu_s": cpu,
        "gap": certificate["gap"] / certificate["dual_objective"],
    }


def cluster(V, n_clusters, seed, options, threads):
    return proxtree.LabelTree.build(
        V, n_clusters=n_clusters, max_depth=2, random_state=seed, n_threads=threads
    )


def assignment(tree, n_labels):
    """Cluster of each label: the child of the root that it hangs under."""
    nodes = tree.to_dict()["nodes"]
    clusters = np.empty(n_labels, np.int64)
    for number, child in enumerate(nodes[0]["nodes"]):
        clusters[nodes[child]["labels"]] = number
    for number, label in enumerate(nodes[0]["labels"]):
        clusters[label] = len(nodes) + number
    return clusters


def read(folder, options, threads):
    return proxtree.load_xmc(folder / "train.txt").X
