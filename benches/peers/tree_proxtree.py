"""proxtree's estimators, measured by trees.py."""

import warnings

from tree_process import main

import proxtree


def fit(X, Y, options):
    warnings.simplefilter("ignore", proxtree.DataWarning)
    name = options.pop("estimator", "LinearLabelTree")
    return getattr(proxtree, name)(**options).fit(X, Y)


def predict(model, X, k):
    return model.predict_topk(X, k, n_threads=1)


if __name__ == "__main__":
    main(
        ["proxtree"],
        fit,
        lambda model, path: model.save(path),
        proxtree.load,
        predict,
        lambda result: result[0],
    )
