"""What classes and grades have in common: one row of features and one label for every example."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, Optional

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.metrics import accuracy_score
from sklearn.utils import check_consistent_length, column_or_1d, compute_class_weight
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data

from . import _core
from ._errors import Error
from ._estimator import Estimator, Training, has_probabilities
from ._example_costs import (
    Numbers,
    columns_of,
    given_again,
    has_columns,
    ignored_names,
    of_array,
    require_there,
    without,
)
from ._features import REALS, feature_options, feature_parameters, features_for_core
from ._labels import (
    NO_COSTS,
    Costs,
    class_names,
    costs_by_rows,
    encode,
    frame_of,
    index_of,
    labels_to_judge,
    numbers_to_judge,
    predictions_of,
    refuse_numbers_sorted_as_words,
    text_of,
)
from ._options import in_python_words, number, refusal, shown, threads_of, word
from ._pages import Judged, unknown_labels
from ._parameters import FeatureParameters, doc
from ._weights import positive_weights, weights_of


@dataclass(kw_only=True, eq=False, repr=False)
class TabularParameters(FeatureParameters):
    """Of classes and grades."""

    smoothing: float = field(
        default=0.0,
        metadata=doc("float", "m4n only: of the max-min game, in units of the mean cost of a mistake; 0 is plain m4n."),
    )
    class_weight: Any = field(
        default=None,
        metadata=doc("None, 'balanced' or dict", "What the weight of an example is multiplied with, by its class."),
    )
    ignore: Any = field(
        default=None,
        metadata=doc(
            "list of str or None", "Columns of a data frame X that are no features; costs may still name them."
        ),
    )


def left_out(y: np.ndarray, classes: np.ndarray) -> str:
    """What to say of classes that are gone because their examples have weight zero."""
    gone = np.setdiff1d(y, classes)
    return f". Weights of zero leave out the classes {gone[:5].tolist()}" if len(gone) else ""


class MaxMinTabular(TabularParameters, ClassifierMixin, Estimator):
    """Shared by MaxMinClassifier, MaxMinOrdinalClassifier and their CV forms."""

    cost_matrix: Any
    _usual_cost: ClassVar[Optional[str]]
    _by_example = True

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, costs: Any = None) -> Any:
        """Learn from rows X, dense or CSR, and their labels y.

        Examples of weight zero count as absent. ``costs``: an array n x k x K of what predictions cost, by example, true
        class and prediction, instead of cost_matrix.
        """
        return self._fit(X, y, sample_weight, costs=costs)

    def _training(self, X: Any, y: Any, sample_weight: Any, costs: Any = None) -> Training:
        order, frame = self._order(y), X
        ignored = ignored_names(self.ignore)
        require_there(X, ignored)
        X, y = validate_data(self, without(X, ignored), y, accept_sparse="csr", dtype=REALS)
        classes, label = encode(y, order)
        weights = weights_of(sample_weight, X, self._factors(classes, label))
        examples, X = len(label), weights.of(X)
        if weights.kept is not None:
            classes, label = encode(classes[weights.of(label)], order)
        if len(classes) < 2:
            name, reason = type(self).__name__, left_out(y, classes)
            raise Error(f"only one class in y, {classes!r}; {name} needs at least two{reason}")
        try:
            options, cost = self._options(classes, costs)
        except Error as error:
            if error.option == "cost_matrix" and not isinstance(self.cost_matrix, str):
                error.args = (f"{error}{left_out(y, classes)}",)
            raise
        names = text_of("column", getattr(self, "feature_names_in_", ()))
        with in_python_words():
            data = _core.examples(features_for_core(X), 1, label, 1, class_names(classes), weights.value, names, [])
        own: Optional[Numbers] = None
        if costs is not None:
            cost, own = of_array(costs, examples, len(classes))
        elif cost.columns:
            own = columns_of(frame, cost.columns)
        if own is not None:
            data.set_costs((own[0], np.ascontiguousarray(weights.of(own[1]))))
        if ignored:
            options["ignore"] = ",".join(ignored)
        return Training(data, options, cost, classes, examples, weights.kept, weights.total)

    def _factors(self, classes: np.ndarray, label: np.ndarray) -> Optional[np.ndarray]:
        """What class_weight, if it is a dict, makes of the weight of every example."""
        if not isinstance(self.class_weight, dict):
            return None
        for name, weight in self.class_weight.items():
            try:
                right = 0 <= float(number("class_weight", weight)) < np.inf
            except TypeError:
                right = False
            if not right:
                expected = "numbers that are finite and not negative"
                text = f"class_weight must be {expected}; found {shown(weight)} for the class {shown(name)}"
                raise refusal("class_weight", weight, expected, text=text)
        try:
            return compute_class_weight(self.class_weight, classes=classes, y=classes[label])[label]
        except ValueError as error:
            raise refusal("class_weight", self.class_weight, "weights of the classes of y", text=str(error)) from None

    def _order(self, y: Any) -> Optional[Any]:
        """The classes in an order that is not that of numbers or words."""
        return None

    def _options(self, classes: np.ndarray, given: Any) -> tuple[dict[str, str], Costs]:
        """``given``: costs by example, which leave no room for others."""
        options = {**self._common_options(), **feature_options(self)}
        if self.class_weight is not None and not isinstance(self.class_weight, dict):
            if not isinstance(self.class_weight, str) or self.class_weight != "balanced":
                raise refusal("class_weight", self.class_weight, "None, 'balanced' or a dict of weights by class")
            options["class-weight"] = "balanced"
        if given is not None:
            if self.cost_matrix is not None and not isinstance(self.cost_matrix, str):
                raise refusal("costs", "", "None where cost_matrix is set", text="costs and cost_matrix are both set")
            return options, NO_COSTS
        cost = self._cost(classes)
        if isinstance(cost, str):
            options["loss"] = cost
            return options, NO_COSTS
        return options, cost

    def _cost(self, classes: np.ndarray) -> Any:
        """The name of a cost, or costs by rows with the names of their columns."""
        cost = self._usual_cost if self.cost_matrix is None else self.cost_matrix
        if cost is None:
            return NO_COSTS
        if not isinstance(cost, str):
            return costs_by_rows(cost, classes)
        if cost != "zero-one":
            refuse_numbers_sorted_as_words(classes)
        return word("cost_matrix", cost, _core.losses(self._task))

    def _adopt(self, model: Any, classes: Any) -> Any:
        super()._adopt(model, classes)
        self.classes_ = classes
        self.predictions_ = predictions_of(classes, model.predictions)
        self.cost_matrix_ = model.cost().reshape(len(classes), -1)
        self._adopt_weights(model)
        if hasattr(self, "coef_") and len(self.coef_) == 2:
            self.coef_, self.intercept_ = np.diff(self.coef_, axis=0), np.diff(self.intercept_)
        return self

    def _rows(self, X: Any) -> Any:
        """What the library reads of X. Columns that are no features need not be there any more."""
        check_is_fitted(self)
        X = without(X, self._model.ignored_columns) if has_columns(X) else X
        return validate_data(self, X, reset=False, accept_sparse="csr", dtype=REALS)

    def _scores(self, X: Any) -> np.ndarray:
        rows = self._rows(X)
        with in_python_words():
            return self._model.scores(features_for_core(rows), threads_of(self.n_jobs))

    def decision_function(self, X: Any) -> np.ndarray:
        """The scores of the classes, n x k, whatever the decoder; for two classes their difference, n."""
        scores = self._scores(X)
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores

    def predict(self, X: Any, *, costs: Any = None) -> np.ndarray:
        """The class of every row, by the decoder ``decode_``; or the name of an action, where the costs have some.

        ``costs``: n x k x K, where fit was given such costs, unless ``decode_`` is 'argmax'.
        """
        scores = self._scores(X)
        own = given_again(self._model, X, costs, len(scores), needed=self._decides_by_costs())
        with in_python_words():
            return self.predictions_[self._model.decode(scores, threads_of(self.n_jobs), own)]

    def _decides_by_costs(self) -> bool:
        return self.decode_ != "argmax" and self._model.surrogate != "qs"

    @available_if(has_probabilities)
    def predict_proba(self, X: Any, *, costs: Any = None) -> np.ndarray:
        """Probabilities of the classes, n x k: of surrogate='crf', or the maximiser of the smoothed game, which can be
        zero, where smoothing is set; that takes the ``costs`` of the examples, where fit was given such."""
        scores = self._scores(X)
        own = given_again(self._model, X, costs, len(scores), needed=self._model.smoothing > 0)
        with in_python_words():
            return self._model.probabilities(scores, threads_of(self.n_jobs), own).reshape(len(scores), -1)

    @available_if(has_probabilities)
    def predict_log_proba(self, X: Any, *, costs: Any = None) -> np.ndarray:
        """Logarithms of predict_proba."""
        return np.log(self.predict_proba(X, costs=costs))

    def score(self, X: Any, y: Any, sample_weight: Any = None, *, costs: Any = None) -> float:
        """Minus the mean cost of the predictions where costs are set, accuracy where every mistake costs the same.

        A label that was not in the training data costs the most a prediction can.
        """
        predicted = self.predict(X, costs=costs)
        if sample_weight is not None:
            sample_weight = positive_weights(sample_weight, predicted)
        if self._usual_cost is None and self._model.loss == "zero-one":
            return float(accuracy_score(y, predicted, sample_weight=sample_weight))
        y = column_or_1d(y, warn=True)
        check_consistent_length(predicted, y)
        labels_to_judge(y, self.classes_)
        truth = index_of(y, self.classes_)
        if len(truth) > 1 and (truth < 0).all():
            raise Error(f"no label of y is a class of the model, which has {self.classes_[:5]}")
        number = {name: p for p, name in enumerate(self.predictions_.tolist())}
        lengths, found = [1] * len(truth), np.array([number[name] for name in predicted.tolist()])
        own = given_again(self._model, X, costs, len(truth), needed=True)
        with in_python_words():
            return -self._model.mean_loss(lengths, truth.astype(np.int32), found.astype(np.int32), sample_weight, own)

    def _judged_by(self, X: Any, y: Any, costs: Any) -> Judged:
        rows, unseen = self._rows(X), list[str]()
        examples = rows.shape[0]
        label = unknown_labels(examples)
        if y is not None:
            y = column_or_1d(y, warn=True)
            check_consistent_length(rows, y)
            label, unseen = numbers_to_judge(y, self.classes_)
        needed = y is not None or self._decides_by_costs()
        own = given_again(self._model, X, costs, examples, needed=needed)
        data = _core.examples(features_for_core(rows), 1, label, 1, [], None, [], [])
        if own is not None:
            data.set_costs(own)
        return Judged(data, unseen)

    @classmethod
    def _parameters_of(cls, model: Any) -> dict[str, Any]:
        named = model.loss != "matrix" and (model.loss != "zero-one" or cls._usual_cost is not None)
        cost = model.loss if named else None
        if model.loss == "matrix":
            values = model.cost().reshape(len(model.classes), -1)
            if model.cost_columns:
                named = np.array(model.cost_columns, dtype=object).reshape(values.shape)
                values = np.where(named == "", values.astype(object), named)
            cost = frame_of(values, model.classes, model.predictions)
        return {
            **super()._parameters_of(model),
            **feature_parameters(model),
            "cost_matrix": cost,
            "smoothing": model.smoothing,
            "ignore": model.ignored_columns or None,
        }

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
