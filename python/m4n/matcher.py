"""Matching: which points of two sets belong together."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_array, check_is_fitted

from . import _core
from ._cv import ListSearch
from ._errors import Error
from ._estimator import Estimator, Training, has_probabilities
from ._features import REALS
from ._labels import NO_COSTS
from ._options import in_python_words, listed, threads_of
from ._pages import Judged, unknown_labels
from ._parameters import LamParameter, doc, documented
from ._weights import kept_of, weights_of, with_weights


def pairs_of(X: Any) -> tuple[list[np.ndarray], list[int]]:
    """M x M rows for every example, and M."""
    parts, points = [], []
    for i, pairs in enumerate(listed("X", X)):
        pairs = check_array(pairs, dtype=REALS, ensure_2d=False, allow_nd=True, input_name=f"X[{i}]")
        if pairs.ndim != 3 or pairs.shape[0] != pairs.shape[1] or pairs.shape[2] == 0:
            raise Error(f"X[{i}] has the shape {pairs.shape}; expected M x M x d, the features of pairs of points")
        parts.append(pairs.reshape(-1, pairs.shape[2]))
        points.append(pairs.shape[0])
    if not parts:
        raise Error("X has no examples")
    return parts, points


def partners_of(y: Any, points: list[int]) -> np.ndarray:
    """Partners of all points, one example behind the other."""
    y = [np.asarray(partners) for partners in listed("y", y)]
    if len(y) != len(points):
        raise Error(f"{len(points)} examples and {len(y)} lists of partners do not belong together")
    for i, (partners, size) in enumerate(zip(y, points)):
        if partners.dtype.kind not in "iu" or not np.array_equal(np.sort(partners), np.arange(size)):
            raise Error(f"y[{i}] must hold the partners 0 to {size - 1} of {size} points, each once")
    return np.concatenate(y).astype(np.int32)


def examples_of(parts: list[np.ndarray], points: list[int], partners: Any) -> Any:
    return _core.examples(parts, [size * size for size in points], partners, points, [], None, [], [])


@dataclass(kw_only=True, eq=False, repr=False)
class MatchingEstimator(Estimator):
    """Shared by MaxMinMatcher and its CV form."""

    _task = "matching"

    surrogate: Any = field(
        default="m4n",
        metadata=doc(
            "'m4n', 'm3n', 'crf' (up to 16 points) or 'qs'",
            "Max-min margin, max-margin, log-likelihood, or squared error of the costs.",
        ),
    )

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Learn from X[e][i][j], the features of the pair of point i of the first set and j of the second in example
        e, and y[e][i], the partner of point i, from 0. Sets may have different sizes from example to example. Examples
        of weight zero count as absent."""
        return self._fit(X, y, sample_weight)

    def _training(self, X: Any, y: Any, sample_weight: Any) -> Training:
        X, y = listed("X", X), listed("y", y)
        weights, examples = weights_of(sample_weight, np.zeros(len(X))), len(X)
        if weights.kept is not None and len(X) == len(y):
            X, y = kept_of(X, weights), kept_of(y, weights)
        parts, points = pairs_of(X)
        partners = partners_of(y, points)
        options = self._common_options()
        with in_python_words():
            data = examples_of(parts, points, partners)
        with_weights(data, weights)
        return Training(data, options, NO_COSTS, None, examples, weights.kept, weights.total)

    def _adopt(self, model: Any, classes: Any) -> Any:
        super()._adopt(model, classes)
        self.n_features_in_ = model.d
        self.coef_ = model.arrays()["coef"]
        return self

    @classmethod
    def _parameters_of(cls, model: Any) -> dict[str, Any]:
        return {**super()._parameters_of(model), "standardize": model.features()["standardized"]}

    def _apply(self, function: str, X: Any) -> tuple[np.ndarray, list[int]]:
        check_is_fitted(self)
        parts, points = pairs_of(X)
        with in_python_words():
            data = examples_of(parts, points, None)
            return getattr(self._model, function)(data, threads_of(self.n_jobs)), points

    def decision_function(self, X: Any) -> list[np.ndarray]:
        """The score of every pair, M x M for every example."""
        check_is_fitted(self)
        parts, points = pairs_of(X)
        with in_python_words():
            scores = [self._model.scores(part, threads_of(self.n_jobs)) for part in parts]
        return [own.reshape(size, size) for own, size in zip(scores, points)]

    def _judged_by(self, X: Any, y: Any, costs: Any) -> Judged:
        parts, points = pairs_of(X)
        partners = unknown_labels(sum(points)) if y is None else partners_of(y, points)
        return Judged(examples_of(parts, points, partners))

    def predict(self, X: Any) -> list[np.ndarray]:
        """The partner of every point of the first set, from 0: one array for every example."""
        partners, points = self._apply("predict", X)
        return np.split(partners, np.cumsum(points)[:-1])

    @available_if(has_probabilities)
    def predict_marginals(self, X: Any) -> list[np.ndarray]:
        """The probability of every pair, M x M for every example; only with surrogate='crf'."""
        flat, points = self._apply("marginals", X)
        cut = np.split(flat, np.cumsum(np.square(points))[:-1])
        return [p.reshape(size, size) for p, size in zip(cut, points)]

    def score(self, X: Any, y: Any) -> float:
        """Minus the mean share of points that are matched wrongly."""
        found, points = self._apply("predict", X)
        return -self._model.mean_loss(points, partners_of(y, points), found, None)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.three_d_array = True
        tags.target_tags.required = True
        return tags


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class MaxMinMatcher(LamParameter, MatchingEstimator):
    """Which points of two sets of equal size belong together, by features of pairs of points.

    Attributes
    ----------
    n_features_in_, n_iter_, certificate_, lam_, decode_ : as those of MaxMinClassifier
    coef_ : 1 x d, the weights of the features of a pair, for X as it comes

    Examples
    --------
    >>> import numpy as np
    >>> from m4n import MaxMinMatcher
    >>> rng = np.random.default_rng(0)
    >>> y = [rng.permutation(5) for _ in range(20)]
    >>> X = [(np.eye(5)[p] + 0.1 * rng.normal(size=(5, 5)))[:, :, None] for p in y]
    >>> MaxMinMatcher().fit(X, y).score(X, y)
    -0.0
    """


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class MaxMinMatcherCV(ListSearch, MatchingEstimator):
    """MaxMinMatcher with lam, and if asked the surrogate, chosen by the mean cost on held-out examples.

    The attributes are those of MaxMinClassifierCV, and of MaxMinMatcher.
    """
