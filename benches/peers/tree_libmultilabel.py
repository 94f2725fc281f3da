"""LibMultiLabel's linear tree (LIBLINEAR -s 1 in the nodes, K = 100, dmax = 5 unless
options say otherwise, its other defaults), measured by trees.py and l2_tree.py."""

import pickle
import sys

import numpy as np
from tree_process import TOP_K, main

# liblinear.py beside this file has the name of the package that is meant below.
sys.path.pop(0)

from libmultilabel.linear import tree  # noqa: E402


def fit(X, Y, options):
    arguments = {"dmax": 5, **options}
    # Its seeds come from numpy's global generator.
    np.random.seed(0)
    return tree.train_tree(
        Y.astype(np.float64), X.astype(np.float64), verbose=False, **arguments
    )


def save(model, path):
    path.write_bytes(pickle.dumps(model))


def load(path):
    return pickle.loads(path.read_bytes())


def predict(model, X, k):
    # Scores of all labels; in batches, so that they fit.
    best = []
    for start in range(0, X.shape[0], 256):
        scores = model.predict_values(X[start : start + 256].astype(np.float64))
        best.append(np.argsort(-scores, axis=1, kind="stable")[:, :k])
    return np.vstack(best)


if __name__ == "__main__":
    main(
        ["libmultilabel", "liblinear-multicore"],
        fit,
        save,
        load,
        predict,
        lambda labels: labels[:, :TOP_K],
    )
