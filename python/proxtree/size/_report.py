"""What was known of a model's size, and what it became."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

from proxtree import _core
from proxtree.size._size_plan import SizePlan

Facts = dict[str, float]


@dataclass(frozen=True)
class SizeReport:
    """Bound, estimate and truth of a model's size.

    Attributes
    ----------
    truth : dict
        "nonzeros", weights and intercepts; "bytes_file", without certificates.
    bound : dict or None
        "nonzeros" from tree and data alone; None for a model whose file does not
        hold what was planned.
    estimate : dict or None
        "nonzeros" and "bytes_file" from a sample, each also with "_low" and
        "_high"; None if nothing was estimated: see `proxtree.plan`.
    """

    truth: Facts
    bound: Facts | None
    estimate: Facts | None

    @classmethod
    def of(cls, plan: SizePlan | None, model: _core.Model, file_bytes: int) -> Self:
        """Compare a plan with the model."""
        truth: Facts = {"nonzeros": model.n_nonzero, "bytes_file": file_bytes}
        bound = None if plan is None else {"nonzeros": float(plan.nonzeros_bound)}
        estimate = None
        if plan is not None and plan.nonzeros_estimate is not None:
            estimate = {}
            for name, value, interval in (
                ("nonzeros", plan.nonzeros_estimate, plan.nonzeros_interval),
                ("bytes_file", plan.bytes_file, plan.bytes_file_interval),
            ):
                if value is not None and interval is not None:
                    estimate[name] = value
                    estimate[f"{name}_low"], estimate[f"{name}_high"] = interval
        return cls(truth, bound, estimate)

    def to_dict(self) -> dict[str, Any]:
        """Return the three parts, ready for JSON."""
        return {"bound": self.bound, "estimate": self.estimate, "truth": self.truth}

    def __str__(self) -> str:
        lines = [f"{'':<12}{'bound':>16}{'estimate':>16}{'truth':>16}"]
        for name, shown in (("nonzeros", "non-zeros"), ("bytes_file", "file, bytes")):
            cells = [
                "-" if part is None or name not in part else f"{part[name]:,.0f}"
                for part in (self.bound, self.estimate, self.truth)
            ]
            lines.append(f"{shown:<12}" + "".join(f"{cell:>16}" for cell in cells))
        return "\n".join(lines)
