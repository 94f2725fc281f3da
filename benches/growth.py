"""How the costs of proxtree grow with rows, labels and features.

    python benches/growth.py [--doublings 3] [--set openlib] [-o OUT.md]

Made-up corpora (synthetic.py), one size doubled at a time and rows and labels
together; with --set, row samples of a real data set (PROXTREE_DATA) as well. CPU on
one thread: the tree (label features and K-means), the plan of its size, the training
of the default tree model, prediction. An exponent is the slope of log cost on log size.
"""

from __future__ import annotations

import argparse
import multiprocessing
import tempfile
import time
import warnings
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from peers.worker.clock import clock
from peers.workload import describe_run, load_train
from synthetic import corpus

import proxtree

BASE = {"N": 15_000, "L": 3_000, "D": 25_000}
AXES = [("N",), ("L",), ("D",), ("N", "L")]
COSTS = ("tree", "plan", "training", "prediction")
TEST_ROWS = 2_000
# Prediction is repeated for so long: one call is too short for the clock.
PREDICTION_CPU_S = 0.3


@dataclass
class Point:
    """Costs at one size: CPU seconds, prediction for a thousand rows."""

    sizes: dict[str, int]
    costs: dict[str, float]
    memory: float
    file: int
    weights: int


def measure(X: Any, Y: Any, X_test: Any) -> Point:
    """Run everything once on one data set."""
    warnings.simplefilter("ignore", proxtree.DataWarning)
    out: dict[str, float] = {}
    with clock("tree", out):
        V = proxtree.label_features(X, Y, n_threads=1)
        tree = proxtree.LabelTree.build(V, n_threads=1)
    with clock("plan", out):
        proxtree.plan(X, Y, tree=tree, n_threads=1)
    with clock("training", out, memory=True):
        model = proxtree.LinearLabelTree(tree=tree, n_threads=1).fit(X, Y)
    model.predict_topk(X_test, n_threads=1)
    end, calls = time.process_time() + PREDICTION_CPU_S, 0
    with clock("prediction", out):
        while time.process_time() < end:
            model.predict_topk(X_test, n_threads=1)
            calls += 1
    with tempfile.NamedTemporaryFile() as file:
        model.save(file.name)
        size = Path(file.name).stat().st_size
    costs = {name: out[f"{name}_cpu_s"] for name in COSTS}
    costs["prediction"] *= 1000 / X_test.shape[0] / calls
    sizes = {"N": X.shape[0], "L": Y.shape[1], "D": X.shape[1], "nnz": int(X.nnz)}
    return Point(sizes, costs, out["training_rise_bytes"], size, model.n_nonzero_)


def measure_afresh(X: Any, Y: Any, X_test: Any) -> Point:
    """Measure in a process of its own: memory that others left would serve it."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        return pool.submit(measure, X, Y, X_test).result()


def made_up(axis: tuple[str, ...], doublings: int, seed: int) -> list[Point]:
    """Double the sizes in `axis`, all together."""
    points = []
    for doubling in range(doublings + 1):
        sizes = {k: n << doubling if k in axis else n for k, n in BASE.items()}
        X, Y = corpus(sizes["N"] + TEST_ROWS, sizes["L"], sizes["D"], seed=seed)
        points.append(measure_afresh(X[TEST_ROWS:], Y[TEST_ROWS:], X[:TEST_ROWS]))
        print(axis, points[-1], flush=True)
    return points


def sampled(name: str, doublings: int, seed: int) -> list[Point]:
    """Take growing samples of a real set's rows, with the labels that they have."""
    X, Y = load_train(name)
    order = np.random.default_rng(seed).permutation(X.shape[0])
    test, order = order[:TEST_ROWS], order[TEST_ROWS:]
    points = []
    for doubling in range(doublings, -1, -1):
        rows = np.sort(order[: len(order) >> doubling])
        few = Y[rows]
        few = few[:, np.unique(few.indices)]
        points.append(measure_afresh(X[rows], few, X[test]))
        print(name, points[-1], flush=True)
    return points


def exponent(sizes: list[float], costs: list[float]) -> float:
    """Return the slope of log cost on log size, by least squares."""
    return float(np.polyfit(np.log(sizes), np.log(costs), 1)[0])


def table(title: str, axis: str, points: list[Point]) -> str:
    """Return the points and, below, their exponents in `axis`."""
    header = ["N", "L", "D", "non-zeros of X", *(f"{name} s" for name in COSTS)]
    header += ["memory MB", "file MB", "weights"]
    lines = [header, ["---:"] * len(header)]
    for p in points:
        cells = [f"{p.sizes[k]:,}" for k in ("N", "L", "D", "nnz")]
        cells += [f"{p.costs[name]:.3g}" for name in COSTS]
        cells += [f"{p.memory / 1e6:.0f}", f"{p.file / 1e6:.2f}", f"{p.weights:,}"]
        lines.append(cells)
    grown = [p.sizes[axis] for p in points]
    found = [exponent(grown, [p.costs[name] for p in points]) for name in COSTS]
    # A rise of nothing measurable has no logarithm.
    found += [exponent(grown, [max(p.memory, 1.0) for p in points])]
    for name in ("file", "weights"):
        found.append(exponent(grown, [getattr(p, name) for p in points]))
    lines.append([f"exponent in {axis}", "", "", "", *(f"**{e:.2f}**" for e in found)])
    body = "\n".join("| " + " | ".join(line) + " |" for line in lines)
    return f"### {title}\n\n{body}"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--doublings", type=int, default=3)
    parser.add_argument("--set", action="append", default=[], dest="sets")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("-o", "--output", type=Path, help="also write the report here")
    args = parser.parse_args()
    if args.doublings < 1:
        parser.error("--doublings must be at least 1")
    parts = []
    for axis in AXES:
        points = made_up(axis, args.doublings, args.seed)
        parts.append(table(f"{' and '.join(axis)} doubled", axis[0], points))
    for name in args.sets:
        points = sampled(name, args.doublings, args.seed)
        parts.append(table(f"{name}, samples of its rows", "N", points))
    parts.append(
        "CPU seconds on one thread; prediction: a thousand rows. Memory: rise of the "
        f"peak over `fit(tree=...)`.\n\n{describe_run()}"
    )
    text = "\n\n".join(parts) + "\n"
    print(text)
    if args.output:
        args.output.write_text(text)


if __name__ == "__main__":
    main()
