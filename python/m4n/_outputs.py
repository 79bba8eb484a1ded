"""Tables with several outputs by row: ranks of items, marks of labels."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted, validate_data

from . import _core
from ._errors import Error
from ._estimator import Estimator, Training
from ._features import REALS, feature_options, feature_parameters, features_for_core
from ._labels import Costs, text_of
from ._options import in_python_words, threads_of
from ._pages import Judged, unknown_labels
from ._parameters import FeatureParameters
from ._weights import positive_weights, weights_of


class OutputTable(FeatureParameters, Estimator):
    """One row of features and M outputs for every example."""

    _names: ClassVar[str]  # the attribute that holds the names of the outputs
    _letter: ClassVar[str]  # how files call them
    _cost_name = "cost"

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Learn from rows X, dense or CSR, and their outputs y, n x M.

        Examples of weight zero count as absent.
        """
        return self._fit(X, y, sample_weight)

    def _numbers_of(self, y: Any) -> np.ndarray:
        """The outputs as the library counts them, checked."""
        raise NotImplementedError

    def _cost_options(self, names: list[str]) -> tuple[dict[str, str], list[float]]:
        raise NotImplementedError

    def _edges_between(self, columns: list[Any]) -> list[tuple[int, int]]:
        """Those that are given, by numbers of outputs."""
        return []

    def _judged(self, y: Any, examples: int) -> np.ndarray:
        """The outputs to judge predictions by; the columns of a data frame may have any order."""
        names = getattr(self, self._names).tolist()
        if hasattr(y, "columns"):
            own = list(map(str, y.columns))
            if own != names and sorted(own) == sorted(names):
                y = y.iloc[:, [own.index(name) for name in names]]
            elif own != names and names != self._usual_names(len(names)):
                raise Error(f"y has the columns {own[:5]}; the model was trained on {names[:5]}")
        truth = self._numbers_of(y)
        if truth.shape != (examples, len(names)):
            raise Error(f"y has the shape {truth.shape}; expected {(examples, len(names))}")
        return truth

    def _usual_names(self, outputs: int) -> list[str]:
        return [f"{self._letter}{j + 1}" for j in range(outputs)]

    def _training(self, X: Any, y: Any, sample_weight: Any) -> Training:
        X = validate_data(self, X, accept_sparse="csr", dtype=REALS)
        label = self._numbers_of(y)
        examples, outputs = label.shape
        if examples != X.shape[0]:
            raise Error(f"X and y have inconsistent numbers of samples: {X.shape[0]} and {examples}")
        weights = weights_of(sample_weight, X)
        columns = self._usual_names(outputs)
        if hasattr(y, "columns"):
            columns = text_of("column of y", y.columns)
        options = {**self._common_options(), **feature_options(self)}
        named, cost = self._cost_options(columns)
        names = text_of("column", getattr(self, "feature_names_in_", ()))
        edges = self._edges_between(list(getattr(y, "columns", columns)))
        with in_python_words(self._cost_name):
            rows = features_for_core(weights.of(X))
            flat = weights.of(label).ravel()
            data = _core.examples(rows, 1, flat, outputs, columns, weights.value, names, edges)
        return Training(
            data, {**options, **named}, Costs(cost), None, examples, weights.kept, total_weight=weights.total
        )

    def _rows(self, X: Any) -> Any:
        check_is_fitted(self)
        return validate_data(self, X, reset=False, accept_sparse="csr", dtype=REALS)

    def _scores(self, X: Any) -> np.ndarray:
        rows = self._rows(X)
        with in_python_words(self._cost_name):
            return self._model.scores(features_for_core(rows), threads_of(self.n_jobs))

    def _decoded(self, X: Any) -> np.ndarray:
        """The outputs as the library counts them, n x M."""
        scores = self._scores(X)
        return self._model.decode(scores, threads_of(self.n_jobs)).reshape(len(scores), -1)

    def _mean_cost(self, X: Any, y: Any, sample_weight: Any) -> float:
        predicted = self._decoded(X)
        truth = self._judged(y, len(predicted))
        weight = None if sample_weight is None else positive_weights(sample_weight, predicted)
        lengths = [truth.shape[1]] * len(truth)
        return self._model.mean_loss(lengths, truth.ravel(), predicted.ravel(), weight)

    def _judged_by(self, X: Any, y: Any, costs: Any) -> Judged:
        rows = self._rows(X)
        examples, outputs = rows.shape[0], len(getattr(self, self._names))
        label = unknown_labels(examples * outputs) if y is None else self._judged(y, examples).ravel()
        return Judged(_core.examples(features_for_core(rows), 1, label, outputs, [], None, [], []))

    def _adopt(self, model: Any, classes: Any) -> Any:
        super()._adopt(model, classes)
        setattr(self, self._names, np.array(model.classes))
        self._adopt_weights(model)
        return self

    @classmethod
    def _parameters_of(cls, model: Any) -> dict[str, Any]:
        return {
            **super()._parameters_of(model),
            **feature_parameters(model),
            "cost": cls._cost_of(model),
        }

    @classmethod
    def _cost_of(cls, model: Any) -> Any:
        """The costs in their shape, or the name of the loss."""
        raise NotImplementedError

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        tags.target_tags.multi_output = True
        tags.target_tags.single_output = False
        return tags
