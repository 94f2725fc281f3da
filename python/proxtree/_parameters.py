"""Check the numbers and switches that users pass."""

from __future__ import annotations

import math
from collections.abc import Callable
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from proxtree import _core
from proxtree.exceptions import DataError

Progress = Callable[[int, int, int], object]


def check_real(value: Any, name: str, *, zero: bool = False) -> float:
    """Return `value` as a finite float above zero (or zero, if that is allowed).

    Raises
    ------
    TypeError
        If it is no real number; booleans and strings are none.
    DataError
        If it is out of range.
    """
    if isinstance(value, bool | np.bool_) or not isinstance(value, Real):
        raise TypeError(f"{name} is {value!r}, expected a number")
    number = _float(value)
    if not math.isfinite(number) or number < 0 or (number == 0 and not zero):
        raise DataError(
            f"{name} is {value}, expected a finite number {'>=' if zero else '>'} 0"
        )
    return number


def check_finite(value: Any, name: str) -> float:
    """Return `value` as a finite float of either sign; raises as `check_real`."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, Real):
        raise TypeError(f"{name} is {value!r}, expected a number")
    number = _float(value)
    if not math.isfinite(number):
        raise DataError(f"{name} is {number}, expected a finite number")
    return number


def _float(value: Real) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf


def check_int(value: Any, name: str, low: int, high: int = 2**63 - 1) -> int:
    """Return `value` as an int in [low, high].

    Raises
    ------
    TypeError
        If it is no integer; booleans, and floats such as 1.0, are none.
    DataError
        If it is out of range.
    """
    if isinstance(value, bool | np.bool_) or not isinstance(value, Integral):
        raise TypeError(f"{name} is {value!r}, expected an integer")
    number = int(value)
    if number < low:
        raise DataError(f"{name} is {number}, expected at least {low}")
    if number > high:
        raise DataError(f"{name} is {number}, expected at most {high}")
    return number


def check_bool(value: Any, name: str) -> bool:
    """Return `value` as a bool; anything but True and False is a TypeError."""
    if not isinstance(value, bool | np.bool_):
        raise TypeError(f"{name} is {value!r}, expected True or False")
    return bool(value)


def check_choice(value: Any, name: str, choices: tuple[str, ...]) -> str:
    """Return `value` if it is one of `choices`, which the DataError lists."""
    if isinstance(value, str) and value in choices:
        return value
    listed = " or ".join(f'"{choice}"' for choice in choices)
    raise DataError(f"{name} is {value!r}, expected {listed}")


def check_n_threads(value: Any) -> int:
    """Return the number of threads; None means the CPUs this process may use.

    Never more than the native module would use.
    """
    if value is None:
        n_threads = _core.available_threads()
    else:
        n_threads = check_int(value, "n_threads", 1)
    return min(n_threads, _core.MAX_THREADS)


def check_random_state(value: Any) -> int:
    """Return the seed; None means 0.

    Generators are refused: they change with every use, and so would the model.
    """
    return 0 if value is None else check_int(value, "random_state", 0)


def check_class_weight(value: Any) -> tuple[tuple[float, float] | None, bool]:
    """Return ((positive, negative) or None, whether to balance the classes)."""
    if value is None:
        return None, False
    if isinstance(value, str) and value == "balanced":
        return None, True
    if not isinstance(value, tuple | list) or len(value) != 2:
        raise DataError(
            f'class_weight is {value!r}, expected None, "balanced" or a pair '
            "(weight of positives, weight of negatives)"
        )
    positive, negative = value
    return (
        check_real(positive, "class_weight[0]"),
        check_real(negative, "class_weight[1]"),
    ), False


def check_sample_weight(value: Any, n_samples: int) -> NDArray[np.float64] | None:
    """Return the weights as float64 of shape (n_samples,), or None.

    Raises
    ------
    DataError
        If the shape is wrong, a weight is negative or not finite, or all are zero.
    TypeError
        If the weights are no real numbers.
    """
    if value is None:
        return None
    weights = np.asarray(value)
    if weights.dtype.kind not in "iuf":
        raise TypeError(f"sample_weight has type {weights.dtype}, expected numbers")
    weights = np.require(weights, np.float64, ["C", "A"])
    if weights.shape != (n_samples,):
        raise DataError(
            f"sample_weight has shape {weights.shape}, expected ({n_samples},)"
        )
    good = np.isfinite(weights) & (weights >= 0)
    if not good.all():
        at = int(np.argmin(good))
        raise DataError(
            f"sample_weight[{at}] is {weights[at]}, expected a finite number >= 0"
        )
    if not weights.any():
        raise DataError("sample_weight is zero for every sample")
    return weights
