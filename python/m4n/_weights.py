"""Weights of examples."""

from __future__ import annotations

from typing import Any, NamedTuple, Optional

import numpy as np
from sklearn.utils.validation import _check_sample_weight

from ._options import refusal, shown

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


def kept_of(items: list[Any], weights: Weights) -> list[Any]:
    """The examples that are kept, of a list."""
    return items if weights.kept is None else [item for item, is_kept in zip(items, weights.kept) if is_kept]


def with_weights(data: Any, weights: Weights) -> None:
    if weights.value is not None:
        data.set_weights(weights.value)


def positive_weights(sample_weight: Any, examples: Any) -> np.ndarray:
    """One weight per example, none negative, not all zero."""
    expected = f"zero or from {SMALLEST:g} to {LARGEST:g}"
    try:
        weight = _check_sample_weight(sample_weight, examples, dtype=np.float64)
    except OverflowError:
        raise refusal("sample_weight", sample_weight, expected, "Scale the weights") from None
    if (weight < 0).any() or not weight.any():
        expected = "weights of which none is negative and one is not zero"
        text = f"sample_weight must not be negative, nor zero everywhere; found {shown(weight.min())}"
        raise refusal("sample_weight", weight.min(), expected, text=text)
    if weight.max() > LARGEST or weight[weight > 0].min() < SMALLEST:
        found = weight.max() if weight.max() > LARGEST else weight[weight > 0].min()
        raise refusal("sample_weight", found, expected, "Scale the weights")
    return weight


def weights_of(sample_weight: Any, examples: Any, by_class: Optional[np.ndarray] = None) -> Weights:
    """Examples of weight zero are left out. ``by_class``: what the class of every example adds as a factor."""
    given = None if sample_weight is None else positive_weights(sample_weight, examples)
    if given is None and by_class is None:
        return Weights(None, None, None)
    weight: Any = given if by_class is None else by_class if given is None else given * by_class
    if not weight.any():
        raise refusal("class_weight", 0.0, "a weight above 0", text="class_weight leaves no example with a weight")
    kept = None if weight.all() else weight > 0
    total = None if given is None else float((given if kept is None else given[kept]).sum())
    return Weights(weight if kept is None else weight[kept], kept, total)
