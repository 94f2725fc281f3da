"""Who is measured, with which settings, at what.

Settings of others are their defaults and what their own documentation recommends;
the source stands beside each.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

WORKER = Path(__file__).resolve().parent / "worker"
OURS = "proxtree"


@dataclass(frozen=True)
class Entry:
    """One thing to measure: a role of worker/main.py, and a peer's part in it.

    `predictions` are the ways in which a model is loaded and asked, by name.
    """

    role: str
    package: str
    setting: str
    environment: str
    peer: Path
    options: dict[str, Any] = field(default_factory=dict)
    predictions: dict[str, dict[str, Any]] = field(default_factory=lambda: {"": {}})

    @property
    def name(self) -> str:
        return f"{self.package}, {self.setting}" if self.setting else self.package


def _entry(role: str, package: str, setting: str, *more: Any, **options: Any) -> Entry:
    environment = more[0] if more else "peers"
    predictions = more[1] if len(more) > 1 else {"": {}}
    peer = WORKER / f"peer_{package.lower().replace('-', '_')}.py"
    return Entry(role, package, setting, environment, peer, options, predictions)


TREE = "LinearLabelTree"
ONE_VS_REST = "LinearOneVsRest, alpha 1, gap 1e-3"
L2_TREE = "L2 LinearLabelTree"
# LibMultiLabel counts the levels of nodes, we count the labels' level too.
L2_OPTIONS = {
    "solver": "dual_coordinate_descent", "C": 1.0, "n_clusters": 100, "max_depth": 6,
    "fit_intercept": False, "prune": 0.0, "alpha_exponent": 0.0,
    "propensity_weight": 0.0, "scoring": "log_sigmoid",
}  # fmt: skip

MODELS = [
    _entry("model", OURS, TREE, OURS),
    _entry(
        "model",
        "PECOS",
        "defaults",
        "pecos",
        # XLinearModel.load: chunked is the default and usually the fastest, hash
        # for very sparse queries.
        {"": {}, "hash chunks": {"weight_matrix_type": "HASH_CHUNKED"}},
    ),
    _entry("model", OURS, ONE_VS_REST, OURS, estimator="LinearOneVsRest", tol=1e-3),
    # pecos/xmc/xlinear/EXAMPLE.md and the JMLR experiments.
    _entry("model", "PECOS", "nr_splits 32", "pecos", nr_splits=32),
    _entry("model", "omikuji", "defaults (3 trees)"),
    _entry("model", "omikuji", "1 tree", n_trees=1),
    # README: "regular k-means for shallow trees", "layer collapsing".
    _entry(
        "model", "omikuji", "1 tree, k 100 unbalanced, depth 3",
        n_trees=1, cluster_balanced=False, cluster_k=100, max_depth=3,
    ),
    _entry(
        "model", "omikuji", "1 tree, collapse 5 layers",
        n_trees=1, collapse_every_n_layers=5,
    ),
    _entry(
        "model", "napkinXC", "defaults", "peers",
        {"": {}, "beam 10": {"tree_search_type": "beam"}},
    ),
    # experiments/plt_jmlr/plt_final.sh, one tree.
    _entry(
        "model", "napkinXC", "squared hinge, C 1, arity 16", "peers",
        {"": {}, "beam 10": {"tree_search_type": "beam"}},
        loss="l2", liblinear_c=1, arity=16, kmeans_balanced=False,
    ),
    _entry("model", OURS, L2_TREE, OURS, **L2_OPTIONS),
    _entry("model", "LibMultiLabel", "tree, K 100, dmax 5, -s 1 -c 1", "libmultilabel"),
]  # fmt: skip
LABELS = [
    _entry("labels", package, f"C = {C:g}", *environment, C=C)
    for C in (1.0, 10.0)
    for package, *environment in (("LIBLINEAR",), (OURS, OURS), ("scikit-learn",))
]
KMEANS = [
    _entry("kmeans", OURS, "LabelTree.build", OURS),
    _entry("kmeans", "scikit-learn", "elkan", algorithm="elkan"),
    _entry("kmeans", "sparsekmeans", "Lloyd", "libmultilabel", kind="LloydKmeans"),
    _entry("kmeans", "sparsekmeans", "Elkan", "libmultilabel", kind="ElkanKmeans"),
]
READING = [
    _entry("reading", OURS, "load_xmc", OURS),
    _entry("reading", "scikit-learn", "load_svmlight_file"),
    _entry("reading", "napkinXC", "load_libsvm_file, lists", labels_format="list"),
    _entry("reading", "napkinXC", "load_libsvm_file, CSR", labels_format="csr_matrix"),
]
ENTRIES = {"trees": MODELS, "liblinear": LABELS, "kmeans": KMEANS, "reading": READING}
