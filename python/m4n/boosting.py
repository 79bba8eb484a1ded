"""Boosted trees for the cost that you state: an objective for XGBoost and LightGBM, and decisions from their scores.
Neither is needed to import this. docs/boosting.md has examples, and says where it loses.

The loss is the smoothed max-min loss of scores v, with costs divided by the mean cost of a mistake::

    S(v, y) = max over mu of  min over predictions p of (A mu)_p  +  v . mu  -  (s/2) |mu|^2  +  s/2  -  v_y

The maximiser mu(v) is unique, so the gradient is mu(v) - e_y. What is maximised is s-strongly concave, so mu is
1/s-Lipschitz, and as mu sums to one, the Hessian H has H 1 = 0. As quadratic forms, with P = I - 1 1^T / k::

    0  <=  H  <=  P / s  <=  I / s

(of a generalised Hessian where the gradient has a kink). So 1/s for every class bounds a step that moves all scores at
once, as a round of boosting does, and the trees' Newton steps cannot overshoot. It is no estimate of the curvature,
which is often less.
"""

from __future__ import annotations

from typing import Any, Optional

import numpy as np

from . import _core
from ._labels import name_of
from ._options import in_python_words, positive, reals, refusal, shown, threads_of
from .oracle import _cost, _refused_shape, loss

__all__ = ["objective"]

AS_THEY_COME = "Pass scores: predict(X, output_margin=True) of XGBoost, predict(X, raw_score=True) of LightGBM"


class objective:
    """The smoothed max-min loss as an objective: ``XGBClassifier(objective=objective(cost))``.

    cost: a name ('zero-one', 'absolute', 'squared'), or k x k costs [true][predicted] in the order of the classes, in
    any unit. Rows and columns of a data frame have the same names in the same order, or are numbers of classes.
    smoothing: s above, in units of the mean cost of a mistake; positive. With little of it the loss is a margin, with
    much of it like a squared error of probabilities.

    Takes what the sklearn interfaces give (y_true, y_pred, sample_weight) and what ``xgboost.train`` and
    ``lightgbm.train`` give (y_pred, data). y_pred is n x k, or n scores for the second of two classes. The answer is
    the gradient and a bound of the Hessian, not the Hessian.

    >>> rare_but_costly = objective([[0, 1], [9, 0]])
    >>> gradient, bound = rare_but_costly([0, 1, 1], [0.0, 0.0, 0.0])
    >>> gradient.round(3).tolist(), bound.tolist()
    ([0.475, -0.525, -0.525], [0.125, 0.125, 0.125])
    >>> rare_but_costly.decode([-5.0, -0.5, 1.0]).tolist()
    [0, 1, 1]
    """

    def __init__(self, cost: Any = "zero-one", smoothing: float = 4.0, n_jobs: Optional[int] = None) -> None:
        self.smoothing = float(positive("smoothing", smoothing))
        self.cost = cost if isinstance(cost, str) else reals("cost", in_order(cost), "a name or k x k numbers")
        self.n_jobs = n_jobs
        k = 2 if isinstance(cost, str) else len(np.atleast_1d(self.cost))
        costs = _cost(self.cost, k)
        if k < 2:
            raise refusal("cost", self.cost, "costs of two classes or more")
        with in_python_words("cost"):  # judged as they were given, not in the unit of a mistake
            _core.max_min(np.zeros((0, k)), costs, 1)

    def __call__(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> tuple[np.ndarray, np.ndarray]:
        if hasattr(y_pred, "get_label"):
            y_true, y_pred, sample_weight = y_pred.get_label(), y_true, y_pred.get_weight()
        scores, one = self._scores("y_pred", y_pred, "xgboost.train and lightgbm.train need num_class")
        n, k = scores.shape
        labels = class_numbers(y_true, n, k)
        _, gradient = loss(scores, labels, self._unit_costs(k), smoothing=self.smoothing, n_jobs=self.n_jobs)
        if one:  # along (0, 1) the bound P / s is (1 - 1/2) / s
            gradient = gradient[:, 1]
        bound = np.full_like(gradient, (0.5 if one else 1.0) / self.smoothing)
        if sample_weight is not None and np.size(sample_weight) > 0:
            weight = weights_of(sample_weight, n).reshape(-1, *[1] * (gradient.ndim - 1))
            gradient, bound = weight * gradient, weight * bound
        return gradient, bound

    def decode(self, scores: Any) -> np.ndarray:
        """The class that costs least under mu of these scores, by number: scores as they come, not probabilities
        (``predict(X, output_margin=True)`` of XGBoost, ``predict(X, raw_score=True)`` of LightGBM)."""
        found = np.asarray(scores)
        if found.dtype.kind in "biu":
            text = f"scores holds whole numbers ({found.dtype}, shape {found.shape}), as predicted classes are"
            raise refusal("scores", scores, "scores of classes", AS_THEY_COME, text=text)
        v, _ = self._scores("scores", scores, AS_THEY_COME)
        with in_python_words("cost"):
            return _core.class_decode(
                v,
                self._unit_costs(v.shape[1]),
                "m4n",
                "expected",
                self.smoothing,
                list(v.shape),
                threads_of(self.n_jobs),
            )

    def _scores(self, name: str, scores: Any, remedy: str) -> tuple[np.ndarray, bool]:
        """n x k, and whether there was one score an example, which the first of two classes does without."""
        found = reals(name, scores, "n x k numbers, or n of the second of two classes")
        one = found.ndim == 1 or found.ndim == 2 and found.shape[1] == 1
        classes = None if isinstance(self.cost, str) else len(self.cost)
        if not one and found.ndim != 2 or classes not in (None, 2 if one else found.shape[1]):
            expected = f"(n, {classes or 'k'})"
            if classes in (None, 2):
                expected += ", or n of the second of two classes"
            text = f"{name} has the shape {found.shape}; expected {expected}"
            raise refusal(name, found.shape, expected, remedy, text=text)
        return (np.column_stack([np.zeros(len(found)), found]) if one else np.ascontiguousarray(found)), one

    def _unit_costs(self, k: int) -> np.ndarray:
        """So that a mistake costs 1 in the mean, as the library counts mistakes: by what they cost beside the best."""
        costs = _cost(self.cost, k)
        return costs / ((costs - costs.min(axis=1, keepdims=True)).sum() / (k * (k - 1)))


def in_order(cost: Any) -> Any:
    """Costs in the order of the classes: a data frame goes by its names where these are 0, 1, .., else as it stands."""
    if not (hasattr(cost, "index") and hasattr(cost, "columns")):
        return cost
    rows, columns = ([name_of(label) for label in labels] for labels in (cost.index, cost.columns))
    numbers = [str(i) for i in range(len(rows))]
    if sorted(rows) == sorted(columns) == sorted(numbers):
        return cost.iloc[[rows.index(i) for i in numbers], [columns.index(i) for i in numbers]]
    if rows != columns or len(set(rows)) != len(rows):
        found, expected = f"the rows {rows[:5]} and columns {columns[:5]}", "the same names, each once, in one order"
        remedy = "The order is that of the numbers of the classes"
        raise refusal("cost", found, expected, remedy, text=f"cost has {found}; expected {expected}")
    return cost


def class_numbers(y_true: Any, n: int, k: int) -> np.ndarray:
    y = np.asarray(y_true)
    if y.dtype.kind in "US":  # of words, with which numbers would become words
        y = np.asarray(y_true, dtype=object)
    if y.shape != (n,):
        raise _refused_shape("y_true", y.shape, f"{(n,)}, a label for each row of y_pred")
    value = y
    if y.dtype.kind not in "biuf":
        real = (int, float, np.integer, np.floating)
        value = np.array([label if isinstance(label, real) and 0 <= label < k else np.nan for label in y], dtype=float)
    right = (value >= 0) & (value < k) & (np.floor(value) == value)
    if not right.all():
        wrong = int(np.argmin(right))
        expected = f"the number of a class, 0 to {k - 1}"
        text = f"y_true[{wrong}] is {shown(y[wrong])}; expected {expected}"
        raise refusal("y_true", y[wrong], expected, text=text)
    return value.astype(np.int64)


def weights_of(sample_weight: Any, n: int) -> np.ndarray:
    weight = reals("sample_weight", sample_weight, f"{n} numbers")
    if weight.shape != (n,):
        raise _refused_shape("sample_weight", weight.shape, f"{(n,)}, a weight for each row of y_pred")
    right = (weight >= 0) & (weight < np.inf)
    if not right.all():
        wrong = int(np.argmin(right))
        expected = "a number that is finite and not negative"
        text = f"sample_weight[{wrong}] is {shown(weight[wrong])}; expected {expected}"
        raise refusal("sample_weight", weight[wrong], expected, text=text)
    return weight
