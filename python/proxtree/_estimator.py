"""What scikit-learn asks of an estimator, without needing scikit-learn."""

from __future__ import annotations

import inspect
from importlib import import_module
from typing import Any, Self


class Estimator:
    """Parameters are the arguments of ``__init__``, stored as they were given."""

    @classmethod
    def _defaults(cls) -> dict[str, Any]:
        parameters = inspect.signature(cls).parameters.values()
        return {parameter.name: parameter.default for parameter in parameters}

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name.

        Parameters
        ----------
        deep : bool, default=True
            Without effect: no parameter is itself an estimator. scikit-learn
            passes it.

        Returns
        -------
        dict
        """
        return {name: getattr(self, name) for name in self._defaults()}

    def set_params(self, **params: Any) -> Self:
        """Set parameters by name; a fitted model stays as it is until `fit`.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If there is no parameter of a name; nothing is set then.
        """
        valid = self._defaults()
        for name in params:
            if name not in valid:
                raise ValueError(
                    f"{type(self).__name__} has no parameter {name!r}; it has "
                    + ", ".join(valid)
                )
        for name, value in params.items():
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        changed = [
            f"{name}={getattr(self, name)!r}"
            for name, default in self._defaults().items()
            if repr(getattr(self, name)) != repr(default)
        ]
        return f"{type(self).__name__}({', '.join(changed)})"

    def __sklearn_tags__(self) -> Any:
        # scikit-learn asks for this, so it is there.
        sk = import_module("sklearn.utils")
        return sk.Tags(
            estimator_type="classifier",
            target_tags=sk.TargetTags(
                required=True, multi_output=True, single_output=False
            ),
            classifier_tags=sk.ClassifierTags(multi_class=False, multi_label=True),
            input_tags=sk.InputTags(sparse=True),
        )
