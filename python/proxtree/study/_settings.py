"""Which trees a study builds: the paper's section 6.1."""

from __future__ import annotations

from typing import NamedTuple

FIXED_DEPTHS = (2, 3, 4, 5, 6)
VARIED_DEPTHS = (2, 3, 4)


class Setting(NamedTuple):
    """The shape of one tree."""

    #: "fixed": K is the same for every depth; "varied": the least K with which a
    #: balanced tree of this depth holds all labels; "flat": one-vs-rest.
    rule: str
    n_clusters: int
    max_depth: int


def settings_for(n_labels: int, n_clusters: int = 100) -> list[Setting]:
    """Return the settings that are studied for `n_labels` labels.

    Examples
    --------
    >>> from proxtree.study import settings_for
    >>> [s.n_clusters for s in settings_for(3993) if s.rule == "varied"]
    [64, 16, 8]
    """
    fixed = [Setting("fixed", n_clusters, depth) for depth in FIXED_DEPTHS]
    return fixed + [
        Setting("varied", max(2, root_ceil(n_labels, depth)), depth)
        for depth in VARIED_DEPTHS
    ]


def root_ceil(n: int, degree: int) -> int:
    """Return the least k with ``k**degree >= n``, exactly; n >= 1."""
    low, high = 0, 1 << -(-n.bit_length() // degree)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if middle**degree < n else (low, middle)
    return high
