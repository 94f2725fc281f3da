"""Count the instructions of four kernels under callgrind and compare with before.

    python benches/instructions.py [--update] [--tolerance 0.02]

Counts do not depend on what else the machine does, so a growth of a few per cent is
a finding. They are stored in instructions.json; --update writes it anew. Where
valgrind is missing this says so and succeeds. A kernel's count is that of its second
run in one process: what it costs when its workspace is warm.
"""

from __future__ import annotations

import argparse
import json
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
STORED = Path(__file__).with_suffix(".json")


def build() -> Path:
    """Build the bench binary `instructions`; return its path."""
    command = ["cargo", "bench", "--bench", "instructions", "--no-run"]
    command += ["--message-format", "json-render-diagnostics"]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit("cargo cannot build the bench")
    messages = map(json.loads, done.stdout.splitlines())
    (path,) = (
        message["executable"]
        for message in messages
        if message.get("executable") and message["target"]["name"] == "instructions"
    )
    return Path(path)


def collected(binary: Path, kernel: str, times: int) -> int:
    """Run a kernel under callgrind; return the instructions of the whole process."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "callgrind.out"
        command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}"]
        command += [str(binary), kernel, str(times)]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"{kernel} fails under callgrind:\n{done.stderr}")
        return total(out.read_text())


def total(profile: str) -> int:
    """Return the sum that a callgrind profile ends with."""
    found = re.search(r"^(?:totals|summary): (\d+)", profile, re.MULTILINE)
    if not found:
        sys.exit("callgrind's profile has no totals")
    return int(found[1])


def compare(
    before: dict[str, int], now: dict[str, int], tolerance: float
) -> tuple[list[str], bool]:
    """Return a line for each kernel, and whether none has grown by too much."""
    lines, good = [], True
    for kernel, count in now.items():
        if kernel not in before:
            lines.append(f"{kernel}: {count:,}, not stored yet")
            continue
        change = count / before[kernel] - 1
        verdict = "" if abs(change) <= tolerance else ", store it: --update"
        if change > tolerance:
            verdict, good = ", too many", False
        lines.append(
            f"{kernel}: {count:,}, {100 * change:+.2f} % of {before[kernel]:,}{verdict}"
        )
    return lines, good


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--update", action="store_true", help="store what is counted")
    parser.add_argument("--tolerance", type=float, default=0.02, help="share (0.02)")
    args = parser.parse_args()
    if not shutil.which("valgrind"):
        print("instruction counts skipped: valgrind is missing")
        return
    stored = json.loads(STORED.read_text()) if STORED.is_file() else {}
    machine = platform.machine()
    binary = build()
    kernels = subprocess.run([binary], stdout=subprocess.PIPE, text=True, check=True)
    now = {
        kernel: collected(binary, kernel, 2) - collected(binary, kernel, 1)
        for kernel in kernels.stdout.split()
    }
    lines, good = compare(stored.get(machine, {}), now, args.tolerance)
    print("\n".join(lines))
    if args.update:
        text = json.dumps(stored | {machine: now}, indent=2)
        STORED.write_text(text + "\n")
    elif not good:
        sys.exit(1)


if __name__ == "__main__":
    main()
