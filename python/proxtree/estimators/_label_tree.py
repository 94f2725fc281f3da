"""The label tree."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from proxtree import _certificates, _core
from proxtree._parameters import check_choice, check_int, check_random_state, check_real
from proxtree._validation import normalize_rows
from proxtree.estimators._nodes import Node, iterate, problem_places
from proxtree.estimators._training import Csr, TrainableModel
from proxtree.exceptions import DataError
from proxtree.tree import (
    CLUSTERINGS,
    LabelTree,
    as_label_tree,
    label_features,
    model_trees,
)

ROOT_ROWS = ("all", "labelled")
SCORINGS = ("squared", "cubed", "log_sigmoid")

# What None stands for with solver "auto".
MAX_SWEEPS = 12
VIOLATION_TOL = 0.03


class LinearLabelTree(TrainableModel):
    r"""Train a tree of sparse linear classifiers, each with its duality gap.

    Labels that occur with similar features share a branch. An internal node holds
    one sparse classifier for each of its children, trained only on the samples
    that have a label below the node, so that training and prediction look at a
    small part of all labels for each sample.

    Parameters
    ----------
    alpha : float, default=1.0
        Weight of the L1 term, > 0: larger gives sparser models. The loss is a sum
        over samples, not a mean; LIBLINEAR's C is 1 / alpha.
    n_clusters : int, default=100
        K, at least 2: into how many clusters a node's labels are split. A node of
        at most K labels holds them as leaves.
    max_depth : int, default=6
        Greatest depth of a label, at least 1 (one-vs-rest).
    clustering : {"kmeans", "spherical", "balanced", "balanced_2means"}, \
default="kmeans"
        How a node's labels are split: K-means by distance or by cosine, K-means
        with clusters of equal size, or repeated balanced halving.
    tree : LabelTree, nested lists of label ids, or parent array, optional
        A tree of your own instead of one built from the data; an ndarray is read
        as a parent array. `n_clusters`, `max_depth`, `clustering` and
        `random_state` then play no part, and `n_trees` must be 1.
    n_trees : int, default=1
        How many trees, built from different seeds, average their scores.
    max_sweeps : int, optional
        Most iterations for a problem, at least 1 (sweeps and Newton steps); None
        means 12 with solver "auto" and the solver's own limit with others.
    violation_tol : float, optional
        A problem also ends when the violations of optimality of a sweep add up to
        at most this share of those of its first sweep; 0 means that only `tol`
        and `max_sweeps` end it. None means 0.03 with solver "auto" and 0 with
        others, which end by their own rules.
    prune : float, default=0.0
        Weights below this in absolute value are set to zero after the solve, and
        counted; the certificate is that of the weights that are left.
    root_rows : {"all", "labelled"}, default="all"
        Whether samples without labels are negatives at the root.
    scoring : {"squared", "cubed", "log_sigmoid"}, default="cubed"
        What a margin z on the path to a label adds to the path's score:
        ``-max(0, 1 - z)**2``, ``-max(0, 1 - z)**3`` or ``log(sigmoid(3 * z))``. A
        label's score is the exponential of the sum.
    beam_size : int, default=10
        How many internal nodes of each depth prediction looks into, at least 1.
    solver : {"auto", "forward_backward", "coordinate_descent", \
"dual_coordinate_descent"}, default="auto"
        "auto" is fast; "forward_backward" is PRoXML's, "coordinate_descent"
        LIBLINEAR's ``-s 5``, mended or as it is, to compare with;
        "dual_coordinate_descent" is its ``-s 1``, which solves the L2 problem: a
        weight for nearly every feature of a node. `proxtree.solve` describes them.
    tol : float, default=1e-3
        Relative duality gap at which a problem ends, > 0:
        ``gap <= tol * dual_objective``.
    fit_intercept : bool, default=True
        Whether a constant is added to each margin.
    intercept_scaling : float, default=1.0
        Value of the intercept's column, > 0: the intercept is the column's weight
        times this. Larger values penalise it less.
    penalize_intercept : bool, default=True
        Whether the column's weight is in the L1 term (for the L2 problem: in the
        squared term), as in LIBLINEAR.
    class_weight : None, "balanced" or (float, float), default=None
        Weights of positive and negative samples; "balanced" means
        ``n_samples / (2 * n_class)`` for each problem, n_samples those of its node.
    alpha_exponent : float, default=0.1
        A problem with n positives is trained with
        ``alpha * clip((n / 100) ** alpha_exponent, 1/4, 4)``; without effect on the
        L2 problem, which has no alpha.
    propensity_weight : float, default=0.1
        Positives weigh ``1 + propensity_weight * (1/p - 1)``, >= 0, with p the
        propensity (A = 0.55, B = 1.5) of a label with as many positives among the
        node's samples.
    ridge : float, default=0.0
        Weight of the squared l2 term beside the L1 term, >= 0; the intercept is
        not in it.
    C : float, default=1.0
        Weight of the losses in the L2 problem, > 0; only
        ``solver="dual_coordinate_descent"`` makes use of it.
    solver_options : dict, optional
        Options of the solver, as in `proxtree.solve`: ``{"acceleration": "fista",
        "stop": "gap"}`` for "forward_backward", ``{"variant": "liblinear",
        "eps": 0.01}`` for "coordinate_descent", ``{"eps": 0.1}`` for
        "dual_coordinate_descent".
    normalize : bool, default=False
        Whether rows are scaled to unit l2 norm, for the tree, in training and in
        prediction. It is part of the model, saved with it.
    memory_limit : int, optional
        Bytes that `fit` may add to the memory of the process; None means what the
        process may use, limits of its address space and cgroup counted in.
    n_threads : int, optional
        At least 1; None means the CPUs that this process may use. Models and
        predictions do not depend on it.
    random_state : int, optional, default=0
        Seed of the clustering, and of the order of coordinates of
        ``variant="liblinear"`` and "dual_coordinate_descent"; None means 0.
    progress : None, True or callable, default=None
        True shows a bar (needs tqdm); a function is called about every 50 ms with
        (problems done, problems in all, non-zero weights so far). What it raises
        ends the fit.

    Attributes
    ----------
    tree_ : LabelTree
        The tree, if there is one.
    trees_ : list of LabelTree
        All trees.
    certificate_ : structured ndarray, shape (n_problems,)
        A row for each child of each node of each tree, in the order of `nodes`:
        tree, node, child (a label's id, or minus the id of a node), depth (of the
        node; the root's is 0), objective, dual_objective, gap (absolute), n_iter,
        status ("converged", "max_iter": ended by sweeps or violations, "stalled"),
        nnz, seconds of CPU, n_positives, n_pruned. The optimal objective lies
        between dual_objective and objective.
    coef_ : csr_matrix of float32, shape (n_labels, n_features)
        Of a single tree of depth one only.
    intercept_ : ndarray of float64, shape (n_labels,)
        Of a single tree of depth one only.
    n_features_in_, n_labels_, n_nonzero_ : int
    classes_ : ndarray of int, shape (n_labels,)

    Notes
    -----
    A node's problems share its samples, those with a label below it, and the
    features that occur there. For each child, with s_i = +1 for the samples with a
    label below the child and -1 for the node's others,

    .. math::

        \min_{w, b} \alpha (\|w\|_1 + |b| / \text{intercept\_scaling})
        + \frac{\text{ridge}}{2} \|w\|_2^2
        + \sum_i c_i \max(0, 1 - s_i (x_i \cdot w + b))^2 ,

    and with ``solver="dual_coordinate_descent"``

    .. math::

        \min_{w, b} \frac{1}{2} (\|w\|_2^2 + (b / \text{intercept\_scaling})^2)
        + C \sum_i c_i \max(0, 1 - s_i (x_i \cdot w + b))^2 .

    Trees rank well long before their problems are solved to a small gap, so a
    problem that ends by `max_sweeps` or `violation_tol` gives no warning;
    `certificate_` shows its gap as it is. With ``violation_tol=0`` and a large
    `max_sweeps` every problem goes on to `tol` as in `LinearOneVsRest`.

    A child without positives is not trained: no weights, the best intercept. A
    label without positives is never predicted.

    References
    ----------
    H.-Z. Lin, C.-H. Liu and C.-J. Lin, "Exploring space efficiency in a tree-based
    linear model for extreme multi-label classification", EMNLP 2024.

    R. Babbar and B. Schölkopf, "Data scarcity, robustness and extreme multi-label
    classification", Machine Learning 108, 2019. doi:10.1007/s10994-019-05791-5

    Examples
    --------
    Four labels in two branches: the root has two problems, and so has each branch.

    >>> from proxtree import LinearLabelTree
    >>> X = [[1, 0, 1, 0], [1, 0, 0, 1], [0, 1, 1, 0], [0, 1, 0, 1]] * 5
    >>> Y = [[0], [1], [2], [3]] * 5
    >>> model = LinearLabelTree(alpha=0.1, tree=[[0, 1], [2, 3]]).fit(X, Y)
    >>> labels, scores = model.predict_topk([[0.0, 1.0, 1.0, 0.0]], k=1)
    >>> labels
    array([[2]], dtype=int32)
    >>> for node in model.nodes():
    ...     print(node.children, node.coef.shape)
    [-1 -2] (2, 4)
    [0 1] (2, 4)
    [2 3] (2, 4)
    """

    _problem_name = "problem"

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        n_clusters: int = 100,
        max_depth: int = 6,
        clustering: str = "kmeans",
        tree: Any = None,
        n_trees: int = 1,
        max_sweeps: int | None = None,
        violation_tol: float | None = None,
        prune: float = 0.0,
        root_rows: str = "all",
        scoring: str = "cubed",
        beam_size: int = 10,
        solver: str = "auto",
        tol: float = 1e-3,
        fit_intercept: bool = True,
        intercept_scaling: float = 1.0,
        penalize_intercept: bool = True,
        class_weight: tuple[float, float] | Literal["balanced"] | None = None,
        alpha_exponent: float = 0.1,
        propensity_weight: float = 0.1,
        ridge: float = 0.0,
        C: float = 1.0,
        solver_options: Mapping[str, Any] | None = None,
        normalize: bool = False,
        memory_limit: int | None = None,
        n_threads: int | None = None,
        random_state: int | None = 0,
        progress: bool | Callable[[int, int, int], object] | None = None,
    ) -> None:
        self.alpha = alpha
        self.n_clusters = n_clusters
        self.max_depth = max_depth
        self.clustering = clustering
        self.tree = tree
        self.n_trees = n_trees
        self.max_sweeps = max_sweeps
        self.violation_tol = violation_tol
        self.prune = prune
        self.root_rows = root_rows
        self.scoring = scoring
        self.beam_size = beam_size
        self.solver = solver
        self.tol = tol
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.penalize_intercept = penalize_intercept
        self.class_weight = class_weight
        self.alpha_exponent = alpha_exponent
        self.propensity_weight = propensity_weight
        self.ridge = ridge
        self.C = C
        self.solver_options = solver_options
        self.normalize = normalize
        self.memory_limit = memory_limit
        self.n_threads = n_threads
        self.random_state = random_state
        self.progress = progress

    def fit(self, X: Any, Y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Build the trees and train the classifiers of all their nodes.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features; rounded to float32. Do not change it meanwhile.
        Y : {array-like, sparse matrix, list of lists} of shape (n_samples, n_labels)
            0/1 values, or a list of label ids for each sample.
        sample_weight : array-like of shape (n_samples,), optional
            At least 0; samples of weight 0 are left out. Clustering takes no notice
            of the other weights.

        Returns
        -------
        self

        Raises
        ------
        DataError
            If a parameter or a value is out of range, the shapes disagree, or `Y`
            has no label at all. The estimator then stays as it was, as it does
            on Ctrl-C.
        MemoryError
            Before training, if it would take more than `memory_limit`, or before
            the tree is built, if that might: with the need and the nearest
            settings that fit.
        TypeError
            If something is of the wrong kind.

        Warns
        -----
        ConvergenceWarning
            Once, with counts, if problems did not reach `tol`, and `violation_tol`
            is 0. Solvers with a stop rule of their own ("stalled" where it ends them
            short of `tol`) give it for problems that `max_sweeps` ended.
        DataWarning
            Once, with the count of labels without positives.
        """
        return self._fit(X, Y, sample_weight, "max_sweeps")

    @property
    def _stops_early(self) -> bool:
        return self.solver == "auto" and self.violation_tol != 0

    def _arguments(self) -> dict[str, Any]:
        is_early = self.solver == "auto"
        max_sweeps, violation_tol = self.max_sweeps, self.violation_tol
        if max_sweeps is None and is_early:
            max_sweeps = MAX_SWEEPS
        if violation_tol is None:
            violation_tol = VIOLATION_TOL if is_early else 0.0
        arguments = {
            **self._shared_arguments(),
            "max_iter": None
            if max_sweeps is None
            else check_int(max_sweeps, "max_sweeps", 1),
            "scoring": check_choice(self.scoring, "scoring", SCORINGS),
            "root_rows": check_choice(self.root_rows, "root_rows", ROOT_ROWS),
            "violation_tol": check_real(violation_tol, "violation_tol", zero=True),
            "prune": check_real(self.prune, "prune", zero=True),
        }
        if arguments["violation_tol"] > 0 and not is_early:
            raise DataError(
                f"violation_tol is {self.violation_tol}, expected 0 or None with "
                f'solver "{self.solver}", which ends by its own rule'
            )
        self._checked_beam()
        n_trees = check_int(self.n_trees, "n_trees", 1)
        # Before anything that takes long.
        if self.tree is None:
            check_int(self.n_clusters, "n_clusters", 2)
            check_int(self.max_depth, "max_depth", 1)
            check_choice(self.clustering, "clustering", CLUSTERINGS)
        elif n_trees > 1:
            raise DataError(f"n_trees is {n_trees}, expected 1 with a given tree")
        else:
            as_label_tree(self.tree)
        return arguments

    @property
    def _built_shape(self) -> tuple[int, int] | None:
        return (self.n_clusters, self.max_depth) if self.tree is None else None

    def _trees(self, X: Csr, Y: Csr, n_threads: int) -> list[LabelTree]:
        if self.tree is not None:
            return [as_label_tree(self.tree)]
        if self.normalize:
            X = normalize_rows(X)
        features = label_features(X, Y, n_threads=n_threads)
        return [
            LabelTree.build(
                features,
                n_clusters=self.n_clusters,
                max_depth=self.max_depth,
                clustering=self.clustering,
                random_state=seed,
                n_threads=n_threads,
            )
            for seed in _tree_seeds(check_random_state(self.random_state), self.n_trees)
        ]

    @property
    def trees_(self) -> list[LabelTree]:
        """All trees."""
        return model_trees(self._fitted_or_raise().model)

    @property
    def tree_(self) -> LabelTree:
        """The tree, if there is one; those of an ensemble are in `trees_`."""
        trees = self.trees_
        if len(trees) > 1:
            raise AttributeError(f"there are {len(trees)} trees: see trees_")
        return trees[0]

    def nodes(self) -> Iterator[Node]:
        """Iterate over the classifiers of all internal nodes.

        Node 0 is the root; ids go breadth first. An ensemble's trees follow each
        other: tree t has ``trees_[t].n_nodes`` nodes.

        Yields
        ------
        Node
            (children, coef, intercept): for each child its id, a row of weights
            and an intercept. A child is a label j >= 0, or the internal node -j if
            j < 0.

        Raises
        ------
        NotFittedError
            Before `fit`.
        """
        return iterate(self._fitted_or_raise().model)

    def predict_topk(
        self,
        X: Any,
        k: int = 5,
        *,
        n_threads: int | None = None,
        beam_size: int | None = None,
        allowed: ArrayLike | None = None,
    ) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
        """Return the k labels with the highest scores that a beam search finds.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            As many features as in `fit`.
        k : int, default=5
            Labels per row, at least 1.
        n_threads : int, optional
            At least 1; None takes the estimator's own setting. The result does
            not depend on it.
        beam_size : int, optional
            Internal nodes to keep at each depth, at least 1; None takes the
            estimator's own setting. All children of a kept node are scored, so
            that a beam of all nodes searches exhaustively.
        allowed : array-like of int, optional
            Ids of the labels that may be returned; all by default. Branches
            without any are not searched.

        Returns
        -------
        labels : ndarray of int32, shape (n_samples, k)
            Best first; -1 where the beam holds fewer than k labels. Labels
            without positives in training are never returned.
        scores : ndarray of float32, shape (n_samples, k)
            In [0, 1], the mean over the trees, 0 in a tree whose beam does not
            hold the label; negative infinity beside -1. Ties go to the higher
            margin at the label itself, then to the smaller id.

        Raises
        ------
        DataError
            If `k`, `n_threads`, `beam_size` or `allowed` is out of range, or `X`
            has another number of features than the model.
        NotFittedError
            Before `fit`.
        """
        beam = self._checked_beam() if beam_size is None else _check_beam(beam_size)
        return self._top_k(X, k, n_threads, allowed, beam)

    def _checked_beam(self) -> int:
        return _check_beam(self.beam_size)

    def _certificate(
        self, model: _core.Model, fields: Mapping[str, NDArray[Any]]
    ) -> NDArray[np.void]:
        places = problem_places(model)
        return _certificates.from_fields(
            {**places, **fields}, _certificates.TREE_CERTIFICATE, len(places["tree"])
        )

    def _params_to_save(self) -> dict[str, Any]:
        # The file holds the tree anyway.
        return {**self.get_params(), "tree": None if self.tree is None else "tree_"}

    def _restore_params(self) -> None:
        super()._restore_params()
        if self.tree is not None:
            self.tree = self.tree_


def _check_beam(value: Any) -> int:
    return check_int(value, "beam_size", 1)


def _tree_seeds(seed: int, n_trees: int) -> list[int]:
    """Return a seed for each tree; the first one is that of a single tree."""
    return [seed] + [
        int(np.random.SeedSequence([seed, t]).generate_state(1, np.uint64)[0] >> 1)
        for t in range(1, n_trees)
    ]
