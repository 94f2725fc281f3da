"""Estimators: sparse linear models of many labels, with a proof for each."""

from proxtree.estimators._label_tree import LinearLabelTree
from proxtree.estimators._nodes import Node
from proxtree.estimators._one_vs_rest import LinearOneVsRest

__all__ = ["LinearLabelTree", "LinearOneVsRest", "Node"]
