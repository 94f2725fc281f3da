"""omikuji: reads the training text itself, predicts one row a call."""

from __future__ import annotations

import numpy as np
from omikuji import Model
from omikuji._libomikuji import ffi, lib

PACKAGES = ("omikuji",)


def training(folder):
    # What Model.train_on_data does first: reading stays out of the fit's time.
    pool = ffi.gc(lib.init_omikuji_thread_pool(1), lib.free_omikuji_thread_pool)
    path = ffi.new("char[]", str(folder / "train.txt").encode())
    return ffi.gc(lib.load_omikuji_data_set(path, pool), lib.free_omikuji_data_set)


def fit(training, options, path, threads):
    parameters = Model.default_hyper_param()
    for name, value in options.items():
        setattr(parameters, name, value)
    pool = ffi.gc(lib.init_omikuji_thread_pool(threads), lib.free_omikuji_thread_pool)
    return Model(lib.train_omikuji_model(training, parameters, pool))


def save(model, path):
    model.save(str(path))


def load(path, options):
    model = Model.load(str(path))
    model.init_prediction_thread_pool(1)
    if options:
        model.densify_weights(**options)
    return model


def rows(X):
    bounds = zip(X.indptr, X.indptr[1:], strict=False)
    return [
        list(zip(X.indices[a:b].tolist(), X.data[a:b].tolist(), strict=True))
        for a, b in bounds
    ]


def one_row(rows, i):
    return rows[i : i + 1]


def predict(model, rows, k):
    return [model.predict(row, beam_size=10, top_k=k) for row in rows]


def labels(result, k):
    labels = np.full((len(result), k), -1, np.int64)
    for i, pairs in enumerate(result):
        labels[i, : len(pairs)] = [label for label, _ in pairs]
    return labels
