"""Label trees: built by clustering, flat, or given by the user."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from proxtree import _core
from proxtree._nested_lists import LABEL_BIT, flatten
from proxtree._parameters import (
    check_choice,
    check_int,
    check_n_threads,
    check_random_state,
)
from proxtree._validation import check_X, check_X_Y, csr_arg, pattern_arg
from proxtree.exceptions import DataError

__all__ = ["LabelTree", "as_label_tree", "label_features"]

MOST_PLANS = 100
CLUSTERINGS = ("kmeans", "spherical", "balanced", "balanced_2means")


def label_features(
    X: Any, Y: Any, *, n_threads: int | None = None
) -> sparse.csr_matrix[np.float32]:
    """Return one feature vector per label: the mean direction of its samples.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
    Y : {array-like, sparse matrix, list of lists} of shape (n_samples, n_labels)
        0/1, or the label ids of each sample.
    n_threads : int, optional
        None: the CPUs this process may use. The result does not depend on it.

    Returns
    -------
    csr_matrix of float32, shape (n_labels, n_features)
        Row j is sum(x_i : y_ij = 1), scaled to unit l2 norm; sums are in float64.
        A label without samples has an empty row.

    Raises
    ------
    DataError
        If `X` or `Y` is malformed, or they differ in their number of rows.

    References
    ----------
    "Exploring Space Efficiency in a Tree-based Linear Model for Extreme
    Multi-label Classification", EMNLP 2024, equation (2).

    Examples
    --------
    >>> from proxtree import label_features
    >>> label_features([[1, 0], [2, 4], [0, 1]], [[0], [0], [1]]).toarray()
    array([[0.6, 0.8],
           [0. , 1. ]], dtype=float32)
    """
    X, Y = check_X_Y(X, Y)
    indptr, indices, data = _core.label_features(
        x=csr_arg(X), y=pattern_arg(Y), n_threads=check_n_threads(n_threads)
    )
    return sparse.csr_matrix((data, indices, indptr), shape=(Y.shape[1], X.shape[1]))


class LabelTree:
    """Labels as the leaves of a rooted tree. Immutable.

    Made by `build`, `flat`, `from_nested`, `from_parents` or `from_file`. Internal
    nodes are numbered breadth first, the root is 0. Each label is exactly one leaf,
    and every node has a child.

    Attributes
    ----------
    n_labels, n_leaves : int
        Number of labels: all leaves are labels.
    n_nodes : int
        Number of internal nodes.
    n_problems : int
        Number of children of all nodes: of binary problems that a model trains.
    depth : int
        Depth of the deepest label; a flat tree has depth 1.

    Examples
    --------
    >>> from proxtree import LabelTree
    >>> tree = LabelTree.from_nested([[0, 3], [1, 2], 4])
    >>> tree
    LabelTree(n_labels=5, n_nodes=3, depth=2)
    >>> tree.clip(1) == LabelTree.flat(5)
    True
    """

    __slots__ = ("_native", "_planned")
    _native: _core.LabelTree
    # What `plan` found out about it, latest last; no part of its value.
    _planned: list[Any]

    def __init__(self, native: _core.LabelTree) -> None:
        if not isinstance(native, _core.LabelTree):
            raise TypeError(
                "use LabelTree.build, flat, from_nested, from_parents or from_file"
            )
        object.__setattr__(self, "_native", native)
        object.__setattr__(self, "_planned", [])

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a LabelTree is immutable: {name} cannot be set")

    def _remember(self, planned: Any) -> None:
        """Keep a plan of this tree, so that `fit` can show it beside the truth."""
        self._planned.append(planned)
        del self._planned[:-MOST_PLANS]

    @classmethod
    def build(
        cls,
        label_features: Any,
        *,
        n_clusters: int = 100,
        max_depth: int = 6,
        clustering: str = "kmeans",
        max_iter: int = 300,
        random_state: int | None = 0,
        n_threads: int | None = None,
    ) -> LabelTree:
        """Cluster labels into a tree, top down.

        Parameters
        ----------
        label_features : {array-like, sparse matrix} of shape (n_labels, n_features)
            As `label_features` returns them.
        n_clusters : int, default=100
            K >= 2: clusters that a node is split into. A node of at most K labels
            is split no further; with K >= n_labels the tree is flat.
        max_depth : int, default=6
            Depth of the deepest label, the paper's d_max; 1 gives a flat tree.
        clustering : {"kmeans", "spherical", "balanced", "balanced_2means"}
            K-means (Lloyd's results, greedy k-means++ start); spherical K-means;
            K-means with cluster sizes that differ by at most one; repeated
            balanced bisection (Parabel), same sizes.
        max_iter : int, default=300
            Most rounds at a node, at least 1, of "kmeans" and "spherical"; the
            other two end by rules of their own.
        random_state : int or None, default=0
            Seed; None means 0.
        n_threads : int, optional
            None: the CPUs this process may use. The tree does not depend on it.

        Returns
        -------
        LabelTree

        Raises
        ------
        DataError
            If an argument is out of range or there is no label.

        Notes
        -----
        A cluster of one label hangs it directly under the node. Labels whose
        vectors are all equal cannot be clustered and are cut into even runs.
        Labels without features form one child of the root of their own, which
        leaves K - 1 clusters there to the others. A tree built for a greater
        `max_depth` and clipped is the tree built for the smaller one.

        Examples
        --------
        >>> from proxtree import LabelTree
        >>> V = [[1, 0], [0, 1], [1, 0.1], [0.1, 1]]
        >>> tree = LabelTree.build(V, n_clusters=2)
        >>> sorted(node["labels"] for node in tree.to_dict()["nodes"])
        [[], [0, 2], [1, 3]]
        """
        features = check_X(label_features, name="label_features")
        return cls(
            _core.LabelTree.build(
                label_features=csr_arg(features),
                n_clusters=check_int(n_clusters, "n_clusters", 2),
                max_depth=check_int(max_depth, "max_depth", 1),
                clustering=check_choice(clustering, "clustering", CLUSTERINGS),
                max_iter=check_int(max_iter, "max_iter", 1),
                seed=check_random_state(random_state),
                n_threads=check_n_threads(n_threads),
            )
        )

    @classmethod
    def flat(cls, n_labels: int) -> LabelTree:
        """Return the tree of depth one: all `n_labels` labels under the root."""
        return cls(_core.LabelTree.flat(n_labels=check_int(n_labels, "n_labels", 1)))

    @classmethod
    def from_nested(cls, lists: Sequence[Any]) -> LabelTree:
        """Return the tree of nested lists: a list is a node, an int a label.

        Parameters
        ----------
        lists : list
            Lists, tuples or 1-D arrays of labels and further lists. The labels
            are 0 to n_labels - 1, each once. A list of one is kept as a node.

        Raises
        ------
        DataError
            If a list is empty, or a label is missing, repeated or out of range.
        TypeError
            If something is neither a list nor an int.

        Examples
        --------
        >>> from proxtree import LabelTree
        >>> LabelTree.from_nested([[0, 1], [2, [3, 4]]]).depth
        3
        """
        return _from_parts(*flatten(lists))

    @classmethod
    def from_parents(cls, array: ArrayLike) -> LabelTree:
        """Return the tree in which item i hangs under item ``array[i]``.

        Parameters
        ----------
        array : array-like of int, shape (n_labels + n_nodes,)
            Items 0 to n_labels - 1 are the labels, the others internal nodes in
            any order; the root has -1. `n_labels` is the lowest parent.

        Raises
        ------
        DataError
            If there is not one root, a parent is out of range, a node has no
            children, or items hang in a cycle.
        TypeError
            If `array` does not hold integers.

        Examples
        --------
        >>> from proxtree import LabelTree
        >>> tree = LabelTree.from_parents([3, 3, 4, 4, -1])
        >>> tree == LabelTree.from_nested([2, [0, 1]])
        True
        """
        parents = np.asarray(array)
        if parents.dtype.kind not in "iu":
            raise TypeError(f"parents have type {parents.dtype}, expected integers")
        if parents.ndim != 1:
            raise DataError(
                f"parents have shape {parents.shape}, expected one dimension"
            )
        parents = np.require(parents, np.int64, ["C", "A"])
        return cls(_core.LabelTree.from_parents(parents=parents))

    @classmethod
    def from_file(
        cls, path: str | PathLike[str], label_names: Sequence[str]
    ) -> LabelTree:
        r"""Read a hierarchy from a UTF-8 file of ``child<TAB>parent`` lines.

        Parameters
        ----------
        path : str or path
        label_names : sequence of str
            Label j is called ``label_names[j]``. Every other name is an internal
            node. A label that has children becomes a node with the label as its
            first leaf.

        Raises
        ------
        FormatError
            With the line: not exactly one tab, an empty name, a second parent, a
            cycle, a name that is no label and has no children. Also for several
            roots and for labels that do not occur.
        DataError
            If a label name is repeated.
        OSError
            If the file cannot be read.

        Notes
        -----
        The root is the name without a parent. Nodes with one child are kept.
        Blank lines are skipped.

        Examples
        --------
        >>> import tempfile, pathlib
        >>> from proxtree import LabelTree
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = pathlib.Path(folder, "subjects.tsv")
        ...     _ = path.write_text("cats\tpets\npets\tall\nart\tall\n")
        ...     LabelTree.from_file(path, ["art", "cats"])
        LabelTree(n_labels=2, n_nodes=2, depth=2)
        """
        names = list(label_names)
        for at, name in enumerate(names):
            if not isinstance(name, str):
                raise TypeError(f"label_names[{at}] is {name!r}, expected a str")
        return cls(_core.LabelTree.from_file(path=path, label_names=names))

    def clip(self, max_depth: int) -> LabelTree:
        """Return the tree cut at `max_depth` >= 1.

        Nodes at depth `max_depth` - 1 get all labels below them as leaves, in
        order of their ids.
        """
        depth = check_int(max_depth, "max_depth", 1)
        return LabelTree(self._native.clip(max_depth=depth))

    @property
    def n_labels(self) -> int:
        """Number of labels."""
        return self._native.n_labels

    @property
    def n_leaves(self) -> int:
        """Number of leaves: the labels."""
        return self._native.n_labels

    @property
    def n_nodes(self) -> int:
        """Number of internal nodes."""
        return self._native.n_nodes

    @property
    def n_problems(self) -> int:
        """Number of children of all nodes."""
        return self.n_labels + self.n_nodes - 1

    @property
    def depth(self) -> int:
        """Depth of the deepest label."""
        return self._native.depth

    def depth_table(self) -> NDArray[np.void]:
        """Count nodes, leaves, labels and children at each depth.

        Returns
        -------
        structured array of int64, one row for each depth from 0 to `depth`
            `depth`; `n_nodes` internal nodes and `n_leaves` labels at this depth;
            `n_labels` labels below and `n_children` children of these nodes.
        """
        columns = self._native.depth_table()
        table = np.zeros(self.depth + 1, [(name, np.int64) for name in columns])
        for name, column in columns.items():
            table[name] = column
        return table

    def to_dict(self) -> dict[str, Any]:
        """Return the tree as lists and ints, ready for JSON.

        Returns
        -------
        dict
            `n_labels`, and `nodes`: for each node its `depth`, the ids of its
            child `nodes` and of the `labels` that hang under it.
        """
        child_ptr, children = self._native.parts()
        is_label = children >= LABEL_BIT
        ids = children & (LABEL_BIT - 1)
        nodes: list[dict[str, Any]] = [{"depth": 0} for _ in range(self.n_nodes)]
        for node, start, end in zip(nodes, child_ptr, child_ptr[1:], strict=False):
            here = slice(int(start), int(end))
            node["nodes"] = ids[here][~is_label[here]].tolist()
            node["labels"] = ids[here][is_label[here]].tolist()
            for child in node["nodes"]:
                nodes[child]["depth"] = node["depth"] + 1
        return {"n_labels": self.n_labels, "nodes": nodes}

    def describe(self) -> str:
        """Return the tree's size and its table by depth as text.

        Examples
        --------
        >>> from proxtree import LabelTree
        >>> print(LabelTree.from_nested([[0, 3], [1, 2], 4]).describe())
        5 labels, 3 nodes, 7 binary problems, depth 2
         depth    nodes   leaves   labels children
             0        1        0        5        3
             1        2        1        4        4
             2        0        4        0        0
        """
        rows: list[tuple[str, ...]] = [
            ("depth", "nodes", "leaves", "labels", "children")
        ]
        rows += [tuple(map(str, row)) for row in self.depth_table().tolist()]
        head = (
            f"{self.n_labels} labels, {self.n_nodes} nodes, "
            f"{self.n_problems} binary problems, depth {self.depth}"
        )
        table = ["{:>6} {:>8} {:>8} {:>8} {:>8}".format(*row) for row in rows]
        return "\n".join([head, *table])

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, LabelTree):
            return NotImplemented
        return self._native == other._native

    def __hash__(self) -> int:
        return hash(tuple(part.tobytes() for part in self._native.parts()))

    def __repr__(self) -> str:
        return (
            f"LabelTree(n_labels={self.n_labels}, n_nodes={self.n_nodes}, "
            f"depth={self.depth})"
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return _from_parts, (self.n_labels, *self._native.parts())


def as_label_tree(tree: Any) -> LabelTree:
    """Return a `LabelTree` from one, from nested lists or from a parent array."""
    if isinstance(tree, LabelTree):
        return tree
    if isinstance(tree, _core.LabelTree):
        return LabelTree(tree)
    if isinstance(tree, np.ndarray):
        return LabelTree.from_parents(tree)
    if isinstance(tree, list | tuple):
        return LabelTree.from_nested(tree)
    raise TypeError(
        f"tree is a {type(tree).__name__}, expected a LabelTree, nested lists or an "
        "array of parents"
    )


def model_trees(model: _core.Model) -> list[LabelTree]:
    """Return the trees of a trained model."""
    return [_from_parts(model.n_labels, *model.tree(t)) for t in range(model.n_trees)]


def _from_parts(
    n_labels: int, child_ptr: NDArray[np.uint32], children: NDArray[np.uint32]
) -> LabelTree:
    return LabelTree(
        _core.LabelTree.from_parts(
            n_labels=n_labels, child_ptr=child_ptr, children=children
        )
    )
