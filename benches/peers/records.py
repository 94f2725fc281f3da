"""What was measured, one JSON object a line: an interrupted run goes on from it."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import Any

from entries import OURS, Entry

Record = dict[str, Any]


class Records:
    """The records of a file, without those of other builds of proxtree.

    Records of other numbers of threads, or of other choices of labels where single
    labels were solved, do not count either.
    """

    def __init__(
        self, path: Path, build: str, threads: int, n_labels: int, retry: bool = False
    ) -> None:
        self._path, self._build = path, build
        self._threads, self._n_labels = threads, n_labels
        self._all = [
            record for record in _read(path) if record["status"] == "ok" or not retry
        ]

    @property
    def kept(self) -> list[Record]:
        """Records that count."""
        return [
            record
            for record in self._all
            if record["build"] in (self._build, "")
            and record["threads"] == self._threads
            and (record["role"] != "labels" or record["n_labels"] == self._n_labels)
        ]

    def of(self, data_set: str, entry: Entry) -> list[Record]:
        """Records of one entry on one set, oldest first."""
        key = (data_set, entry.role, entry.name)
        return [r for r in self.kept if (r["set"], r["role"], r["entry"]) == key]

    def wants(self, data_set: str, entry: Entry, n: int, enough_cpu_s: float) -> bool:
        """Tell whether `entry` has fewer than n good records and is worth another.

        What ended without a result is not tried again in this file. Entries whose
        records add up to `enough_cpu_s` are not repeated: the longer a run, the less
        noise is in it.
        """
        found = self.of(data_set, entry)
        if any(record["status"] != "ok" for record in found):
            return False
        return len(found) < n and sum(map(cpu_of, found)) < enough_cpu_s

    def add(self, data_set: str, entry: Entry, record: Record) -> None:
        """Append a record to the file at once."""
        record = {
            "set": data_set, "role": entry.role, "entry": entry.name,
            "build": self._build if entry.package == OURS else "",
            "threads": self._threads, "n_labels": self._n_labels, **record,
        }  # fmt: skip
        self._all.append(record)
        with self._path.open("a") as file:
            file.write(json.dumps(record) + "\n")


def cpu_of(record: Record) -> float:
    """CPU of the measured part; where it is several, of all."""
    for name in ("fit_cpu_s", "total_cpu_s", "cpu_s"):
        if name in record:
            value = record[name]
            return float(sum(value)) if isinstance(value, list) else float(value)
    return 0.0


def last_build(path: Path) -> str:
    """Return the build of proxtree that was measured last."""
    builds = [record["build"] for record in _read(path) if record["build"]]
    return builds[-1] if builds else ""


def _read(path: Path) -> list[Record]:
    records = []
    for line in path.read_text().splitlines() if path.is_file() else []:
        # The last line of a run that was killed may be cut.
        with contextlib.suppress(ValueError):
            records.append(json.loads(line))
    return records
