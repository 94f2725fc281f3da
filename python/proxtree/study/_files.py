"""The files of a study: CSV, Markdown, pictures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from proxtree import plots
from proxtree.study._models import ModelStudy
from proxtree.study._report import ratios, to_markdown, write_csv
from proxtree.study._settings import Setting
from proxtree.study._space import BIN_WIDTH, HistogramRow, SpaceStudy

_RATIO = "bytes of the tree / bytes of one-vs-rest (20)"


def write_tables(
    folder: Path,
    studies: Sequence[SpaceStudy],
    models: Mapping[str, ModelStudy],
    closing: str,
) -> list[str]:
    """Write the CSV and Markdown files of all data sets; return their names.

    `models` by data set; `closing` ends the Markdown: how it was made.
    """
    tables: dict[str, Sequence[Any]] = {
        "trees.csv": [row for study in studies for row in study.trees],
        "levels.csv": [row for study in studies for row in study.levels],
        "feature_ratios.csv": [row for study in studies for row in study.histogram],
        "models.csv": [row for trained in models.values() for row in trained.models],
        "model_levels.csv": [
            row for trained in models.values() for row in trained.levels
        ],
    }
    written = {name: rows for name, rows in tables.items() if rows}
    for name, rows in written.items():
        write_csv(folder / name, rows)
    sections = [to_markdown(study, models.get(study.data_set)) for study in studies]
    text = "\n".join(["# Space of label trees", "", *sections, closing, ""])
    (folder / "space.md").write_text(text, encoding="utf-8")
    return ["space.md", *written]


def draw_pictures(
    folder: Path, studies: Sequence[SpaceStudy], models: Mapping[str, ModelStudy]
) -> list[str]:
    """Draw the pictures of all data sets; return their names.

    Raises
    ------
    ImportError
        matplotlib is not installed.
    """
    written = []
    for rule, title in (
        ("fixed", "K fixed"),
        ("varied", "K = ceil(labels ** (1 / depth))"),
    ):
        curves = {study.data_set: ratios(study, rule) for study in studies}
        expected = {study.data_set: _theory(study, rule) for study in studies}
        name = f"ratio_{rule}.png"
        plots.draw_by_depth(curves, folder / name, ylabel=_RATIO, title=title)
        plots.draw_by_depth(
            curves,
            folder / f"theory_{rule}.png",
            ylabel=_RATIO,
            title=title,
            theory=expected,
        )
        written += [name, f"theory_{rule}.png"]
    for study in studies:
        name = f"feature_ratios_{study.data_set}.png"
        plots.draw_histograms(
            _histograms(study),
            folder / name,
            width=BIN_WIDTH,
            xlabel="features of a node / features of its parent",
            title=study.data_set,
        )
        written.append(name)
    rows = list(chain.from_iterable(trained.models for trained in models.values()))
    for penalty in dict.fromkeys(row.penalty for row in rows):
        weights: dict[str, dict[int, tuple[float, float]]] = {}
        for row in rows:
            if row.penalty == penalty and row.rule != "varied":
                curve = weights.setdefault(row.data_set, {})
                curve[row.max_depth] = (float(row.n_weights), 0.0)
        name = f"weights_{penalty}.png"
        plots.draw_by_depth(
            weights,
            folder / name,
            ylabel="non-zero weights",
            title=f"{penalty}, K fixed; depth 1 is one-vs-rest",
            log=True,
        )
        written.append(name)
    return written


def _theory(study: SpaceStudy, rule: str) -> dict[int, float]:
    """Return the theory's mean ratio for each setting of `rule`, by `max_depth`."""
    values: dict[int, list[float]] = {}
    for row in study.trees:
        if row.rule == rule:
            values.setdefault(row.max_depth, []).append(row.theory_ratio_weighted)
    return {depth: float(np.mean(found)) for depth, found in values.items()}


def _histograms(study: SpaceStudy) -> dict[str, tuple[list[float], list[int]]]:
    """Return a histogram for each level of each rule's deepest tree."""
    deepest: dict[str, Setting] = {}
    for tree in study.trees:
        deepest[tree.rule] = Setting(tree.rule, tree.n_clusters, tree.max_depth)
    panels: dict[str, list[HistogramRow]] = {}
    for row in study.histogram:
        if Setting(row.rule, row.n_clusters, row.max_depth) in deepest.values():
            name = f"{row.rule} K = {row.n_clusters}, nodes at depth {row.depth}"
            panels.setdefault(name, []).append(row)
    return {
        name: ([row.low for row in rows], [row.n_nodes for row in rows])
        for name, rows in panels.items()
    }
