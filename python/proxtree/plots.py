"""Pictures of studies and of solvers, drawn with matplotlib.

matplotlib is loaded when something is drawn; the extra ``proxtree[plot]`` brings it.
The end of a path says what kind of picture is written: ``.png``, ``.pdf``, ``.svg``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

__all__ = [
    "draw_by_depth",
    "draw_histograms",
    "draw_histories",
]


def draw_histories(
    histories: Mapping[str, Sequence[tuple[float, float, float]]],
    path: str | PathLike[str],
) -> None:
    """Draw how objective and duality gap fell with time, a curve for each history.

    Parameters
    ----------
    histories : mapping of str to sequence of (seconds, objective, gap)
        By the name that the legend shows, such as a solver's: the `history` of a
        `Solution`. The gap is absolute.
    path : str or path
        The picture's file; replaced if it is there.

    Raises
    ------
    ImportError
        matplotlib is not installed.
    OSError
        If `path` cannot be written.

    Notes
    -----
    The gap is drawn over the dual objective (the objective minus the gap), as
    `tol` counts it, down to 1e-12. Where the dual objective is not positive there
    is no such ratio and nothing is drawn.
    """
    figure = _figure(10, 4)
    left, right = figure.subplots(1, 2)
    for name, history in histories.items():
        seconds, objective, gap = np.array(history, float).reshape(-1, 3).T
        dual = objective - gap
        relative = np.divide(gap, dual, out=np.full_like(gap, np.nan), where=dual > 0)
        left.plot(seconds, objective, marker=".", label=name)
        right.plot(seconds, np.maximum(relative, 1e-12), marker=".", label=name)
    left.set(xlabel="CPU seconds", ylabel="objective", yscale="log")
    right.set(xlabel="CPU seconds", ylabel="gap / dual objective", yscale="log")
    right.legend(fontsize="small")
    figure.savefig(path)


def draw_by_depth(
    curves: Mapping[str, Mapping[int, tuple[float, float]]],
    path: str | PathLike[str],
    *,
    ylabel: str,
    title: str = "",
    theory: Mapping[str, Mapping[int, float]] | None = None,
    log: bool = False,
) -> None:
    """Draw values of several depths, a curve for each entry.

    Parameters
    ----------
    curves : mapping of str to mapping of int to (float, float)
        By the name that the legend shows: for each depth the value and half the
        length of its error bar.
    path : str or path
        The picture's file; replaced if it is there.
    ylabel, title : str
        What the values are; what the picture is.
    theory : mapping of str to mapping of int to float, optional
        By the same names, what the values should be: dashed, in the same colour.
    log : bool, default=False
        Whether the values' axis is logarithmic.

    Raises
    ------
    ImportError
        matplotlib is not installed.
    OSError
        If `path` cannot be written.
    """
    figure = _figure(8, 4)
    axes = figure.subplots()
    depths = sorted({depth for curve in curves.values() for depth in curve})
    for name, curve in curves.items():
        values, deviations = zip(*curve.values(), strict=True)
        bars = axes.errorbar(
            list(curve), values, deviations, marker="o", capsize=2, label=name
        )
        if expected := (theory or {}).get(name):
            axes.plot(
                list(expected),
                list(expected.values()),
                "x--",
                color=bars.lines[0].get_color(),
                label=f"{name}, theory",
            )
    axes.set(
        xlabel="depth", ylabel=ylabel, title=title, yscale="log" if log else "linear"
    )
    axes.set_xticks(depths)
    if not log:
        axes.set_ylim(bottom=0)
    figure.legend(loc="outside right upper", fontsize="small")
    figure.savefig(path)


def draw_histograms(
    histograms: Mapping[str, tuple[ArrayLike, ArrayLike]],
    path: str | PathLike[str],
    *,
    width: float,
    xlabel: str,
    title: str = "",
) -> None:
    """Draw histograms below each other, counts on a logarithmic axis.

    Parameters
    ----------
    histograms : mapping of str to (array-like, array-like)
        By the name above each: the lower ends of its bins, and their counts.
    path : str or path
        The picture's file; replaced if it is there.
    width : float
        Of a bin.
    xlabel, title : str
        What is counted; what the picture is.

    Raises
    ------
    ImportError
        matplotlib is not installed.
    OSError
        If `path` cannot be written.
    """
    figure = _figure(6, 1 + 1.7 * max(1, len(histograms)))
    panels = figure.subplots(max(1, len(histograms)), 1, sharex=True, squeeze=False)
    for axes, (name, (low, counts)) in zip(
        panels[:, 0], histograms.items(), strict=False
    ):
        axes.bar(low, counts, width=width, align="edge")
        axes.set(ylabel="nodes", yscale="log", xlim=(0, 1), ylim=(0.5, None))
        axes.set_title(name, fontsize="small", loc="right")
    panels[-1, 0].set_xlabel(xlabel)
    figure.suptitle(title)
    figure.savefig(path)


def picture_formats() -> list[str]:
    """Return the endings of files that matplotlib can draw to, without the dot."""
    return sorted(_figure(1, 1).canvas.get_supported_filetypes())


def _figure(width: float, height: float) -> Any:
    try:
        # Not pyplot: it keeps figures, and may want a screen.
        figures = import_module("matplotlib.figure")
    except ImportError as error:
        raise ImportError(
            "plots need matplotlib: pip install 'proxtree[plot]'"
        ) from error
    return figures.Figure(figsize=(width, height), layout="constrained", dpi=120)
