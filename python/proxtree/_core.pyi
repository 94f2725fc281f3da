"""Types of the native module; checked against it by stubtest."""

from collections.abc import Callable
from os import PathLike
from typing import Any, Final, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "MAX_THREADS",
    "LabelTree",
    "Model",
    "TextReader",
    "TrainSettings",
    "available_bytes",
    "available_threads",
    "format_rows",
    "kmeans",
    "label_features",
    "measure",
    "normalize_rows",
    "solve_path",
    "train",
    "train_some",
]

_Index: TypeAlias = NDArray[np.int32] | NDArray[np.int64]
_Csr: TypeAlias = tuple[_Index, _Index, NDArray[np.float32], tuple[int, int]]
_Pattern: TypeAlias = tuple[_Index, _Index, tuple[int, int]]
_CsrOut: TypeAlias = tuple[_Index, _Index, NDArray[np.float32]]
_Extra: TypeAlias = tuple[str, str, list[int], bytes]
_Tree: TypeAlias = tuple[
    NDArray[np.uint32], NDArray[np.uint32], list[tuple[_Csr, NDArray[np.float64]]]
]

def available_bytes() -> int | None: ...

MAX_THREADS: Final[int]

def available_threads() -> int: ...
def format_rows(x: _Csr, y: _Pattern, *, n_threads: int) -> bytes: ...
def normalize_rows(x: _Csr, /) -> NDArray[np.float32]: ...
def solve_path(
    x: _Csr,
    positives: NDArray[np.bool_],
    *,
    solver: str,
    solver_options: dict[str, Any],
    alphas: list[float],
    tol: float,
    max_iter: int | None,
    intercept_scaling: float,
    penalize_intercept: bool,
    sample_weight: NDArray[np.float64] | None,
    ridge: float,
    w0: NDArray[np.float64] | None,
    history: bool,
    seed: int,
) -> list[dict[str, Any]]: ...

@final
class TrainSettings:
    def __new__(
        cls,
        *,
        scoring: str,
        root_rows: str,
        solver: str,
        solver_options: dict[str, Any],
        alpha: float,
        alpha_exponent: float,
        propensity_weight: float,
        ridge: float,
        class_weight: tuple[float, float] | None,
        balanced: bool,
        tol: float,
        max_iter: int | None,
        violation_tol: float,
        prune: float,
        intercept_scaling: float,
        penalize_intercept: bool,
        normalize: bool,
        seed: int,
    ) -> TrainSettings: ...

def train(
    x: _Csr,
    y: _Pattern,
    trees: list[LabelTree],
    settings: TrainSettings,
    *,
    sample_weight: NDArray[np.float64] | None,
    n_threads: int,
    progress: Callable[[int, int, int], object] | None,
) -> tuple[Model, list[dict[str, NDArray[Any]]]]: ...
def train_some(
    x: _Csr,
    y: _Pattern,
    tree: LabelTree,
    settings: TrainSettings,
    nodes: list[tuple[int, list[int]]],
    thinned: list[tuple[int, int]],
    *,
    sample_weight: NDArray[np.float64] | None,
    n_threads: int,
) -> tuple[
    dict[str, NDArray[Any]],
    tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float32]],
    NDArray[np.float64],
]: ...
def measure(
    x: _Csr, y: _Pattern, tree: LabelTree, *, n_threads: int
) -> dict[str, NDArray[np.int64]]: ...
def label_features(*, x: _Csr, y: _Pattern, n_threads: int) -> _CsrOut: ...
def kmeans(
    *,
    x: _Csr,
    n_clusters: int,
    max_iter: int,
    tol: float,
    spherical: bool,
    seed: int,
    start: NDArray[np.uint32] | None,
    n_threads: int,
) -> tuple[NDArray[np.uint32], float, int]: ...

@final
class LabelTree:
    @staticmethod
    def build(
        *,
        label_features: _Csr,
        n_clusters: int,
        max_depth: int,
        clustering: str,
        max_iter: int,
        seed: int,
        n_threads: int,
    ) -> LabelTree: ...
    @staticmethod
    def flat(*, n_labels: int) -> LabelTree: ...
    @staticmethod
    def from_parts(
        *, n_labels: int, child_ptr: NDArray[np.uint32], children: NDArray[np.uint32]
    ) -> LabelTree: ...
    @staticmethod
    def from_parents(*, parents: NDArray[np.int64]) -> LabelTree: ...
    @staticmethod
    def from_file(
        *, path: str | PathLike[str], label_names: list[str]
    ) -> LabelTree: ...
    def clip(self, *, max_depth: int) -> LabelTree: ...
    def parts(self) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]: ...
    def depth_table(self) -> dict[str, NDArray[np.int64]]: ...
    @property
    def depth(self) -> int: ...
    @property
    def n_labels(self) -> int: ...
    @property
    def n_nodes(self) -> int: ...

@final
class TextReader:
    def __new__(
        cls,
        path: str | PathLike[str],
        *,
        format: str,
        n_features: int | None,
        n_labels: int | None,
        zero_based: bool,
        zero_based_labels: bool,
    ) -> TextReader: ...
    def push_file(self, *, n_threads: int) -> None: ...
    def push(self, block: bytes, *, n_threads: int) -> None: ...
    def finish(
        self, *, n_threads: int
    ) -> tuple[_CsrOut, tuple[_Index, _Index], tuple[int, int]]: ...

@final
class Model:
    def __new__(cls, data: bytes, /) -> Model: ...
    @staticmethod
    def from_coef(
        coef: _Csr,
        intercept: NDArray[np.float64],
        *,
        untrained: NDArray[np.int32],
        normalize: bool,
    ) -> Model: ...
    @staticmethod
    def from_nodes(
        n_labels: int,
        n_features: int,
        trees: list[_Tree],
        *,
        scoring: str,
        untrained: NDArray[np.int32],
        normalize: bool,
    ) -> Model: ...
    def predict_topk(
        self,
        x: _Csr,
        k: int,
        *,
        allowed: NDArray[np.int32] | None,
        beam_size: int,
        n_threads: int | None,
    ) -> tuple[NDArray[np.int32], NDArray[np.float32]]: ...
    def predict_threshold(
        self, x: _Csr, threshold: float, *, beam_size: int, n_threads: int | None
    ) -> tuple[_Index, _Index]: ...
    def decision_function(
        self, x: _Csr, *, n_threads: int | None
    ) -> NDArray[np.float32]: ...
    def score_pairs(
        self,
        x: _Csr,
        rows: NDArray[np.int32],
        labels: NDArray[np.int32],
        *,
        n_threads: int | None,
    ) -> NDArray[np.float32]: ...
    def coef(self) -> tuple[_CsrOut, NDArray[np.float64]]: ...
    def node(self, tree: int, node: int) -> tuple[_CsrOut, NDArray[np.float64]]: ...
    def tree(self, tree: int) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]: ...
    @property
    def n_features(self) -> int: ...
    @property
    def n_labels(self) -> int: ...
    @property
    def n_trees(self) -> int: ...
    @property
    def n_nodes(self) -> int: ...
    @property
    def n_nonzero(self) -> int: ...
    @property
    def is_mapped(self) -> bool: ...
    @property
    def scoring(self) -> str: ...
    @property
    def default_threshold(self) -> float: ...
    @property
    def normalize(self) -> bool: ...
    @property
    def untrained(self) -> NDArray[np.int32]: ...
    @property
    def size_bytes(self) -> int: ...
    def to_bytes(
        self, *, class_name: str = "", settings: str = "", extra: list[_Extra] = ...
    ) -> bytes: ...
    def save(
        self,
        path: str | PathLike[str],
        *,
        class_name: str,
        settings: str,
        extra: list[_Extra],
        mapped: bool = False,
    ) -> None: ...
    @staticmethod
    def from_bytes(data: bytes) -> tuple[Model, str, str, list[_Extra]]: ...
    @staticmethod
    def load(path: str | PathLike[str]) -> tuple[Model, str, str, list[_Extra]]: ...
    def __reduce__(self) -> tuple[Any, ...]: ...
