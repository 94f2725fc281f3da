"""Trees that the user brings, and what a LabelTree is as an object."""

import copy
import json
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import proxtree
from proxtree import DataError, FormatError, LabelTree
from proxtree.tree import as_label_tree

NESTED = [[0, 3], [1, [2, 4]], 5]
# Items 0 to 5 are labels; 6 is the root; 7 and 8 under it; 9 under 8.
PARENTS = [7, 8, 9, 7, 9, 6, -1, 6, 6, 8]


def test_nested_lists_are_read_as_nodes_and_labels():
    tree = LabelTree.from_nested(NESTED)
    assert tree.to_dict() == {
        "n_labels": 6,
        "nodes": [
            {"depth": 0, "nodes": [1, 2], "labels": [5]},
            {"depth": 1, "nodes": [], "labels": [0, 3]},
            {"depth": 1, "nodes": [3], "labels": [1]},
            {"depth": 2, "nodes": [], "labels": [2, 4]},
        ],
    }
    assert json.loads(json.dumps(tree.to_dict())) == tree.to_dict()
    sizes = (tree.n_labels, tree.n_leaves, tree.n_nodes, tree.n_problems, tree.depth)
    assert sizes == (6, 6, 4, 9, 3)
    assert LabelTree.from_nested((np.array([0, 3]), (1, [2, np.int32(4)]), 5)) == tree


def test_parents_give_the_same_tree_up_to_the_order_of_children():
    labels_first = LabelTree.from_nested([5, [0, 3], [1, [2, 4]]])
    assert LabelTree.from_parents(PARENTS) == labels_first
    assert LabelTree.from_parents(np.array(PARENTS, np.int16)) == labels_first
    assert LabelTree.from_parents(np.repeat(PARENTS, 2)[::2]) == labels_first


@pytest.mark.parametrize(
    ("lists", "message"),
    [
        ([], "empty list"),
        ([[0], []], "empty list"),
        ([0, 0], "label 0 occurs twice"),
        ([0, 2], "label 2 is outside"),
        ([0, -1], "label is -1"),
        ([0, 2**31], "label is 2147483648"),
    ],
)
def test_broken_nested_lists_are_named(lists, message):
    with pytest.raises(DataError, match=message):
        LabelTree.from_nested(lists)


def test_a_list_that_holds_itself_is_refused():
    lists = [0]
    lists.append(lists)
    with pytest.raises(DataError, match="two places"):
        LabelTree.from_nested(lists)


@pytest.mark.parametrize("lists", [3, "01", [0, "1"], [0, 1.0], [0, True], {0: 1}])
def test_other_things_than_lists_and_ints_are_a_type_error(lists):
    with pytest.raises(TypeError, match="neither a list"):
        LabelTree.from_nested(lists)


def test_broken_parents_are_named():
    with pytest.raises(DataError, match="one dimension"):
        LabelTree.from_parents([PARENTS])
    with pytest.raises(DataError, match="no item has parent -1"):
        LabelTree.from_parents([1, 0])
    with pytest.raises(TypeError, match="float64"):
        LabelTree.from_parents([1.0, -1.0])


def test_a_deep_tree_needs_no_stack():
    lists = [0]
    for _ in range(20_000):
        lists = [lists]
    tree = LabelTree.from_nested(lists)
    assert tree.depth == 20_001
    assert pickle.loads(pickle.dumps(tree)) == tree
    assert tree.clip(2).depth == 2


def test_a_file_of_headings(tmp_path):
    path = tmp_path / "Schlagwörter.tsv"
    text = "Katzen\tTiere\nHunde\tTiere\n\nTiere\tAlles\nKunst\tAlles\n"
    path.write_text(text, encoding="utf-8")
    names = ["Hunde", "Katzen", "Kunst", "Tiere"]
    tree = LabelTree.from_file(path, names)
    # "Tiere" is a label and a parent: the first leaf of its own node.
    assert tree == LabelTree.from_nested([[3, 1, 0], 2])
    assert LabelTree.from_file(str(path), np.array(names)) == tree
    with pytest.raises(FormatError, match=r"tsv, line 1: \"Katzen\" is no label"):
        LabelTree.from_file(path, ["Hunde", "Kunst", "Tiere"])
    with pytest.raises(FormatError, match=r"label \"Vögel\" is missing"):
        LabelTree.from_file(path, [*names, "Vögel"])
    with pytest.raises(TypeError, match=r"label_names\[1\] is 7"):
        LabelTree.from_file(path, ["Hunde", 7])
    with pytest.raises(FileNotFoundError):
        LabelTree.from_file(tmp_path / "none.tsv", names)


def test_the_table_by_depth():
    table = LabelTree.from_nested(NESTED).depth_table()
    assert table.dtype.names == (
        "depth",
        "n_nodes",
        "n_leaves",
        "n_labels",
        "n_children",
    )
    assert table.tolist() == [
        (0, 1, 0, 6, 3),
        (1, 2, 1, 5, 4),
        (2, 1, 3, 2, 2),
        (3, 0, 2, 0, 0),
    ]


def test_equality_hash_copies_and_pickles():
    tree = LabelTree.from_nested(NESTED)
    assert tree != LabelTree.flat(6)
    assert tree != NESTED
    for same in (
        LabelTree.from_nested(NESTED),
        pickle.loads(pickle.dumps(tree)),
        copy.deepcopy(tree),
        copy.copy(tree),
        tree.clip(3),
    ):
        assert same == tree
        assert hash(same) == hash(tree)
    assert len({tree, LabelTree.from_nested(NESTED), LabelTree.flat(6)}) == 2


def test_a_tree_cannot_be_changed_or_made_from_nothing():
    tree = LabelTree.flat(2)
    with pytest.raises(AttributeError):
        tree.depth = 3
    with pytest.raises(AttributeError):
        tree._native = None
    with pytest.raises(TypeError, match="from_nested"):
        LabelTree([[0, 1]])
    with pytest.raises(DataError, match="n_labels is 0"):
        LabelTree.flat(0)
    with pytest.raises(DataError, match="max_depth is 0"):
        tree.clip(0)


def test_what_an_estimator_takes_as_a_tree():
    tree = LabelTree.from_nested([2, [0, 1]])
    for given_tree in (tree, tree._native, [2, [0, 1]], np.array([3, 3, 4, 4, -1])):
        assert as_label_tree(given_tree) == tree
    with pytest.raises(TypeError, match="tree is a dict"):
        as_label_tree({})


@st.composite
def nested_trees(draw):
    """Nested lists of labels 0 to n - 1, each once."""
    labels = draw(st.permutations(range(draw(st.integers(1, 20)))))
    parts = list(labels)
    while len(parts) > 1 and draw(st.booleans()):
        start = draw(st.integers(0, len(parts) - 1))
        end = draw(st.integers(start + 1, len(parts)))
        parts[start:end] = [parts[start:end]]
    return parts


def depth_of(node):
    return 1 + max(depth_of(child) for child in node) if isinstance(node, list) else 0


@given(nested_trees())
def test_any_nested_lists_keep_their_labels_and_depth(lists):
    tree = LabelTree.from_nested(lists)
    assert tree.depth == depth_of(lists)
    nodes = tree.to_dict()["nodes"]
    labels = sorted(label for node in nodes for label in node["labels"])
    assert labels == list(range(tree.n_labels))
    for max_depth in range(1, tree.depth + 1):
        clipped = tree.clip(max_depth)
        assert clipped.depth == max_depth
        assert clipped.n_labels == tree.n_labels
    assert proxtree.LabelTree is LabelTree
