"""What benches share that need proxtree: data, choice of labels, the run's story."""

from __future__ import annotations

import datetime
import os
import platform
import shlex
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

import proxtree

# Binary features of very different row lengths: everyone normalises these.
NORMALISED = {"bibtex"}


def _load(name: str, part: str) -> Any:
    folder = os.environ.get("PROXTREE_DATA")
    if not folder:
        sys.exit("set PROXTREE_DATA to the folder that holds <set>/train.txt.xz")
    path = Path(folder) / name / f"{part}.txt.xz"
    if not path.is_file():
        sys.exit(f"no such data set: {path}")
    X, Y = proxtree.load_xmc(path)
    return (proxtree.normalize_rows(X) if name in NORMALISED else X), Y


def load_train(name: str) -> Any:
    """Load the training part of a data set of the PROXTREE_DATA folder."""
    return load_split(name)[:2] if name == "wordnet_nouns" else _load(name, "train")


def load_split(name: str) -> Any:
    """Load X, Y, X_test, Y_test; wordnet_nouns ships with the package."""
    if name == "wordnet_nouns":
        return proxtree.datasets.wordnet_nouns_tfidf()[:4]
    return (*_load(name, "train"), *_load(name, "test"))


def labels_by_frequency_rank(counts: np.ndarray, n: int) -> np.ndarray:
    """Choose n labels at evenly spaced ranks, the most and least frequent included.

    Ranked are labels with a positive, most frequent first, ties by id.
    """
    ranked = np.lexsort((np.arange(len(counts)), -counts))[: np.count_nonzero(counts)]
    n = min(n, len(ranked))
    return ranked[np.linspace(0, len(ranked) - 1, n).round().astype(int)]


def describe_run(*packages: str) -> str:
    """Say when, where and with which versions the numbers were measured."""
    cpu = platform.processor() or "unknown CPU"
    info = Path("/proc/cpuinfo")
    if info.is_file():
        lines = info.read_text().splitlines()
        models = [line.split(":")[1] for line in lines if line.startswith("model name")]
        cpu = models[0].strip() if models else cpu
    packages = ("proxtree", *packages, "numpy", "scipy")
    versions = ", ".join(f"{name} {version(name)}" for name in packages)
    command = shlex.join(["python", *sys.argv])
    return (
        f"`{command}`, {datetime.date.today().isoformat()}. {versions}, "
        f"Python {platform.python_version()}; {cpu}, {os.cpu_count()} CPUs, "
        f"load average {os.getloadavg()[0]:.1f} at the end."
    )
