"""Progress: quiet by default, a function, or a bar."""

import sys

import pytest

from proxtree import LinearOneVsRest
from proxtree._progress import reporting


@pytest.mark.parametrize("progress", [None, False])
def test_quiet(problem, capfd, progress):
    LinearOneVsRest(progress=progress).fit(*problem)
    out, err = capfd.readouterr()
    assert (out, err) == ("", "")


def test_a_function_is_told_the_end(problem):
    seen = []
    model = LinearOneVsRest(progress=lambda *args: seen.append(args)).fit(*problem)
    assert seen[-1] == (7, 7, model.coef_.nnz)
    assert [done for done, _, _ in seen] == sorted(done for done, _, _ in seen)


def test_a_bar(problem, capfd):
    model = LinearOneVsRest(progress=True).fit(*problem)
    out, err = capfd.readouterr()
    assert out == ""
    assert "7/7" in err
    assert f"{model.coef_.nnz} non-zeros" in err


def test_a_bar_shows_how_many_are_done(capfd):
    with reporting(True, "label") as show:
        show(2, 7, 10)
        show(5, 7, 1000)
    err = capfd.readouterr().err
    assert "5/7" in err
    assert "labels" in err


def test_a_bar_without_tqdm_says_what_to_install(problem, monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm", None)
    with pytest.raises(ImportError, match=r"pip install 'proxtree\[progress\]'"):
        LinearOneVsRest(progress=True).fit(*problem)
