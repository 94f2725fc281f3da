"""Size of a model file before there is a model: the bits that each part will take.

As `rust/core/src/model/encoding.rs` writes them: an integer takes a Huffman code of
its number of bits and those after the leading one, a float a Huffman code of its
exponent, a bit for its sign and those of the mantissa that any float has.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from proxtree._nested_lists import LABEL_BIT
from proxtree.tree import LabelTree

Floats = NDArray[np.float64]

# The file's head with its settings, checksums and plan; a depth of the plan's table;
# a further tree's sections; the codes of a tree's streams.
HEAD = 2700
DEPTH_HEAD = 250
TREE_HEAD = 900
CODES = 250
# Distinct features of a node for each of its weights, at most all it uses; 0.40 to
# 0.56 on five data sets whose nodes have 100 children (benches/results/size.md).
RUNS_PER_WEIGHT = 0.5
# Bits of a Huffman code above the entropy.
LOSS = 0.1
# Of a float32's mantissa; those more that intercepts keep where weights are rounded
# to fewer (rust/core/src/solver/rounding.rs); bits of their exponents.
MANTISSA_BITS = 23
MORE_OF_INTERCEPTS = 4
EXPONENT_BITS = 2
# Relative error of all this, besides that of the weights.
ERROR = 0.05


def file_bytes(
    tree: LabelTree,
    n_features: NDArray[np.int64],
    n_all_features: int,
    weights: Floats,
    n_intercepts: float,
    values: NDArray[np.float32],
) -> float:
    """Return the bytes of a tree's sections.

    `n_features` are used, and `weights` expected, in each node; `values` are weights
    such as the model's will be.
    """
    n_children = _differences(tree._native.parts()[0])
    runs = np.minimum(RUNS_PER_WEIGHT * weights, n_features)
    runs = np.where(n_children == 1, np.minimum(weights, n_features), runs)
    runs = np.maximum(runs, 1e-9)
    per_run = np.maximum(weights / runs, 1.0)
    gaps = _geometric_bits(np.maximum(n_all_features / runs - 1.0, 0.0))
    lengths = _geometric_bits(per_run - 1.0)
    ids = _geometric_bits(np.maximum(n_children / (per_run + 1.0) - 1.0, 0.0))
    mantissa = _mantissa_bits(values)
    value_bits = 1 + mantissa + LOSS + _entropy(np.frexp(values)[1])
    bits = float((runs * (gaps + lengths)).sum() + (weights * (ids + value_bits)).sum())
    # Intercepts are near one another.
    own = min(mantissa + MORE_OF_INTERCEPTS, MANTISSA_BITS)
    intercept_bits = 64 if tree.n_nodes == 1 else 1 + own + EXPONENT_BITS
    bits += intercept_bits * n_intercepts + int(n_children.sum())
    return CODES + tree_bytes(tree) + bits / 8


def _mantissa_bits(values: NDArray[np.float32]) -> int:
    """Return the bits of the mantissa up to the last that is set in any value."""
    if not len(values):
        return MANTISSA_BITS
    used = int(np.bitwise_or.reduce(values.view(np.uint32))) & ((1 << 23) - 1)
    unused = (used & -used).bit_length() - 1 if used else MANTISSA_BITS
    return MANTISSA_BITS - unused


def _geometric_bits(mean: Floats) -> Floats:
    """Return the entropy of a geometric number from zero, with its code's loss."""
    safe = np.maximum(mean, 1e-12)
    result: Floats = np.log2(1.0 + safe) + safe * np.log2(1.0 + 1.0 / safe)
    return np.maximum(1.0, result + LOSS)


def _entropy(symbols: NDArray[np.int64] | NDArray[np.int32]) -> float:
    """Return the bits a symbol takes in a code made for these."""
    if not len(symbols):
        return 0.0
    share = np.unique(symbols, return_counts=True)[1] / len(symbols)
    # No code is shorter than a bit.
    return max(1.0, float(-(share * np.log2(share)).sum()))


def tree_bytes(tree: LabelTree) -> float:
    """Return the bytes of the tree itself, up to the loss of its codes."""
    child_ptr, children = tree._native.parts()
    n_children = _differences(child_ptr)
    node = np.repeat(np.arange(len(n_children)), n_children)
    is_label = children >= LABEL_BIT
    ids = (children[is_label] & (LABEL_BIT - 1)).astype(np.int64)
    own = node[is_label]
    before = np.concatenate([[0], ids[:-1]])
    before[np.concatenate([[True], own[1:] != own[:-1]])[: len(own)]] = 0
    step = ids - before
    codes = np.zeros(len(children), np.int64)
    codes[is_label] = 1 + ((step << 1) ^ (step >> 63))
    return (_integer_bits(n_children) + _integer_bits(codes)) / 8


def _differences(pointers: NDArray[np.uint32]) -> NDArray[np.int64]:
    wide = pointers.astype(np.int64)
    result: NDArray[np.int64] = wide[1:] - wide[:-1]
    return result


def _integer_bits(values: NDArray[np.int64]) -> float:
    """Return the bits of integers in one code."""
    # Exact below 2^53: frexp's exponent is the number of bits.
    n_bits = np.frexp(values.astype(np.float64))[1]
    raw = np.maximum(n_bits - 1, 0).sum()
    return float(raw) + len(values) * _entropy(n_bits)
