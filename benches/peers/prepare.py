"""Write a data set the way that measured processes read it.

    python prepare.py SET FOLDER N_LABELS

Runs with proxtree. FOLDER gets the matrices as scipy's npz (CSR, float32), the
training text as omikuji and the readers want it, the label features and the labels
to be solved one by one.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from scipy import sparse
from workload import labels_by_frequency_rank, load_split

import proxtree


def main(name: str, folder: Path, n_labels: int) -> None:
    X, Y, X_test, Y_test = load_split(name)
    folder.mkdir(parents=True, exist_ok=True)
    V = proxtree.label_features(X, Y)
    # A label without samples is no point to cluster.
    V = V[np.diff(V.indptr) > 0]
    matrices = {
        "X_train": X, "Y_train": Y, "X_test": X_test, "Y_test": Y_test, "V": V
    }  # fmt: skip
    for stem, matrix in matrices.items():
        path = folder / f"{stem}.npz"
        sparse.save_npz(path, matrix.astype(np.float32), compressed=False)
    counts = np.asarray(Y.sum(axis=0, dtype=np.int64)).ravel()
    labels = labels_by_frequency_rank(counts, n_labels)
    np.savez(folder / "labels.npz", labels=labels, counts=counts[labels])
    text = folder / "train.txt"
    proxtree.save_xmc(text, X, Y)
    header, _, rows = text.read_bytes().partition(b"\n")
    (folder / "train_headless.txt").write_bytes(rows)
    # Last: with it the folder is complete.
    (folder / "header.txt").write_bytes(header)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]))
