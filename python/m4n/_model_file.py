"""The model file: the same bytes from Python and from the command m4n."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from . import _core
from ._labels import classes_from_names


class ModelFile:
    """For estimators that keep a model of the library in ``_model``."""

    _task: str
    _model: Any

    def save(self, path: Any) -> None:
        """Write the model file that the command m4n reads."""
        check_is_fitted(self)
        self._model.save(os.fspath(path))

    def to_bytes(self) -> bytes:
        """The bytes of the model file."""
        check_is_fitted(self)
        return self._model.to_bytes()

    @classmethod
    def load(cls, path: Any) -> Any:
        """An estimator from a model file, whether Python or the command m4n wrote it.

        The file names classes in text: names that are all numbers become numbers.
        """
        with open(path, "rb") as file:
            return cls.from_bytes(file.read(), os.fspath(path))

    @classmethod
    def from_bytes(cls, data: bytes, name: str = "the model") -> Any:
        """An estimator from the bytes of a model file; ``name`` stands in messages."""
        model = _core.Model.from_bytes(bytes(memoryview(data)), name)
        if model.task != cls._task:
            raise ValueError(f"{name}: is a model of the task {model.task}; {cls.__name__} is for {cls._task}")
        estimator: Any = cls(**cls._parameters_of(model))
        estimator.n_features_in_ = model.d
        if model.feature_names:
            estimator.feature_names_in_ = np.array(model.feature_names, dtype=object)
        if model.task in ("multiclass", "ordinal", "sequence"):
            return estimator._adopt(model, classes_from_names(model.classes))
        return estimator._adopt(model)

    @classmethod
    def _parameters_of(cls, model: Any) -> dict[str, Any]:
        """The parameters that give such a model, as far as it remembers them."""
        return {
            "cost_matrix": model.cost() if model.loss == "matrix" else None,
            "surrogate": model.surrogate,
            "decode": model.decoder,
            "lam": model.lam,
            "tol": model.tol,
            "random_state": model.seed,
        }
