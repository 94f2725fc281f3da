"""``proxtree inspect``."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from proxtree._persistence import load
from proxtree.cli import _options
from proxtree.cli._output import emit, pairs, proofs, size

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
        "Show a model's shapes, settings, size, proofs and biggest labels.\n\n"
        "example:\n  proxtree inspect my.model",
    )
    parser.add_argument("model", metavar="MODEL", help="what train wrote")


def run(args: argparse.Namespace) -> None:
    """Load and describe."""
    model = load(args.model)
    counts = np.diff(model.coef_.indptr)
    order = np.argsort(-counts, kind="stable")[:_BIGGEST]
    facts: dict[str, Any] = {
        "class": type(model).__name__,
        "n_features": model.n_features_in_,
        "n_labels": model.n_labels_,
        "n_nonzero": model.n_nonzero_,
        "file_bytes": Path(args.model).stat().st_size,
        "dense_bytes": dense_bytes(model.n_labels_, model.n_features_in_),
        "params": model.get_params(),
        "certificates": model.certificate_summary(),
        "biggest_labels": [
            {"label": int(j), "n_weights": int(counts[j])} for j in order
        ],
    }
    defaults = model._defaults()
    changed = [f"{k}={v}" for k, v in facts["params"].items() if v != defaults[k]]
    emit(
        args,
        facts,
        pairs(
            {
                "class": facts["class"],
                "features": f"{facts['n_features']:,}",
                "labels": f"{facts['n_labels']:,}",
                "settings": ", ".join(changed) or "all at their defaults",
                "non-zeros": f"{facts['n_nonzero']:,}, intercepts included",
                "file": size(facts["file_bytes"]),
                "dense float32": size(facts["dense_bytes"]),
                "certificates": proofs(facts["certificates"]),
                "most weights": ", ".join(
                    f"label {b['label']} ({b['n_weights']:,})"
                    for b in facts["biggest_labels"]
                ),
            }
        ),
    )


def dense_bytes(n_labels: int, n_features: int) -> int:
    """Return the bytes of all weights and intercepts as dense float32."""
    return 4 * n_labels * (n_features + 1)
