"""scikit-learn: LinearSVC with an L1 penalty, K-means, the svmlight reader."""

from __future__ import annotations

import time
import warnings

import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import load_svmlight_file
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC

PACKAGES = ("scikit-learn",)
warnings.simplefilter("ignore", ConvergenceWarning)


def train_labels(X, Y, C, threads):
    n_labels = Y.shape[1]
    coef, intercept = np.zeros((n_labels, X.shape[1])), np.zeros(n_labels)
    cpu_s = np.zeros(n_labels)
    # The last, rarest, twice: first calls fault pages in.
    for label in (n_labels - 1, *range(n_labels)):
        y = Y[:, [label]].toarray().ravel() > 0
        model = LinearSVC(penalty="l1", dual=False, C=C, random_state=0)
        start = time.process_time()
        model.fit(X, y)
        cpu_s[label] = time.process_time() - start
        coef[label], intercept[label] = model.coef_[0], model.intercept_[0]
    return {
        "coef": coef,
        "intercept": intercept,
        "cpu_s": cpu_s,
        "total_cpu_s": cpu_s.sum(),
    }


def cluster(V, n_clusters, seed, options, threads):
    return KMeans(n_clusters, n_init=1, random_state=seed, **options).fit(V)


def assignment(result, n_labels):
    return result.labels_


def read(folder, options, threads):
    path = str(folder / "train_headless.txt")
    return load_svmlight_file(path, dtype=np.float32, multilabel=True, zero_based=True)[
        0
    ]
