"""`proxtree.plots`: what stands in the pictures, and life without matplotlib."""

import sys
from xml.etree import ElementTree

import numpy as np
import pytest

from proxtree import plots, solve


@pytest.fixture
def drawn(monkeypatch):
    """The figures that are drawn."""
    figures = []
    make = plots._figure

    def remember(*size):
        figures.append(make(*size))
        return figures[-1]

    monkeypatch.setattr(plots, "_figure", remember)
    return figures


def points(line):
    return np.transpose(line.get_data()).tolist()


def names(legend):
    return [text.get_text() for text in legend.get_texts()]


def test_histories_are_objectives_and_relative_gaps(drawn, tmp_path):
    histories = {
        "fast": [(0.0, 8.0, 6.0), (1.0, 4.0, 0.0)],
        "slow": [(0.5, 9.0, 9.0), (2.0, 5.0, 1.0)],
    }
    plots.draw_histories(histories, tmp_path / "h.png")
    left, right = drawn[0].axes
    assert [points(line) for line in left.lines] == [
        [[0, 8], [1, 4]],
        [[0.5, 9], [2, 5]],
    ]
    # Over the dual objectives 2, 4; 0 (no ratio), 4; none is drawn below 1e-12.
    gaps = [points(line) for line in right.lines]
    assert gaps[0] == [[0, 3], [1, 1e-12]]
    assert np.isnan(gaps[1][0][1])
    assert gaps[1][1] == [2, 0.25]
    assert names(right.get_legend()) == ["fast", "slow"]
    assert (left.get_yscale(), right.get_yscale()) == ("log", "log")
    assert (tmp_path / "h.png").read_bytes().startswith(b"\x89PNG")


def test_histories_of_real_solutions(problem, tmp_path):
    X, Y = problem
    y = Y[:, 0].toarray().ravel()
    histories = {
        solver: solve(X, y, solver=solver, history=True).history
        for solver in ("auto", "coordinate_descent")
    }
    plots.draw_histories(histories, tmp_path / "h.svg")
    assert ElementTree.parse(tmp_path / "h.svg").getroot().tag.endswith("svg")


def test_an_empty_history_is_an_empty_curve(drawn, tmp_path):
    plots.draw_histories({"none": []}, tmp_path / "h.png")
    assert points(drawn[0].axes[0].lines[0]) == []


def test_values_by_depth_with_bars_and_theory(drawn, tmp_path):
    curves = {"a": {2: (0.5, 0.1), 3: (0.25, 0.0)}, "b": {4: (0.75, 0.0)}}
    plots.draw_by_depth(
        curves,
        tmp_path / "d.png",
        ylabel="ratio",
        title="sizes",
        theory={"a": {2: 0.4, 3: 0.2}},
    )
    (axes,) = drawn[0].axes
    assert (axes.get_ylabel(), axes.get_title()) == ("ratio", "sizes")
    assert axes.get_xticks().tolist() == [2, 3, 4]
    curve, expected, other = (
        line for line in axes.lines if line.get_marker() in ("o", "x")
    )
    assert points(curve) == [[2, 0.5], [3, 0.25]]
    assert points(expected) == [[2, 0.4], [3, 0.2]]
    assert points(other) == [[4, 0.75]]
    assert expected.get_linestyle() == "--"
    assert expected.get_color() == curve.get_color() != other.get_color()
    bars = axes.containers[0].lines[2][0].get_segments()
    np.testing.assert_allclose(bars, [[[2, 0.4], [2, 0.6]], [[3, 0.25], [3, 0.25]]])
    assert sorted(names(drawn[0].legends[0])) == ["a", "a, theory", "b"]
    assert axes.get_yscale() == "linear"
    plots.draw_by_depth(curves, tmp_path / "d.png", ylabel="weights", log=True)
    assert drawn[1].axes[0].get_yscale() == "log"


def test_histograms_below_each_other(drawn, tmp_path):
    histograms = {"depth 1": ([0.0, 0.5], [3, 1]), "depth 2": ([0.98], [7])}
    plots.draw_histograms(
        histograms, tmp_path / "h.png", width=0.02, xlabel="ratio", title="set"
    )
    first, second = drawn[0].axes
    bars = [(bar.get_x(), bar.get_width(), bar.get_height()) for bar in first.patches]
    assert bars == [(0.0, 0.02, 3), (0.5, 0.02, 1)]
    assert [bar.get_height() for bar in second.patches] == [7]
    assert [axes.get_title(loc="right") for axes in (first, second)] == [*histograms]
    assert (first.get_yscale(), second.get_xlabel()) == ("log", "ratio")
    assert (tmp_path / "h.png").stat().st_size > 5000
    plots.draw_histograms({}, tmp_path / "none.png", width=0.02, xlabel="ratio")
    assert (tmp_path / "none.png").read_bytes().startswith(b"\x89PNG")


def test_without_matplotlib_the_extra_is_named(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ImportError, match=r"pip install 'proxtree\[plot\]'"):
        plots.draw_histories({}, tmp_path / "h.png")


def test_a_folder_that_is_not_there(tmp_path):
    with pytest.raises(FileNotFoundError):
        plots.draw_by_depth({"a": {1: (1, 0)}}, tmp_path / "no" / "d.png", ylabel="")
