"""Does PRoXML's forward-backward solve what coordinate descent leaves unsolved?

PROXTREE_DATA=FOLDER python benches/claims/forward_backward.py debdeps [-o out.md]

Labels at evenly spaced ranks of frequency, C = 1/alpha, bias column of value 1. The
optimum is that of `solve` with tol 1e-5, proved by its duality gap; the excess of a
method is P / P* - 1 with both objectives computed here, in float64, from weights.

* forward-backward: the constants of the released code.
* its FISTA: the same constants and stop rule, with momentum and restart.
* FISTA to the gap: ends at a relative gap of 1e-3, or after --limit iterations.
* LIBLINEAR: `coordinate_descent` with variant "liblinear", default eps.
* LIBLINEAR, no bias: the same without the bias column, as it runs without -B;
  its weights are a point of the same problem, with a bias of 0.
* auto: the default method at its default tol.

CPU seconds are those of one `solve`, its copy of the matrix by columns included.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

import proxtree

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "peers"))
from workload import describe_run, labels_by_frequency_rank, load_train

METHODS: dict[str, dict[str, Any]] = {
    "forward-backward": {"solver": "forward_backward"},
    "its FISTA": {"solver": "forward_backward", "acceleration": "fista"},
    "FISTA to the gap": {
        "solver": "forward_backward", "acceleration": "fista", "stop": "gap",
    },
    "LIBLINEAR": {"solver": "coordinate_descent", "variant": "liblinear"},
    "LIBLINEAR, no bias": {
        "solver": "coordinate_descent", "variant": "liblinear", "fit_intercept": False,
    },
    "auto": {"solver": "auto"},
}  # fmt: skip
BINS = [(1, 5), (6, 20), (21, 100), (101, 1000), (1001, sys.maxsize)]
RECORD = np.dtype(
    [(name, np.float64) for name in ("excess", "nnz", "seconds", "n_iter")]
    + [("status", "U9")]
)


def objective(X: Any, y: np.ndarray, w: np.ndarray, b: float, alpha: float) -> float:
    """Return alpha (||w||_1 + |b|) + sum max(0, 1 - y (X w + b))^2."""
    loss = np.maximum(0, 1 - y * (X @ w + b))
    return alpha * (np.abs(w).sum() + abs(b)) + loss @ loss


def measure(
    X: Any, Y: Any, C: float, limit: int
) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Solve every column of `Y` with every method; records and the optima's nnz."""
    alpha = 1 / C
    X64 = sparse.csr_matrix(X, dtype=np.float64)
    columns = Y.tocsc()
    n_labels = Y.shape[1]
    records = {name: np.empty(n_labels, RECORD) for name in METHODS}
    nnz = np.empty(n_labels)
    for label in range(n_labels):
        y = 2.0 * columns[:, [label]].toarray().ravel() - 1
        best = proxtree.solve(X, y, alpha, tol=1e-5)
        optimum = objective(X64, y, best.coef, best.intercept, alpha)
        nnz[label] = np.count_nonzero(best.coef)
        if best.status != "converged":
            print(f"label {label}: reference {best.status}", file=sys.stderr)
        for name, options in METHODS.items():
            own = {"max_iter": limit} if options.get("stop") == "gap" else {}
            found = proxtree.solve(X, y, alpha, **options, **own)
            value = objective(X64, y, found.coef, found.intercept, alpha)
            records[name][label] = (
                value / optimum - 1,
                np.count_nonzero(found.coef),
                found.seconds,
                found.n_iter,
                found.status,
            )
        print(f"{label + 1} of {n_labels}", file=sys.stderr)
    return records, nnz


def table(
    counts: np.ndarray, records: dict[str, np.ndarray], nnz: np.ndarray
) -> list[str]:
    """Return a Markdown table: a line for each bin of frequencies and method."""
    header = [
        "positives", "labels", "method", "excess %: median", "90th percentile",
        "largest", "labels over 1 %", "below forward-backward", "non-zeros: mean",
        "over the optimum's: median", "iterations: median", "at the limit",
        "converged", "CPU s: median", "sum",
    ]  # fmt: skip
    lines = [header, ["---"] * len(header)]
    for low, high in [*BINS, (1, sys.maxsize)]:
        chosen = (counts >= low) & (counts <= high)
        if not chosen.any():
            continue
        bin_name = f"{low:,}-{high:,}" if high < sys.maxsize else f"{low:,} and more"
        plain = records["forward-backward"][chosen]["excess"]
        for name, record in records.items():
            r = record[chosen]
            # Below what the reference may be off there is nothing; no -0.000.
            excess = 100 * np.where(np.abs(r["excess"]) < 5e-6, 0.0, r["excess"])
            # Without weights at the optimum there is no ratio.
            known = nnz[chosen] > 0
            ratio = r["nnz"][known] / nnz[chosen][known]
            lines.append(
                [
                    "all" if (low, high) == (1, sys.maxsize) else bin_name,
                    str(chosen.sum()),
                    name,
                    f"{np.median(excess):.3f}",
                    f"{np.quantile(excess, 0.9):.3f}",
                    f"{excess.max():.2f}",
                    f"{(excess > 1).sum()}",
                    # By more than what the reference may be off.
                    f"{(r['excess'] < plain - 1e-5).sum()}",
                    f"{r['nnz'].mean():.1f}",
                    f"{np.median(ratio):.2f}" if known.any() else "-",
                    f"{np.median(r['n_iter']):.0f}",
                    f"{(r['status'] == 'max_iter').sum()}",
                    f"{(r['status'] == 'converged').sum()}",
                    f"{np.median(r['seconds']):.3f}",
                    f"{r['seconds'].sum():.1f}",
                ]
            )
    return ["| " + " | ".join(line) + " |" for line in lines]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("dataset", help="a folder of PROXTREE_DATA, or wordnet_nouns")
    parser.add_argument("--labels", type=int, default=40, help="how many (40)")
    parser.add_argument("--C", type=float, nargs="+", default=[1.0, 10.0])
    parser.add_argument(
        "--limit", type=int, default=2000, help="of FISTA to the gap (2000)"
    )
    parser.add_argument("-o", "--output", type=Path, help="also write the report here")
    args = parser.parse_args()

    X, Y = load_train(args.dataset)
    counts = np.asarray(Y.sum(axis=0, dtype=np.int64)).ravel()
    labels = labels_by_frequency_rank(counts, args.labels)
    report = (
        f"### {args.dataset}: {len(labels)} of {np.count_nonzero(counts)} labels by "
        f"frequency rank, {X.shape[0]} rows, {X.shape[1]} features\n\n"
    )
    for C in args.C:
        measured = measure(X, Y[:, labels], C, args.limit)
        lines = table(counts[labels], *measured)
        report += f"#### C = {C:g}\n\n" + "\n".join(lines) + "\n\n"
        if args.output:
            # What is done stays if the rest is not waited for.
            args.output.write_text(report)
    report += describe_run() + "\n"
    print(report)
    if args.output:
        args.output.write_text(report)


if __name__ == "__main__":
    main()
