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
from ._options import in_python_words, positive, reals, refusal, threads_of
from .oracle import _cost, _refused_shape, loss

__all__ = ["objective"]


class objective:
    """The smoothed max-min loss as an objective: ``XGBClassifier(objective=objective(cost))``.

    cost: a name ('zero-one', 'absolute', 'squared'), or k x k costs [true][predicted] in the order of the classes, in
    any unit.
    smoothing: s above, in units of the mean cost of a mistake; positive. With little of it the loss is a margin, with
    much of it like a squared error of probabilities.

    Takes what the sklearn interfaces give (y_true, y_pred, sample_weight) and what ``xgboost.train`` and
    ``lightgbm.train`` give (y_pred, data). y_pred is n x k, or n scores for the second of two classes. The answer is the
    gradient and a bound of the Hessian, not the Hessian.

    >>> rare_but_costly = objective([[0, 1], [9, 0]])
    >>> gradient, bound = rare_but_costly([0, 1, 1], [0.0, 0.0, 0.0])
    >>> gradient.round(3).tolist(), bound.tolist()
    ([0.475, -0.525, -0.525], [0.125, 0.125, 0.125])
    >>> rare_but_costly.decode([-5.0, -0.5, 1.0]).tolist()
    [0, 1, 1]
    """

    def __init__(self, cost: Any = "zero-one", smoothing: float = 4.0, n_jobs: Optional[int] = None) -> None:
        self.smoothing = float(positive("smoothing", smoothing))
        self.cost = cost if isinstance(cost, str) else reals("cost", cost, "a name or k x k numbers")
        self.n_jobs = n_jobs
        self._unit_costs(2 if isinstance(cost, str) else len(np.atleast_1d(self.cost)))

    def __call__(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> tuple[np.ndarray, np.ndarray]:
        if hasattr(y_pred, "get_label"):
            y_true, y_pred, sample_weight = y_pred.get_label(), y_true, y_pred.get_weight()
        scores, one = self._scores(y_pred)
        y = np.asarray(y_true)
        labels = y.astype(np.int64)
        if labels.shape != scores.shape[:1]:
            raise _refused_shape("y_pred", np.shape(y_pred), f"a row for each of {labels.size} examples")
        if (labels != y).any():
            raise refusal("y_true", y[labels != y][0], "the numbers of classes, from 0")
        _, gradient = loss(
            scores, labels, self._unit_costs(scores.shape[1]), smoothing=self.smoothing, n_jobs=self.n_jobs
        )
        if one:  # along (0, 1) the bound P / s is (1 - 1/2) / s
            gradient = gradient[:, 1]
        bound = np.full_like(gradient, (0.5 if one else 1.0) / self.smoothing)
        if sample_weight is not None and np.size(sample_weight) > 0:
            weight = np.asarray(sample_weight, dtype=np.float64).reshape(-1, *[1] * (gradient.ndim - 1))
            gradient, bound = weight * gradient, weight * bound
        return gradient, bound

    def decode(self, scores: Any) -> np.ndarray:
        """The class that costs least under mu of these scores, by number: scores as they come, not probabilities
        (``predict(X, output_margin=True)`` of XGBoost, ``predict(X, raw_score=True)`` of LightGBM)."""
        v, _ = self._scores(scores)
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

    def _scores(self, scores: Any) -> tuple[np.ndarray, bool]:
        """n x k, and whether there was one score an example, which the first of two classes does without."""
        found = reals("scores", scores, "n x k numbers, or n of the second of two classes")
        if found.ndim == 1 or found.ndim == 2 and found.shape[1] == 1:
            return np.column_stack([np.zeros(len(found)), found]), True
        if found.ndim != 2:
            raise _refused_shape("scores", found.shape, "n x k, or n of the second of two classes")
        return np.ascontiguousarray(found), False

    def _unit_costs(self, k: int) -> np.ndarray:
        """So that a mistake costs 1 in the mean, as the library counts mistakes: by what they cost beside the best."""
        costs = _cost(self.cost, k)
        with np.errstate(invalid="ignore"):
            unit = (costs - costs.min(axis=1, keepdims=True)).sum() / max(k * (k - 1), 1)
        if not 0 < unit < np.inf:
            raise refusal("cost", self.cost, "costs that are finite and not all the same in every row")
        return costs / unit
