"""Train whole one-vs-rest models and check every certificate from outside.

    python benches/certify.py SET... [--alpha 1 0.1] [-o OUT.md]

Sets lie in the folder that PROXTREE_DATA names (wordnet_nouns ships). For each
label objective, dual objective and gap are computed again in float64 numpy from
`coef_` and `intercept_` alone; the table shows the largest difference, relative
to the objective, beside sizes, CPU time and accuracy on the test rows.
"""

import argparse
import time

import numpy as np
from peers.workload import describe_run, load_split

import proxtree
from proxtree import metrics


def proof(X, positives, coef, intercept, alpha):
    """P and D of one label, straight from the formulas (one label, unit weights)."""
    s = -np.ones(X.shape[0])
    s[positives] = 1.0
    hinge = np.maximum(0.0, 1.0 - s * (X @ coef + intercept))
    primal = alpha * (np.abs(coef).sum() + abs(intercept)) + hinge @ hinge
    a = 2.0 * hinge
    steepest = max(np.abs(X.T @ (s * a)).max(), abs(s @ a))
    tau = min(2.0 * a.sum() / (a @ a), alpha / steepest)
    return primal, tau * a.sum() - 0.25 * tau**2 * (a @ a)


def certify(name, alpha):
    """One row of the table."""
    X, Y, X_test, Y_test = load_split(name)
    start = time.process_time()
    model = proxtree.LinearOneVsRest(alpha=alpha).fit(X, Y)
    cpu = time.process_time() - start
    certificate = model.certificate_
    by_label = Y.tocsc()
    X64 = X.astype(np.float64)
    trained = np.flatnonzero(np.diff(by_label.indptr))
    worst = np.zeros(3)
    for label in trained:
        rows = by_label.indices[by_label.indptr[label] : by_label.indptr[label + 1]]
        coef = model.coef_[label].toarray().ravel().astype(np.float64)
        primal, dual = proof(X64, rows, coef, model.intercept_[label], alpha)
        c = certificate[label]
        found = np.array([c["objective"], c["dual_objective"], c["gap"]])
        expected = np.array([primal, dual, primal - dual])
        worst = np.maximum(worst, np.abs(found - expected) / primal)
    labels, _ = model.predict_topk(X_test, k=5)
    scores = metrics.evaluate(Y_test, labels, Y)
    converged = int((certificate["status"][trained] == "converged").sum())
    relative = certificate["gap"][trained] / certificate["dual_objective"][trained]
    shown = [
        name,
        f"{alpha:g}",
        f"{converged} of {len(trained)}",
        f"{relative.max():.1e}",
        " / ".join(f"{w:.0e}" for w in worst),
        f"{certificate['nnz'].sum() / len(trained):.1f}",
        f"{cpu:.1f}",
        "/".join(f"{100 * scores[f'P@{k}']:.2f}" for k in (1, 3, 5)),
        f"{100 * scores['nDCG@5']:.2f}",
        "/".join(f"{100 * scores[f'PSP@{k}']:.2f}" for k in (1, 3, 5)),
    ]
    return "| " + " | ".join(shown) + " |"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sets", nargs="+")
    parser.add_argument("--alpha", type=float, nargs="+", default=[1.0])
    parser.add_argument("-o", "--output", type=argparse.FileType("a"))
    arguments = parser.parse_args()
    header = [
        "set",
        "alpha",
        "converged (tol 1e-3)",
        "largest gap / D",
        "largest |P|, |D|, |gap| difference / P",
        "weights a label",
        "training CPU s",
        "P@1/3/5",
        "nDCG@5",
        "PSP@1/3/5",
    ]
    lines = [describe_run(), ""]
    lines += ["| " + " | ".join(header) + " |", "|---" * len(header) + "|"]
    for name in arguments.sets:
        for alpha in arguments.alpha:
            lines.append(certify(name, alpha))
            print(lines[-1], flush=True)
    text = "\n".join(lines) + "\n"
    print(text)
    if arguments.output:
        arguments.output.write(text)


if __name__ == "__main__":
    main()
