"""One-vs-rest."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from proxtree._parameters import check_int
from proxtree.estimators._training import Csr, TrainableModel
from proxtree.tree import LabelTree


class LinearOneVsRest(TrainableModel):
    r"""Train a sparse linear classifier for each label, each with a proof.

    Parameters
    ----------
    alpha : float, default=1.0
        Weight of the L1 term, > 0: larger gives sparser models. The loss is a sum
        over samples, not a mean; LIBLINEAR's C is 1 / alpha.
    solver : {"auto", "forward_backward", "coordinate_descent", \
"dual_coordinate_descent"}, default="auto"
        "auto" is fast; "forward_backward" is PRoXML's, "coordinate_descent"
        LIBLINEAR's ``-s 5``, mended or as it is, to compare with;
        "dual_coordinate_descent" is its ``-s 1``, which solves the L2 problem below.
        `proxtree.solve` describes them.
    tol : float, default=1e-3
        Relative duality gap to reach, > 0: a label is converged when
        ``gap <= tol * dual_objective``.
    max_iter : int, optional
        Most iterations for a label, at least 1: sweeps and Newton steps together, or
        proximal steps. None means 100,000; where a solver ends by the rule of
        released code, that code's limit: 1,000 sweeps of LIBLINEAR's, 1,800 steps of
        PRoXML's.
    fit_intercept : bool, default=True
        Whether a constant is added to each label's scores.
    intercept_scaling : float, default=1.0
        Value of the intercept's column, > 0: the intercept is the column's weight
        times this. Larger values penalise it less.
    penalize_intercept : bool, default=True
        Whether the column's weight is in the L1 term (for the L2 problem: in the
        squared term), as in LIBLINEAR.
    class_weight : None, "balanced" or (float, float), default=None
        Weights of positive and negative samples; "balanced" means
        ``n_samples / (2 * n_class)`` for each label.
    alpha_exponent : float, default=0.0
        A label with n positives is trained with
        ``alpha * clip((n / 100) ** alpha_exponent, 1/4, 4)``; without effect on the
        L2 problem, which has no alpha.
    propensity_weight : float, default=0.0
        Positives weigh ``1 + propensity_weight * (1/p - 1)``, >= 0, with p the
        label's propensity (A = 0.55, B = 1.5) in the training set.
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
        Whether rows are scaled to unit l2 norm, in `fit` and in prediction. It is
        part of the model, saved with it.
    memory_limit : int, optional
        Bytes that `fit` may add to the memory of the process; None means what the
        process may use, limits of its address space and cgroup counted in.
    n_threads : int, optional
        At least 1; None means the CPUs that this process may use. Models and
        predictions do not depend on it.
    random_state : int, optional, default=0
        Seed of the order of coordinates of ``variant="liblinear"`` and
        "dual_coordinate_descent"; None means 0. Other solvers draw no random
        numbers.
    progress : None, True or callable, default=None
        True shows a bar (needs tqdm); a function is called about every 50 ms with
        (labels done, labels in all, non-zero weights so far). What it raises ends
        the fit.

    Attributes
    ----------
    coef_ : csr_matrix of float32, shape (n_labels, n_features)
    intercept_ : ndarray of float64, shape (n_labels,)
    certificate_ : structured ndarray, shape (n_labels,)
        Fields objective, dual_objective, gap (absolute), n_iter, status
        ("converged", "max_iter", "stalled"), nnz, and seconds of CPU. The optimal
        objective lies between dual_objective and objective.
    n_features_in_, n_labels_, n_nonzero_ : int
    classes_ : ndarray of int, shape (n_labels,)

    Notes
    -----
    For each label, with s_i = +1 for its samples and -1 for all others,

    .. math::

        \min_{w, b} \alpha (\|w\|_1 + |b| / \text{intercept\_scaling})
        + \frac{\text{ridge}}{2} \|w\|_2^2
        + \sum_i c_i \max(0, 1 - s_i (x_i \cdot w + b))^2 ,

    and with ``solver="dual_coordinate_descent"``

    .. math::

        \min_{w, b} \frac{1}{2} (\|w\|_2^2 + (b / \text{intercept\_scaling})^2)
        + C \sum_i c_i \max(0, 1 - s_i (x_i \cdot w + b))^2 .

    A label without positives is not trained: it gets no weights and the best
    intercept, is never predicted, and its certificate says what that costs.

    References
    ----------
    R. Babbar and B. Schölkopf, "Data scarcity, robustness and extreme multi-label
    classification", Machine Learning 108, 2019. doi:10.1007/s10994-019-05791-5

    Examples
    --------
    >>> from proxtree import LinearOneVsRest
    >>> X = [[1.0, 0.0], [0.9, 0.1], [0.0, 1.0], [0.1, 0.8]]
    >>> Y = [[0], [0], [1], [1]]
    >>> model = LinearOneVsRest(alpha=0.1).fit(X, Y)
    >>> labels, scores = model.predict_topk([[0.0, 2.0]], k=1)
    >>> labels
    array([[1]], dtype=int32)
    >>> model.certificate_["status"].tolist()
    ['converged', 'converged']
    """

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        solver: str = "auto",
        tol: float = 1e-3,
        max_iter: int | None = None,
        fit_intercept: bool = True,
        intercept_scaling: float = 1.0,
        penalize_intercept: bool = True,
        class_weight: tuple[float, float] | Literal["balanced"] | None = None,
        alpha_exponent: float = 0.0,
        propensity_weight: float = 0.0,
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
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
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
        """Train all labels.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features; rounded to float32. Do not change it meanwhile.
        Y : {array-like, sparse matrix, list of lists} of shape (n_samples, n_labels)
            0/1 values, or a list of label ids for each sample.
        sample_weight : array-like of shape (n_samples,), optional
            At least 0; samples of weight 0 are left out.

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
            Before training, if it would take more than `memory_limit`: with the
            need and the nearest settings that fit.
        TypeError
            If something is of the wrong kind.

        Warns
        -----
        ConvergenceWarning
            Once, with counts, if labels did not reach `tol`. Solvers with a stop
            rule of their own ("stalled" where it ends them short of `tol`) give it
            for labels that `max_iter` ended.
        DataWarning
            Once, with the count of labels without positives.
        """
        return self._fit(X, Y, sample_weight, "max_iter")

    def _arguments(self) -> dict[str, Any]:
        return {
            **self._shared_arguments(),
            "max_iter": None
            if self.max_iter is None
            else check_int(self.max_iter, "max_iter", 1),
            "scoring": "margin",
            "root_rows": "all",
            # Proved to the gap, every weight kept.
            "violation_tol": 0.0,
            "prune": 0.0,
        }

    def _trees(self, X: Csr, Y: Csr, n_threads: int) -> list[LabelTree]:
        # One-vs-rest is the tree of depth one.
        return [LabelTree.flat(Y.shape[1])]

    def decision_function(self, X: Any) -> NDArray[np.float32]:
        """Return the margins of all labels, densely.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            As many features as in `fit`.

        Returns
        -------
        ndarray of float32, shape (n_samples, n_labels)
            Those of labels without positives are their intercepts.

        Raises
        ------
        DataError
            If `X` has another number of features than the model.
        NotFittedError
            Before `fit`.
        """
        model = self._fitted_or_raise().model
        return model.decision_function(self._checked(X), n_threads=self._threads(None))
