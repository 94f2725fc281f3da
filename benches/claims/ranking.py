"""Does the exact optimum rank better than solvers stopped early? Does L1 beat L2?

    PROXTREE_DATA=FOLDER python benches/claims/ranking.py bibtex [-o out.md]

One-vs-rest over all labels of a set, scored on its test rows.

* Exact or early: `auto` to a gap of 1e-4, LIBLINEAR's -s 5 at eps 0.01 (its default)
  and 0.1, and PRoXML's forward-backward steps (leave them out with --fast: they take
  by far the longest), at the same alpha. Excess: that of each label's objective over
  the exact one's, both as certified.
* L1 or L2, tuned alike: alpha and C each from three values, by nDCG@5 on a fifth of
  the training rows that is held out; then trained on all of them. By frequency:
  precision and recall of the first five, in bins of training positives.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from proxtree import LinearOneVsRest, metrics
from proxtree.exceptions import DataWarning

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "peers"))
from workload import describe_run, load_split

KS = (1, 3, 5)
LIBLINEAR = {"solver": "coordinate_descent"}
METHODS: dict[str, dict[str, Any]] = {
    "exact (gap 1e-4)": {"tol": 1e-4},
    "LIBLINEAR, eps 0.01": {
        **LIBLINEAR, "solver_options": {"variant": "liblinear", "eps": 0.01},
    },
    "LIBLINEAR, eps 0.1": {
        **LIBLINEAR, "solver_options": {"variant": "liblinear", "eps": 0.1},
    },
    "forward-backward": {"solver": "forward_backward"},
}  # fmt: skip
L1: list[dict[str, Any]] = [{"alpha": alpha} for alpha in (3.0, 1.0, 0.3)]
L2: list[dict[str, Any]] = [
    {"solver": "dual_coordinate_descent", "C": C} for C in (0.1, 0.3, 1.0)
]


def markdown(lines: list[list[str]]) -> str:
    lines = [lines[0], ["---"] * len(lines[0]), *lines[1:]]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def fit(X: Any, Y: Any, options: dict[str, Any]) -> tuple[LinearOneVsRest, float]:
    """Train on one thread; the model and the CPU seconds."""
    start = time.process_time()
    with warnings.catch_warnings():
        # Labels without positives; early stops, which are the point here.
        warnings.simplefilter("ignore")
        model = LinearOneVsRest(n_threads=1, **options).fit(X, Y)
    return model, time.process_time() - start


def scores(model: LinearOneVsRest, X: Any, Y: Any, Y_train: Any) -> list[str]:
    found = metrics.evaluate(Y, model.predict_topk(X, 5)[0], Y_train, KS)
    return [
        "/".join(f"{100 * found[f'{name}@{k}']:.2f}" for k in KS)
        for name in ("P", "PSP")
    ]


def early(data: tuple[Any, ...], alpha: float, methods: list[str]) -> str:
    X, Y, X_test, Y_test = data
    header = ["method", "P@1/3/5", "PSP@1/3/5", "weights a label", "CPU s",
              "excess %: median", "90th percentile"]  # fmt: skip
    lines, exact = [header], None
    for name in methods:
        model, seconds = fit(X, Y, {"alpha": alpha, **METHODS[name]})
        has_positives = np.asarray(Y.sum(axis=0)).ravel() > 0
        objective = model.certificate_["objective"][has_positives]
        exact = objective if exact is None else exact
        excess = 100 * np.maximum(objective / exact - 1, 0)
        lines.append(
            [
                name,
                *scores(model, X_test, Y_test, Y),
                f"{model.coef_.nnz / has_positives.sum():.1f}",
                f"{seconds:.1f}",
                f"{np.median(excess):.3f}",
                f"{np.quantile(excess, 0.9):.2f}",
            ]
        )
        print(lines[-1], file=sys.stderr, flush=True)
    return f"alpha = {alpha:g}:\n\n{markdown(lines)}\n"


def tuned(data: tuple[Any, ...]) -> str:
    X, Y, X_test, Y_test = data
    held = np.random.default_rng(0).random(X.shape[0]) < 0.2
    text = "L1 and L2, tuned on held-out training rows:\n\n"
    lines = [["penalty", "chosen", "held-out nDCG@5 of each", "P@1/3/5",
              "PSP@1/3/5", "weights a label"]]  # fmt: skip
    bins: list[Any] = []
    for name, candidates in (("L1", L1), ("L2", L2)):
        quality = []
        for options in candidates:
            model, _ = fit(X[~held], Y[~held], options)
            labels = model.predict_topk(X[held], 5)[0]
            quality.append(metrics.ndcg_at_k(Y[held], labels, 5))
            print(name, options, quality[-1], file=sys.stderr, flush=True)
        best = candidates[int(np.argmax(quality))]
        model, _ = fit(X, Y, best)
        key = "alpha" if name == "L1" else "C"
        lines.append(
            [
                name,
                f"{key} = {best[key]:g}",
                ", ".join(
                    f"{c[key]:g}: {100 * q:.2f}"
                    for c, q in zip(candidates, quality, strict=True)
                ),
                *scores(model, X_test, Y_test, Y),
                f"{model.coef_.nnz / Y.shape[1]:.1f}",
            ]
        )
        labels = model.predict_topk(X_test, 5)[0]
        bins.append(metrics.by_frequency(Y_test, labels, Y, 5))
    text += markdown(lines) + "\n\n"
    lines = [["training positives", "labels", "relevant in test",
              "precision %: L1 / L2", "recall %: L1 / L2"]]  # fmt: skip
    for a, b in zip(*bins, strict=True):
        lines.append(
            [
                f"{a['low']:,}-{a['high']:,}",
                str(a["n_labels"]),
                str(a["n_true"]),
                f"{100 * a['precision']:.1f} / {100 * b['precision']:.1f}",
                f"{100 * a['recall']:.1f} / {100 * b['recall']:.1f}",
            ]
        )
    return text + markdown(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("dataset", help="a folder of PROXTREE_DATA, or wordnet_nouns")
    parser.add_argument("--alpha", type=float, nargs="*", default=[1.0, 0.1])
    parser.add_argument("--fast", action="store_true", help="no forward-backward")
    parser.add_argument("--only-early", action="store_true", help="no L1 against L2")
    parser.add_argument("-o", "--output", type=Path, help="also write the report here")
    args = parser.parse_args()
    warnings.simplefilter("ignore", DataWarning)
    data = load_split(args.dataset)
    methods = [m for m in METHODS if not (args.fast and m == "forward-backward")]
    report = f"### {args.dataset}\n"
    parts = [] if args.only_early else [lambda: tuned(data)]
    parts += [lambda a=a: early(data, a, methods) for a in args.alpha]
    for part in parts:
        report += "\n" + part()
        if args.output:
            # What is done stays if the rest is not waited for.
            args.output.write_text(report)
    report += "\n" + describe_run() + "\n"
    print(report)
    if args.output:
        args.output.write_text(report)


if __name__ == "__main__":
    main()
