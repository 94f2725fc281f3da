"""What a study found: tables for machines and for people."""

from __future__ import annotations

import csv
import math
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from proxtree.study._models import ModelRow, ModelStudy
from proxtree.study._settings import Setting
from proxtree.study._space import LevelRow, SpaceStudy, TreeRow

# A ratio that changes by less than this share of itself has stopped falling.
_STILL = 0.02


def write_csv(path: str | Path, rows: Sequence[Any]) -> None:
    """Write named tuples of one kind as CSV, NaN as nothing."""
    with Path(path).open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(rows[0]._fields)
        for row in rows:
            writer.writerow("" if _is_nan(value) else value for value in row)


def spread(
    study: SpaceStudy, setting: Setting, value: Callable[[TreeRow], float]
) -> tuple[float, float]:
    """Return mean and standard deviation over the seeds of a setting."""
    values = [value(row) for row in study.trees if _setting(row) == setting]
    return float(np.mean(values)), float(np.std(values, ddof=len(values) > 1))


def ratios(study: SpaceStudy, rule: str) -> dict[int, tuple[float, float]]:
    """Return mean and spread of ratio (20) by `max_depth`."""
    return {
        setting.max_depth: spread(study, setting, lambda row: row.ratio_paper)
        for setting in dict.fromkeys(map(_setting, study.trees))
        if setting.rule == rule
    }


def statements(study: SpaceStudy) -> list[tuple[str, str]]:
    """Return the paper's statements about trees, and what these data say to them."""
    fixed, varied = ratios(study, "fixed"), ratios(study, "varied")
    means = [fixed[depth][0] for depth in sorted(fixed)]
    # Without features there is nothing to fall.
    drops = [(a - b) / a if a else 0.0 for a, b in pairwise(means)]
    last = means[-1]
    still = next((i for i, drop in enumerate(drops) if drop < _STILL), len(drops))
    stays = all(abs(drop) < _STILL for drop in drops[still:])
    if still == len(drops):
        end = f"; still falls at depth {max(fixed)}"
    else:
        end = f"; falls by less than 2 % from depth {min(fixed) + still} on"
    by_depth = [varied[depth][0] for depth in sorted(varied)]
    return [
        (
            "a tree takes 20 to 40 % of one-vs-rest on small sets, under 10 % on large",
            f"{100 * last:.1f} % with {study.n_labels:,} labels",
        ),
        (
            "with fixed K the ratio falls with depth, then stays",
            ("holds: " if stays else "does not hold: ")
            + ", ".join(f"{mean:.3f}" for mean in means)
            + (end if stays else ""),
        ),
        (
            "with varied K the ratio falls with depth",
            (
                "holds: "
                if by_depth == sorted(by_depth, reverse=True)
                else "does not hold: "
            )
            + ", ".join(f"{mean:.3f}" for mean in by_depth),
        ),
        (
            "at d_max = 4 fixed K is smaller than varied K",
            ("holds: " if fixed[4][0] < varied[4][0] else "does not hold: ")
            + f"{fixed[4][0]:.3f} and {varied[4][0]:.3f}",
        ),
    ]


def to_markdown(study: SpaceStudy, models: ModelStudy | None = None) -> str:
    """Return the study of one data set as a section of Markdown."""
    lines = [
        f"## {study.data_set}",
        "",
        f"{study.n_samples:,} samples, {study.n_features:,} features, "
        f"{study.n_labels:,} labels. {len(study.seeds)} seeds of K-means, at most "
        f"{study.max_iter} rounds; mean and standard deviation over the seeds.",
        "",
        *_trees_table(study),
        "",
        *_levels_table(study),
        "",
        *(f"* {text}: {found}." for text, found in statements(study)),
        "",
    ]
    if models is not None:
        lines += _models_section(study, models)
    return "\n".join(lines)


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Return a Markdown table."""
    lines = [header, ["---"] * len(header), *rows]
    return ["| " + " | ".join(line) + " |" for line in lines]


def _trees_table(study: SpaceStudy) -> list[str]:
    def row(setting: Setting) -> list[str]:
        def cell(value: Callable[[TreeRow], float], digits: int = 3) -> str:
            return _cell(*spread(study, setting, value), digits)

        first = next(r for r in study.trees if _setting(r) == setting)
        return [
            f"{setting.rule} {setting.n_clusters}",
            str(setting.max_depth),
            cell(lambda r: r.depth, 1),
            cell(lambda r: r.n_problems, 0),
            cell(lambda r: r.ratio_paper),
            cell(lambda r: r.feature_ratio),
            cell(lambda r: r.feature_ratio_weighted),
            f"{cell(lambda r: r.theory_ratio)} / "
            f"{cell(lambda r: r.theory_ratio_weighted)} (d = {first.theory_depth})",
        ]

    header = [
        "K",
        "d_max",
        "depth",
        "problems",
        "ratio (20)",
        "feature ratio",
        "weighted",
        "theory's ratio from the plain / the weighted",
    ]
    return table(header, map(row, dict.fromkeys(map(_setting, study.trees))))


def _levels_table(study: SpaceStudy) -> list[str]:
    """Return a table of the deepest trees' levels, means over the seeds."""
    deepest: dict[tuple[str, int], Setting] = {}
    for row in study.trees:
        deepest[row.rule, row.n_clusters] = _setting(row)
    groups: dict[Setting, dict[int, list[LevelRow]]] = {}
    for level in study.levels:
        depths = groups.setdefault(_setting(level), {})
        depths.setdefault(level.depth, []).append(level)
    header = [
        "K",
        "d_max",
        "depth of the nodes",
        "nodes",
        "problems",
        "weights at most",
        "feature ratio",
        "weighted",
    ]
    # A tree that does not come so deep has no nodes there.
    n_seeds = len(study.seeds)
    rows = [
        [
            f"{setting.rule} {setting.n_clusters}",
            str(setting.max_depth),
            str(depth),
            f"{sum(r.n_nodes for r in rows) / n_seeds:,.1f}",
            f"{sum(r.n_problems for r in rows) / n_seeds:,.1f}",
            f"{sum(r.nonzeros_bound for r in rows) / n_seeds:,.0f}",
            _cell(float(np.mean([r.feature_ratio for r in rows])), 0.0),
            _cell(float(np.mean([r.feature_ratio_weighted for r in rows])), 0.0),
        ]
        for setting in deepest.values()
        for depth, rows in groups[setting].items()
    ]
    return table(header, rows)


def _models_section(study: SpaceStudy, models: ModelStudy) -> list[str]:
    flat = {row.penalty: row.n_weights for row in models.models if row.rule == "flat"}
    used = next(level.n_features for level in study.levels if level.depth == 0)
    bounds = {
        _setting(row): row.nonzeros_bound
        for row in study.trees
        if row.seed == study.seeds[0]
    }

    def row(model: ModelRow) -> list[str]:
        bound = bounds.get(_setting(model), study.n_labels * used)
        against = flat.get(model.penalty)
        by_depth = [
            f"{level.n_weights:,}" for level in models.levels if level[:6] == model[:6]
        ]
        return [
            model.penalty,
            "one-vs-rest"
            if model.rule == "flat"
            else f"{model.rule} {model.n_clusters}",
            str(model.max_depth),
            f"{model.n_problems:,}",
            f"{model.n_weights:,}",
            " + ".join(by_depth),
            f"{100 * model.n_weights / bound:.2f} %",
            f"{model.n_weights / against:.3f}" if against else "",
            f"{model.cpu_s:.1f}",
        ]

    header = [
        "penalty",
        "K",
        "d_max",
        "problems",
        "weights",
        "by depth of the node",
        "of the bound",
        "over one-vs-rest's",
        "CPU s",
    ]
    return [
        f"Trained trees of seed {study.seeds[0]}, weights without intercepts:",
        "",
        *table(header, map(row, models.models)),
        "",
        *(f"* skipped: {text}" for text in models.skipped),
        "",
    ]


def _cell(mean: float, deviation: float, digits: int = 3) -> str:
    if math.isnan(mean):
        return ""
    text = f"{mean:,.{digits}f}"
    return f"{text} ± {deviation:,.{digits}f}" if deviation > 0 else text


def _setting(row: Any) -> Setting:
    return Setting(row.rule, row.n_clusters, row.max_depth)


def _is_nan(value: Any) -> bool:
    return isinstance(value, float) and math.isnan(value)
