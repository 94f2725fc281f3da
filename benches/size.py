"""Compare what `plan` says with what training takes, and say what planning costs.

    python benches/size.py SET... [--threads 1 2] [--seeds 1] [-o OUT.md]

The sets lie in the folder that PROXTREE_DATA names. Everything runs in processes of
its own: one builds the tree and plans, for each seed; one trains with that tree,
for each number of threads, with the data read from plain arrays, so that the rise
of VmHWM over `fit` is that of `fit` alone. CPU is user and system time of the
process; the share of planning leaves out the tree build, which `fit` is spared.
"""

import argparse
import json
import pickle
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

from peers.workload import describe_run, load_train
from scipy import sparse

import proxtree

HEAD = (
    "| set | threads | non-zeros | estimate | bound / truth | file bytes | estimate | "
    "CPU s | estimate | planning, CPU s | of training | wall s | estimate | "
    "peak, MB | planned / measured |"
)


def cpu_seconds():
    """User and system CPU of this process, all threads."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def resident(name):
    """VmHWM or VmRSS in bytes."""
    text = Path("/proc/self/status").read_text()
    return int(text.split(f"{name}:")[1].split()[0]) * 1024


def read(folder):
    """Read the arrays that the parent wrote."""
    return (sparse.load_npz(folder / f"{name}.npz").tocsr() for name in ("X", "Y"))


def plan_here(folder, threads, seed, parameters):
    """Plan with the tree of the folder; print one JSON object."""
    X, Y = read(folder)
    tree = pickle.loads((folder / "tree").read_bytes())
    # Not counted: what a process loads at its first call.
    proxtree.plan([[1.0], [0.0]], [[0], [1]], n_threads=threads)
    start = cpu_seconds()
    plan = proxtree.plan(
        X, Y, tree=tree, n_threads=threads, random_state=seed, **parameters
    )
    print(json.dumps({"planning_s": cpu_seconds() - start, **plan.to_dict()}))


def fit_here(folder, threads, parameters):
    """Train with the tree of the folder; print one JSON object."""
    X, Y = read(folder)
    tree = pickle.loads((folder / "tree").read_bytes())
    model = proxtree.LinearLabelTree(tree=tree, n_threads=threads, **parameters)
    # What reading left behind must not hide what training adds.
    Path("/proc/self/clear_refs").write_text("5")
    before, cpu, wall = resident("VmHWM"), cpu_seconds(), time.perf_counter()
    model.fit(X, Y)
    facts = {
        "cpu_s": cpu_seconds() - cpu,
        "wall_s": time.perf_counter() - wall,
        "peak_memory_bytes": resident("VmHWM") - before,
        "nonzeros": model.n_nonzero_,
        "bytes_file": model.size_report().truth["bytes_file"],
        "bound": model.plan_.nonzeros_bound,
    }
    print(json.dumps(facts))


def run(*arguments):
    """Run this script in a process of its own; its JSON object."""
    command = [sys.executable, __file__, *map(str, arguments)]
    out = subprocess.run(command, capture_output=True, text=True, check=False)
    if out.returncode:
        sys.exit(out.stderr)
    return json.loads(out.stdout)


def percent(estimate, truth):
    """How far off, in percent."""
    return f"{100 * (estimate / truth - 1):+.0f} %"


def row(name, threads, plan, truth):
    """One line of the table."""
    cells = [
        name,
        threads,
        f"{truth['nonzeros']:,}",
        percent(plan["nonzeros_estimate"], truth["nonzeros"]),
        f"{truth['bound'] / truth['nonzeros']:.0f}",
        f"{truth['bytes_file']:,}",
        percent(plan["bytes_file"], truth["bytes_file"]),
        f"{truth['cpu_s']:.2f}",
        percent(plan["cpu_s"], truth["cpu_s"]),
        f"{plan['planning_s']:.3f}",
        f"{100 * plan['planning_s'] / truth['cpu_s']:.1f} %",
        f"{truth['wall_s']:.2f}",
        percent(plan["wall_s"], truth["wall_s"]),
        f"{truth['peak_memory_bytes'] / 1e6:.1f}",
        f"{plan['peak_memory_bytes'] / truth['peak_memory_bytes']:.2f}",
    ]
    return "| " + " | ".join(map(str, cells)) + " |"


def main():
    warnings.simplefilter("ignore", proxtree.DataWarning)
    if sys.argv[1:2] == ["plan-here"]:
        folder, threads, seed, parameters = sys.argv[2:]
        plan_here(Path(folder), int(threads), int(seed), json.loads(parameters))
        return
    if sys.argv[1:2] == ["fit-here"]:
        folder, threads, parameters = sys.argv[2:]
        fit_here(Path(folder), int(threads), json.loads(parameters))
        return
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sets", nargs="+", metavar="SET")
    parser.add_argument("--threads", nargs="+", type=int, default=[1, 2])
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--solver", default="auto")
    parser.add_argument("-o", "--output", type=argparse.FileType("a"))
    arguments = parser.parse_args()
    parameters = json.dumps({"solver": arguments.solver})
    lines = [describe_run(), "", HEAD, "|---" * 15 + "|"]
    for name in arguments.sets:
        with tempfile.TemporaryDirectory() as folder:
            X, Y = load_train(name)
            sparse.save_npz(Path(folder) / "X.npz", X, compressed=False)
            sparse.save_npz(Path(folder) / "Y.npz", Y, compressed=False)
            tree = proxtree.LabelTree.build(proxtree.label_features(X, Y))
            (Path(folder) / "tree").write_bytes(pickle.dumps(tree))
            for threads in arguments.threads:
                truth = run("fit-here", folder, threads, parameters)
                for seed in range(arguments.seeds):
                    plan = run("plan-here", folder, threads, seed, parameters)
                    lines.append(row(name, threads, plan, truth))
                    print(lines[-1], flush=True)
    if arguments.output:
        arguments.output.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
