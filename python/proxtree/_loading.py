"""Model files back to estimators."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from proxtree import _core
from proxtree._certificates import STATUS
from proxtree._persistence import PREFIX, TYPES
from proxtree.estimators import LinearLabelTree, LinearOneVsRest
from proxtree.exceptions import FormatError
from proxtree.io._read import PathArgument
from proxtree.size._size_plan import SizePlan
from proxtree.tree import model_trees


def load(path: PathArgument) -> LinearOneVsRest | LinearLabelTree:
    """Load a model file as the estimator that was saved.

    Parameters
    ----------
    path : str, bytes or os.PathLike
        What `save` wrote, in either layout: a coded file is read and decoded, one
        saved with `mapped=True` is mapped and must stay as it is while the model
        lives (see Notes of `save`). Nothing in a model file is ever executed.

    Returns
    -------
    LinearOneVsRest or LinearLabelTree
        With the same parameters and the same predictions, bit for bit.
        `progress` comes back as None unless it was True or False, and
        `certificate_` only if it was saved.

    Raises
    ------
    FormatError
        If the file is damaged, or is no model of this version; says which. Damage
        to the weights of a mapped file is found when they are first needed.
    OSError
        If it cannot be read.
    """
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
    if "plan" in settings:
        try:
            planned = SizePlan.from_dict(settings["plan"], model_trees(model))
        except (ValueError, KeyError, TypeError) as error:
            raise FormatError(f"{name}: its plan cannot be read: {error}") from None
        estimator._set_fitted(model, certificate, facts, planned)
    estimator._restore_params()
    return estimator


def _fields(extra: list[Any]) -> dict[str, NDArray[Any]]:
    fields: dict[str, NDArray[Any]] = {
        name.removeprefix(PREFIX): np.frombuffer(data, TYPES[dtype])
        for name, dtype, _, data in extra
        if name.startswith(PREFIX)
    }
    if fields and fields["status"].max(initial=0) >= len(STATUS):
        raise ValueError(f"unknown status {fields['status'].max()}")
    return fields
