"""LibMultiLabel's tree: Lloyd or Elkan K-means, LIBLINEAR, float64, no pruning."""

from __future__ import annotations

import pickle

import numpy as np
from libmultilabel import linear

PACKAGES = ("libmultilabel", "liblinear-multicore", "sparsekmeans")
# Scores come as a dense row for each sample.
BATCH = 256


def fit(training, options, path, threads):
    X, Y = training
    np.random.seed(0)  # noqa: NPY002 (the one that it draws from)
    return linear.train_tree(Y, X, "-s 1 -c 1 -q", K=100, dmax=5, verbose=False)


def save(model, path):
    # What linear.utils.save_pipeline does, without a preprocessor.
    with path.open("wb") as file:
        pickle.dump(model, file)


def load(path, options):
    with path.open("rb") as file:
        return pickle.load(file)


def predict(model, rows, k):
    scores = model.predict_values(rows, beam_width=10)
    best = np.argpartition(-scores, k - 1, axis=1)[:, :k]
    order = np.argsort(-np.take_along_axis(scores, best, axis=1), axis=1)
    return np.take_along_axis(best, order, axis=1)


def labels(result, k):
    return result
