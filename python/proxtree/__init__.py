"""Extreme multi-label classification with sparse, certified linear models."""

from importlib.metadata import version as _version

__version__ = _version("proxtree")
