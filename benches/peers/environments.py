"""Throw-away virtual environments, one for packages that get along with each other.

liblinear-official and liblinear-multicore (which libmultilabel needs) install the
same module, and libpecos wants old numpy and scipy and declares gigabytes that its
linear models do not need.
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
import zipfile
from dataclasses import dataclass
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[2]
# Written last: without it the folder is half an environment.
COMPLETE = "complete"


@dataclass(frozen=True)
class Environment:
    """Packages by pip's names, those to install without what they depend on last."""

    packages: tuple[str, ...]
    without_dependencies: tuple[str, ...] = ()
    newest_python: tuple[int, int] = (3, 99)


ENVIRONMENTS = {
    "peers": Environment(
        (
            "liblinear-official==2.50.0",
            "napkinxc==0.7.2",
            "omikuji==0.5.2",
            "scikit-learn==1.9.1",
        )
    ),
    # Brings sparsekmeans along; named for its version.
    "libmultilabel": Environment(("libmultilabel==0.10.0", "sparsekmeans==0.3.1")),
    "pecos": Environment(
        ("numpy<2", "scipy<1.14", "scikit-learn"), ("libpecos==1.2.8",), (3, 12)
    ),
}


def python_of(name: str, root: Path) -> Path:
    """Return the interpreter of the environment `name`, made in `root` if missing."""
    wanted = ENVIRONMENTS[name]
    folder = root / name
    if not (folder / COMPLETE).is_file():
        print(f"making the environment {folder}", file=sys.stderr)
        _make(folder, wanted)
    return folder / "bin/python"


def proxtree_python(root: Path) -> tuple[Path, str]:
    """Build a release wheel of the checkout; return its interpreter and its digest."""
    tools = root / "tools"
    if not (tools / COMPLETE).is_file():
        _make(tools, Environment(("maturin>=1.14,<2",)))
    wheels = root / "wheels"
    shutil.rmtree(wheels, ignore_errors=True)
    build = [tools / "bin/maturin", "build", "--quiet", "--release", "--out", wheels]
    _run([*build, "--interpreter", sys.executable], cwd=CHECKOUT)
    (wheel,) = wheels.glob("*.whl")
    digest = wheel_digest(wheel)
    folder = root / f"proxtree-{digest}"
    if not (folder / COMPLETE).is_file():
        _make(folder, Environment((str(wheel),)))
    return folder / "bin/python", digest


def wheel_digest(wheel: Path) -> str:
    """Return a short name of what is in the wheel, whenever it was packed."""
    digest = hashlib.sha256()
    with zipfile.ZipFile(wheel) as archive:
        for info in sorted(archive.infolist(), key=lambda info: info.filename):
            digest.update(f"{info.filename} {info.CRC} {info.file_size}\n".encode())
    return digest.hexdigest()[:12]


INSTALLED = """
import hashlib, pathlib, proxtree
digest = hashlib.sha256()
for path in sorted(pathlib.Path(proxtree.__file__).parent.rglob("*")):
    if path.suffix in (".py", ".so"):
        digest.update(path.read_bytes())
print(digest.hexdigest()[:12])
"""


def installed_digest(python: Path) -> str:
    """Return a short name of the proxtree that an interpreter imports."""
    done = subprocess.run([python, "-c", INSTALLED], stdout=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit(f"{python} has no proxtree")
    return done.stdout.strip()


def _make(folder: Path, wanted: Environment) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    _run([_interpreter(wanted.newest_python), "-m", "venv", folder])
    pip = [folder / "bin/python", "-m", "pip", "--disable-pip-version-check"]
    install = [*pip, "--quiet", "install"]
    _run([*install, *wanted.packages])
    if wanted.without_dependencies:
        _run([*install, "--no-deps", *wanted.without_dependencies])
    (folder / COMPLETE).write_text("\n".join(wanted.packages) + "\n")


def _interpreter(newest: tuple[int, int]) -> str:
    if sys.version_info[:2] <= newest:
        return sys.executable
    for minor in range(newest[1], 8, -1):
        found = shutil.which(f"python3.{minor}")
        # A shim may be there without its Python.
        if found and subprocess.run([found, "-V"], capture_output=True).returncode == 0:
            return found
    sys.exit(f"this needs a Python not newer than {newest[0]}.{newest[1]}")


def _run(command: list[str | Path], cwd: Path | None = None) -> None:
    try:
        subprocess.run(command, cwd=cwd, check=True, stdout=sys.stderr)
    except (OSError, subprocess.CalledProcessError) as error:
        sys.exit(f"cannot make the environment: {error}")
