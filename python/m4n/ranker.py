"""Label ranking: the order of a fixed set of items."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_array

from ._cv import TableSearch
from ._errors import Error
from ._estimator import has_probabilities
from ._labels import by_names
from ._options import threads_of
from ._outputs import OutputTable
from ._parameters import LamParameter, doc, documented
from ._positions import position_cost


def positions_of(ranks: Any) -> np.ndarray:
    """Ranks 1..M as positions from 0, every row a permutation."""
    ranks = check_array(ranks, dtype=None, ensure_min_features=2, input_name="y")
    every_rank = np.arange(1, ranks.shape[1] + 1)
    wrong = ranks.dtype.kind not in "iuf" or (np.sort(ranks, axis=1) != every_rank).any(axis=1)
    if np.any(wrong):
        row = int(np.argmax(wrong))
        raise Error(
            f"row {row} of y is {ranks[row].tolist()}; expected the ranks 1 to {len(every_rank)} of the items, each "
            "once"
        )
    return np.ascontiguousarray(ranks - 1, dtype=np.int32)


@dataclass(kw_only=True, eq=False, repr=False)
class RankingEstimator(OutputTable):
    """Shared by MaxMinRanker and its CV form. y[i, j] is the rank of item j in example i, 1 the best."""

    _task = "ranking"
    _names, _letter = "items_", "r"

    cost: Any = field(
        default="hamming",
        kw_only=False,
        metadata=doc(
            "str or array",
            """Of a wrong ranking: 'hamming' (the share of items that are misplaced), 'footrule' (the mean distance of
            ranks), 'spearman' (its square), 'precision@K' (what the first K miss), 'dcg' (the share of discounted gain
            that is lost), M weights of items for a weighted Hamming cost, or an M x M matrix [true rank][predicted
            rank] whose mean over items counts.""",
        ),
    )
    surrogate: Any = field(
        default="m4n",
        metadata=doc(
            "'m4n', 'm3n', 'crf' (up to 16 items) or 'qs'",
            "Max-min margin, max-margin, log-likelihood, or squared error of the costs.",
        ),
    )

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
        return self._decoded(X) + 1

    @available_if(has_probabilities)
    def predict_marginals(self, X: Any) -> np.ndarray:
        """The probability of every item at every position, n x M x M; only with surrogate='crf'."""
        scores, size = self._scores(X), len(self.items_)
        return self._model.probabilities(scores, threads_of(self.n_jobs)).reshape(-1, size, size)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Minus the mean cost of the predicted ranks."""
        return -self._mean_cost(X, y, sample_weight)

    @classmethod
    def _cost_of(cls, model: Any) -> Any:
        numbers, size = model.cost(), len(model.classes)
        if not numbers.size:
            return model.loss
        return numbers.reshape(size, size) if numbers.size == size * size else numbers


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class MaxMinRanker(LamParameter, RankingEstimator):
    """Label ranking: learns from the ranks of M items in every example to rank them for new ones.

    Attributes
    ----------
    items_ : names of the items, the columns of y if it is a data frame
    n_features_in_, feature_names_in_, n_iter_, certificate_, lam_, decode_, gamma_ : as those of MaxMinClassifier
    coef_, intercept_ : of linear features; a row by item where the cost is of rank one (spearman, dcg, precision@K),
        otherwise a row per item and position, all positions of an item behind each other

    Examples
    --------
    >>> import numpy as np
    >>> from m4n import MaxMinRanker
    >>> X = np.array([[0.0], [0.1], [0.9], [1.0]])
    >>> Y = np.array([[1, 2, 3], [1, 2, 3], [3, 2, 1], [3, 2, 1]])
    >>> MaxMinRanker("footrule", lam=0.01).fit(X, Y).predict([[0.05], [0.95]]).tolist()
    [[1, 2, 3], [3, 2, 1]]
    """


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class MaxMinRankerCV(TableSearch, RankingEstimator):
    """MaxMinRanker with lam, and if asked the surrogate, chosen by the mean cost on held-out parts.

    The attributes are those of MaxMinClassifierCV, and of MaxMinRanker.
    """
