"""One measured process: `python main.py ROLE PEER.py SPEC`, SPEC being JSON.

Runs in the environment of whatever is measured. A role (models.py and its
neighbours) does the measuring and calls functions of the peer's file. The result
goes to the file SPEC["result"]: some peers write whatever they like to stdout.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import platform
import sys
from importlib.metadata import version
from pathlib import Path
from types import ModuleType
from typing import Any

from clock import clock

# Role: (module, function).
ROLES = {
    "fit": ("models", "fit"),
    "predict": ("models", "predict"),
    "labels": ("labels", "train"),
    "kmeans": ("clusters", "cluster"),
    "reading": ("reading", "read"),
}


def load_peer(path: Path) -> ModuleType:
    """Import a peer's file by its path."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} is no Python file")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def main(role: str, peer_file: str, spec: dict[str, Any]) -> None:
    result: dict[str, Any] = {}
    # Before numpy: a peer that needs it pays for it here.
    with clock("import", result):
        peer = load_peer(Path(peer_file))
    module, function = ROLES[role]
    result |= getattr(importlib.import_module(module), function)(peer, spec)
    result["versions"] = {
        "Python": platform.python_version(),
        **{name: version(name) for name in (*peer.PACKAGES, "numpy", "scipy")},
    }
    Path(spec["result"]).write_text(json.dumps(result))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], json.loads(sys.argv[3]))
