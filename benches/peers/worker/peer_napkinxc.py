"""napkinXC's probabilistic label trees: the model is written during the fit."""

from __future__ import annotations

import numpy as np
from napkinxc.datasets import load_libsvm_file
from napkinxc.models import PLT

PACKAGES = ("napkinxc",)


def fit(training, options, path, threads):
    model = PLT(str(path), threads=threads, seed=0, **options)
    model.fit(*training)
    return model


def save(model, path):
    """Nothing is left to write."""


def load(path, options):
    model = PLT(str(path), threads=1, **options)
    model.load()
    return model


def predict(model, rows, k):
    return model.predict(rows, top_k=k)


def labels(result, k):
    labels = np.full((len(result), k), -1, np.int64)
    for i, row in enumerate(result):
        labels[i, : len(row)] = row[:k]
    return labels


def read(folder, options, threads):
    # What load_dataset calls, without its look at the download folder.
    return load_libsvm_file(str(folder / "train.txt"), **options)[0]
