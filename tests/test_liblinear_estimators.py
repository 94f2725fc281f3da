"""The solvers of LIBLINEAR through both estimators and the command line."""

import numpy as np
import pytest
from scipy import sparse

import proxtree
from proxtree import LinearLabelTree, LinearOneVsRest, solve
from proxtree.cli import main
from proxtree.exceptions import ConvergenceWarning, DataWarning

L1 = {"solver": "coordinate_descent", "solver_options": {"variant": "liblinear"}}
L2 = {"solver": "dual_coordinate_descent"}
TREE = [[0, 3, 5], [1, 2], [4, 6]]


def objectives(X, Y, W, b, C, s1):
    """The L2 objective of every column of Y, densely."""
    S = 2.0 * Y.toarray() - 1
    hinge = np.maximum(0, 1 - S * (X.astype(np.float64) @ W.T + b))
    return 0.5 * ((W**2).sum(1) + s1 * b**2) + C * (hinge**2).sum(0)


def test_one_vs_rest_of_the_l2_problem(problem):
    X, Y = problem
    model = LinearOneVsRest(C=3.0, solver_options={"eps": 1e-8}, **L2).fit(X, Y)
    assert (model.certificate_["status"] == "converged").all()
    W = model.coef_.toarray().astype(np.float64)
    own = objectives(X, Y, W, model.intercept_, 3.0, 1.0)
    np.testing.assert_allclose(model.certificate_["objective"], own, rtol=1e-9)
    for label in range(Y.shape[1]):
        y = Y[:, [label]].toarray().ravel()
        best = solve(X, y, C=3.0, eps=1e-9, max_iter=10**6, **L2)
        np.testing.assert_allclose(own[label], best.objective, rtol=1e-6)
        bound = model.certificate_["dual_objective"][label]
        assert bound <= best.objective * (1 + 1e-12)


def test_weights_and_propensities_weigh_the_losses(problem):
    X, Y = problem
    c = np.random.default_rng(1).uniform(0.5, 2.0, X.shape[0])
    options = {"C": 0.7, "class_weight": (2.0, 0.5), "propensity_weight": 0.3, **L2}
    model = LinearOneVsRest(solver_options={"eps": 1e-8}, **options).fit(X, Y, c)
    n, positives = X.shape[0], 16
    inverse = 1 + (np.log(n) - 1) * 2.5**0.55 * (positives + 1.5) ** -0.55
    y = Y[:, [2]].toarray().ravel()
    weights = 0.7 * c * np.where(y, 2.0 * (1 + 0.3 * (inverse - 1)), 0.5)
    best = solve(X, y, sample_weight=weights, eps=1e-9, max_iter=10**6, **L2)
    assert model.certificate_["objective"][2] == pytest.approx(best.objective, rel=1e-6)
    other = LinearOneVsRest(0.2, alpha_exponent=0.5, solver_options={"eps": 1e-8})
    other.set_params(**options).fit(X, Y, c)
    np.testing.assert_array_equal(other.coef_.data, model.coef_.data)


@pytest.mark.parametrize("balanced", [None, "balanced"])
def test_the_shared_start_leads_to_the_same_optimum(problem, balanced):
    X, Y = problem
    options = {"class_weight": balanced, "solver_options": {"eps": 1e-8}, **L2}
    for intercept in ({}, {"fit_intercept": False}, {"penalize_intercept": False}):
        model = LinearOneVsRest(max_iter=10**6, **intercept, **options).fit(X, Y)
        y = Y[:, [5]].toarray().ravel()
        c = np.where(y, 80 / 32, 80 / 128) if balanced else np.ones(80)
        best = solve(X, y, sample_weight=c, eps=1e-9, max_iter=10**6, **intercept, **L2)
        found = model.certificate_["objective"][5]
        assert found == pytest.approx(best.objective, rel=1e-6)


@pytest.mark.parametrize("options", [L1, L2])
def test_trees_work_with_their_defaults(problem, options):
    X, Y = problem
    model = LinearLabelTree(0.1, tree=TREE, **options).fit(X, Y)
    assert set(model.certificate_["status"]) <= {"converged", "stalled"}
    labels, _ = model.predict_topk(X, 1)
    hits = Y.toarray()[np.arange(X.shape[0]), labels[:, 0]].mean()
    # One label in five is right by chance.
    assert hits > 0.6


@pytest.mark.parametrize("options", [L1, L2])
def test_threads_and_seeds(problem, options):
    X, Y = problem
    for cls in (LinearOneVsRest, LinearLabelTree):
        more = {"tree": TREE} if cls is LinearLabelTree else {}
        bits = [
            cls(0.1, n_threads=n, random_state=seed, **more, **options)
            .fit(X, Y)
            .score_pairs(X, np.arange(70) % 80, np.arange(70) % 7)
            .tobytes()
            for n, seed in [(1, 0), (3, 0), (1, None), (1, 1)]
        ]
        assert bits[0] == bits[1] == bits[2] != bits[3]


@pytest.mark.parametrize("options", [L1, L2])
def test_the_flat_tree_is_one_vs_rest(problem, options):
    levers = {"alpha_exponent": 0.0, "propensity_weight": 0.0}
    tree = LinearLabelTree(0.1, max_depth=1, **levers, **options).fit(*problem)
    flat = LinearOneVsRest(0.1, **options).fit(*problem)
    np.testing.assert_array_equal(tree.coef_.data, flat.coef_.data)
    np.testing.assert_array_equal(tree.intercept_, flat.intercept_)


def test_features_that_a_node_does_not_use_have_no_weight(problem):
    X, Y = problem
    model = LinearLabelTree(tree=TREE, fit_intercept=False, **L2).fit(X, Y)
    for node in list(model.nodes())[1:]:
        rows = Y[:, node.children].sum(axis=1).A1 > 0
        used = np.flatnonzero(X[rows].getnnz(axis=0))
        assert set(node.coef.indices) <= set(used.tolist())


@pytest.mark.parametrize("options", [L1, L2])
def test_a_label_without_positives_gets_the_best_intercept(options):
    X, Y = np.eye(4, dtype=np.float32), [[0], [0], [], []]
    for intercept, best in [
        # 4 (1 + b)^2 with b^2 / 2 or |b| / 2, with nothing, or no b at all.
        ({}, -8 / 9 if options is L2 else -15 / 16),
        ({"penalize_intercept": False}, -1.0),
        ({"fit_intercept": False}, 0.0),
    ]:
        model = LinearOneVsRest(0.5, **intercept, **options)
        Z = sparse.csr_matrix(([1, 1], ([0, 1], [0, 0])), shape=(4, 2))
        with pytest.warns(DataWarning):
            model.fit(X, Z)
        assert len(Y) == 4
        assert model.coef_[1].nnz == 0
        assert model.intercept_[1] == pytest.approx(best)
        row = model.certificate_[1]
        assert row["dual_objective"] <= row["objective"]
        loss = 4 * (1 + best) ** 2
        penalty = 0.5 * best**2 if options is L2 else 0.5 * abs(best)
        if intercept:
            penalty = 0.0
        assert row["objective"] == pytest.approx(loss + penalty)


def test_a_warning_only_where_the_limit_came_first(problem):
    X, Y = problem
    for options in (L1, L2):
        # Stalled by their own rules: no warning (they are errors here).
        loose = {**options.get("solver_options", {}), "eps": 0.5}
        model = LinearOneVsRest(0.05, tol=1e-9, C=20.0, **options)
        model.set_params(solver_options=loose).fit(X, Y)
        assert (model.certificate_["status"] == "stalled").all()
        tight = {**loose, "eps": 1e-9}
        model.set_params(solver_options=tight, max_iter=2)
        with pytest.warns(ConvergenceWarning, match="7 max_iter.*raise max_iter"):
            model.fit(X, Y)


def test_stored_weights_are_those_of_the_certificate(problem):
    X, Y = problem
    model = LinearLabelTree(0.1, tree=TREE, prune=0.05, **L2).fit(X, Y)
    certificate = model.certificate_
    assert certificate["n_pruned"].sum() > 0
    W, b = next(model.nodes())[1:]
    below = np.array([Y[:, part].sum(axis=1).A1 > 0 for part in TREE]).T
    # The tree's levers weigh positives.
    n, positives = X.shape[0], below.sum(0)
    inverse = 1 + (np.log(n) - 1) * 2.5**0.55 * (positives + 1.5) ** -0.55
    weights = np.where(below, 1 + 0.1 * (inverse - 1), 1.0)
    W = W.toarray().astype(np.float64)
    hinge = np.maximum(0, 1 - (2.0 * below - 1) * (X.astype(np.float64) @ W.T + b))
    own = 0.5 * ((W**2).sum(1) + b**2) + (weights * hinge**2).sum(0)
    np.testing.assert_allclose(certificate["objective"][:3], own, rtol=1e-6)


def test_parameters_are_saved_and_those_of_old_files_load(problem, tmp_path):
    model = LinearLabelTree(C=2.0, tree=TREE, **L2).fit(*problem)
    model.save(tmp_path / "m")
    loaded = proxtree.load(tmp_path / "m")
    assert loaded.get_params() | {"tree": None} == model.get_params() | {"tree": None}
    assert (loaded.max_sweeps, loaded.violation_tol) == (None, None)
    # What models were saved with before None was the default.
    old = LinearLabelTree(max_sweeps=12, violation_tol=0.03, tree=TREE).fit(*problem)
    new = LinearLabelTree(tree=TREE).fit(*problem)
    for a, b in zip(old.nodes(), new.nodes(), strict=True):
        np.testing.assert_array_equal(a.coef.data, b.coef.data)


def test_the_command_line_takes_c(problem, tmp_path):
    X, Y = problem
    proxtree.save_xmc(tmp_path / "train.txt", X, Y)
    words = ["train", str(tmp_path / "train.txt"), "-o", str(tmp_path / "m"), "--quiet"]
    words += ["--model", "ovr", "--solver", "dual_coordinate_descent", "--C", "4"]
    main([*words, "--solver-options", "eps=0.01"])
    model = proxtree.load(tmp_path / "m")
    expected = LinearOneVsRest(C=4.0, solver_options={"eps": 0.01}, **L2).fit(X, Y)
    np.testing.assert_array_equal(model.coef_.data, expected.coef_.data)
