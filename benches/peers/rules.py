"""How a number of ours is set against the peers' on one set."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from entries import OURS
from summary import Summary, geometric_mean
from tables import label_ratios

# How much P@5 and PSP@5 may lie below the peer's, in percentage points.
SLACK, SLACK_OF = 0.6, {"eurlex57k": 1.4}
# An objective counts as no worse up to this factor.
OBJECTIVE, KMEANS_OBJECTIVE = 1.001, 1.01


@dataclass(frozen=True)
class Cell:
    """A ratio on one set; `against` says whom, `breach` why it does not count."""

    ratio: float
    against: str = ""
    breach: str = ""


@dataclass(frozen=True)
class Measured:
    """What was measured on one set, by name."""

    data_set: str
    found: dict[str, Summary]

    def __getitem__(self, name: str) -> Summary | None:
        found = self.found.get(name)
        return None if found is None or found.problem else found

    def of(self, role: str, *packages: str) -> list[Summary]:
        """Return the good summaries of some packages."""
        return [
            s
            for s in self.found.values()
            if not s.problem and s.entry.role == role and s.entry.package in packages
        ]

    def guard(self, ours: Summary, peer: Summary) -> str:
        """Say where our accuracy lies too far below the peer's, or nothing."""
        slack = SLACK_OF.get(self.data_set, SLACK)
        mine, theirs = ours.accuracy(), peer.accuracy()
        if not mine or not theirs:
            return "accuracy unknown"
        low = {name: mine[name] - theirs[name] for name in ("P@5", "PSP@5")}
        return ", ".join(
            f"{name} {difference:+.2f}"
            for name, difference in low.items()
            if difference < -slack
        )


Rule = Callable[[Measured], Cell | None]


def labels(peer: str, C: float, *, sums: bool) -> Rule:
    """CPU of certified labels: the mean of their ratios, or the ratio of sums."""

    def rule(measured: Measured) -> Cell | None:
        ours, theirs = measured[f"{OURS}, C = {C:g}"], measured[f"{peer}, C = {C:g}"]
        if not ours or not theirs:
            return None
        every = list(range(len(ours["cpu_s"])))
        worst = max(ours["objective"][i] / theirs["objective"][i] for i in every)
        breach = f"objective {worst:.4f}" if worst > OBJECTIVE else ""
        if sums:
            # Ours with what the whole fit does besides solving.
            return Cell(ours["total_cpu_s"] / theirs["total_cpu_s"], "", breach)
        return Cell(geometric_mean(label_ratios(ours, theirs, every)), "", breach)

    return rule


def model(mine: str, what: str, *peers: str, setting: str = "") -> Rule:
    """A number of one of our models against the least among the peers' models."""

    def rule(measured: Measured) -> Cell | None:
        ours = measured[f"{OURS}, {mine}"]
        theirs = [
            (value, name, s)
            for s in measured.of("model", *peers)
            if s.entry.setting.startswith(setting)
            for name, value in _values(s, what)
        ]
        if not ours or not theirs or not (values := _values(ours, what)):
            return None
        least, name, peer = min(theirs, key=lambda item: item[0])
        return Cell(values[0][1] / least, name, measured.guard(ours, peer))

    return rule


def _values(summary: Summary, what: str) -> list[tuple[str, float]]:
    """Return a number of a model; of predictions, one for each way to predict."""
    if what in summary:
        return [(summary.entry.name, summary[what])]
    return [
        (f"{summary.entry.name}, {way}" if way else summary.entry.name, found[what])
        for way, found in summary.predictions().items()
    ]


def least(role: str, *peers: str) -> Rule:
    """CPU of K-means or of reading against the fastest of the peers."""

    def rule(measured: Measured) -> Cell | None:
        ours, theirs = measured.of(role, OURS), measured.of(role, *peers)
        if not ours or not theirs:
            return None
        peer = min(theirs, key=lambda s: s["cpu_s"])
        breach = ""
        if "objective" in peer:
            worse = ours[0]["objective"] / min(s["objective"] for s in theirs)
            breach = f"objective {worse:.3f}" if worse > KMEANS_OBJECTIVE else ""
        elif ours[0]["nonzeros"] != peer["nonzeros"]:
            breach = "another matrix"
        return Cell(ours[0]["cpu_s"] / peer["cpu_s"], peer.entry.name, breach)

    return rule
