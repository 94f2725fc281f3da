"""Reading the training text.

A peer's file gives `read(folder, options, threads) -> X`, which reads
folder/train.txt, or train_headless.txt where a header is not understood.
"""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from clock import clock

CALLS = 4


def read(peer: ModuleType, spec: dict[str, Any]) -> dict[str, Any]:
    """Read several times; the first, which warms the file cache, does not count."""
    folder = Path(spec["folder"])
    times: list[dict[str, float]] = []
    for _ in range(CALLS):
        out: dict[str, float] = {}
        with clock("read", out, memory=True):
            X = peer.read(folder, spec["options"], spec["threads"])
        times.append(out)
        stored, shape = int(X.nnz), list(X.shape)
        del X
    return {
        "cpu_s": float(np.median([out["read_cpu_s"] for out in times[1:]])),
        "wall_s": float(np.median([out["read_wall_s"] for out in times[1:]])),
        "rise_bytes": times[0]["read_rise_bytes"],
        "text_bytes": (folder / "train.txt").stat().st_size,
        "nonzeros": stored,
        "shape": shape,
    }
