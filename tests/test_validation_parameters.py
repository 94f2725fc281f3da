"""Numbers and switches: refused with the argument's name, booleans are none."""

from fractions import Fraction

import numpy as np
import pytest

from proxtree import _core
from proxtree._parameters import (
    check_bool,
    check_choice,
    check_class_weight,
    check_finite,
    check_int,
    check_n_threads,
    check_random_state,
    check_real,
    check_sample_weight,
)
from proxtree.exceptions import DataError


@pytest.mark.parametrize("value", [2, 2.0, np.float32(2), np.int8(2), Fraction(2)])
def test_numbers(value):
    assert check_real(value, "alpha") == 2.0
    assert check_finite(value, "alpha") == 2.0


@pytest.mark.parametrize("value", [0, -1, np.nan, np.inf, -np.inf, 10**400])
def test_numbers_out_of_range(value):
    with pytest.raises(DataError, match=r"alpha is .* expected a finite number > 0"):
        check_real(value, "alpha")


def test_zero_and_signs_where_allowed():
    assert check_real(0, "ridge", zero=True) == 0
    assert check_finite(-1, "alpha_exponent") == -1
    with pytest.raises(DataError, match=">= 0"):
        check_real(-1, "ridge", zero=True)
    with pytest.raises(DataError, match="finite"):
        check_finite(np.nan, "alpha_exponent")


@pytest.mark.parametrize("value", [True, np.True_, "1", None, 1j, [1], np.ones(1)])
@pytest.mark.parametrize("check", [check_real, check_finite])
def test_what_is_no_number(check, value):
    with pytest.raises(TypeError, match="alpha is"):
        check(value, "alpha")


def test_integers():
    assert check_int(np.int64(3), "k", 1) == 3
    for value in (True, 1.0, "1", None):
        with pytest.raises(TypeError, match="k is"):
            check_int(value, "k", 1)
    for value in (0, -1):
        with pytest.raises(DataError, match=f"k is {value}, expected at least 1"):
            check_int(value, "k", 1)
    with pytest.raises(DataError, match="k is 10, expected at most 9"):
        check_int(10, "k", 1, 9)


def test_switches():
    assert check_bool(np.True_, "normalize") is True
    for value in (1, 0, "yes", None):
        with pytest.raises(TypeError, match="normalize is"):
            check_bool(value, "normalize")


@pytest.mark.parametrize("value", ["newton", None, 3, ["auto"]])
def test_choices_are_listed(value):
    with pytest.raises(DataError, match=r'solver is .* expected "auto" or "other"'):
        check_choice(value, "solver", ("auto", "other"))


def test_threads():
    assert check_n_threads(None) == _core.available_threads() >= 1
    assert check_n_threads(1_000_000) == _core.MAX_THREADS
    for value in (0, -1):
        with pytest.raises(DataError, match="n_threads is"):
            check_n_threads(value)


def test_seeds():
    assert check_random_state(None) == 0
    assert check_random_state(np.uint8(7)) == 7
    with pytest.raises(DataError, match="random_state is -1"):
        check_random_state(-1)
    with pytest.raises(TypeError, match="random_state"):
        check_random_state(np.random.default_rng(0))


def test_class_weights():
    assert check_class_weight(None) == (None, False)
    assert check_class_weight("balanced") == (None, True)
    assert check_class_weight((2, 0.5)) == ((2.0, 0.5), False)
    for value in ("even", (1,), {0: 1, 1: 2}, 3):
        with pytest.raises(DataError, match="class_weight is"):
            check_class_weight(value)
    with pytest.raises(DataError, match=r"class_weight\[1\] is 0"):
        check_class_weight((1, 0))


def test_sample_weights():
    assert check_sample_weight(None, 3) is None
    np.testing.assert_array_equal(check_sample_weight([1, 0, 2.5], 3), [1, 0, 2.5])
    for value, text in (
        ([1, 2], r"shape \(2,\), expected \(3,\)"),
        (np.ones((3, 1)), r"shape \(3, 1\)"),
        ([1, -1, 1], r"sample_weight\[1\] is -1"),
        ([1, 1, np.nan], r"sample_weight\[2\] is nan"),
        ([0, 0, 0], "zero for every sample"),
    ):
        with pytest.raises(DataError, match=text):
            check_sample_weight(value, 3)
    with pytest.raises(TypeError, match="sample_weight"):
        check_sample_weight(["a", "b", "c"], 3)
