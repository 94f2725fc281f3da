"""The comparison of instruction counts."""

import importlib.util
from pathlib import Path

import pytest

PATH = Path(__file__).parents[1] / "benches" / "instructions.py"


@pytest.fixture
def instructions():
    spec = importlib.util.spec_from_file_location("instructions", PATH)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("count", "good", "said"),
    [
        (1_019, True, "+1.90 %"),
        (1_021, False, "too many"),
        (900, True, "--update"),
        (1_000, True, "+0.00 % of 1,000"),
    ],
)
def test_only_growth_beyond_the_tolerance_fails(instructions, count, good, said):
    lines, fine = instructions.compare({"a": 1_000}, {"a": count}, 0.02)
    assert fine is good
    assert said in lines[0]


def test_a_new_kernel_does_not_fail(instructions):
    lines, fine = instructions.compare({}, {"b": 5}, 0.02)
    assert fine
    assert lines == ["b: 5, not stored yet"]


def test_the_count_is_read_from_the_profile(instructions):
    assert instructions.total("version: 1\nevents: Ir\n12 9\n\ntotals: 1234\n") == 1234
    with pytest.raises(SystemExit, match="no totals"):
        instructions.total("version: 1\n")


def test_without_valgrind_it_is_skipped(instructions, monkeypatch, capsys):
    monkeypatch.setattr(instructions.sys, "argv", ["instructions.py"])
    monkeypatch.setattr(instructions.shutil, "which", lambda name: None)
    instructions.main()
    assert "valgrind is missing" in capsys.readouterr().out
