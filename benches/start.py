"""What a model takes until its first prediction, coded file beside mapped file.

    python benches/start.py SET... [--repeat 7] [-o OUT.md]

The sets lie in the folder that PROXTREE_DATA names. Two models of each set, the
default tree and an L2 tree, are saved in both layouts. Each measurement is a process
of its own, the layouts in turn; what a process does at its first call of anything
(imports, the first model) comes before, with a tiny model. CPU is user and system
time of the process, resident memory what VmRSS and, of it, RssAnon have risen by from
before `load` to after the first row. "Cold" are further runs that begin with the
file out of the page cache; they are wall time.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from peers.workload import describe_run, load_train
from scipy import sparse

import proxtree

MODELS = {
    "default tree": {},
    "L2 tree": {"solver": "dual_coordinate_descent"},
}
LAYOUTS = ("coded", "mapped")
HEAD = (
    "| set | model | non-zeros | layout | file, MB | load, CPU ms | load and first "
    "row, CPU ms | rise of resident memory, MB | of it private | next 1,000 rows, CPU "
    "us each | load and first row, cold, wall ms |"
)
N_ROWS = 1001


def resident(name):
    """VmRSS or RssAnon in MB."""
    text = Path("/proc/self/status").read_text()
    return int(text.split(f"{name}:")[1].split()[0]) / 1024


def warm_up():
    """Do what a process does once: import, load and predict in both layouts."""
    X, Y = [[1.0, 0.0], [0.0, 1.0]] * 4, [[0], [1]] * 4
    model = proxtree.LinearLabelTree(n_threads=1).fit(X, Y)
    with tempfile.TemporaryDirectory() as folder:
        for layout in LAYOUTS:
            path = Path(folder) / layout
            model.save(path, mapped=layout == "mapped")
            proxtree.load(path).predict_topk(sparse.csr_matrix(X, dtype="f4"), 1)


def start(path, rows):
    """Load, predict, print one JSON object."""
    X = sparse.load_npz(rows).tocsr()
    first, rest = X[:1], X[1:]
    warm_up()
    before = {name: resident(name) for name in ("VmRSS", "RssAnon")}
    wall, cpu = time.perf_counter(), time.process_time()
    model = proxtree.load(path)
    loaded = time.process_time()
    model.predict_topk(first, 5, n_threads=1)
    predicted, end = time.process_time(), time.perf_counter()
    facts = {
        "load": (loaded - cpu) * 1e3,
        "first": (predicted - cpu) * 1e3,
        "wall": (end - wall) * 1e3,
        **{name: resident(name) - value for name, value in before.items()},
    }
    cpu = time.process_time()
    model.predict_topk(rest, 5, n_threads=1)
    facts["row"] = (time.process_time() - cpu) * 1e6 / rest.shape[0]
    print(json.dumps(facts))


def drop_from_cache(path):
    """Ask the system to forget the file's pages."""
    with path.open("rb") as file:
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def measure(path, rows):
    """Run `start` in a process of its own."""
    command = [sys.executable, __file__, "--start", str(path), str(rows)]
    out = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return json.loads(out.splitlines()[-1])


def compare(name, label, parameters, data, folder, repeat):
    """Return the table's two lines of one model."""
    X, Y = data
    model = proxtree.LinearLabelTree(random_state=0, **parameters).fit(X, Y)
    paths = {layout: folder / layout for layout in LAYOUTS}
    for layout, path in paths.items():
        model.save(path, mapped=layout == "mapped")
    rows = folder / "rows.npz"
    sparse.save_npz(rows, X[:N_ROWS])
    n_nonzero = model.n_nonzero_
    # The processes that follow need the memory.
    del model
    runs = {layout: [] for layout in LAYOUTS}
    cold = {layout: [] for layout in LAYOUTS}
    for _ in range(repeat):
        for layout, path in paths.items():
            runs[layout].append(measure(path, rows))
    for _ in range(repeat):
        for layout, path in paths.items():
            drop_from_cache(path)
            cold[layout].append(measure(path, rows)["wall"])
    lines = []
    for layout, path in paths.items():
        median = {
            key: statistics.median(run[key] for run in runs[layout])
            for key in runs[layout][0]
        }
        cells = [
            name,
            label,
            f"{n_nonzero:,}",
            layout,
            f"{path.stat().st_size / 1e6:.2f}",
            f"{median['load']:.2f}",
            f"{median['first']:.2f}",
            f"{median['VmRSS']:.1f}",
            f"{median['RssAnon']:.1f}",
            f"{median['row']:.1f}",
            f"{statistics.median(cold[layout]):.1f}",
        ]
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def main():
    """Parse the arguments and print the table."""
    if sys.argv[1:2] == ["--start"]:
        start(*sys.argv[2:])
        return
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sets", nargs="+", metavar="SET")
    parser.add_argument("--repeat", type=int, default=7)
    parser.add_argument("-o", "--output", type=Path)
    args = parser.parse_args()
    lines = [HEAD, "|" + "---|" * (HEAD.count("|") - 1)]
    for name in args.sets:
        data = load_train(name)
        for label, parameters in MODELS.items():
            with tempfile.TemporaryDirectory() as folder:
                more = compare(name, label, parameters, data, Path(folder), args.repeat)
            print(*more, sep="\n", flush=True)
            lines += more
    text = "\n".join([*lines, "", describe_run()])
    print(text)
    if args.output:
        args.output.write_text(text + "\n")


if __name__ == "__main__":
    main()
