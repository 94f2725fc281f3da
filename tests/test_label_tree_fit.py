"""What LinearLabelTree finds: against one-vs-rest, numpy, and itself."""

import numpy as np
import pytest
from scipy import sparse

from proxtree import (
    LabelTree,
    LinearLabelTree,
    LinearOneVsRest,
    label_features,
    normalize_rows,
)
from proxtree.exceptions import ConvergenceWarning, DataError, DataWarning

# Stops where LinearOneVsRest does.
GAP = {"violation_tol": 0, "max_sweeps": 100_000}
FLAT = {**GAP, "max_depth": 1}
PLAIN = {"alpha_exponent": 0.0, "propensity_weight": 0.0}


def bits(model):
    return b"".join(
        part.tobytes()
        for node in model.nodes()
        for part in (
            node.children,
            node.coef.indptr,
            node.coef.indices,
            node.coef.data,
            node.intercept,
        )
    )


@pytest.mark.parametrize(
    "params",
    [
        PLAIN,
        {"alpha": 0.2, "alpha_exponent": 0.3, "propensity_weight": 0.5},
        {**PLAIN, "class_weight": "balanced", "normalize": True, "ridge": 0.1},
        {**PLAIN, "solver": "coordinate_descent", "fit_intercept": False},
        {**PLAIN, "penalize_intercept": False, "tol": 1e-5},
    ],
)
def test_depth_one_is_one_vs_rest(problem, params):
    X, Y = problem
    tree = LinearLabelTree(**FLAT, **params).fit(X, Y)
    flat = LinearOneVsRest(**params).fit(X, Y)
    assert flat.coef_.nnz
    for part in ("indptr", "indices", "data"):
        np.testing.assert_array_equal(
            getattr(tree.coef_, part), getattr(flat.coef_, part)
        )
    np.testing.assert_array_equal(tree.intercept_, flat.intercept_)
    assert tree.intercept_.dtype == np.float64
    for field in flat.certificate_.dtype.names:
        if field != "seconds":
            np.testing.assert_array_equal(
                tree.certificate_[field], flat.certificate_[field]
            )
    assert (tree.certificate_["depth"] == 0).all()
    np.testing.assert_array_equal(tree.certificate_["child"], np.arange(7))


def rows_of(model, Y, node):
    """Samples with a label below each child of a node, as columns."""
    nodes = list(model.nodes())

    def below(child):
        if child >= 0:
            return Y.toarray()[:, child] > 0
        return np.any([below(c) for c in nodes[-child].children], axis=0)

    return np.column_stack([below(child) for child in nodes[node].children])


@pytest.mark.parametrize("root_rows", ["all", "labelled"])
def test_certificates_say_what_nodes_hold(problem, root_rows):
    X, Y = problem
    assert (np.diff(Y.indptr) == 0).any()
    model = LinearLabelTree(
        n_clusters=2, root_rows=root_rows, alpha=0.5, **GAP, **PLAIN
    )
    model.fit(X, Y)
    assert model.tree_.depth > 2
    with pytest.raises(AttributeError, match=r"depth one; .* nodes in 1 tree: see no"):
        _ = model.coef_
    assert not hasattr(model, "intercept_")
    certificate = model.certificate_
    at = 0
    depth = {0: 0}
    for v, (children, coef, intercept) in enumerate(model.nodes()):
        positive = rows_of(model, Y, v)
        rows = positive.any(axis=1) | (v == 0 and root_rows == "all")
        A = X.toarray()[rows].astype(float)
        for c, child in enumerate(children.tolist()):
            if child < 0:
                depth[-child] = depth[v] + 1
            w = coef[[c]].toarray().ravel().astype(float)
            s = np.where(positive[rows, c], 1, -1)
            hinge = np.maximum(0, 1 - s * (A @ w + intercept[c]))
            objective = 0.5 * (np.abs(w).sum() + abs(intercept[c])) + hinge @ hinge
            row = certificate[at]
            at += 1
            assert row["objective"] == pytest.approx(objective, rel=1e-6)
            assert (row["tree"], row["node"], row["child"]) == (0, v, child)
            assert row["depth"] == depth[v]
            assert row["n_positives"] == positive[:, c].sum()
            assert row["nnz"] == np.count_nonzero(w)
            assert row["gap"] == row["objective"] - row["dual_objective"]
            assert row["gap"] <= 1e-3 * row["dual_objective"]
    assert at == len(certificate)
    assert sorted(certificate["child"][certificate["child"] >= 0]) == list(range(7))
    assert model.certificate_summary()["n_converged"] == at


def test_fitted_attributes(problem):
    model = LinearLabelTree(n_clusters=2)
    assert model.fit(*problem) is model
    assert (model.n_features_in_, model.n_labels_) == (30, 7)
    np.testing.assert_array_equal(model.classes_, np.arange(7))
    nodes = list(model.nodes())
    assert model.tree_.n_nodes == len(nodes)
    assert model.trees_ == [model.tree_]
    assert model.n_nonzero_ == sum(
        coef.nnz + np.count_nonzero(b) for _, coef, b in nodes
    )
    assert all(coef.dtype == np.float32 for _, coef, _ in nodes)


def test_threads_do_not_change_a_bit(problem):
    one, two = (
        LinearLabelTree(n_clusters=2, n_trees=2, n_threads=n).fit(*problem)
        for n in (1, 2)
    )
    assert bits(one) == bits(two)


def test_seeds_give_other_trees_and_the_first_is_that_of_a_single_one(problem):
    X, Y = problem
    three = LinearLabelTree(n_clusters=2, n_trees=3).fit(X, Y)
    assert len(three.trees_) == 3
    with pytest.raises(AttributeError, match="there are 3 trees: see trees_"):
        _ = three.tree_
    single = LinearLabelTree(n_clusters=2).fit(X, Y)
    assert three.trees_[0] == single.tree_
    assert single.tree_ == LabelTree.build(label_features(X, Y), n_clusters=2)
    assert three.trees_[1] != three.trees_[0]
    assert three.trees_[2] not in three.trees_[:2]
    others = [LinearLabelTree(n_clusters=2, random_state=s).fit(X, Y) for s in range(5)]
    assert any(bits(other) != bits(single) for other in others)
    n_problems = sum(len(n.children) for n in single.nodes())
    assert (three.certificate_["tree"] == 0).sum() == n_problems
    assert set(three.certificate_["tree"]) == {0, 1, 2}


def test_a_tree_of_ones_own(problem):
    X, Y = problem
    nested = LinearLabelTree(tree=[[0, 3, 5], [[1, 2], 4], 6]).fit(X, Y)
    children = [node.children.tolist() for node in nested.nodes()]
    assert children == [[-1, -2, 6], [0, 3, 5], [-3, 4], [1, 2]]
    again = LinearLabelTree(tree=nested.tree_, n_clusters=2).fit(X, Y)
    assert bits(again) == bits(nested)
    # Items 7, 8, ... are internal nodes; labels come before nodes there.
    parents = np.array([8, 10, 10, 8, 9, 8, 7, -1, 7, 7, 9])
    from_parents = LinearLabelTree(tree=parents).fit(X, Y)
    labels, scores = from_parents.predict_topk(X)
    expected_labels, expected_scores = nested.predict_topk(X)
    np.testing.assert_array_equal(labels, expected_labels)
    np.testing.assert_array_equal(scores, expected_scores)
    with pytest.raises(DataError, match="the tree has 3 labels, Y has 7"):
        LinearLabelTree(tree=[0, [1, 2]]).fit(X, Y)
    with pytest.raises(DataError, match="n_trees is 2, expected 1 with a given tree"):
        LinearLabelTree(tree=nested.tree_, n_trees=2).fit(X, Y)


def test_rows_are_normalised_before_the_tree_is_built(problem):
    X, Y = problem
    # Lengths that a tree of the rows as they are would notice.
    X = sparse.diags(np.geomspace(0.01, 100, 80)) @ X
    inside = LinearLabelTree(0.1, n_clusters=2, normalize=True).fit(X, Y)
    outside = LinearLabelTree(0.1, n_clusters=2).fit(normalize_rows(X), Y)
    plain = LinearLabelTree(0.1, n_clusters=2).fit(X, Y)
    assert bits(inside) == bits(outside)
    assert inside.tree_ != plain.tree_
    np.testing.assert_array_equal(
        inside.predict_topk(3 * X)[1], outside.predict_topk(normalize_rows(3 * X))[1]
    )


def test_few_sweeps_warn_only_where_the_gap_is_the_aim(problem):
    # pytest makes warnings errors.
    model = LinearLabelTree(max_sweeps=1, n_clusters=2).fit(*problem)
    n_short = (model.certificate_["status"] == "max_iter").sum()
    assert n_short > 0
    assert (model.certificate_["n_iter"] <= 1).all()
    assert model.certificate_summary()["n_max_iter"] == n_short
    with pytest.warns(ConvergenceWarning) as caught:
        LinearLabelTree(max_sweeps=1, violation_tol=0, n_clusters=2).fit(*problem)
    assert "trained problems did not reach" in str(caught[0].message)
    assert "raise max_sweeps or tol" in str(caught[0].message)
    assert caught[0].filename == __file__


def test_pruned_weights_are_counted(problem):
    X, Y = problem
    full = LinearLabelTree(0.2, n_clusters=2).fit(X, Y)
    pruned = LinearLabelTree(0.2, n_clusters=2, prune=0.3).fit(X, Y)
    smallest = min(np.abs(n.coef.data).min(initial=9) for n in pruned.nodes())
    assert smallest >= 0.3
    certificate = pruned.certificate_
    assert certificate["n_pruned"].sum() > 0
    np.testing.assert_array_equal(
        certificate["nnz"] + certificate["n_pruned"], full.certificate_["nnz"]
    )
    assert (full.certificate_["n_pruned"] == 0).all()


def test_sample_weights(problem):
    X, Y = problem
    tree = LinearLabelTree(n_clusters=2).fit(X, Y).tree_
    weights = np.ones(80)
    weights[:10] = 0
    weighted = LinearLabelTree(tree=tree, **GAP).fit(X, Y, weights)
    fewer = LinearLabelTree(tree=tree, **GAP).fit(X[10:], Y[10:])
    assert bits(weighted) == bits(fewer)
    heavy = LinearLabelTree(tree=tree, **PLAIN, **GAP).fit(X, Y, np.full(80, 2.0))
    light = LinearLabelTree(0.5, tree=tree, **PLAIN, **GAP).fit(X, Y)
    np.testing.assert_allclose(
        heavy.certificate_["objective"],
        2 * light.certificate_["objective"],
        rtol=2e-3,
    )


def test_labels_without_positives(problem):
    X, Y = problem
    empty = sparse.csr_matrix((80, 2), dtype=np.uint8)
    wider = sparse.hstack([Y, empty])
    with pytest.warns(DataWarning, match="2 of 9 labels have no positive") as caught:
        model = LinearLabelTree(n_clusters=3).fit(X, wider)
    assert caught[0].filename == __file__
    labels, _ = model.predict_topk(X, 9)
    assert set(labels.ravel()) == {-1, *range(7)}
    child = model.certificate_["child"]
    assert (model.certificate_["nnz"][child >= 7] == 0).all()
    n_trained = (model.certificate_["n_positives"] > 0).sum()
    assert model.certificate_summary()["n_trained"] == n_trained < len(child)
    with pytest.raises(DataError, match="no label at all"):
        LinearLabelTree().fit(X, empty)
