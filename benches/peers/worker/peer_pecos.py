"""PECOS XR-Linear: PIFA label features, hierarchical K-means, beam 10."""

from __future__ import annotations

import numpy as np
from pecos.xmc import Indexer, LabelEmbeddingFactory
from pecos.xmc.xlinear.model import XLinearModel

PACKAGES = ("libpecos",)


def fit(training, options, path, threads):
    X, Y = training
    label_features = LabelEmbeddingFactory.create(Y, X, method="pifa")
    clusters = Indexer.gen(
        label_features, indexer_type="hierarchicalkmeans", threads=threads, **options
    )
    return XLinearModel.train(X, Y.tocsc(), C=clusters, threads=threads)


def save(model, path):
    model.save(str(path))


def load(path, options):
    # The fastest kind: read-only, in C++.
    return XLinearModel.load(str(path), is_predict_only=True, **options)


def predict(model, rows, k):
    return model.predict(rows, beam_size=10, only_topk=k, threads=1)


def labels(result, k):
    labels = np.full((result.shape[0], k), -1, np.int64)
    for i in range(result.shape[0]):
        row = slice(result.indptr[i], result.indptr[i + 1])
        order = np.argsort(-result.data[row], kind="stable")[:k]
        labels[i, : len(order)] = result.indices[row][order]
    return labels
