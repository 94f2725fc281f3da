"""Train the default label tree on openlib and say what it took.

    python benches/openlib.py [-o OUT.md]

openlib (592,231 rows, 94,643 labels) lies in the folder that PROXTREE_DATA
names. Memory is the rise of VmHWM over `fit` in this process, after loading.
"""

import argparse
import resource
import tempfile
import time
from pathlib import Path

from peers.workload import describe_run, load_split

import proxtree
from proxtree import metrics


def peak_bytes():
    """Largest resident memory of this process so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def cpu_seconds():
    """User and system CPU of this process, all threads."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-o", "--output", type=argparse.FileType("a"))
    arguments = parser.parse_args()
    X, Y, X_test, Y_test = load_split("openlib")
    loaded, cpu, wall = peak_bytes(), cpu_seconds(), time.perf_counter()
    model = proxtree.LinearLabelTree().fit(X, Y)
    cpu, wall = cpu_seconds() - cpu, time.perf_counter() - wall
    peak = peak_bytes()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "openlib.model"
        model.save(path)
        size = path.stat().st_size
        model = proxtree.load(path)
    predict = cpu_seconds()
    labels, _ = model.predict_topk(X_test, k=5, n_threads=1)
    predict = (cpu_seconds() - predict) / X_test.shape[0]
    scores = metrics.evaluate(Y_test, labels, Y)
    rows = [
        ("training, wall s", f"{wall:.0f}"),
        ("training, CPU s (tree included)", f"{cpu:.0f}"),
        ("peak memory of the process, GB", f"{peak / 1e9:.2f}"),
        ("rise over the loaded data, GB", f"{(peak - loaded) / 1e9:.2f}"),
        ("non-zero weights and intercepts", f"{model.n_nonzero_:,}"),
        ("file, MB", f"{size / 1e6:.2f}"),
        ("prediction, CPU ms a row, one thread", f"{1e3 * predict:.3f}"),
        ("P@1/3/5", "/".join(f"{100 * scores[f'P@{k}']:.2f}" for k in (1, 3, 5))),
        ("PSP@1/3/5", "/".join(f"{100 * scores[f'PSP@{k}']:.2f}" for k in (1, 3, 5))),
    ]
    text = "\n".join(
        [describe_run(), "", "| openlib, defaults | |", "|---|---|"]
        + [f"| {name} | {value} |" for name, value in rows]
    )
    print(text)
    if arguments.output:
        arguments.output.write(text + "\n")


if __name__ == "__main__":
    main()
