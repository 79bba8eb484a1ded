"""Ordered grades."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import Any, Optional

import numpy as np

from . import _core
from ._cv import ClassSearch
from ._errors import Error
from ._labels import Costs, classes_from_names, refuse_numbers_sorted_as_words
from ._options import quoted, word
from ._parameters import LamParameter, doc, documented
from ._tabular import MaxMinTabular


def _ascend(grades: Any) -> bool:
    """Whether they are numbers in the order that numbers have anyway."""
    grades = np.asarray(grades)
    return grades.dtype.kind in "iuf" and bool((np.diff(grades) > 0).all())


@dataclass(kw_only=True, eq=False, repr=False)
class OrderedGrades(MaxMinTabular):
    """The order of grades, and costs that count steps between them."""

    _task = "ordinal"
    _usual_cost = "absolute"

    cost_matrix: Any = field(
        default="absolute",
        kw_only=False,
        metadata=doc(f"{quoted(_core.losses(_task))} or k x k array", "cost_matrix[true][predicted]."),
    )
    categories: Any = field(default=None, metadata=doc("list or None", "The grades from the lowest to the highest."))

    def _order(self, y: Any) -> Optional[Any]:
        if self.categories is not None:
            return self.categories
        if getattr(y, "ndim", 1) == 2 and hasattr(y, "iloc") and y.shape[1] == 1:
            y = y.iloc[:, 0]
        if getattr(getattr(y, "dtype", None), "ordered", False):  # of pandas
            return y.dtype.categories
        grades = np.asarray(y)
        if grades.dtype.kind == "f" and np.isfinite(grades).all() and (grades != np.floor(grades)).any():
            raise Error("the grades are continuous or fractions; name fractions with categories=[...]")
        if grades.dtype.kind in "OUS" and grades.size:
            names = sorted({str(grade) for grade in grades.ravel()})
            warnings.warn(
                f"the grades {names[:5]} are words and taken in the order of the alphabet; give their order with "
                "categories=[...], from the lowest to the highest",
                UserWarning,
                stacklevel=5,
            )
        return None

    def _cost(self, classes: np.ndarray) -> Any:
        cost = self._usual_cost if self.cost_matrix is None else self.cost_matrix
        if not isinstance(cost, str):
            return super()._cost(classes)
        word("cost_matrix", cost, _core.losses(self._task))
        if self.categories is None and cost != "zero-one" and classes.dtype.kind not in "iuf":
            refuse_numbers_sorted_as_words(classes)
        if _ascend(classes):
            return cost
        # A model file calls costs of steps by name only where the grades are numbers in their order.
        return Costs(_core.named_cost(cost, len(classes)).ravel().tolist())

    @classmethod
    def _parameters_of(cls, model: Any) -> dict[str, Any]:
        grades = classes_from_names(model.classes)
        known = grades.dtype.kind == "i" and _ascend(grades)
        return {**super()._parameters_of(model), "categories": None if known else grades.tolist()}


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class MaxMinOrdinalClassifier(LamParameter, OrderedGrades):
    """Classifier of ordered grades: a prediction costs the number of steps it is off, unless costs say otherwise.

    Grades are whole numbers, taken in their order; words in the order of ``categories``, from the lowest to the
    highest, or of an ordered pandas Categorical; or any numbers in the order of ``categories``. They count as ranks
    0, 1, 2, ..., whatever numbers they are: the cost 'absolute' of 1, 2 and 10 is that of one step between neighbours.

    The attributes are those of MaxMinClassifier. score() is minus the mean cost.
    """


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class MaxMinOrdinalClassifierCV(ClassSearch, OrderedGrades):
    """MaxMinOrdinalClassifier with lam, and if asked the surrogate, chosen by the mean cost on held-out parts.

    The attributes are those of MaxMinClassifierCV.
    """
