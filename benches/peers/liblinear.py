"""Compare proxtree's solver with LIBLINEAR -s 5 on single labels, CPU against CPU.

PROXTREE_DATA=FOLDER python benches/peers/liblinear.py DATASET [-o out.md]

Both minimise alpha ||w||_1 + sum of squared hinges with a penalised bias column,
LIBLINEAR with C = 1/alpha and its default stop, proxtree to a relative duality gap
of 1e-3. One process, one thread, the labels in turn; times are CPU seconds of the
process around the solver call alone:

* LIBLINEAR: the C function `train` on a problem built beforehand. It copies the
  rows into columns on each call.
* solve: `proxtree.solve`, which checks the matrix and makes a column copy on each
  call as well.
* one-vs-rest: `LinearOneVsRest.fit` on the chosen labels, which does that once for
  all; time of each label's solve from `certificate_`, certificate included.

Objectives are computed here, in float64, from everyone's weights.
"""

from __future__ import annotations

import argparse
import ctypes
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from workload import (
    FREQUENCY_BINS,
    describe_run,
    labels_by_frequency_rank,
    load_train,
)

import proxtree

TOL = 1e-3


@dataclass
class Route:
    """One way to train the labels, an entry for each label."""

    seconds: np.ndarray
    objective: np.ndarray
    gap: np.ndarray


class Liblinear:
    """LIBLINEAR -s 5 -B 1 with default eps on one matrix."""

    def __init__(self, X: Any) -> None:
        # This file has the package's name and its folder comes first on the path.
        here = Path(__file__).resolve().parent
        sys.path[:] = [p for p in sys.path if Path(p).resolve() != here]
        from liblinear import liblinear as package

        self._package = package
        self._problem = package.problem(np.ones(X.shape[0]), X, bias=1)
        self._y = np.ctypeslib.as_array(self._problem.y, (X.shape[0],))

    def train(self, y: np.ndarray, C: float) -> tuple[np.ndarray, float]:
        """Return the weights, bias last, and the CPU seconds of the C function."""
        self._y[:] = y
        parameter = self._package.parameter(f"-s 5 -c {C} -B 1 -q")
        # LIBLINEAR shuffles with rand(): the result must not depend on the label
        # before.
        ctypes.CDLL(None).srand(1)
        start = time.process_time()
        pointer = self._package.liblinear.train(self._problem, parameter)
        seconds = time.process_time() - start
        model = self._package.toPyModel(pointer)
        w = np.ctypeslib.as_array(model.w, (self._problem.n,)).copy()
        # The weights are those of the class that comes first in the model.
        return w * model.label[0], seconds


def sign(columns: Any, label: int) -> np.ndarray:
    """Return +1 for the rows with the label, -1 for the others."""
    return 2.0 * columns[:, [label]].toarray().ravel() - 1


def objective(X: Any, y: np.ndarray, w: np.ndarray, bias: float, alpha: float) -> float:
    """Return alpha (||w||_1 + |bias|) + sum max(0, 1 - y (X w + bias))^2."""
    loss = np.maximum(0, 1 - y * (X @ w + bias))
    return alpha * (np.abs(w).sum() + abs(bias)) + loss @ loss


def compare(X: Any, Y: Any, C: float) -> tuple[Route, Route, Route, float]:
    """Train every column of `Y` in the three ways; and the CPU of the whole fit."""
    alpha = 1 / C
    X64 = sparse.csr_matrix(X, dtype=np.float64)
    columns = Y.tocsc()
    n_labels = Y.shape[1]
    theirs, single, batch = (Route(*np.full((3, n_labels), np.nan)) for _ in range(3))
    liblinear = Liblinear(X64)
    # Once before the clock counts: first calls fault pages in.
    rarest = int(np.argmin(columns.sum(axis=0)))
    for label in (rarest, *range(n_labels)):
        y = sign(columns, label)
        w, theirs.seconds[label] = liblinear.train(y, C)
        theirs.objective[label] = objective(X64, y, w[:-1], w[-1], alpha)
        start = time.process_time()
        solution = proxtree.solve(X, y, alpha=alpha, tol=TOL)
        single.seconds[label] = time.process_time() - start
        single.objective[label] = objective(
            X64, y, solution.coef, solution.intercept, alpha
        )
        single.gap[label] = solution.gap / solution.dual_objective
    model = proxtree.LinearOneVsRest(alpha=alpha, tol=TOL, n_threads=1)
    start = time.process_time()
    model.fit(X, Y)
    fit_seconds = time.process_time() - start
    certificate = model.certificate_
    batch.seconds = certificate["seconds"].astype(np.float64)
    batch.gap = certificate["gap"] / certificate["dual_objective"]
    for label in range(n_labels):
        w = model.coef_[[label]].toarray().ravel().astype(np.float64)
        batch.objective[label] = objective(
            X64, sign(columns, label), w, model.intercept_[label], alpha
        )
    return theirs, single, batch, fit_seconds


def table(counts: np.ndarray, theirs: Route, single: Route, batch: Route) -> str:
    """Return a Markdown table, a line for each bin of frequencies and one for all."""
    header = [
        "positives", "labels", "LIBLINEAR ms", "solve ms", "one-vs-rest ms",
        "solve: geo. mean", "sums", "one-vs-rest: geo. mean", "sums",
        "worst objective ratio", "largest gap", "certified",
    ]  # fmt: skip
    lines = [header, ["---"] * len(header)]
    for low, high, name in [*FREQUENCY_BINS, (1, sys.maxsize, "all")]:
        chosen = (counts >= low) & (counts <= high)
        if not chosen.any():
            continue
        cells = [name, str(chosen.sum())]
        cells += [
            f"{1e3 * route.seconds[chosen].mean():.2f}"
            for route in (theirs, single, batch)
        ]
        for ours in (single, batch):
            # A clock that stood still must not give a ratio of 0.
            ratios = np.maximum(ours.seconds, 1e-9) / np.maximum(theirs.seconds, 1e-9)
            cells.append(_ratio(np.exp(np.log(ratios[chosen]).mean())))
            cells.append(
                _ratio(ours.seconds[chosen].sum() / theirs.seconds[chosen].sum())
            )
        worst = max(
            (ours.objective / theirs.objective)[chosen].max()
            for ours in (single, batch)
        )
        gaps = np.concatenate([single.gap[chosen], batch.gap[chosen]])
        cells += [f"{worst:.6f}", f"{gaps.max():.1e}"]
        cells.append("all" if (gaps <= TOL).all() else f"not {(gaps > TOL).sum()}")
        lines.append(cells)
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _ratio(value: float) -> str:
    return f"1/{1 / value:.1f}" if value < 1 else f"{value:.2f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("dataset", help="a folder of PROXTREE_DATA, such as debdeps")
    parser.add_argument("--labels", type=int, default=200, help="how many (200)")
    parser.add_argument("--C", type=float, nargs="+", default=[1.0, 10.0])
    parser.add_argument("-o", "--output", type=Path, help="also write the report here")
    args = parser.parse_args()

    X, Y = load_train(args.dataset)
    counts = np.asarray(Y.sum(axis=0, dtype=np.int64)).ravel()
    labels = labels_by_frequency_rank(counts, args.labels)
    Y = Y[:, labels]
    parts = [
        f"## {args.dataset}: {len(labels)} of {np.count_nonzero(counts)} labels by "
        f"frequency rank, {X.shape[0]} rows, {X.shape[1]} features"
    ]
    for C in args.C:
        *routes, fit_seconds = compare(X, Y, C)
        total = routes[0].seconds.sum()
        parts.append(
            f"### C = {C:g} (alpha = {1 / C:g})\n\n{table(counts[labels], *routes)}\n\n"
            f"CPU of LIBLINEAR on all labels {total:.1f} s; of the whole one-vs-rest "
            f"fit {fit_seconds:.1f} s ({_ratio(fit_seconds / total)})."
        )
    parts.append(
        "Times: mean CPU a label. Ratios: ours over LIBLINEAR's, below 1 is faster or "
        f"better.\nGap: relative to the dual objective, certified at {TOL:g}.\n\n"
        + describe_run("liblinear-official")
    )
    report = "\n\n".join(parts) + "\n"
    print(report)
    if args.output:
        args.output.write_text(report)


if __name__ == "__main__":
    main()
