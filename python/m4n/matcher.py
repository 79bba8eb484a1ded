"""Matching: which points of two sets belong together."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_array, check_is_fitted

from . import _core
from ._cv import ListSearch
from ._estimator import Estimator, Training, has_probabilities
from ._features import REALS
from ._options import in_python_words, listed, threads_of


def pairs_of(X: Any) -> tuple[list[np.ndarray], list[int]]:
    """M x M rows an example, and M."""
    parts, points = [], []
    for i, pairs in enumerate(listed("X", X)):
        pairs = check_array(pairs, dtype=REALS, ensure_2d=False, allow_nd=True, input_name=f"X[{i}]")
        if pairs.ndim != 3 or pairs.shape[0] != pairs.shape[1] or pairs.shape[2] == 0:
            raise ValueError(f"X[{i}] has the shape {pairs.shape}; expected M x M x d, the features of pairs of points")
        parts.append(pairs.reshape(-1, pairs.shape[2]))
        points.append(pairs.shape[0])
    if not parts:
        raise ValueError("X has no examples")
    return parts, points


def partners_of(y: Any, points: list[int]) -> np.ndarray:
    """Partners of all points, one example behind the other."""
    y = [np.asarray(partners) for partners in listed("y", y)]
    if len(y) != len(points):
        raise ValueError(f"{len(points)} examples and {len(y)} lists of partners do not belong together")
    for i, (partners, size) in enumerate(zip(y, points)):
        if partners.dtype.kind not in "iu" or not np.array_equal(np.sort(partners), np.arange(size)):
            raise ValueError(f"y[{i}] must hold the partners 0 to {size - 1} of {size} points, each once")
    return np.concatenate(y).astype(np.int32)


class MatchingEstimator(Estimator):
    """Shared by MaxMinMatcher and its CV form."""

    _task = "matching"

    def fit(self, X: Any, y: Any) -> Any:
        """Learn from X[e][i][j], the features of the pair of point i of the first set and j of the second in example
        e, and y[e][i], the partner of point i, from 0. Sets may have different sizes from example to example."""
        return self._fit(X, y)

    def _training(self, X: Any, y: Any, sample_weight: Any) -> Training:
        parts, points = pairs_of(X)
        partners = partners_of(y, points)
        options = self._common_options()
        with in_python_words():
            data = _core.matchings(parts, points, partners)
        return Training(data, options, [], None, len(points))

    def _adopt(self, model: Any, classes: Any) -> Any:
        super()._adopt(model, classes)
        self.n_features_in_ = model.d
        self.coef_ = model.weights()["coef"]
        return self

    @classmethod
    def _parameters_of(cls, model: Any) -> dict[str, Any]:
        return {**super()._parameters_of(model), "standardize": model.standardized}

    def _apply(self, function: Any, X: Any) -> tuple[np.ndarray, list[int]]:
        check_is_fitted(self)
        parts, points = pairs_of(X)
        with in_python_words():
            return function(self._model, parts, points, threads_of(self.n_jobs)), points

    def decision_function(self, X: Any) -> list[np.ndarray]:
        """The score of every pair, M x M an example."""
        check_is_fitted(self)
        parts, points = pairs_of(X)
        with in_python_words():
            scores = [self._model.scores(part, threads_of(self.n_jobs)) for part in parts]
        return [own.reshape(size, size) for own, size in zip(scores, points)]

    def predict(self, X: Any) -> list[np.ndarray]:
        """The partner of every point of the first set, from 0: one array an example."""
        partners, points = self._apply(_core.predict_matchings, X)
        return np.split(partners, np.cumsum(points)[:-1])

    @available_if(has_probabilities)
    def predict_marginals(self, X: Any) -> list[np.ndarray]:
        """The probability of every pair, M x M an example; only with surrogate='crf'."""
        flat, points = self._apply(_core.matching_marginals, X)
        cut = np.split(flat, np.cumsum(np.square(points))[:-1])
        return [p.reshape(size, size) for p, size in zip(cut, points)]

    def score(self, X: Any, y: Any) -> float:
        """Minus the mean share of points that are matched wrongly."""
        found, points = self._apply(_core.predict_matchings, X)
        return -_core.permutation_loss(self._model, points, partners_of(y, points), found, None)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.three_d_array = True
        tags.target_tags.required = True
        return tags


class MaxMinMatcher(MatchingEstimator):
    """Which points of two sets of equal size belong together, by features of pairs of points.

    Parameters
    ----------
    surrogate : 'm4n', 'm3n', 'crf' (up to 16 points) or 'qs', default 'm4n'
    lam : float or None, default None
        Weight of |w|^2 / 2 beside the mean loss; None: 1/n, for m4n and m3n the mean number of points / n.
    decode, tol, max_iter, standardize, random_state, n_jobs, verbose : as in MaxMinClassifier

    Attributes
    ----------
    n_features_in_, n_iter_, certificate_, lam_, decode_
    coef_ (1 x d) : the weights of the features of a pair, for X as it comes

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

    def __init__(
        self,
        *,
        surrogate: str = "m4n",
        decode: Any = None,
        lam: Any = None,
        tol: float = 1e-3,
        max_iter: int = 1000,
        standardize: Any = None,
        random_state: Any = None,
        n_jobs: Any = None,
        verbose: int = 0,
    ) -> None:
        self.surrogate = surrogate
        self.decode = decode
        self.lam = lam
        self.tol = tol
        self.max_iter = max_iter
        self.standardize = standardize
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose


class MaxMinMatcherCV(ListSearch, MatchingEstimator):
    """MaxMinMatcher with lam, and if asked the surrogate, chosen by the mean cost on held-out examples.

    lams, cv (default: 5 folds) and extend are those of MaxMinClassifierCV; surrogate is 'm4n', 'm3n', 'crf', 'qs', a list
    of them, or 'auto': m4n, m3n and, up to 16 points, crf.
    """

    def __init__(
        self,
        *,
        lams: Any = None,
        cv: Any = None,
        surrogate: Any = "m4n",
        decode: Any = None,
        tol: float = 1e-3,
        max_iter: int = 1000,
        extend: bool = True,
        standardize: Any = None,
        random_state: Any = None,
        n_jobs: Any = None,
        verbose: int = 0,
    ) -> None:
        self.lams = lams
        self.cv = cv
        self.surrogate = surrogate
        self.decode = decode
        self.tol = tol
        self.max_iter = max_iter
        self.extend = extend
        self.standardize = standardize
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
