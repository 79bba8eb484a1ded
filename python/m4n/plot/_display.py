"""What displays have in common."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils import column_or_1d

from .._errors import Error
from .._options import quoted, refusal, shown
from .._weights import positive_weights

try:
    from matplotlib import pyplot
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        "m4n.plot draws with matplotlib, which is not installed. Install it: pip install matplotlib", name=error.name
    ) from error


class Display:
    """Something to see, on axes of matplotlib."""

    ax_: Any
    figure_: Any

    def _on(self, ax: Any) -> Any:
        """Axes to draw on, new ones for None."""
        self.ax_ = pyplot.subplots(layout="constrained")[1] if ax is None else ax
        self.figure_ = self.ax_.figure
        return self.ax_

    def _add_legend(self) -> None:
        for text in self.ax_.legend().get_texts():
            text.set_parse_math(False)


def last_step(estimator: Any) -> Any:
    """What decides at the end of searches and pipelines."""
    while True:
        if hasattr(estimator, "best_estimator_"):
            estimator = estimator.best_estimator_
        elif isinstance(estimator, Pipeline):
            estimator = estimator[-1]
        else:
            return estimator


def labels_given(name: str, y: Any) -> np.ndarray:
    """One label or more, in a row."""
    y = column_or_1d(y, warn=True)
    if len(y) == 0:
        raise Error(f"{name} is empty; expected a label for every example")
    return y


def classes_given(labels: Any) -> np.ndarray:
    """Classes in a row, each once."""
    classes, expected = np.asarray(labels), "a list of classes, each once"
    if classes.ndim != 1:
        raise refusal("labels", labels, expected)
    names = classes.tolist()
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        text = f"labels names {shown(twice[0])} twice; expected {expected}"
        raise refusal("labels", twice[0], expected, text=text)
    return classes


def numbers_of(what: str, found: np.ndarray, names: np.ndarray) -> np.ndarray:
    """The number of every label among the names; refuses those that are none."""
    number = {name: i for i, name in enumerate(names.tolist())}
    strange = [name for name in found.tolist() if name not in number]
    if strange:
        raise Error(f"{what} holds {shown(strange[0])}, which is none of {quoted(list(number)[:10])}")
    return np.array([number[name] for name in found.tolist()])


def weights_or_ones(sample_weight: Any, examples: Any) -> np.ndarray:
    return np.ones(len(examples)) if sample_weight is None else positive_weights(sample_weight, examples)
