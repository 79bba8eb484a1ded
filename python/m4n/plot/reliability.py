"""Whether probabilities are right."""

from __future__ import annotations

from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import check_consistent_length

from .._errors import Error
from .._labels import labels_to_judge
from .._options import reals, refusal, shown
from .._outputs import OutputTable
from ._display import Display, classes_given, labels_given, last_step, numbers_of, weights_or_ones

TWO_SIDED_95 = 1.96  # standard deviations
MOST_BINS = 1000
ROUNDING = 1e-3  # of the sum of the probabilities of an example


class Reliability(NamedTuple):
    """By bins of the predicted probability that are not empty: its mean, the observed frequency, and the ends of the
    95% interval of that."""

    probability: np.ndarray
    frequency: np.ndarray
    low: np.ndarray
    high: np.ndarray


def reliability(probability: np.ndarray, outcome: np.ndarray, weight: np.ndarray, n_bins: int) -> Reliability:
    """The interval is that of Wilson, for as many examples as the weights are worth: (sum w)^2 / sum w^2."""
    number = np.searchsorted(np.linspace(0, 1, n_bins + 1)[1:-1], probability)
    full = np.unique(number[weight > 0])
    total, squares, stated, true = (
        np.bincount(number, weights=weight * value, minlength=n_bins)[full]
        for value in (np.ones_like(weight), weight, probability, outcome)
    )
    mean, rate, worth = stated / total, true / total, total**2 / squares
    z2 = TWO_SIDED_95**2 / worth
    centre, half = (rate + z2 / 2) / (1 + z2), np.sqrt(z2 * rate * (1 - rate) + z2**2 / 4) / (1 + z2)
    return Reliability(mean, rate, np.maximum(centre - half, 0), np.minimum(centre + half, 1))


def refuse_rows(is_wrong: Any, found: np.ndarray, expected: str) -> None:
    """Names the first row of probabilities that is wrong."""
    if is_wrong.any():
        row = int(np.argmax(is_wrong))
        text = f"y_prob[{row}] is {shown(found[row].tolist())}; expected {expected}"
        raise refusal("y_prob", found[row].tolist(), expected, text=text)


class ReliabilityDisplay(Display):
    """Of what was predicted with a probability of about p, the share that is true, for every class.

    Parameters
    ----------
    curves : dict of Reliability (probability, frequency, low, high), by class

    Attributes
    ----------
    lines_ : dict of matplotlib's ErrorbarContainer, by class
    ax_, figure_ : what plot drew on
    """

    def __init__(self, curves: dict[Any, Reliability]) -> None:
        self.curves = curves

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        ax: Any = None,
        n_bins: int = 10,
        sample_weight: Any = None,
        costs: Any = None,
        **plot: Any,
    ) -> ReliabilityDisplay:
        """Of the probabilities of any estimator that has predict_proba; y are classes, or marks n x M of label sets.

        ``costs``: n x k x K, where probabilities need them (smoothing); ``plot`` is for plot().
        """
        final = last_step(estimator)
        if not hasattr(estimator, "predict_proba"):
            remedy = "surrogate='crf' defines them"
            if hasattr(final, "predict_marginals"):
                remedy = "report(X, y) shows whether those of predict_marginals are right"
            raise Error(f"{type(final).__name__} has no predict_proba: {remedy}")
        found = estimator.predict_proba(X) if costs is None else estimator.predict_proba(X, costs=costs)
        if isinstance(final, OutputTable):
            y = final._judged(y, len(found))
        options = {"labels": estimator.classes_, "n_bins": n_bins, "sample_weight": sample_weight}
        return cls.from_predictions(y, found, ax=ax, **options, **plot)

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_prob: Any,
        *,
        labels: Any = None,
        ax: Any = None,
        n_bins: int = 10,
        sample_weight: Any = None,
        **plot: Any,
    ) -> ReliabilityDisplay:
        """Of probabilities, n x k; y_true are classes, or marks n x k of label sets.

        ``labels``: what the columns are of, None: the sorted classes of y_true. Of two classes the second is shown, for
        the first is its mirror image. ``plot`` is for plot().
        """
        found = reals("y_prob", y_prob, "n x k probabilities")
        if found.ndim != 2:
            raise refusal("y_prob", y_prob, "n x k probabilities")
        refuse_rows(~((found >= 0) & (found <= 1)).all(axis=1), found, "probabilities from 0 to 1")
        if isinstance(n_bins, bool) or not isinstance(n_bins, Integral) or not 1 <= n_bins <= MOST_BINS:
            raise refusal("n_bins", n_bins, f"a whole number from 1 to {MOST_BINS}")
        given = None if labels is None else classes_given(labels)
        marks = np.ndim(y_true) == 2 and np.shape(y_true)[1] == found.shape[1] > 1
        if marks:
            outcome = reals("y_true", y_true, "n x k of 0 and 1")
            if not np.isin(outcome, (0, 1)).all():
                raise refusal("y_true", outcome[~np.isin(outcome, (0, 1))][0], "n x k of 0 and 1")
            classes = np.arange(found.shape[1]) if given is None else given
        else:
            y_true = labels_given("y_true", y_true)
            classes = np.unique(y_true) if given is None else given
            number = numbers_of("y_true", labels_to_judge(y_true, classes), classes)
            outcome = (number[:, None] == np.arange(len(classes))).astype(float)
        check_consistent_length(found, outcome)
        if found.shape[1] != len(classes):
            text = f"y_prob has {found.shape[1]} columns for the {len(classes)} classes {classes[:10].tolist()}"
            raise refusal("y_prob", found.shape, f"(n, {len(classes)})", "Name the classes with labels", text=text)
        if not marks:
            refuse_rows(np.abs(found.sum(axis=1) - 1) > ROUNDING, found, "probabilities that sum to 1")
        weight = weights_or_ones(sample_weight, found)
        curves = {
            name: reliability(found[:, c], outcome[:, c], weight, n_bins)
            for c, name in enumerate(classes.tolist())
            if marks or len(classes) != 2 or c == 1
        }
        return cls(curves).plot(ax=ax, **plot)

    def plot(self, *, ax: Any = None, **errorbar_kw: Any) -> ReliabilityDisplay:
        """Draw a line for every class, with 95% intervals, and the line on which probabilities are right.
        ``errorbar_kw`` is for matplotlib's errorbar."""
        ax = self._on(ax)
        ax.plot([0, 1], [0, 1], linestyle="--", color="gray", linewidth=1, label="right")
        style = {"marker": "o", "markersize": 4, "capsize": 2, "elinewidth": 0.8, **errorbar_kw}
        self.lines_ = {}
        for name, curve in self.curves.items():
            bars = np.abs([curve.frequency - curve.low, curve.high - curve.frequency])
            self.lines_[name] = ax.errorbar(curve.probability, curve.frequency, bars, label=f"P({name})", **style)
        ax.set(xlabel="predicted probability", ylabel="observed frequency", xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))
        self._add_legend()
        return self
