"""Plans as tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from proxtree.size._size_plan import SizePlan


def human_bytes(n: float) -> str:
    """Return a number of bytes with a decimal unit."""
    for unit, scale in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if n >= scale:
            return f"{n / scale:.1f} {unit}"
    return f"{n:.0f} bytes"


def _seconds(s: float) -> str:
    return f"{s:.3g} s"


def _count(n: float) -> str:
    return f"{n:,.0f}"


def plan_lines(plan: SizePlan) -> list[str]:
    """Return what is certain, what is estimated, and a line for each depth."""
    rows = [
        ("problems", _count(plan.n_problems), ""),
        ("non-zeros, at most", _count(plan.nonzeros_bound), ""),
        *_estimates(plan),
        ("paper's account", human_bytes(plan.bytes_paper), ""),
        ("dense one-vs-rest", human_bytes(plan.bytes_one_vs_rest), ""),
        ("their ratio", f"{plan.ratio_paper:.3f}", ""),
        ("LibMultiLabel says", human_bytes(plan.bytes_libmultilabel), ""),
        (
            "one-vs-rest, at most",
            _count(plan.one_vs_rest["nonzeros_bound"]),
            "non-zeros",
        ),
    ]
    lines = [f"{name:<22}{value:>16}  {note}".rstrip() for name, value, note in rows]
    return [*lines, "", *_depth_lines(plan)]


def _estimates(plan: SizePlan) -> list[tuple[str, str, str]]:
    quantities: Sequence[tuple[str, Any, Any, Any]] = (
        ("non-zeros", plan.nonzeros_estimate, plan.nonzeros_interval, _count),
        ("file", plan.bytes_file, plan.bytes_file_interval, human_bytes),
        (
            f"memory, {plan.n_threads} threads",
            plan.peak_memory_bytes,
            plan.peak_memory_interval,
            human_bytes,
        ),
        ("CPU time", plan.cpu_s, plan.cpu_s_interval, _seconds),
        ("wall time", plan.wall_s, plan.wall_s_interval, _seconds),
    )
    return [
        (name, show(value), f"{show(interval[0])} to {show(interval[1])}")
        for name, value, interval, show in quantities
        if value is not None
    ]


def _depth_lines(plan: SizePlan) -> list[str]:
    names = {
        "depth": "depth",
        "n_nodes": "nodes",
        "n_labels": "labels",
        "n_problems": "problems",
        "n_features": "features",
        "feature_ratio": "ratio",
        "feature_ratio_weighted": "weighted",
        "nonzeros_bound": "bound",
        "nonzeros_estimate": "non-zeros",
    }
    lines = ["".join(f"{shown:>13}" for shown in names.values())]
    for row in plan.depths:
        cells = []
        for name in names:
            value = row[name]
            if value != value:
                cells.append("-")
            elif name.startswith("feature_ratio"):
                cells.append(f"{value:.4f}")
            else:
                cells.append(f"{value:,.0f}")
        lines.append("".join(f"{cell:>13}" for cell in cells))
    return lines
