"""Extreme multi-label classification with sparse, certified linear models."""

from importlib.metadata import version as _version

from proxtree.io import load_svmlight, load_xmc, save_xmc

__all__ = ["load_svmlight", "load_xmc", "save_xmc"]

__version__ = _version("proxtree")
