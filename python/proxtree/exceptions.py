"""Exceptions and warnings of proxtree, each also a kind of the usual ones."""

__all__ = [
    "ConvergenceWarning",
    "DataError",
    "DataWarning",
    "FormatError",
    "NotFittedError",
    "ProxtreeError",
]


class ProxtreeError(Exception):
    """Base of all exceptions that proxtree itself defines."""


class DataError(ProxtreeError, ValueError):
    """An array or argument breaks a stated rule."""


class FormatError(ProxtreeError, ValueError):
    """A text or model file breaks its format; names file, line and token."""


class NotFittedError(ProxtreeError, ValueError, AttributeError):
    """An estimator is used before `fit`."""


class ConvergenceWarning(UserWarning):
    """Some problems ended before reaching the tolerance."""


class DataWarning(UserWarning):
    """The data hold something that is legal but probably not meant."""
