"""``proxtree inspect``."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from proxtree._loading import load
from proxtree.cli import _options
from proxtree.cli._output import emit, pairs, proofs, size
from proxtree.estimators import LinearLabelTree

if TYPE_CHECKING:
    from proxtree.cli._options import Commands

_BIGGEST = 10


def add(commands: Commands) -> None:
    """Add the command."""
    parser = _options.add_command(
        commands,
        "inspect",
        run,
        "show what a model file holds",
        "Show a model's shapes, settings, size and proofs; a tree's depths or the\n"
        "biggest labels.\n\n"
        "example:\n  proxtree inspect my.model",
    )
    parser.add_argument("model", metavar="MODEL", help="what train wrote")


def run(args: argparse.Namespace) -> None:
    """Load and describe."""
    model = load(args.model)
    facts: dict[str, Any] = {
        "class": type(model).__name__,
        "n_features": model.n_features_in_,
        "n_labels": model.n_labels_,
        "n_nonzero": model.n_nonzero_,
        "file_bytes": Path(args.model).stat().st_size,
        "dense_bytes": dense_bytes(model.n_labels_, model.n_features_in_),
        "params": model._params_to_save(),
        "certificates": model.certificate_summary(),
    }
    defaults = model._defaults()
    changed = [f"{k}={v}" for k, v in facts["params"].items() if v != defaults[k]]
    shown = {
        "class": facts["class"],
        "features": f"{facts['n_features']:,}",
        "labels": f"{facts['n_labels']:,}",
        "settings": ", ".join(changed) or "all at their defaults",
        "non-zeros": f"{facts['n_nonzero']:,}, intercepts included",
        "file": size(facts["file_bytes"]),
        "dense float32": size(facts["dense_bytes"]),
        "certificates": proofs(model),
    }
    if isinstance(model, LinearLabelTree):
        facts["depths"] = _depths(model)
        emit(args, facts, [*pairs(shown), "", *_depth_table(facts["depths"])])
        return
    counts = np.diff(model.coef_.indptr)
    order = np.argsort(-counts, kind="stable")[:_BIGGEST]
    facts["biggest_labels"] = [
        {"label": int(j), "n_weights": int(counts[j])} for j in order
    ]
    shown["most weights"] = ", ".join(
        f"label {b['label']} ({b['n_weights']:,})" for b in facts["biggest_labels"]
    )
    emit(args, facts, pairs(shown))


def _depths(model: LinearLabelTree) -> list[dict[str, int]]:
    """Return what each tree holds at each depth, the weights included."""
    rows: list[dict[str, int]] = []
    nodes = model.nodes()
    for t, tree in enumerate(model.trees_):
        table = tree.depth_table()
        for values in table.tolist():
            row = dict(zip(table.dtype.names or (), values, strict=True))
            # Nodes come breadth first.
            own = [next(nodes) for _ in range(row["n_nodes"])]
            row["n_weights"] = sum(node.coef.nnz for node in own)
            rows.append({"tree": t, **row})
    return rows


def _depth_table(rows: list[dict[str, int]]) -> list[str]:
    """Return a line for each depth."""
    names = {
        "tree": "tree",
        "depth": "depth",
        "n_nodes": "nodes",
        "n_children": "problems",
        "n_labels": "labels below",
        "n_leaves": "labels here",
        "n_weights": "weights",
    }
    if all(row["tree"] == 0 for row in rows):
        del names["tree"]
    lines = ["".join(f"{name:>14}" for name in names.values())]
    lines += ["".join(f"{row[name]:>14,}" for name in names) for row in rows]
    return lines


def dense_bytes(n_labels: int, n_features: int) -> int:
    """Return the bytes of all weights and intercepts as dense float32."""
    return 4 * n_labels * (n_features + 1)
