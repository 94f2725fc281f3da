"""Estimators to model files and back."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from proxtree import _core
from proxtree._certificates import STATUS, to_fields
from proxtree.exceptions import FormatError
from proxtree.io._read import PathArgument

if TYPE_CHECKING:
    from proxtree._linear_model import LinearModel
    from proxtree.estimators import LinearLabelTree, LinearOneVsRest

_TYPES: dict[str, np.dtype[Any]] = {
    "F64": np.dtype("<f8"),
    "I64": np.dtype("<i8"),
    "U8": np.dtype("u1"),
}
_NAMES = {dtype: name for name, dtype in _TYPES.items()}
_PREFIX = "certificate."


def save(estimator: LinearModel, path: PathArgument, certificates: bool) -> None:
    """Write a fitted estimator to exactly `path`."""
    fitted = estimator._fitted_or_raise()
    extra = []
    if certificates:
        for name, array in to_fields(estimator.certificate_).items():
            dtype = array.dtype.newbyteorder("<")
            data = np.ascontiguousarray(array, dtype).tobytes()
            extra.append((_PREFIX + name, _NAMES[dtype], [len(array)], data))
    settings = {
        "params": {k: _jsonable(v) for k, v in estimator._params_to_save().items()},
        "n_features": fitted.model.n_features,
        "n_labels": fitted.model.n_labels,
        "certificates": fitted.summary,
    }
    fitted.model.save(
        Path(os.fsdecode(path)),
        class_name=type(estimator).__name__,
        settings=json.dumps(settings, sort_keys=True),
        extra=extra,
    )


def load(path: PathArgument) -> LinearOneVsRest | LinearLabelTree:
    """Load a model file as the estimator that was saved.

    Parameters
    ----------
    path : str, bytes or os.PathLike
        What `save` wrote. Nothing in a model file is ever executed.

    Returns
    -------
    LinearOneVsRest or LinearLabelTree
        With the same parameters and the same predictions, bit for bit.
        `progress` comes back as None unless it was True or False, and
        `certificate_` only if it was saved.

    Raises
    ------
    FormatError
        If the file is damaged, or is no model of this version; says which.
    OSError
        If it cannot be read.
    """
    from proxtree.estimators import LinearLabelTree, LinearOneVsRest

    name = Path(os.fsdecode(path))
    model, class_name, text, extra = _core.Model.load(name)
    classes: dict[str, type[LinearOneVsRest | LinearLabelTree]] = {
        c.__name__: c for c in (LinearOneVsRest, LinearLabelTree)
    }
    if class_name not in classes:
        raise FormatError(
            f"{name}: holds a {class_name or 'model without a class'}, this version "
            f"of proxtree knows {', '.join(classes)}"
        )
    try:
        settings = json.loads(text)
        params, facts = settings["params"], settings["certificates"]
        estimator = classes[class_name](**params)
        fields = _fields(extra)
        certificate = estimator._certificate(model, fields) if fields else None
    except (ValueError, KeyError, TypeError) as error:
        raise FormatError(f"{name}: settings cannot be read: {error}") from None
    estimator._set_fitted(model, certificate, facts)
    estimator._restore_params()
    return estimator


def _fields(extra: list[Any]) -> dict[str, NDArray[Any]]:
    fields: dict[str, NDArray[Any]] = {
        name.removeprefix(_PREFIX): np.frombuffer(data, _TYPES[dtype])
        for name, dtype, _, data in extra
        if name.startswith(_PREFIX)
    }
    if fields and fields["status"].max(initial=0) >= len(STATUS):
        raise ValueError(f"unknown status {fields['status'].max()}")
    return fields


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
