"""CPU, wall time and rise of memory of a piece of code in this process."""

from __future__ import annotations

import contextlib
import ctypes
import gc
import resource
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any


def cpu_seconds() -> float:
    """CPU that this process has used, all threads, user and system."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def _status_bytes(field: str) -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1]) * 1024
    raise OSError(f"/proc/self/status has no {field}")


def _forget_peak() -> int:
    """Make VmHWM start anew at what is resident now; return that."""
    gc.collect()
    # What loading has freed must not serve the measured code for nothing.
    with contextlib.suppress(AttributeError):
        ctypes.CDLL(None).malloc_trim(0)
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")
    return _status_bytes("VmHWM")


@contextlib.contextmanager
def clock(prefix: str, out: dict[str, Any], *, memory: bool = False) -> Iterator[None]:
    """Add CPU and wall seconds of the block, and the rise of memory, to `out`."""
    before = _forget_peak() if memory else 0
    cpu, wall = cpu_seconds(), time.perf_counter()
    yield
    out[f"{prefix}_cpu_s"] = cpu_seconds() - cpu
    out[f"{prefix}_wall_s"] = time.perf_counter() - wall
    if memory:
        out[f"{prefix}_rise_bytes"] = max(0, _status_bytes("VmHWM") - before)
