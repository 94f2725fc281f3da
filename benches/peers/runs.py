"""One measurement: fresh processes, each with a time limit, and one record of it."""

from __future__ import annotations

import contextlib
import datetime
import json
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from entries import OURS, WORKER, Entry

HERE = Path(__file__).resolve().parent


class RunError(Exception):
    """A process that ended without a result; the text says how."""


def prepare(python: str, name: str, folder: Path, n_labels: int) -> None:
    """Write the workload of a data set unless it is there."""
    if not (folder / "header.txt").is_file():
        command = [python, str(HERE / "prepare.py"), name, str(folder), str(n_labels)]
        if subprocess.run(command).returncode:
            raise SystemExit(f"cannot prepare {name}")


@dataclass(frozen=True)
class Runner:
    """Runs entries on prepared workloads.

    `python_of` gives the interpreter of an environment; `seconds` is the limit of a
    process, `threads` are those of everyone's training.
    """

    python_of: Callable[[str], str]
    seconds: float
    threads: int

    def measure(self, entry: Entry, folder: Path) -> dict[str, Any]:
        """Return the record of one measurement of `entry`, good or bad."""
        record: dict[str, Any] = {
            "at": datetime.datetime.now().isoformat(timespec="seconds"),
            "load": round(os.getloadavg()[0], 1),
            "limit_s": self.seconds,
        }
        with tempfile.TemporaryDirectory(dir=folder) as scratch:
            try:
                record |= self._measure(entry, folder, Path(scratch))
                record["status"] = "ok"
            except RunError as failure:
                record["status"] = str(failure)
        return record

    def _measure(self, entry: Entry, folder: Path, scratch: Path) -> dict[str, Any]:
        spec = {
            "folder": str(folder), "threads": self.threads, "options": entry.options
        }  # fmt: skip
        if entry.role != "model":
            return self._worker(entry, entry.role, spec, scratch)
        model = scratch / "model"
        result = self._worker(entry, "fit", spec | {"model": str(model)}, scratch)
        result["predictions"] = {}
        for name, options in entry.predictions.items():
            # A peer may write into the folder of its model.
            copy, labels = scratch / "copy", scratch / "labels.npy"
            (shutil.copytree if model.is_dir() else shutil.copy)(model, copy)
            spec |= {
                "model": str(copy), "options": options, "labels": str(labels)
            }  # fmt: skip
            try:
                prediction = self._worker(entry, "predict", spec, scratch)
                prediction |= self._score(folder, labels, scratch)
                prediction["status"] = "ok"
            except RunError as failure:
                prediction = {"status": str(failure)}
            result["predictions"][name] = prediction
            shutil.rmtree(copy) if copy.is_dir() else copy.unlink()
        return result

    def _worker(
        self, entry: Entry, role: str, spec: dict[str, Any], scratch: Path
    ) -> dict[str, Any]:
        out = scratch / "result.json"
        words = [role, str(entry.peer), json.dumps(spec | {"result": str(out)})]
        python = self.python_of(entry.environment)
        return self._run([python, str(WORKER / "main.py"), *words], out)

    def _score(self, folder: Path, labels: Path, scratch: Path) -> dict[str, Any]:
        out = scratch / "result.json"
        words = [str(HERE / "score.py"), str(folder), str(labels), str(out)]
        return self._run([self.python_of(OURS), *words], out)

    def _run(self, command: list[str], out: Path) -> dict[str, Any]:
        out.unlink(missing_ok=True)
        count = str(self.threads)
        names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "RAYON_NUM_THREADS")
        environment = os.environ | dict.fromkeys(names, count)
        # A file: a full pipe would stop a talkative peer.
        with tempfile.TemporaryFile("w+", errors="replace") as said:
            process = subprocess.Popen(
                command, stdout=said, stderr=said, stdin=subprocess.DEVNULL,
                env=environment, start_new_session=True,
            )  # fmt: skip
            try:
                code = process.wait(self.seconds)
            except subprocess.TimeoutExpired:
                raise RunError(f"no result after {self.seconds:g} s") from None
            finally:
                # Its children too, and also when we are interrupted.
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait()
            if code or not out.is_file():
                said.seek(0)
                lines = said.read().strip().splitlines() or ["no output"]
                raise RunError(f"failed (exit {code}): {lines[-1][:200]}")
        result: dict[str, Any] = json.loads(out.read_text())
        return result
