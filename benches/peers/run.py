"""Measure proxtree and its peers on the same data in one run, ours and theirs in turn.

    PROXTREE_DATA=FOLDER python benches/peers/run.py [SET...] [--repeat 3] [-o OUT.md]

Needs nothing but Python: packages go into environments of their own (--envs), made
on first use. Every measurement is a record in a file (--results); what is there is
not measured again, so an interrupted run goes on, and --table-only makes the tables
anew. What is measured and how: benches/README.md.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from functools import cache
from pathlib import Path

import report
from entries import ENTRIES, OURS, Entry
from environments import installed_digest, proxtree_python, python_of
from records import Records, cpu_of, last_build
from runs import Runner, prepare

SETS = ("debtags", "debdeps", "gutenberg_lcsh", "eurlex57k")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    add = parser.add_argument
    add("sets", nargs="*", default=SETS, help="folders of PROXTREE_DATA")
    add("--only", help=f"some of {','.join(ENTRIES)}", default=",".join(ENTRIES))
    add("--entry", action="append", default=[], help="only names that contain this")
    add("--repeat", type=int, default=3, metavar="N")
    add("--enough", type=float, default=100, metavar="S",
        help="do not repeat what has used S seconds of CPU (100)")  # fmt: skip
    add("--limit", type=float, default=3600, metavar="S",
        help="end a process after S seconds; the table says so (3600)")  # fmt: skip
    add("--threads", type=int, default=1, help="of everyone's training (1)")
    add("--labels", type=int, default=200, help="labels to solve one by one (200)")
    add("--envs", type=Path, default=Path(tempfile.gettempdir(), "proxtree-peers"),
        help="folder of environments and prepared data, kept")  # fmt: skip
    add("--results", type=Path, help="file of records (ENVS/results.jsonl)")
    add("--proxtree", type=Path, metavar="PYTHON",
        help="measure this interpreter's proxtree, not a new wheel")  # fmt: skip
    add("--retry", action="store_true", help="try again what had no result")
    add("--table-only", action="store_true", help="measure nothing")
    add("-o", "--output", type=Path, help="also write the report here")
    args = parser.parse_args()
    args.only = args.only.split(",")
    if unknown := set(args.only) - set(ENTRIES):
        parser.error(f"--only: no {', '.join(sorted(unknown))} among {list(ENTRIES)}")
    return args


def chosen(args: argparse.Namespace) -> list[Entry]:
    """Return the entries to measure, in turn."""
    entries = [entry for group in args.only for entry in ENTRIES[group]]
    words = args.entry or [""]
    return [entry for entry in entries if any(word in entry.name for word in words)]


def measure(args: argparse.Namespace, records: Records, ours: Path) -> None:
    """Fill `records` up to --repeat of everything asked for."""

    @cache
    def python(environment: str) -> str:
        return str(ours if environment == OURS else python_of(environment, args.envs))

    runner = Runner(python, args.limit, args.threads)
    for repeat in range(1, args.repeat + 1):
        for name in args.sets:
            wanted = [
                entry
                for entry in chosen(args)
                if records.wants(name, entry, repeat, args.enough)
            ]
            if not wanted:
                continue
            folder = args.envs / "workloads" / f"{name}-{args.labels}"
            prepare(str(ours), name, folder, args.labels)
            for entry in wanted:
                start = time.monotonic()
                record = runner.measure(entry, folder)
                records.add(name, entry, record)
                took = f"CPU {cpu_of(record):.1f} s of {time.monotonic() - start:.0f} s"
                line = f"{name}: {entry.name}: {record['status']}, {took}"
                print(f"{repeat}/{args.repeat} {line}", file=sys.stderr, flush=True)


def main() -> None:
    args = arguments()
    args.envs = args.envs.resolve()
    args.envs.mkdir(parents=True, exist_ok=True)
    path = args.results or args.envs / "results.jsonl"
    if args.table_only:
        build = last_build(path)
        records = Records(path, build, args.threads, args.labels, args.retry)
    else:
        if args.proxtree:
            # Not resolved: a virtual environment's interpreter is a link.
            ours = args.proxtree.absolute()
            build = installed_digest(ours)
        else:
            ours, build = proxtree_python(args.envs)
        records = Records(path, build, args.threads, args.labels, args.retry)
        measure(args, records, ours)
    text = report.text(records, args.sets, sys.argv)
    print(text)
    if args.output:
        args.output.write_text(text)


if __name__ == "__main__":
    main()
