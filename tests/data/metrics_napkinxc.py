"""Write metrics_napkinxc.json: a seeded small case and napkinXC's numbers for it.

In an environment with napkinxc 0.7.2 (it is no dependency of proxtree):
    python tests/data/metrics_napkinxc.py
"""

import json
from importlib.metadata import version
from pathlib import Path


def main() -> None:
    import numpy as np
    from napkinxc import metrics as nx

    rng = np.random.default_rng(0)
    n_labels, k = 12, 5
    weights = 1 / np.arange(1, n_labels + 1)

    def label_lists(sizes: list[int]) -> list[list[int]]:
        p = weights / weights.sum()
        return [
            sorted(rng.choice(n_labels, size, replace=False, p=p).tolist())
            for size in sizes
        ]

    # The last label is on one row each, so that napkinXC sees all label ids.
    train = [*label_lists(rng.integers(0, 5, 39).tolist()), [n_labels - 1]]
    # Sizes 0 (no label), 1, ..., 8 (more than k).
    true = label_lists([0, 1, 2, 3, 4, 5, 6, 8, 1, 1, 2, 3, 0, 7, 2])
    ranked = [
        rng.choice(n_labels, k, replace=False, p=weights / weights.sum()).tolist()
        for _ in true
    ]
    inverse = nx.Jain_et_al_inverse_propensity(train, A=0.55, B=1.5)
    result = {
        "P": nx.precision_at_k(true, ranked, k),
        "R": nx.recall_at_k(true, ranked, k),
        "nDCG": nx.ndcg_at_k(true, ranked, k),
        "coverage": nx.coverage_at_k(true, ranked, k),
        "PSP": nx.psprecision_at_k(true, ranked, inverse, k),
        "PSnDCG": nx.psndcg_at_k(true, ranked, inverse, k),
        "inverse_propensity": inverse,
        "inverse_propensity_wikipedia": nx.Jain_et_al_inverse_propensity(
            train, A=0.5, B=0.4
        ),
    }
    golden = {
        "made_by": "tests/data/metrics_napkinxc.py",
        "napkinxc": version("napkinxc"),
        "n_labels": n_labels,
        "train": train,
        "true": true,
        "ranked": ranked,
        "at_1_to_5": {name: value.tolist() for name, value in result.items()},
    }
    path = Path(__file__).with_suffix(".json")
    path.write_text(json.dumps(golden) + "\n")


if __name__ == "__main__":
    main()
