"""The whole report: tables of each set, ratios against the targets, how it was run."""

from __future__ import annotations

import os
import platform
import shlex
from pathlib import Path

import tables
from records import Record, Records
from targets import targets

NOTES = """\
Times are CPU of one process, user and system, all threads, medians of n fresh
processes; ours and the others' in turn. Training: the fit alone. Memory: rise of the
peak over the loaded data. Prediction: best five labels, one thread, all test rows in
one call (a loop where the package has no batch). One row: wall time of one call,
least of {passes} passes over the rows."""


def text(records: Records, sets: list[str], argv: list[str]) -> str:
    """Return the report in Markdown."""
    parts = []
    for name in sets:
        kinds = (tables.models, tables.labels, tables.kmeans, tables.reading)
        found = [part for kind in kinds if (part := kind(records, name))]
        if found:
            parts += [f"### {name}", *found]
    parts += ["### Ratios", targets(records, list(sets)), NOTES.format(passes=5)]
    parts.append(_story(records.kept, argv))
    return "\n\n".join(parts) + "\n"


def _story(records: list[Record], argv: list[str]) -> str:
    if not records:
        return "Nothing was measured."
    times = sorted(record["at"] for record in records)
    loads = [record["load"] for record in records]
    versions: dict[str, set[str]] = {}
    for record in records:
        for package, version in record.get("versions", {}).items():
            versions.setdefault(package, set()).add(version)
    builds = {record["build"] for record in records} - {""}
    shown = ", ".join(f"{name} {'/'.join(sorted(v))}" for name, v in versions.items())
    return (
        f"`{shlex.join(['python', *argv])}`, {times[0]} to {times[-1]}, "
        f"{records[0]['threads']} thread(s); {shown}; proxtree's build "
        f"{', '.join(sorted(builds))}; {_cpu()}, {os.cpu_count()} CPUs, load average "
        f"{min(loads)} to {max(loads)}."
    )


def _cpu() -> str:
    info = Path("/proc/cpuinfo")
    for line in info.read_text().splitlines() if info.is_file() else []:
        if line.startswith("model name"):
            return line.split(":")[1].strip()
    return platform.processor() or "unknown CPU"
