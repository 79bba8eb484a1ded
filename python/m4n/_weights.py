"""Weights of examples."""

from __future__ import annotations

from typing import Any, NamedTuple, Optional

import numpy as np
from sklearn.utils.validation import _check_sample_weight

from ._errors import Error

SMALLEST, LARGEST = 1e-25, 1e25  # one by the sum of many is still a lam


class Weights(NamedTuple):
    """Of the examples that are kept; None: all count the same. ``kept``: which are, None: all. ``total``: what the
    usual lam has in the place of the number of examples, as repeated rows would have it; None: that number."""

    value: Optional[np.ndarray]
    kept: Optional[np.ndarray]
    total: Optional[float]

    def of(self, rows: Any) -> Any:
        """The rows of the examples that are kept."""
        return rows if self.kept is None else rows[self.kept]


def positive_weights(sample_weight: Any, examples: Any) -> np.ndarray:
    """One weight per example, none negative, not all zero."""
    weight = _check_sample_weight(sample_weight, examples, dtype=np.float64)
    if (weight < 0).any() or not weight.any():
        raise Error("sample_weight must not be negative, nor zero everywhere")
    if weight.max() > LARGEST or weight[weight > 0].min() < SMALLEST:
        raise Error(f"sample_weight must be zero or from {SMALLEST:g} to {LARGEST:g}; scale the weights")
    return weight


def weights_of(sample_weight: Any, examples: Any, by_class: Optional[np.ndarray] = None) -> Weights:
    """Examples of weight zero are left out. ``by_class``: what the class of every example adds as a factor."""
    given = None if sample_weight is None else positive_weights(sample_weight, examples)
    if given is None and by_class is None:
        return Weights(None, None, None)
    weight: Any = given if by_class is None else by_class if given is None else given * by_class
    if not weight.any():
        raise Error("class_weight leaves no example with a weight")
    kept = None if weight.all() else weight > 0
    total = None if given is None else float((given if kept is None else given[kept]).sum())
    return Weights(weight if kept is None else weight[kept], kept, total)
