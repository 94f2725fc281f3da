"""Trees that the user brings: files with a byte order mark, very deep chains."""

import numpy as np
import pytest
from scipy import sparse

from proxtree import LabelTree, LinearLabelTree, load

LINES = "cats\tpets\npets\tall\nart\tall\n"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
def test_a_byte_order_mark_is_no_part_of_a_name(tmp_path, encoding):
    path = tmp_path / "subjects.tsv"
    path.write_text(LINES, encoding=encoding)
    expected = LabelTree.from_nested([[1], 0])
    assert LabelTree.from_file(path, ["art", "cats"]) == expected


def test_a_chain_of_ten_thousand_nodes_trains_predicts_and_is_saved(tmp_path):
    depth = 10_000
    chain = [depth - 1]
    for label in range(depth - 2, -1, -1):
        chain = [label, chain]
    Y = sparse.csr_matrix(
        (np.ones(depth), (np.arange(depth) % 20, np.arange(depth))), (20, depth)
    )
    X = np.eye(20)
    model = LinearLabelTree(0.1, tree=chain, max_sweeps=2).fit(X, Y)
    # Label 0 hangs under the root, where sample 0 is its only positive.
    assert model.tree_.depth == depth
    assert model.predict_topk(X[:1], k=1)[0].tolist() == [[0]]
    model.save(tmp_path / "model")
    loaded = load(tmp_path / "model")
    assert loaded.tree_ == model.tree_
    np.testing.assert_array_equal(loaded.predict_topk(X)[1], model.predict_topk(X)[1])
