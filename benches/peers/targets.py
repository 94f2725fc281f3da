"""The ratios that proxtree aims at, each set alone and their geometric mean."""

from __future__ import annotations

from entries import KMEANS, L2_TREE, LABELS, MODELS, ONE_VS_REST, READING, TREE
from records import Records
from rules import Cell, Measured, Rule, labels, least, model
from summary import geometric_mean, ratio, summaries, table

TREE_PEERS = ("PECOS", "omikuji", "napkinXC")


LML = "LibMultiLabel"
CLUSTERERS = ("sparsekmeans", "scikit-learn")
LABEL_ROWS = (
    ("LIBLINEAR", 1, "geometric mean", 1 / 150),
    ("LIBLINEAR", 10, "geometric mean", 1 / 25),
    ("LIBLINEAR", 1, "sums", 1 / 12),
    ("LIBLINEAR", 10, "sums", 1 / 5),
    ("scikit-learn", 1, "sums", 1 / 15),
    ("scikit-learn", 10, "sums", 1 / 8),
)
# Rows that count whatever the accuracy, which is said all the same: the targets ask for
# it in training, batch prediction, file and memory of the default tree.
UNGUARDED = ("one-vs-rest", "tree, one row")
# What is compared, the ratio aimed at, and how it comes about.
MODEL_ROWS: list[tuple[str, float, Rule]] = [
    ("one-vs-rest, training against PECOS", 2,
     model(ONE_VS_REST, "fit_cpu_s", "PECOS")),
    ("one-vs-rest, prediction a row against PECOS", 1 / 4,
     model(ONE_VS_REST, "predict_cpu_us", "PECOS")),
    ("tree, training against the fastest", 1 / 3,
     model(TREE, "fit_cpu_s", *TREE_PEERS)),
    ("the same, peers' defaults only", 1 / 3,
     model(TREE, "fit_cpu_s", *TREE_PEERS, setting="defaults")),
    ("L2 tree, training against LibMultiLabel", 1 / 10,
     model(L2_TREE, "fit_cpu_s", LML)),
    ("K-means against sparsekmeans and scikit-learn", 1 / 4,
     least("kmeans", *CLUSTERERS)),
    ("tree, prediction a row against PECOS", 1 / 3,
     model(TREE, "predict_cpu_us", "PECOS")),
    ("tree, one row p50 against PECOS and omikuji", 1 / 2,
     model(TREE, "latency_p50_us", "PECOS", "omikuji")),
    ("tree, one row p99 against PECOS and omikuji", 1 / 2,
     model(TREE, "latency_p99_us", "PECOS", "omikuji")),
    ("tree, file against the smallest", 1 / 12,
     model(TREE, "bytes", *TREE_PEERS, LML)),
    ("tree, memory of training against the smallest", 1,
     model(TREE, "fit_rise_bytes", *TREE_PEERS, LML)),
    ("load_xmc against scikit-learn", 1 / 15, least("reading", "scikit-learn")),
    ("load_xmc against napkinXC", 1 / 2, least("reading", "napkinXC")),
]  # fmt: skip
ROWS = [
    (
        f"certified labels, {how} against {peer}, C = {C}",
        target,
        labels(peer, C, sums=how == "sums"),
    )
    for peer, C, how, target in LABEL_ROWS
] + MODEL_ROWS


def targets(records: Records, sets: list[str]) -> str:
    """Return the table; what does not count is marked and said below."""
    entries = [*MODELS, *LABELS, *KMEANS, *READING]
    measured = {
        name: Measured(
            name, {s.entry.name: s for s in summaries(records, name, entries)}
        )
        for name in sets
    }
    lines, breaches = [], []
    for title, target, rule in ROWS:
        cells = {name: rule(measured[name]) for name in sets}
        known = {name: cell for name, cell in cells.items() if cell}
        mean = geometric_mean([c.ratio for c in known.values()]) if known else None
        complete = len(known) == len(sets)
        broken = [name for name, cell in known.items() if cell.breach]
        breaches += [f"{title}, {name}: {known[name].breach}." for name in broken]
        counts = not broken or title.startswith(UNGUARDED)
        reached = mean is not None and mean <= target and counts
        lines.append(
            [
                title,
                *(_shown(cells[name]) for name in sets),
                ratio(mean) + ("" if complete else " (not all sets)") if mean else "-",
                ratio(target),
                ("yes" if reached else "no") if complete else "-",
            ]
        )
    text = table(
        ["ours over theirs", *sets, "geometric mean", "target", "reached"], lines
    )
    if breaches:
        text += "\n\n(!) our accuracy or objective is too low for a row to count, but "
        text += "for one-vs-rest and one row at a time, where none is asked for: "
        text += " ".join(breaches)
    return text


def _shown(cell: Cell | None) -> str:
    if cell is None:
        return "-"
    mark = " (!)" if cell.breach else ""
    return f"{ratio(cell.ratio)}{mark}" + (f", {cell.against}" if cell.against else "")
