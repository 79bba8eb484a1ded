"""What classes and grades have in common: one row of features and one label an example."""

from __future__ import annotations

import numbers
from typing import Any, NamedTuple, Optional

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import accuracy_score
from sklearn.utils import check_consistent_length, column_or_1d, compute_class_weight
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from . import _core
from ._certificate import Certificate, warn_unless_converged
from ._labels import class_names, costs_by_rows, encode, index_of, refuse_numbers_sorted_as_words
from ._model_file import ModelFile
from ._options import in_python_words, learn, number, solver_options, surrogate_options, threads_of, word

NAMED_COSTS = ("zero-one", "absolute", "squared")
FEATURES = ("linear", "rbf", "laplacian", "poly", "rbf-centers", "nystrom", "fourier")
SAMPLED = ("rbf-centers", "nystrom", "fourier")
DECODERS = ("argmax", "adversary", "expected")


class Training(NamedTuple):
    """What a fit needs: data for the library, its options, costs by rows, the classes; and of all examples the label
    and, where weights of zero leave some out, which are kept."""

    data: Any
    options: dict[str, str]
    cost: list[float]
    classes: np.ndarray
    label: np.ndarray
    kept: Optional[np.ndarray]


def features_for_core(X: Any) -> Any:
    """The array itself, or the parts of a CSR matrix in canonical form."""
    if not sparse.issparse(X):
        bytes_apart = [step % X.itemsize for step in X.strides]
        return np.ascontiguousarray(X) if any(bytes_apart) else X
    if not X.has_canonical_format:
        X.check_format(full_check=True)  # what follows trusts it
        X = X.copy()
        X.sum_duplicates()
    return X.indptr, X.indices, X.data, X.shape[1]


def positive_weights(sample_weight: Any, examples: Any) -> np.ndarray:
    """One weight an example, none negative, not all zero."""
    weight = _check_sample_weight(sample_weight, examples, dtype=np.float64)
    if (weight < 0).any() or not weight.any():
        raise ValueError("sample_weight must not be negative, nor zero everywhere")
    return weight


def feature_options(estimator: Any) -> dict[str, str]:
    """As with the kernels of scikit-learn, what the features have no use for is passed over."""
    features = word("features", estimator.features, FEATURES)
    options = {"features": features}
    gamma = "median" if estimator.gamma in (None, "median") else number("gamma", estimator.gamma)
    asked = 0 if estimator.n_components is None else estimator.n_components
    components = number("n_components", asked, numbers.Integral)
    degree = number("degree", estimator.degree, numbers.Integral)
    if features != "linear":
        options["gamma"] = gamma
    if features in SAMPLED and estimator.n_components is not None:
        options["components"] = components
    if features == "poly":
        options["degree"] = degree
    return options


def feature_parameters(model: Any) -> dict[str, Any]:
    """The parameters that give such features."""
    return {
        "features": model.features,
        "gamma": None if model.features == "linear" else model.gamma,
        "degree": model.degree if model.features == "poly" else 3,
        "n_components": model.points if model.features in SAMPLED else None,
        "standardize": model.standardized,
        "fit_intercept": model.bias,
    }


def has_probabilities(estimator: Any) -> bool:
    model = getattr(estimator, "_model", None)
    if (model.surrogate if model is not None else estimator.surrogate) == "crf":
        return True
    raise AttributeError("probabilities exist only with surrogate='crf'")


class MaxMinTabular(ModelFile, ClassifierMixin, BaseEstimator):
    """Shared by MaxMinClassifier and MaxMinOrdinalClassifier."""

    _task: str
    _usual_cost: Optional[str]

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "MaxMinTabular":
        """Learn from rows X, dense or CSR, and their labels y.

        Examples of weight zero count as absent.
        """
        training = self._training(X, y, sample_weight)
        model = learn(self, training.data, training.options, training.cost)
        return warn_unless_converged(self._adopt(model, training.classes))

    def _training(self, X: Any, y: Any, sample_weight: Any) -> Training:
        """Everything for the library."""
        order = self._order(y)
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=[np.float64, np.float32])
        classes, label = encode(y, order)
        weight = None if sample_weight is None else _check_sample_weight(sample_weight, X, dtype=np.float64)
        total = None if weight is None else float(weight.sum())
        if isinstance(self.class_weight, dict):
            by_class = compute_class_weight(self.class_weight, classes=classes, y=classes[label])
            if (by_class < 0).any():
                raise ValueError("class_weight must not be negative")
            weight = by_class[label] * (1.0 if weight is None else weight)
        every_label, kept = label, None
        if weight is not None:
            if (weight < 0).any():
                raise ValueError("sample_weight must not be negative")
            if not weight.all():
                kept = weight > 0
                X, weight = X[kept], weight[kept]
                classes, label = encode(classes[label[kept]], order)
        if len(classes) < 2:
            raise ValueError(f"only one class in y, {classes!r}; {type(self).__name__} needs at least two")
        options, cost = self._options(classes)
        if "lambda" not in options and total is not None:
            options["lambda"] = repr(1 / total)
        names = getattr(self, "feature_names_in_", ())
        names = list(names) if len(set(names)) == len(names) else []
        with in_python_words():
            data = _core.table(features_for_core(X), label, class_names(classes), weight, names)
        return Training(data, options, cost, classes, every_label, kept)

    def _surrogate_options(self) -> dict[str, str]:
        return surrogate_options(self, DECODERS)

    def _order(self, y: Any) -> Optional[Any]:
        return None

    def _options(self, classes: np.ndarray) -> tuple[dict[str, str], list[float]]:
        options = {"task": self._task, **solver_options(self), **self._surrogate_options()}
        options.update(feature_options(self))
        if self.class_weight is not None and not isinstance(self.class_weight, dict):
            options["class-weight"] = word("class_weight", self.class_weight, ("balanced",))
        cost = self._cost(classes)
        if isinstance(cost, str):
            options["loss"] = cost
            return options, []
        return options, cost

    def _cost(self, classes: np.ndarray) -> Any:
        """The name of a cost, or k x k costs by rows."""
        cost = self._usual_cost if self.cost_matrix is None else self.cost_matrix
        if cost is None:
            return []
        if not isinstance(cost, str):
            return costs_by_rows(cost, classes)
        if cost != "zero-one":
            refuse_numbers_sorted_as_words(classes)
        return word("cost_matrix", cost, NAMED_COSTS)

    def _adopt(self, model: Any, classes: Any) -> "MaxMinTabular":
        """Take over what a model has to say."""
        self._model, self.classes_ = model, classes
        self.n_iter_ = model.epochs
        self.lam_ = model.lam
        self.decode_ = model.decoder
        self.cost_matrix_ = model.cost()
        self.certificate_: Certificate = Certificate(**model.certificate())
        for name in ("coef_", "intercept_", "gamma_"):
            self.__dict__.pop(name, None)
        if model.features == "linear":
            weights = model.weights()
            self.coef_, self.intercept_ = weights["coef"], weights["intercept"]
            if len(self.classes_) == 2:
                self.coef_, self.intercept_ = np.diff(self.coef_, axis=0), np.diff(self.intercept_)
        else:
            self.gamma_ = model.gamma
        return self

    def _scores(self, X: Any) -> np.ndarray:
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, accept_sparse="csr", dtype=[np.float64, np.float32])
        with in_python_words():
            return self._model.scores(features_for_core(X), threads_of(self.n_jobs))

    def decision_function(self, X: Any) -> np.ndarray:
        """The scores of the classes, n x k, whatever the decoder; for two classes their difference, n."""
        scores = self._scores(X)
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores

    def predict(self, X: Any) -> np.ndarray:
        """The class of every row, by the decoder decode_."""
        scores = self._scores(X)
        return self.classes_[self._model.decode(scores, threads_of(self.n_jobs))]

    @available_if(has_probabilities)
    def predict_proba(self, X: Any) -> np.ndarray:
        """Probabilities of the classes, n x k; only with surrogate='crf'."""
        scores = self._scores(X)
        return self._model.probabilities(scores, threads_of(self.n_jobs))

    @available_if(has_probabilities)
    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Logarithms of predict_proba."""
        return np.log(self.predict_proba(X))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Minus the mean cost of the predictions where costs are set, accuracy where every mistake costs the same.

        A label that was not in the training data costs the most a prediction can.
        """
        predicted = self.predict(X)
        if self._usual_cost is None and self._model.loss == "zero-one":
            return float(accuracy_score(y, predicted, sample_weight=sample_weight))
        y = column_or_1d(y, warn=True)
        check_consistent_length(predicted, y, sample_weight)
        if sample_weight is not None:
            sample_weight = positive_weights(sample_weight, predicted)
        truth = index_of(y, self.classes_)
        cost = self.cost_matrix_[truth, index_of(predicted, self.classes_)]
        cost = np.where(truth < 0, self.cost_matrix_.max(), cost)
        return -float(np.average(cost, weights=sample_weight))

    @classmethod
    def _parameters_of(cls, model: Any) -> dict[str, Any]:
        named = {"cost_matrix": model.loss} if model.loss in ("absolute", "squared") else {}
        if cls._usual_cost is not None and model.loss == "zero-one":
            named = {"cost_matrix": "zero-one"}
        return {**super()._parameters_of(model), **named, **feature_parameters(model), "smoothing": model.smoothing}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
