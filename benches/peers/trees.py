"""Compare LinearLabelTree with other packages' label trees: time, bytes, accuracy.

    PROXTREE_DATA=FOLDER python benches/peers/trees.py SET... \
        --pecos PYTHON [--repeat 3] [-o OUT.md]

Each peer has a file of its own, tree_PEER.py, that runs in the peer's environment;
data go there and predictions come back as files. Every fit and every prediction is a
fresh process, ours and the others' in turn, `--repeat` times; numbers are medians.

* training CPU: user and system time of the process, all threads, around the fit
  alone: label features, clustering and classifiers; not reading and not saving.
* file: bytes of what the package saves.
* prediction: CPU per test row for the best five labels, one thread, median of three
  calls after a first one, with the model loaded from that file.
* P and PSP: of those predictions, by `proxtree.metrics`.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from workload import describe_run, load_split

from proxtree import metrics

HERE = Path(__file__).resolve().parent
KS = (1, 3, 5)


@dataclass(frozen=True)
class Entry:
    """One row of the table: who, in which interpreter, with which options."""

    name: str
    python: str
    script: str
    options: dict[str, Any] = field(default_factory=dict)


OURS = [
    Entry("LinearLabelTree, defaults", sys.executable, "tree_proxtree.py"),
    Entry(
        "LinearLabelTree, levers off",
        sys.executable,
        "tree_proxtree.py",
        {"alpha_exponent": 0.0, "propensity_weight": 0.0},
    ),
    Entry(
        "LinearOneVsRest, defaults",
        sys.executable,
        "tree_proxtree.py",
        {"estimator": "LinearOneVsRest"},
    ),
]


def write_data(name: str, folder: Path) -> tuple[Any, Any]:
    """Write what the processes read; return Y of the training and the test rows."""
    X, Y, X_test, Y_test = load_split(name)
    for stem, matrix in (("X_train", X), ("Y_train", Y), ("X_test", X_test)):
        sparse.save_npz(
            folder / f"{stem}.npz", matrix.astype(np.float32), compressed=False
        )
    return Y, Y_test


def run(entry: Entry, *words: str) -> dict[str, Any]:
    """Run one process of `entry` to its end; return what it printed."""
    command = [entry.python, str(HERE / entry.script), *words]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True)
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result


def measure(entry: Entry, folder: Path, Y: Any, Y_test: Any) -> dict[str, Any]:
    """Fit, save, load and predict once."""
    model, labels = folder / "model", folder / "labels.npy"
    fitted = run(entry, "fit", str(folder), str(model), json.dumps(entry.options))
    predicted = run(entry, "predict", str(folder), str(model), str(labels))
    files = [model] if model.is_file() else [p for p in model.rglob("*") if p.is_file()]
    scores = metrics.evaluate(Y_test, np.load(labels), Y, KS)
    out = {
        "cpu_s": fitted["cpu_s"],
        "wall_s": fitted["wall_s"],
        "bytes": sum(path.stat().st_size for path in files),
        "us_per_row": 1e6 * predicted["cpu_s_per_row"],
        "versions": fitted["versions"],
        **{f"{m}@{k}": 100 * scores[f"{m}@{k}"] for m in ("P", "PSP") for k in KS},
    }
    model.unlink() if model.is_file() else shutil.rmtree(model)
    return out


def table(results: dict[str, list[dict[str, Any]]]) -> list[str]:
    """Return a Markdown table of medians, a row for each entry."""
    header = [
        "model", "training CPU s", "wall s", "file bytes", "prediction CPU us a row",
        "P@1/3/5", "PSP@1/3/5",
    ]  # fmt: skip
    lines = ["| " + " | ".join(header) + " |", "|---" * len(header) + "|"]
    for name, runs in results.items():

        def median(key: str, runs: list[dict[str, Any]] = runs) -> float:
            return float(np.median([one[key] for one in runs]))

        cells = [
            name,
            f"{median('cpu_s'):.2f}",
            f"{median('wall_s'):.2f}",
            f"{median('bytes'):,.0f}",
            f"{median('us_per_row'):.1f}",
            *("/".join(f"{median(f'{m}@{k}'):.2f}" for k in KS) for m in ("P", "PSP")),
        ]
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("sets", nargs="+", help="folders of PROXTREE_DATA")
    parser.add_argument("--pecos", metavar="PYTHON", help="interpreter with libpecos")
    parser.add_argument("--repeat", type=int, default=1, metavar="N")
    parser.add_argument("-o", "--output", type=Path, help="also append the report here")
    args = parser.parse_args()

    entries = list(OURS)
    if args.pecos:
        # Beside the row it is compared with most.
        entries.insert(
            1, Entry("PECOS XR-Linear, defaults", args.pecos, "tree_pecos.py")
        )
    parts = []
    versions: dict[str, dict[str, str]] = {}
    for name in args.sets:
        results: dict[str, list[dict[str, Any]]] = {e.name: [] for e in entries}
        with tempfile.TemporaryDirectory() as folder:
            Y, Y_test = write_data(name, Path(folder))
            for _ in range(args.repeat):
                for entry in entries:
                    one = measure(entry, Path(folder), Y, Y_test)
                    results[entry.name].append(one)
                    versions[entry.script] = one["versions"]
        lines = table(results)
        parts.append("\n".join([f"## {name}", "", *lines]))
        print(parts[-1], flush=True)
    others = (
        f"{script}: " + ", ".join(f"{name} {v}" for name, v in found.items())
        for script, found in versions.items()
    )
    parts.append(
        f"Medians of {args.repeat}. {describe_run()} In each process: "
        + "; ".join(others)
        + "."
    )
    print(parts[-1])
    if args.output:
        with args.output.open("a") as file:
            file.write("\n\n".join(parts) + "\n")


if __name__ == "__main__":
    main()
