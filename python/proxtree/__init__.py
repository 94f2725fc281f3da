"""Extreme multi-label classification with sparse, certified linear models."""

from importlib import import_module
from importlib.metadata import version as _version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from proxtree import datasets, exceptions, io, metrics, size, theory
    from proxtree._loading import load
    from proxtree._validation import normalize_rows
    from proxtree.estimators import LinearLabelTree, LinearOneVsRest
    from proxtree.exceptions import (
        ConvergenceWarning,
        DataError,
        DataWarning,
        FormatError,
        NotFittedError,
        ProxtreeError,
    )
    from proxtree.io import load_svmlight, load_xmc, save_xmc
    from proxtree.size import SizePlan, plan
    from proxtree.solving import Solution, solve, solve_path
    from proxtree.tree import LabelTree, label_features

__version__ = _version("proxtree")

# Where each public name lives. numpy and scipy take long to import, so nothing is
# loaded before it is used (PEP 562).
_HOMES = {
    "ConvergenceWarning": "exceptions",
    "DataError": "exceptions",
    "DataWarning": "exceptions",
    "FormatError": "exceptions",
    "LabelTree": "tree",
    "LinearLabelTree": "estimators",
    "LinearOneVsRest": "estimators",
    "NotFittedError": "exceptions",
    "ProxtreeError": "exceptions",
    "SizePlan": "size",
    "Solution": "solving",
    "label_features": "tree",
    "load": "_loading",
    "load_svmlight": "io",
    "load_xmc": "io",
    "normalize_rows": "_validation",
    "plan": "size",
    "save_xmc": "io",
    "solve": "solving",
    "solve_path": "solving",
}
_MODULES = ("datasets", "exceptions", "io", "metrics", "size", "theory")

__all__ = [
    "ConvergenceWarning",
    "DataError",
    "DataWarning",
    "FormatError",
    "LabelTree",
    "LinearLabelTree",
    "LinearOneVsRest",
    "NotFittedError",
    "ProxtreeError",
    "SizePlan",
    "Solution",
    "__version__",
    "datasets",
    "exceptions",
    "io",
    "label_features",
    "load",
    "load_svmlight",
    "load_xmc",
    "metrics",
    "normalize_rows",
    "plan",
    "save_xmc",
    "size",
    "solve",
    "solve_path",
    "theory",
]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"proxtree.{name}")
    if name in _HOMES:
        value = getattr(import_module(f"proxtree.{_HOMES[name]}"), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'proxtree' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
