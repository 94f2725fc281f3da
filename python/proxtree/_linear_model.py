"""What all fitted linear models share: predicting and saving."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from proxtree import _certificates, _core, _persistence
from proxtree._estimator import Estimator
from proxtree._parameters import check_bool, check_finite, check_int, check_n_threads
from proxtree._validation import CsrArg, check_X, csr_arg
from proxtree.exceptions import DataError, NotFittedError
from proxtree.io._read import PathArgument
from proxtree.size._report import SizeReport
from proxtree.size._size_plan import SizePlan

_CSR = (sparse.csr_matrix, sparse.csr_array)


@dataclass
class Fitted:
    """Everything a fit leaves, so that one assignment makes an estimator fitted."""

    model: _core.Model
    certificate: NDArray[np.void] | None
    summary: dict[str, Any]
    plan: SizePlan | None = None

    @cached_property
    def coef(self) -> tuple[sparse.csr_matrix[np.float32], NDArray[np.float64]]:
        """Weights by label and intercepts, unpacked when first asked for."""
        (indptr, indices, data), intercept = self.model.coef()
        shape = (self.model.n_labels, self.model.n_features)
        return sparse.csr_matrix((data, indices, indptr), shape=shape), intercept

    def __getstate__(self) -> dict[str, Any]:
        return {k: v for k, v in vars(self).items() if k != "coef"}


class LinearModel(Estimator):
    """Prediction, saving and the fitted attributes."""

    n_threads: int | None
    class_weight: tuple[float, float] | Literal["balanced"] | None
    _fitted: Fitted
    # What a row of the certificate is about.
    _problem_name = "label"

    @property
    def _stops_early(self) -> bool:
        """Whether problems end on purpose before the gap is within `tol`."""
        return False

    def _fitted_or_raise(self) -> Fitted:
        fitted: Fitted | None = vars(self).get("_fitted")
        if fitted is None:
            raise NotFittedError(
                f"this {type(self).__name__} is not fitted yet; call fit first"
            )
        return fitted

    def _set_fitted(
        self,
        model: _core.Model,
        certificate: NDArray[np.void] | None,
        summary: dict[str, Any],
        plan: SizePlan | None = None,
    ) -> None:
        self._fitted = Fitted(model, certificate, summary, plan)

    def __sklearn_is_fitted__(self) -> bool:
        return "_fitted" in vars(self)

    @property
    def n_features_in_(self) -> int:
        """Number of features seen by `fit`."""
        return self._fitted_or_raise().model.n_features

    @property
    def n_labels_(self) -> int:
        """Number of labels, those without positives included."""
        return self._fitted_or_raise().model.n_labels

    @property
    def classes_(self) -> NDArray[np.int64]:
        """The label ids 0, 1, ..., n_labels - 1."""
        return np.arange(self.n_labels_)

    @property
    def n_nonzero_(self) -> int:
        """Number of non-zero weights and intercepts."""
        return self._fitted_or_raise().model.n_nonzero

    @property
    def certificate_(self) -> NDArray[np.void]:
        """The proofs: structured array, a row for each problem."""
        certificate = self._fitted_or_raise().certificate
        if certificate is None:
            raise AttributeError(
                "the model was saved without certificates; "
                "save(path, certificates=True) keeps them"
            )
        return certificate

    @property
    def plan_(self) -> SizePlan:
        """What was known of the model's size before it was trained.

        Bounds always, estimates too if `proxtree.plan` made the tree that was
        given. A file keeps it, but not files of the first version.
        """
        plan = self._fitted_or_raise().plan
        if plan is None:
            raise AttributeError(
                "the model's file does not hold what was planned; "
                "proxtree.plan(X, Y, tree=model.tree_) tells it again"
            )
        return plan

    def size_report(self) -> SizeReport:
        """Return bound, estimate and truth of the model's size, side by side.

        Returns
        -------
        SizeReport
            `bound`, `estimate` and `truth`, dicts with "nonzeros" and "bytes_file";
            None where unknown. Printed, it is a table.

        Raises
        ------
        NotFittedError
            Before `fit`.
        """
        fitted = self._fitted_or_raise()
        return SizeReport.of(fitted.plan, fitted.model, self._file_bytes())

    def _file_bytes(self) -> int:
        """Return the size of the model's file, certificates not kept."""
        return _persistence.file_bytes(self)

    @property
    def coef_(self) -> sparse.csr_matrix[np.float32]:
        """Weights, shape (n_labels, n_features). Changing them changes no score."""
        return self._flat_or_raise().coef[0]

    @property
    def intercept_(self) -> NDArray[np.float64]:
        """What is added to each label's scores, shape (n_labels,)."""
        return self._flat_or_raise().coef[1]

    def _flat_or_raise(self) -> Fitted:
        fitted = self._fitted_or_raise()
        model = fitted.model
        if model.n_nodes > 1:
            raise AttributeError(
                "coef_ and intercept_ belong to a single tree of depth one; this "
                f"{type(self).__name__} has {model.n_nodes} nodes in {model.n_trees} "
                f"tree{'s' if model.n_trees > 1 else ''}: see nodes()"
            )
        return fitted

    def _certificate(
        self, model: _core.Model, fields: Mapping[str, NDArray[Any]]
    ) -> NDArray[np.void]:
        """Return the certificate of the native module's fields."""
        return _certificates.from_fields(
            fields, _certificates.CERTIFICATE, model.n_labels
        )

    def _params_to_save(self) -> dict[str, Any]:
        """Return the parameters as a model file keeps them."""
        return self.get_params()

    def _restore_params(self) -> None:
        """Turn parameters from a model file into what they were."""
        if isinstance(self.class_weight, list):
            self.class_weight = tuple(self.class_weight)

    def certificate_summary(self) -> dict[str, Any]:
        """Count the certificates; known for loaded models too.

        Returns
        -------
        dict
            "n_trained" problems (with positives), of these "n_converged",
            "n_max_iter", "n_stalled" and "n_cancelled"; "worst_relative_gap" among
            them.
        """
        return dict(self._fitted_or_raise().summary)

    def predict_topk(
        self,
        X: Any,
        k: int = 5,
        *,
        n_threads: int | None = None,
        beam_size: int | None = None,
        allowed: ArrayLike | None = None,
    ) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
        """Return the k labels with the highest scores of each row.

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
            At least 1. All labels of one-vs-rest are scored whatever it is; it is
            here so that both estimators are called alike.
        allowed : array-like of int, optional
            Ids of the labels that may be returned; all by default.

        Returns
        -------
        labels : ndarray of int32, shape (n_samples, k)
            Best first; -1 where fewer than k labels can be returned. Labels
            without positives in training are never returned.
        scores : ndarray of float32, shape (n_samples, k)
            Margins, negative infinity beside -1. Ties go to the smaller id.

        Raises
        ------
        DataError
            If `k`, `n_threads` or `allowed` is out of range, or `X` has another
            number of features than the model.
        NotFittedError
            Before `fit`.
        """
        beam = self._checked_beam()
        if beam_size is not None:
            beam = check_int(beam_size, "beam_size", 1)
        return self._top_k(X, k, n_threads, allowed, beam)

    def _top_k(
        self,
        X: Any,
        k: int,
        n_threads: int | None,
        allowed: ArrayLike | None,
        beam_size: int,
    ) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
        model = self._fitted_or_raise().model
        ids = None if allowed is None else _ids(allowed, "allowed", model.n_labels)
        k = check_int(k, "k", 1, 2**31 - 1)
        threads = self._threads(n_threads)

        def top_k(x: CsrArg) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
            return model.predict_topk(
                x, k, allowed=ids, beam_size=beam_size, n_threads=threads
            )

        if type(X) in _CSR:
            # The native module takes canonical CSR as it is. For one row, looking
            # at it here as well would take longer than the prediction.
            try:
                return top_k((X.indptr, X.indices, X.data, X.shape))
            except (DataError, TypeError):
                # Not canonical, or wrong: the long way mends it or says what is.
                pass
        return top_k(self._checked(X))

    def _checked_beam(self) -> int:
        # One-vs-rest has no tree to search: any beam does.
        return 1

    def predict(
        self, X: Any, *, threshold: float | None = None
    ) -> sparse.csr_matrix[np.uint8]:
        """Return all labels whose score is above a threshold.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            As many features as in `fit`.
        threshold : float, optional
            Scores must be greater; None means the score of margin 0.

        Returns
        -------
        csr_matrix of uint8, shape (n_samples, n_labels)
            Ones. Labels without positives in training are never set.

        Raises
        ------
        DataError
            If `threshold` is not finite, or `X` has another number of features
            than the model.
        NotFittedError
            Before `fit`.
        """
        model = self._fitted_or_raise().model
        if threshold is None:
            threshold = model.default_threshold
        x = self._checked(X)
        indptr, indices = model.predict_threshold(
            x,
            check_finite(threshold, "threshold"),
            beam_size=self._checked_beam(),
            n_threads=self._threads(None),
        )
        ones = np.ones(len(indices), np.uint8)
        shape = (x[3][0], model.n_labels)
        return sparse.csr_matrix((ones, indices, indptr), shape=shape)

    def score_pairs(
        self, X: Any, rows: ArrayLike, labels: ArrayLike
    ) -> NDArray[np.float32]:
        """Return the scores of chosen pairs of a row and a label.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            As many features as in `fit`.
        rows, labels : array-like of int, shape (n_pairs,)
            Row numbers of `X` and label ids.

        Returns
        -------
        ndarray of float32, shape (n_pairs,)
            The same bits as the scores of `predict_topk`.

        Raises
        ------
        DataError
            If an id is out of range or the two lengths differ.
        NotFittedError
            Before `fit`.
        """
        model = self._fitted_or_raise().model
        x = self._checked(X)
        row_ids = _ids(rows, "rows", x[3][0])
        label_ids = _ids(labels, "labels", model.n_labels)
        if len(row_ids) != len(label_ids):
            raise DataError(
                f"there are {len(row_ids)} rows and {len(label_ids)} labels, "
                "expected one label for each row"
            )
        return model.score_pairs(x, row_ids, label_ids, n_threads=self._threads(None))

    def save(
        self, path: PathArgument, *, certificates: bool = False, mapped: bool = False
    ) -> None:
        """Save the fitted model as one file at exactly `path`.

        A file that is there is replaced once the new one is complete.
        `proxtree.load` reads it, in either layout.

        Parameters
        ----------
        path : str, bytes or os.PathLike
            Any name; no suffix is added.
        certificates : bool, default=False
            Whether `certificate_` is kept, about 60 bytes a problem.
        mapped : bool, default=False
            Whether the weights are kept as they lie in memory, 8 bytes each and
            their indices, instead of coded in a fraction of that. Such a file is
            mapped: `load` takes the same short time for any number of weights,
            predictions read what they touch, processes share it. Predictions are
            the same, bit for bit. See Notes.

        Notes
        -----
        `load` checks a coded file as a whole. Of a mapped one it checks all but
        the weights and what finds them; these are checked, by checksums of 4096
        bytes each, when a prediction first needs them, so that damage is a
        `FormatError` then. What needs all weights (`coef_`, `nodes`, `save`,
        `size_report`, pickling) copies and checks them all.

        The file must stay as it is while a model uses it: writing into it in place
        may change scores, and cutting it short ends the process, as with
        `numpy.memmap`. Replacing it, as `save` does, or deleting it is safe, but
        not allowed by Windows while it is in use.

        Raises
        ------
        OSError
            If the file cannot be written; what was there before stays.
        NotFittedError
            Before `fit`.
        """
        _persistence.save(
            self,
            path,
            certificates=check_bool(certificates, "certificates"),
            mapped=check_bool(mapped, "mapped"),
        )

    def _checked(self, X: Any) -> CsrArg:
        return csr_arg(check_X(X, n_features=self.n_features_in_))

    def _threads(self, n_threads: int | None) -> int | None:
        # The native module counts the CPUs where it needs to know: it takes longer
        # than predicting a row.
        chosen = self.n_threads if n_threads is None else n_threads
        return None if chosen is None else check_n_threads(chosen)


def _ids(values: ArrayLike, name: str, size: int) -> NDArray[np.int32]:
    array = np.asarray(values)
    if array.size == 0:
        array = array.astype(np.int32)
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise TypeError(
            f"{name} is a {array.ndim}-dimensional array of {array.dtype}, expected "
            "a one-dimensional array of integers"
        )
    if len(array) and (array.min() < 0 or array.max() >= size):
        bad = array[(array < 0) | (array >= size)][0]
        raise DataError(f"{name} holds {bad}, expected ids in [0, {size})")
    return np.ascontiguousarray(array, np.int32)
