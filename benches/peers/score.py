"""Score predictions by proxtree's metrics: `python score.py FOLDER LABELS.npy OUT`."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
from scipy import sparse

from proxtree import metrics


def main(folder: Path, labels: Path, out: Path) -> None:
    Y, Y_test = (
        sparse.csr_matrix(sparse.load_npz(folder / f"Y_{part}.npz"))
        for part in ("train", "test")
    )
    scores = metrics.evaluate(Y_test, np.load(labels), Y, (1, 3, 5))
    percent = {
        f"{name}@{k}": 100 * scores[f"{name}@{k}"]
        for name in ("P", "PSP")
        for k in (1, 3, 5)
    }
    out.write_text(json.dumps(percent))


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:4]))
