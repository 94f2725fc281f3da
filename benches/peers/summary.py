"""Medians over the records of one entry, and what tables need of them."""

from __future__ import annotations

import math
from statistics import median
from typing import Any

from entries import Entry
from records import Record, Records


class Summary:
    """One entry on one set: medians of its good records, or why there are none."""

    def __init__(self, entry: Entry, records: list[Record]) -> None:
        good = [record for record in records if record["status"] == "ok"]
        bad = [record["status"] for record in records if record["status"] != "ok"]
        self.entry = entry
        self.n = len(good)
        self.problem = "" if good else (bad[-1] if bad else "not measured")
        self.values: dict[str, Any] = middle(good) if good else {}

    def __getitem__(self, name: str) -> Any:
        return self.values[name]

    def __contains__(self, name: str) -> bool:
        return name in self.values

    def predictions(self) -> dict[str, dict[str, Any]]:
        """Return what was measured for each way of prediction that worked."""
        found: dict[str, dict[str, Any]] = self.values.get("predictions", {})
        return {name: p for name, p in found.items() if p["status"] == "ok"}

    def accuracy(self) -> dict[str, Any]:
        """Return the scores of the first way of prediction, or nothing."""
        return next(iter(self.predictions().values()), {})


def summaries(records: Records, data_set: str, entries: list[Entry]) -> list[Summary]:
    """Return the summaries of all entries on a set, measured or not."""
    return [Summary(entry, records.of(data_set, entry)) for entry in entries]


def middle(values: list[Any]) -> Any:
    """Return the median of numbers; of lists and dicts, that of their members.

    Anything else is taken from the last.
    """
    if all(isinstance(value, (int, float)) for value in values):
        return median(values)
    if all(isinstance(value, list) for value in values):
        return [middle(list(items)) for items in zip(*values, strict=True)]
    if all(isinstance(value, dict) for value in values):
        return {
            name: middle([value[name] for value in values if name in value])
            for name in values[-1]
        }
    return values[-1]


def geometric_mean(values: list[float]) -> float:
    return math.exp(sum(map(math.log, values)) / len(values))


def ratio(value: float) -> str:
    """Write a ratio: below one as a fraction with 1 above the line."""
    inverse = 1 / value
    if value < 0.995:
        return f"1/{inverse:,.0f}" if inverse >= 100 else f"1/{inverse:.3g}"
    return f"{value:.3g}"


def table(header: list[str], lines: list[list[str]]) -> str:
    """Return a Markdown table."""
    rows = [header, ["---"] * len(header), *lines]
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)
