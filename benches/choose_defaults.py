"""Choose defaults of LinearLabelTree on training rows that are held out.

    PROXTREE_DATA=FOLDER python benches/choose_defaults.py SET... [--seeds N] [-o OUT]

For each seed a fifth of the training rows is held out, one tree is built from the
others, and every setting trains its classifiers. A setting differs from the
defaults in one parameter. Each cell is the mean over the seeds of the difference
from the defaults on the same split, with its standard error where there are
several seeds. Test rows are never read.
"""

from __future__ import annotations

import argparse
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from peers.workload import describe_run, load_train

import proxtree
from proxtree import metrics
from proxtree.tree import LabelTree, label_features

HELD_OUT = 0.2
VALUES: dict[str, list[Any]] = {
    "max_sweeps": [8, 20],
    "violation_tol": [0.01, 0.1],
    "scoring": ["squared", "cubed", "log_sigmoid"],
}
# Column, digits, and whether a difference is shown as a share of the default's.
COLUMNS = [
    ("P@1", 2, False),
    ("P@5", 2, False),
    ("PSP@5", 2, False),
    ("weights", 1, True),
    ("CPU s", 1, True),
]


def settings() -> dict[str, dict[str, Any]]:
    """Return the defaults and all that differ from them in one parameter."""
    default = proxtree.LinearLabelTree().get_params()
    out: dict[str, dict[str, Any]] = {"defaults": {}}
    for name, values in VALUES.items():
        for value in values:
            if value != default[name]:
                out[f"{name}={value}"] = {name: value}
    return out


def measure(X: Any, Y: Any, seed: int) -> dict[str, np.ndarray]:
    """Train every setting on one split; return a row of `COLUMNS` for each."""
    rng = np.random.default_rng(seed)
    held_out = rng.random(X.shape[0]) < HELD_OUT
    X_fit, Y_fit = X[~held_out], Y[~held_out]
    X_held, Y_held = X[held_out], Y[held_out]
    default = proxtree.LinearLabelTree()
    tree = LabelTree.build(
        label_features(X_fit, Y_fit),
        n_clusters=default.n_clusters,
        max_depth=default.max_depth,
        random_state=0,
    )
    out = {}
    for name, changes in settings().items():
        start = time.process_time()
        model = proxtree.LinearLabelTree(tree=tree, **changes).fit(X_fit, Y_fit)
        cpu = time.process_time() - start
        labels, _ = model.predict_topk(X_held, k=5)
        scores = metrics.evaluate(Y_held, labels, Y_fit, (1, 5))
        quality = [100 * scores[m] for m in ("P@1", "P@5", "PSP@5")]
        out[name] = np.array([*quality, model.n_nonzero_, cpu])
    return out


def table(name: str, runs: list[dict[str, np.ndarray]]) -> str:
    """Return a Markdown table: the defaults' own figures, then differences."""
    header = [name, *(column for column, _, _ in COLUMNS)]
    lines = ["| " + " | ".join(header) + " |", "|---" * len(header) + "|"]
    base = np.array([run["defaults"] for run in runs])
    mean = base.mean(axis=0)
    cells = [*(f"{x:.2f}" for x in mean[:3]), f"{mean[3]:,.0f}", f"{mean[4]:.2f}"]
    lines.append("| " + " | ".join(["defaults", *cells]) + " |")
    for setting in settings():
        if setting == "defaults":
            continue
        difference = np.array([run[setting] for run in runs]) - base
        cells = []
        for at, (_, digits, relative) in enumerate(COLUMNS):
            values = difference[:, at]
            if relative:
                values = 100 * values / base[:, at]
            cell = f"{values.mean():+.{digits}f}" + (" %" if relative else "")
            if len(values) > 1 and not relative:
                error = values.std(ddof=1) / np.sqrt(len(values))
                cell += f" ± {error:.{digits}f}"
            cells.append(cell)
        lines.append("| " + " | ".join([setting, *cells]) + " |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("sets", nargs="+", help="folders of PROXTREE_DATA")
    parser.add_argument("--seeds", type=int, default=3, help="number of splits")
    parser.add_argument("-o", "--output", type=Path, help="also append the report here")
    args = parser.parse_args()
    # A label whose only rows are held out is nobody's mistake.
    warnings.simplefilter("ignore", proxtree.DataWarning)
    parts = []
    for name in args.sets:
        X, Y = load_train(name)
        X, Y = X.tocsr(), Y.tocsr()
        runs = [measure(X, Y, seed) for seed in range(args.seeds)]
        parts.append(table(name, runs))
        print(parts[-1], flush=True)
    parts.append(f"{args.seeds} splits. {describe_run()}")
    print(parts[-1])
    if args.output:
        with args.output.open("a") as file:
            file.write("\n\n".join(parts) + "\n")


if __name__ == "__main__":
    main()
