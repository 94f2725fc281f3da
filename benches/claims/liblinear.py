"""Is our LIBLINEAR the real one, and does a tighter eps make it worse?

    PROXTREE_DATA=FOLDER python benches/claims/liblinear.py debdeps [-o out.md]

Needs liblinear-official beside proxtree. Labels at evenly spaced ranks of frequency,
C = 1/alpha, bias column of value 1 (-B 1).

* Agreement: P of `coordinate_descent(variant="liblinear")` against that of
  liblinear-official -s 5, both at the default eps of 0.01; beside it that of a second
  run of liblinear-official, whose coordinates go in another order.
* Excess: P / P* - 1 of both at eps 0.1 to 1e-4, on fewer labels. P* is the objective
  of `solve` with tol 1e-6, proved by its gap.

Objectives are computed here, in float64, from everyone's weights.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

import proxtree

HERE = Path(__file__).resolve().parent
# This file has the name of the package that is meant below.
sys.path[:] = [p for p in sys.path if Path(p).resolve() != HERE]

try:
    from liblinear import liblinear as official
except ModuleNotFoundError:
    sys.exit("liblinear.py needs LIBLINEAR: pip install liblinear-official")

sys.path.insert(0, str(HERE.parent / "peers"))
from workload import describe_run, labels_by_frequency_rank, load_train  # noqa: E402

DEFAULT = 0.01
EPS = (0.1, 0.01, 1e-3, 1e-4)
EPS_LABELS = {"eurlex57k": 15}
OURS = {"solver": "coordinate_descent", "variant": "liblinear"}


class Problem:
    """One data set at one C."""

    def __init__(self, X: Any, Y: Any, C: float) -> None:
        self.X, self.columns, self.alpha, self.C = X, Y.tocsc(), 1 / C, C
        self.X64 = sparse.csr_matrix(X, dtype=np.float64)
        self.theirs = official.problem(np.ones(X.shape[0]), self.X64, bias=1)
        self.y = np.ctypeslib.as_array(self.theirs.y, (X.shape[0],))

    def signs(self, label: int) -> np.ndarray:
        return 2.0 * self.columns[:, [label]].toarray().ravel() - 1

    def objective(self, y: np.ndarray, w: np.ndarray, b: float) -> float:
        """Return alpha (||w||_1 + |b|) + sum max(0, 1 - y (X w + b))^2."""
        loss = np.maximum(0, 1 - y * (self.X64 @ w + b))
        return self.alpha * (np.abs(w).sum() + abs(b)) + loss @ loss

    def official(self, y: np.ndarray, eps: float) -> tuple[float, int]:
        """Return the objective and the non-zeros of LIBLINEAR's weights."""
        self.y[:] = y
        parameter = official.parameter(f"-s 5 -c {self.C} -B 1 -e {eps} -q")
        # Its random numbers go on from call to call and cannot be seeded.
        pointer = official.liblinear.train(self.theirs, parameter)
        model = official.toPyModel(pointer)
        w = np.ctypeslib.as_array(model.w, (self.theirs.n,)) * float(model.label[0])
        return self.objective(y, w[:-1], w[-1]), int(np.count_nonzero(w[:-1]))

    def ours(self, y: np.ndarray, **options: Any) -> tuple[float, proxtree.Solution]:
        found = proxtree.solve(self.X, y, self.alpha, **options)
        return self.objective(y, found.coef, found.intercept), found


def agreement(problem: Problem, labels: np.ndarray) -> str:
    """Compare the default stops."""
    ratios = []
    for label in labels:
        y = problem.signs(label)
        official, again = (problem.official(y, DEFAULT)[0] for _ in range(2))
        ours = problem.ours(y, **OURS)[0]
        ratios.append((ours / official - 1, again / official - 1))
    text = f"Agreement with a run of liblinear-official, {len(labels)} labels, eps 0.01"
    for at, who in enumerate(("ours", "its second run")):
        off = 100 * np.array(ratios)[:, at]
        text += (
            f"; {who}: within 0.5 % on {100 * (np.abs(off) <= 0.5).mean():.1f} % of "
            f"them, difference, %: median {np.median(off):+.4f}, smallest "
            f"{off.min():+.3f}, largest {off.max():+.3f}"
        )
    return text + "."


def sweep(problem: Problem, labels: np.ndarray) -> list[str]:
    """Return a table of the excess at each eps."""
    rows: dict[tuple[str, float], list[tuple[float, float, bool]]] = {}
    unproved = 0
    for label in labels:
        y = problem.signs(label)
        best, proof = problem.ours(y, tol=1e-6)
        unproved += proof.status != "converged"
        nnz = max(np.count_nonzero(proof.coef), 1)
        for eps in EPS:
            value, found = problem.ours(y, eps=eps, **OURS)
            share = np.count_nonzero(found.coef) / nnz
            entry = (value / best - 1, share, found.n_iter >= 1000)
            rows.setdefault(("ours", eps), []).append(entry)
            value, count = problem.official(y, eps)
            entry = (value / best - 1, count / nnz, False)
            rows.setdefault(("official", eps), []).append(entry)
    header = [
        "eps", "who", "excess %: median", "90th percentile", "largest",
        "labels over 0.1 %", "over 1 %", "non-zeros over the optimum's: median",
        "smallest", "at 1,000 sweeps",
    ]  # fmt: skip
    lines = [header, ["---"] * len(header)]
    for eps in EPS:
        for who in ("official", "ours"):
            excess, share, limit = map(np.array, zip(*rows[who, eps], strict=True))
            percent = 100 * np.where(np.abs(excess) < 1e-6, 0.0, excess)
            lines.append(
                [
                    f"{eps:g}",
                    who,
                    f"{np.median(percent):.4f}",
                    f"{np.quantile(percent, 0.9):.3f}",
                    f"{percent.max():.2f}",
                    f"{(percent > 0.1).sum()}",
                    f"{(percent > 1).sum()}",
                    f"{np.median(share):.2f}",
                    f"{share.min():.2f}",
                    f"{limit.sum()}" if who == "ours" else "",
                ]
            )
    table = ["| " + " | ".join(line) + " |" for line in lines]
    if unproved:
        table.append(f"\n{unproved} optima not proved to 1e-6.")
    return table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("dataset", help="a folder of PROXTREE_DATA, or wordnet_nouns")
    parser.add_argument("--labels", type=int, default=200, help="agreement on (200)")
    parser.add_argument("--eps-labels", type=int, help="excess on (40; eurlex57k 15)")
    parser.add_argument("--C", type=float, nargs="+", default=[1.0, 10.0])
    parser.add_argument("-o", "--output", type=Path, help="also write the report here")
    args = parser.parse_args()
    X, Y = load_train(args.dataset)
    counts = np.asarray(Y.sum(axis=0, dtype=np.int64)).ravel()
    few = args.eps_labels or EPS_LABELS.get(args.dataset, 40)
    report = (
        f"### {args.dataset}: {X.shape[0]} rows, {X.shape[1]} features, "
        f"{np.count_nonzero(counts)} labels\n"
    )
    for C in args.C:
        problem = Problem(X, Y, C)
        labels = labels_by_frequency_rank(counts, few)
        report += f"\n#### C = {C:g}\n\nExcess on {len(labels)} labels:\n\n"
        report += "\n".join(sweep(problem, labels)) + "\n"
        if args.output:
            # What is done stays if the rest is not waited for.
            args.output.write_text(report)
        if args.labels:
            labels = labels_by_frequency_rank(counts, args.labels)
            report += "\n" + agreement(problem, labels) + "\n"
    report += "\n" + describe_run("liblinear-official") + "\n"
    print(report)
    if args.output:
        args.output.write_text(report)


if __name__ == "__main__":
    main()
