"""What outputs with a label at every part have in common: the tokens of sequences, the nodes of graphs."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import chain
from typing import Any, ClassVar

import numpy as np

from . import _core
from ._errors import Error
from ._estimator import Estimator
from ._labels import (
    NO_COSTS,
    Costs,
    costs_by_rows,
    frame_of,
    index_of,
    labels_to_judge,
    numbers_to_judge,
    refuse_numbers_sorted_as_words,
)
from ._options import listed, word
from ._pages import Judged, unknown_labels
from ._parameters import InterceptParameter, doc


def labels_of(labels: Any, number: int, noun: str) -> np.ndarray:
    """The labels of one example, all of one kind."""
    found = np.asarray(labels)
    if found.ndim != 1:
        raise Error(f"y[{number}] must be a list of labels, found {labels!r:.80}")
    if any(label == "" or "\n" in label or "\r" in label for label in found.tolist() if isinstance(label, str)):
        raise Error(f"{noun} {number} has a label that is empty or holds a line break")
    if found.dtype.kind in "US" and found is not labels and not all(isinstance(label, str) for label in labels):
        raise Error(f"{noun} {number} has labels that are text and others that are not; expected one kind")
    return found


def cut(flat: list[Any], lengths: list[int]) -> list[list[Any]]:
    ends = np.cumsum(lengths)
    return [flat[end - length : end] for end, length in zip(ends, lengths)]


@dataclass(kw_only=True, eq=False, repr=False)
class PartEstimator(InterceptParameter, Estimator):
    """An estimator whose predictions are lists of labels."""

    _noun: ClassVar[str]  # what an example is called
    _part: ClassVar[str]  # and what has a label

    cost_matrix: Any = field(
        default=None,
        kw_only=False,
        metadata=doc(
            "None, k x k array or 'hamming', 'absolute', 'squared'",
            """cost_matrix[true][predicted] of a part (a token, a node); an output costs their mean. None, 'hamming': a
            wrong part costs 1. Further columns are predictions that are no label (m4n.costs.reject).""",
        ),
    )
    surrogate: Any = field(
        default="m4n", metadata=doc("'m4n', 'm3n' or 'crf'", "Max-min margin, max-margin or log-likelihood.")
    )

    def _with_costs(self, options: dict[str, str], classes: np.ndarray) -> tuple[dict[str, str], Costs]:
        if isinstance(self.cost_matrix, str):
            options["loss"] = word("cost_matrix", self.cost_matrix, _core.losses(self._task))
            if self.cost_matrix != "hamming":
                refuse_numbers_sorted_as_words(classes)
        elif self.cost_matrix is not None:
            return options, costs_by_rows(self.cost_matrix, classes)
        return options, NO_COSTS

    def predict(self, X: Any) -> list[list[Any]]:
        raise NotImplementedError

    def score(self, X: Any, y: Any) -> float:
        """Minus the mean over examples of the mean cost of their parts where costs are set; the share of parts that
        are right where every mistake costs the same."""
        predicted, truth = (
            self.predict(X),
            [labels_of(labels, i, self._noun) for i, labels in enumerate(listed("y", y))],
        )
        if [len(labels) for labels in predicted] != [len(labels) for labels in truth]:
            raise Error("X and y do not have the same lengths")
        if not any(map(len, truth)):
            raise Error(f"there is no {self._part} to judge by")
        if self._model.loss == "hamming":
            pairs = list(zip(chain(*predicted), chain(*(labels.tolist() for labels in truth))))
            return float(np.mean([a == b for a, b in pairs]))
        judged = [(found, right) for found, right in zip(predicted, truth) if len(right)]
        known = [index_of(labels_to_judge(right, self.classes_), self.classes_) for _, right in judged]
        number = {name: p for p, name in enumerate(self.predictions_.tolist())}
        answers = [[number[name] for name in found] for found, _ in judged]
        lengths = [len(right) for _, right in judged]
        return -self._model.mean_loss(
            lengths, np.concatenate(known).astype(np.int32), np.concatenate(answers).astype(np.int32), None
        )

    def _judged_by_labels(self, data: Any, lengths: list[int], y: Any) -> Judged:
        """The examples of ``data``, which have so many parts each, with their labels."""
        label, unseen = unknown_labels(sum(lengths)), list[str]()
        if y is not None:
            truth = [labels_of(labels, i, self._noun) for i, labels in enumerate(listed("y", y))]
            if [len(labels) for labels in truth] != lengths:
                raise Error("X and y do not have the same lengths")
            label, unseen = numbers_to_judge(np.concatenate(truth), self.classes_)
        data.set_labels(label, lengths)
        return Judged(data, unseen)

    @classmethod
    def _parameters_of(cls, model: Any) -> dict[str, Any]:
        cost = None if model.loss == "hamming" else model.loss
        if model.loss == "matrix":
            cost = frame_of(model.cost().reshape(len(model.classes), -1), model.classes, model.predictions)
        return {**super()._parameters_of(model), "cost_matrix": cost}
