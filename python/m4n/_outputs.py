"""Tables with several outputs a row: ranks of items, marks of labels."""

from __future__ import annotations

from typing import Any, Optional

import numpy as np
from sklearn.utils.validation import check_is_fitted, validate_data

from . import _core
from ._certificate import warn_unless_converged
from ._options import in_python_words, learn, solver_options, threads_of
from ._structured import StructuredEstimator
from ._tabular import feature_options, feature_parameters, features_for_core, positive_weights


class OutputTable(StructuredEstimator):
    """One row of features and M outputs an example."""

    _names: str  # the attribute that holds the names of the outputs
    _letter: str  # how files call them

    def fit(self, X: Any, Y: Any, sample_weight: Any = None) -> Any:
        """Learn from rows X, dense or CSR, and their outputs Y, n x M.

        Examples of weight zero count as absent.
        """
        data, options, cost, _ = self._training(X, Y, sample_weight)
        return warn_unless_converged(self._adopt(learn(self, data, options, cost)))

    def _numbers_of(self, Y: Any) -> np.ndarray:
        """The outputs as the library counts them, checked."""
        raise NotImplementedError

    def _cost_options(self, outputs: int) -> tuple[dict[str, str], list[float]]:
        raise NotImplementedError

    def _edges_between(self, outputs: list[str]) -> list[tuple[int, int]]:
        """Those that are given, by numbers of outputs."""
        return []

    def _training(
        self, X: Any, Y: Any, sample_weight: Any
    ) -> tuple[Any, dict[str, str], list[float], Optional[np.ndarray]]:
        """Data for the library, its options, costs, and which examples are kept where weights leave some out."""
        X = validate_data(self, X, accept_sparse="csr", dtype=[np.float64, np.float32])
        label = self._numbers_of(Y)
        if len(label) != X.shape[0]:
            raise ValueError(f"X and Y have inconsistent numbers of samples: {X.shape[0]} and {len(label)}")
        weight, kept = None, None
        if sample_weight is not None:
            weight = positive_weights(sample_weight, X)
            if not weight.all():
                kept = weight > 0
                X, label, weight = X[kept], label[kept], weight[kept]
        columns = [f"{self._letter}{j + 1}" for j in range(label.shape[1])]
        if hasattr(Y, "columns"):
            columns = list(map(str, Y.columns))
        options = {"task": self._task, **solver_options(self), **self._surrogate_options(), **feature_options(self)}
        if weight is not None and "lambda" not in options:  # as repeated rows would have it
            parts = label.shape[1] if options.get("surrogate") in ("m4n", "m3n") else 1
            options["lambda"] = repr(parts / float(weight.sum()))
        named, cost = self._cost_options(label.shape[1])
        names = list(getattr(self, "feature_names_in_", ()))
        with in_python_words("cost"):
            data = _core.outputs(features_for_core(X), label, columns, weight, names, self._edges_between(columns))
        return data, {**options, **named}, cost, kept

    def _scores(self, X: Any) -> np.ndarray:
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, accept_sparse="csr", dtype=[np.float64, np.float32])
        with in_python_words():
            return self._model.scores(features_for_core(X), threads_of(self.n_jobs))

    def _adopt(self, model: Any) -> Any:
        setattr(self, self._names, np.array(model.classes))
        return super()._adopt(model)

    @classmethod
    def _parameters_of(cls, model: Any) -> dict[str, Any]:
        numbers = model.cost()
        return {
            **super()._parameters_of(model),
            **feature_parameters(model),
            "cost": numbers if numbers.size else model.loss,
        }

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        tags.target_tags.multi_output = True
        tags.target_tags.single_output = False
        return tags
