"""Estimators to model files; `_loading` is the way back."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from proxtree._certificates import to_fields
from proxtree.io._read import PathArgument

if TYPE_CHECKING:
    from proxtree._linear_model import LinearModel

# How the file names the types of a certificate's fields.
TYPES: dict[str, np.dtype[Any]] = {
    "F64": np.dtype("<f8"),
    "I64": np.dtype("<i8"),
    "U8": np.dtype("u1"),
}
_NAMES = {dtype: name for name, dtype in TYPES.items()}
PREFIX = "certificate."


def save(
    estimator: LinearModel, path: PathArgument, certificates: bool, mapped: bool
) -> None:
    """Write a fitted estimator to exactly `path`."""
    fitted = estimator._fitted_or_raise()
    extra = []
    if certificates:
        for name, array in to_fields(estimator.certificate_).items():
            dtype = array.dtype.newbyteorder("<")
            data = np.ascontiguousarray(array, dtype).tobytes()
            extra.append((PREFIX + name, _NAMES[dtype], [len(array)], data))
    fitted.model.save(
        Path(os.fsdecode(path)),
        class_name=type(estimator).__name__,
        settings=_settings(estimator),
        extra=extra,
        mapped=mapped,
    )


def file_bytes(estimator: LinearModel) -> int:
    """Return the size of the file that `save` would write, without certificates."""
    model = estimator._fitted_or_raise().model
    name = type(estimator).__name__
    return len(model.to_bytes(class_name=name, settings=_settings(estimator), extra=[]))


def _settings(estimator: LinearModel) -> str:
    fitted = estimator._fitted_or_raise()
    settings: dict[str, Any] = {
        "params": {k: _jsonable(v) for k, v in estimator._params_to_save().items()},
        "n_features": fitted.model.n_features,
        "n_labels": fitted.model.n_labels,
        "certificates": fitted.summary,
    }
    if fitted.plan is not None:
        # The arguments are among the parameters.
        plan = fitted.plan.to_dict()
        del plan["settings"]
        settings["plan"] = {k: v for k, v in plan.items() if v is not None}
    return json.dumps(settings, sort_keys=True)


def _jsonable(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, tuple | list):
        return [_jsonable(v) for v in value]
    if isinstance(value, dict):
        return {k: _jsonable(v) for k, v in value.items()}
    if callable(value):
        # A progress function belongs to the session that trained the model.
        return None
    return value
