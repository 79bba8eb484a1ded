"""Sets of labels: any number of M labels are on."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import ClassifierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_array

from . import _core
from ._cv import TableSearch
from ._errors import Error
from ._estimator import has_probabilities
from ._labels import by_names
from ._options import listed, reals, refusal, shown, threads_of, word
from ._outputs import OutputTable
from ._parameters import LamParameter, doc, documented

UNSURE = 2  # as the library counts answers
EXPECTED_EDGES = "None, 'tree' or pairs of labels"


@dataclass(kw_only=True, eq=False, repr=False)
class LabelSetEstimator(ClassifierMixin, OutputTable):
    """Shared by MaxMinMultiLabelClassifier and its CV form. y[i, j] says whether label j is on in example i."""

    _task = "multilabel"
    _names, _letter = "labels_", "y"

    cost: Any = field(
        default="hamming",
        kw_only=False,
        metadata=doc(
            "'hamming', 2 x M or 3 x M array",
            """What a label costs that is on and was missed (first row), or off and was announced (second row); the mean
            over labels counts. 'hamming': all cost 1. A third row is what the answer unsure costs.""",
        ),
    )
    edges: Any = field(
        default=None,
        metadata=doc(
            "None, 'tree' or list of pairs",
            """Labels depend on each other along a tree that is found in the training labels, or along these edges
            between labels, by their numbers from 0 or the columns of y; None: not at all.""",
        ),
    )

    def _numbers_of(self, y: Any) -> np.ndarray:
        marks = check_array(y.toarray() if sparse.issparse(y) else y, dtype=None, input_name="y")
        if marks.dtype.kind not in "biuf" or not np.isin(marks, (0, 1)).all():
            raise Error("y must hold 0 and 1 only: one column by label, 1 where it is on")
        return np.ascontiguousarray(marks, dtype=np.int32)

    def _cost_options(self, names: list[str]) -> tuple[dict[str, str], list[float]]:
        named, outputs = {}, len(names)
        if isinstance(self.edges, str):
            if self.edges != "tree":
                raise refusal("edges", self.edges, EXPECTED_EDGES)
            named["edges"] = self.edges
        if isinstance(self.cost, str):
            return {**named, "loss": word("cost", self.cost, _core.losses(self._task))}, []
        costs = reals(
            "cost", by_names("cost", self.cost, names), f"'hamming' or {(2, outputs)} numbers: misses, false alarms"
        )
        if costs.shape not in ((2, outputs), (3, outputs)):
            expected = f"{(2, outputs)}: misses, false alarms; or a third row: what being unsure costs"
            raise refusal("cost", costs.shape, expected, text=f"cost has the shape {costs.shape}; expected {expected}")
        return named, costs.ravel().tolist()

    def _edges_between(self, columns: list[Any]) -> list[tuple[int, int]]:
        if self.edges is None or isinstance(self.edges, str):
            return []
        # A column is known by its own name, by that name as text, or by its number.
        number_of: dict[Any, int] = {i: i for i in range(len(columns))}
        number_of.update({str(name): i for i, name in enumerate(columns)})
        number_of.update({name: i for i, name in enumerate(columns)})
        try:
            pairs = listed("edges", self.edges)
        except TypeError:
            raise refusal("edges", self.edges, EXPECTED_EDGES) from None
        found = []
        for pair in pairs:
            pair = pair.tolist() if isinstance(pair, np.ndarray) else pair
            try:
                first, second = pair if isinstance(pair, (list, tuple)) else ()
                found.append((number_of[first], number_of[second]))
            except (KeyError, TypeError, ValueError):
                expected = "pairs of numbers of labels, or of columns of y"
                text = f"edges holds {shown(pair)}; expected {expected}"
                raise refusal("edges", pair, expected, text=text) from None
        return found

    def _adopt(self, model: Any, classes: Any) -> Any:
        super()._adopt(model, classes)
        self.classes_ = self.labels_
        arrays = model.arrays()
        self.edges_ = arrays["edges"].astype(np.intp)
        self.edge_weights_ = arrays["edge_weights"]
        return self

    def decision_function(self, X: Any) -> np.ndarray:
        """What speaks for every label being on, n x M; where labels depend on each other, without their edges."""
        scores = self._scores(X)
        if scores.shape[1] == len(self.labels_):
            return scores
        off_on = scores.reshape(len(scores), -1, 2)
        return off_on[:, :, 1] - off_on[:, :, 0]

    def predict(self, X: Any) -> np.ndarray:
        """Which labels are on, n x M of 0 and 1; -1 where the answer is unsure, if that has a cost."""
        marks = self._decoded(X)
        marks[marks == UNSURE] = -1
        return marks

    @available_if(has_probabilities)
    def predict_proba(self, X: Any) -> np.ndarray:
        """The probability of every label being on, n x M; only with surrogate='crf'."""
        scores = self._scores(X)
        return self._model.probabilities(scores, threads_of(self.n_jobs)).reshape(len(scores), -1)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Minus the mean over examples of the mean cost of their labels."""
        return -self._mean_cost(X, y, sample_weight)

    @classmethod
    def _cost_of(cls, model: Any) -> Any:
        numbers = model.cost()
        return numbers.reshape(-1, len(model.classes)) if numbers.size else model.loss

    @classmethod
    def _parameters_of(cls, model: Any) -> dict[str, Any]:
        edges = [(model.classes[int(u)], model.classes[int(v)]) for u, v in model.arrays()["edges"]]
        return {**super()._parameters_of(model), "edges": edges or None}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.classifier_tags.multi_label = True
        return tags


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class MaxMinMultiLabelClassifier(LamParameter, LabelSetEstimator):
    """Any number of M labels are on: learns to mark them, for the costs of misses and false alarms.

    Attributes
    ----------
    labels_, classes_ : names of the labels, the columns of y if it is a data frame
    edges_ : E x 2, the numbers of the labels that depend on each other
    edge_weights_ : E x 2 x 2, the scores of both being off, one on, both on: [first][second]
    coef_, intercept_ : M x d and M, of linear features; with edges two rows per label, for off and on
    n_features_in_, feature_names_in_, n_iter_, certificate_, lam_, decode_, gamma_ : as those of MaxMinClassifier

    Examples
    --------
    >>> import numpy as np
    >>> from m4n import MaxMinMultiLabelClassifier
    >>> X = np.array([[-1.0, 0.0], [1.0, 0.2], [-1.0, 1.0], [1.0, 0.9]])
    >>> Y = np.array([[0, 0], [1, 0], [0, 1], [1, 1]])
    >>> MaxMinMultiLabelClassifier(lam=0.01).fit(X, Y).predict([[2.0, 0.1]]).tolist()
    [[1, 0]]
    """


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class MaxMinMultiLabelClassifierCV(TableSearch, LabelSetEstimator):
    """MaxMinMultiLabelClassifier with lam, and if asked the surrogate, chosen by the mean cost on held-out parts.

    The attributes are those of MaxMinClassifierCV, and of MaxMinMultiLabelClassifier.
    """
