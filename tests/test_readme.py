"""The README's example runs, and its commands exist."""

import re
from pathlib import Path

from proxtree.cli import _parser

README = (Path(__file__).parent.parent / "README.md").read_text(encoding="utf-8")


def test_the_example_runs(tmp_path, monkeypatch, capsys):
    (code,) = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)
    assert len(code.splitlines()) <= 20
    monkeypatch.chdir(tmp_path)
    exec(compile(code, "README.md", "exec"), {})
    out = capsys.readouterr().out
    assert "'n_converged': 2316" in out
    # What the table of results says, up to the last bits of other machines.
    stated = float(re.search(r"precision \(%\) \| ([\d.]+)", README)[1])
    found = 100 * float(re.search(r"'P@1': ([\d.]+)", out)[1])
    assert abs(found - stated) < 0.1


def test_the_commands_parse():
    lines = re.findall(r"^proxtree ([a-z].*)$", README, flags=re.MULTILINE)
    assert len(lines) >= 4
    for line in lines:
        _parser().parse_args(line.split())
