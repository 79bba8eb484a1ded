"""Label ranking: the order of a fixed set of items."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_array

from . import _core
from ._cv import TableSearch
from ._estimator import has_probabilities
from ._labels import by_names
from ._options import threads_of
from ._outputs import OutputTable
from ._positions import position_cost
from ._weights import positive_weights


def positions_of(ranks: Any) -> np.ndarray:
    """Ranks 1..M as positions from 0, every row a permutation."""
    ranks = check_array(ranks, dtype=None, ensure_min_features=2, input_name="y")
    every_rank = np.arange(1, ranks.shape[1] + 1)
    wrong = ranks.dtype.kind not in "iuf" or (np.sort(ranks, axis=1) != every_rank).any(axis=1)
    if np.any(wrong):
        row = int(np.argmax(wrong))
        raise ValueError(
            f"row {row} of y is {ranks[row].tolist()}; expected the ranks 1 to {len(every_rank)} of the items, each once"
        )
    return np.ascontiguousarray(ranks - 1, dtype=np.int32)


class RankingEstimator(OutputTable):
    """Shared by MaxMinRanker and its CV form. y[i, j] is the rank of item j in example i, 1 the best."""

    _task = "ranking"
    _names, _letter = "items_", "r"

    def _numbers_of(self, y: Any) -> np.ndarray:
        return positions_of(y)

    def _cost_options(self, names: list[str]) -> tuple[dict[str, str], list[float]]:
        weights = np.ndim(self.cost) == 1 and not isinstance(self.cost, str)  # costs of positions have no names
        return position_cost(by_names("cost", self.cost, names) if weights else self.cost, len(names))

    def decision_function(self, X: Any) -> np.ndarray:
        """The scores: n x M of the items where the cost is of rank one (spearman, dcg, precision@K), otherwise
        n x M x M of items at positions."""
        scores = self._scores(X)
        size = len(self.items_)
        return scores if scores.shape[1] == size else scores.reshape(-1, size, size)

    def predict(self, X: Any) -> np.ndarray:
        """The ranks of the items, n x M, 1 the best."""
        scores = self._scores(X)
        return self._model.decode(scores, threads_of(self.n_jobs)) + 1

    @available_if(has_probabilities)
    def predict_marginals(self, X: Any) -> np.ndarray:
        """The probability of every item at every position, n x M x M; only with surrogate='crf'."""
        scores = self._scores(X)
        return self._model.probabilities(scores, threads_of(self.n_jobs))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Minus the mean cost of the predicted ranks."""
        predicted, truth = self.predict(X) - 1, self._judged(y)
        weight = None if sample_weight is None else positive_weights(sample_weight, predicted)
        if predicted.shape != truth.shape:
            raise ValueError(f"y has the shape {truth.shape}; expected {predicted.shape}")
        sizes = [truth.shape[1]] * len(truth)
        flat = np.ascontiguousarray(predicted, dtype=np.int32).ravel()
        return -_core.permutation_loss(self._model, sizes, truth.ravel(), flat, weight)


class MaxMinRanker(RankingEstimator):
    """Label ranking: learns from the ranks of M items in every example to rank them for new ones.

    Parameters
    ----------
    cost : str or array, default 'hamming'
        Of a wrong ranking: 'hamming' (the share of items that are misplaced), 'footrule' (the mean distance of ranks),
        'spearman' (its square), 'precision@K' (what the first K miss), 'dcg' (the share of discounted gain that is
        lost), M weights of items for a weighted Hamming cost, or an M x M matrix [true rank][predicted rank] whose
        mean over items counts.
    surrogate : 'm4n', 'm3n', 'crf' (up to 16 items) or 'qs', default 'm4n'

    lam : float or None, default None
        Weight of |w|^2 / 2 beside the mean loss; None: 1/n, for m4n and m3n M/n, as their loss is a mean over items;
        with sample_weight their sum instead of n.

    decode, features, gamma, n_components, degree, tol, max_iter, standardize, fit_intercept, random_state, n_jobs and
    verbose are those of MaxMinClassifier.

    Attributes
    ----------
    items_ : names of the items, the columns of y if it is a data frame
    n_features_in_, feature_names_in_, n_iter_, certificate_, lam_, decode_, gamma_
    coef_, intercept_ : of linear features; a row an item where the cost is of rank one (spearman, dcg, precision@K),
        otherwise a row an item and position, all positions of an item behind each other

    Examples
    --------
    >>> import numpy as np
    >>> from m4n import MaxMinRanker
    >>> X = np.array([[0.0], [0.1], [0.9], [1.0]])
    >>> Y = np.array([[1, 2, 3], [1, 2, 3], [3, 2, 1], [3, 2, 1]])
    >>> MaxMinRanker("footrule", lam=0.01).fit(X, Y).predict([[0.05], [0.95]]).tolist()
    [[1, 2, 3], [3, 2, 1]]
    """

    def __init__(
        self,
        cost: Any = "hamming",
        *,
        surrogate: str = "m4n",
        decode: Any = None,
        features: str = "linear",
        gamma: Any = None,
        n_components: Any = None,
        degree: int = 3,
        lam: Any = None,
        tol: float = 1e-3,
        max_iter: int = 1000,
        standardize: Any = None,
        fit_intercept: bool = True,
        random_state: Any = None,
        n_jobs: Any = None,
        verbose: int = 0,
    ) -> None:
        self.cost = cost
        self.surrogate = surrogate
        self.decode = decode
        self.features = features
        self.gamma = gamma
        self.n_components = n_components
        self.degree = degree
        self.lam = lam
        self.tol = tol
        self.max_iter = max_iter
        self.standardize = standardize
        self.fit_intercept = fit_intercept
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose


class MaxMinRankerCV(TableSearch, RankingEstimator):
    """MaxMinRanker with lam, and if asked the surrogate, chosen by the mean cost on held-out parts.

    lams, cv (default: 5 folds) and extend are those of MaxMinClassifierCV; surrogate is 'm4n', 'm3n', 'crf', 'qs', a list
    of them, or 'auto': m4n (for costs that are not symmetric with both decoders), m3n and, up to 16 items, crf.
    """

    def __init__(
        self,
        cost: Any = "hamming",
        *,
        lams: Any = None,
        cv: Any = None,
        surrogate: Any = "m4n",
        decode: Any = None,
        features: str = "linear",
        gamma: Any = None,
        n_components: Any = None,
        degree: int = 3,
        tol: float = 1e-3,
        max_iter: int = 1000,
        extend: bool = True,
        standardize: Any = None,
        fit_intercept: bool = True,
        random_state: Any = None,
        n_jobs: Any = None,
        verbose: int = 0,
    ) -> None:
        self.cost = cost
        self.lams = lams
        self.cv = cv
        self.surrogate = surrogate
        self.decode = decode
        self.features = features
        self.gamma = gamma
        self.n_components = n_components
        self.degree = degree
        self.tol = tol
        self.max_iter = max_iter
        self.extend = extend
        self.standardize = standardize
        self.fit_intercept = fit_intercept
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
