"""PECOS XR-Linear with its defaults (PIFA, 16-way trees, leaves of up to 100 labels,
weights below 0.1 dropped, beam 10), measured by trees.py."""

import numpy as np
from pecos.xmc import Indexer, LabelEmbeddingFactory
from pecos.xmc.xlinear.model import XLinearModel
from tree_process import TOP_K, main


def fit(X, Y, options):
    label_features = LabelEmbeddingFactory.create(Y, X, method="pifa")
    clusters = Indexer.gen(label_features, indexer_type="hierarchicalkmeans", **options)
    return XLinearModel.train(X, Y.tocsc(), C=clusters)


def load(path):
    # PECOS's fastest kind: read-only, in C++, chunked weights.
    return XLinearModel.load(str(path), is_predict_only=True)


def predict(model, X, k):
    return model.predict(X, beam_size=10, only_topk=k, threads=1)


def labels(scores):
    labels = np.full((scores.shape[0], TOP_K), -1, np.int64)
    for i in range(scores.shape[0]):
        row = slice(scores.indptr[i], scores.indptr[i + 1])
        order = np.argsort(-scores.data[row], kind="stable")
        labels[i, : len(order)] = scores.indices[row][order]
    return labels


if __name__ == "__main__":
    main(
        ["libpecos"],
        fit,
        lambda model, path: model.save(str(path)),
        load,
        predict,
        labels,
    )
