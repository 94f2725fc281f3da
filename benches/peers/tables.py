"""Markdown tables of what was measured on one set."""

from __future__ import annotations

import sys

from entries import KMEANS, LABELS, MODELS, OURS, READING
from records import Records
from summary import Summary, geometric_mean, ratio, summaries, table

# Smallest and largest number of positives, and how tables call it.
FREQUENCY_BINS = [
    (1, 5, "1-5"),
    (6, 20, "6-20"),
    (21, 100, "21-100"),
    (101, 1000, "101-1,000"),
    (1001, sys.maxsize, "more"),
    (1, sys.maxsize, "all"),
]


def models(records: Records, data_set: str) -> str:
    """Training, size, prediction and accuracy; a line for each way of prediction."""
    header = [
        "model", "n", "training CPU s", "wall s", "memory MB", "file MB",
        "load, import CPU s", "prediction us a row", "one row us, p50 / p99",
        "P@1/3/5", "PSP@1/3/5",
    ]  # fmt: skip
    lines = []
    for summary in summaries(records, data_set, MODELS):
        if summary.problem:
            if summary.problem != "not measured":
                lines.append([summary.entry.name, "0", summary.problem, *[""] * 8])
            continue
        cells = [
            summary.entry.name, str(summary.n), f"{summary['fit_cpu_s']:.2f}",
            f"{summary['fit_wall_s']:.1f}", f"{summary['fit_rise_bytes'] / 1e6:.1f}",
            f"{summary['bytes'] / 1e6:.3f}",
            f"{summary['load_cpu_s']:.2f}, {summary['import_cpu_s']:.2f}",
        ]  # fmt: skip
        for name, found in summary["predictions"].items():
            # Ways after the first are of the same model.
            shown = cells if not name else [f"... {name}", *[""] * 6]
            if found["status"] != "ok":
                lines.append([*shown, found["status"], "", "", ""])
                continue
            lines.append(
                [
                    *shown,
                    f"{found['predict_cpu_us']:.1f}",
                    f"{found['latency_p50_us']:.0f} / {found['latency_p99_us']:.0f}",
                    *(
                        "/".join(f"{found[f'{metric}@{k}']:.2f}" for k in (1, 3, 5))
                        for metric in ("P", "PSP")
                    ),
                ]
            )
    return table(header, lines) if lines else ""


def labels(records: Records, data_set: str) -> str:
    """One table for each C: CPU by frequency, ratios and objectives."""
    found = summaries(records, data_set, LABELS)
    parts = []
    for C in dict.fromkeys(entry.options["C"] for entry in LABELS):
        here = {s.entry.package: s for s in found if s.entry.options["C"] == C}
        ours = here.pop(OURS)
        problems = [
            f"{s.entry.name}: {s.problem}."
            for s in (ours, *here.values())
            if s.problem not in ("", "not measured")
        ]
        peers = [s for s in here.values() if not s.problem]
        if not ours.problem and peers:
            parts.append(f"C = {C:g}:\n\n{_labels(ours, peers)}")
        if problems:
            parts.append(" ".join(problems))
    return "\n\n".join(parts)


def _labels(ours: Summary, peers: list[Summary]) -> str:
    header = ["positives", "labels", "proxtree ms"]
    for peer in peers:
        name = peer.entry.package
        header += [f"{name} ms", "geo. mean", "sums", "worst objective ratio"]
    header.append("largest gap")
    lines = []
    for low, high, name in FREQUENCY_BINS:
        chosen = [i for i, n in enumerate(ours["positives"]) if low <= n <= high]
        if not chosen:
            continue
        cells = [name, str(len(chosen)), f"{_mean_ms(ours, chosen):.2f}"]
        for peer in peers:
            sums = [sum(s["cpu_s"][i] for i in chosen) for s in (ours, peer)]
            worst = max(ours["objective"][i] / peer["objective"][i] for i in chosen)
            cells += [
                f"{_mean_ms(peer, chosen):.2f}",
                ratio(geometric_mean(label_ratios(ours, peer, chosen))),
                ratio(sums[0] / sums[1]),
                f"{worst:.6f}",
            ]
        cells.append(f"{max(ours['gap'][i] for i in chosen):.1e}")
        lines.append(cells)
    totals = ", ".join(
        f"{s.entry.package} {s['total_cpu_s']:.2f}" for s in (ours, *peers)
    )
    return (
        f"{table(header, lines)}\n\nCPU s of all labels, ours the whole fit: {totals}."
    )


def label_ratios(ours: Summary, peer: Summary, chosen: list[int]) -> list[float]:
    """Return our CPU over theirs, label by label."""
    # A clock that stood still must not give a ratio of 0.
    return [
        max(ours["cpu_s"][i], 1e-9) / max(peer["cpu_s"][i], 1e-9) for i in chosen
    ]  # fmt: skip


def _mean_ms(summary: Summary, chosen: list[int]) -> float:
    return 1e3 * sum(summary["cpu_s"][i] for i in chosen) / len(chosen)


def kmeans(records: Records, data_set: str) -> str:
    """CPU and objective of one K-means run, mean over seeds."""
    lines = [
        [
            s.entry.name, str(s.n), f"{s['n_clusters']:.0f}", f"{s['cpu_s']:.3f}",
            f"{s['objective']:.3f}", f"{s['n_seeds']:.0f}",
        ]
        for s in summaries(records, data_set, KMEANS)
        if not s.problem
    ]  # fmt: skip
    header = ["K-means", "n", "K", "CPU s", "objective", "seeds"]
    return table(header, lines) if lines else ""


def reading(records: Records, data_set: str) -> str:
    """CPU and speed of reading the training text."""
    lines = [
        [
            s.entry.name, str(s.n), f"{s['cpu_s']:.3f}",
            f"{s['text_bytes'] / s['cpu_s'] / 1e6:.0f}", f"{s['rise_bytes'] / 1e6:.0f}",
        ]
        for s in summaries(records, data_set, READING)
        if not s.problem
    ]  # fmt: skip
    return (
        table(["reader", "n", "CPU s", "MB a s", "memory MB"], lines) if lines else ""
    )
