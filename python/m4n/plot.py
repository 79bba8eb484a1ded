"""Pictures with matplotlib, which m4n does not install by itself: ``pip install m4n[plot]``.

The displays are those of scikit-learn's manner: ``from_estimator`` or ``from_predictions`` computes and draws, ``plot``
draws again, ``ax_`` and ``figure_`` are what was drawn on.

>>> from sklearn.datasets import load_iris
>>> from m4n import MaxMinClassifier
>>> from m4n.plot import CostConfusionDisplay
>>> X, y = load_iris(return_X_y=True)
>>> model = MaxMinClassifier([[0, 1, 1], [1, 0, 1], [10, 10, 0]]).fit(X, y)
>>> display = CostConfusionDisplay.from_estimator(model, X, y)
>>> display.counts.shape, display.ax_.get_xlabel()
((3, 3), 'prediction')
"""

from __future__ import annotations

import os
from itertools import product
from typing import Any, NamedTuple, Optional

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils import check_consistent_length, column_or_1d
from sklearn.utils.validation import check_is_fitted

from . import _core
from ._errors import Error
from ._example_costs import given_again
from ._labels import costs_by_rows, index_of, labels_to_judge, predictions_of
from ._options import file_name, in_python_words, quoted, reals, refusal, shown, word
from ._outputs import OutputTable
from ._tabular import MaxMinTabular
from ._weights import positive_weights

try:
    from matplotlib import pyplot
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        "m4n.plot draws with matplotlib, which is not installed. Install it: pip install matplotlib", name=error.name
    ) from error

__all__ = ["CertificateDisplay", "CostConfusionDisplay", "LambdaPathDisplay", "ReliabilityDisplay"]

TWO_SIDED_95 = 1.96  # standard deviations


class Display:
    """What displays have in common."""

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


def known(y: np.ndarray, classes: np.ndarray, what: str) -> np.ndarray:
    """The number of the class of every label; refuses those that are none."""
    number = index_of(y, classes)
    if (number < 0).any():
        strange = y[number < 0].tolist()
        raise Error(
            f"{what} holds {shown(strange[0])}, which is none of {classes[:10].tolist()}; leave such examples out"
        )
    return number


def weights_or_ones(sample_weight: Any, examples: Any) -> np.ndarray:
    return np.ones(len(examples)) if sample_weight is None else positive_weights(sample_weight, examples)


# ---- where the cost comes from


class CostConfusionDisplay(Display):
    """The share of every pair of a truth and a prediction in the total cost: how often it occurred times its cost.

    Parameters
    ----------
    counts : k x K, how often every truth met every prediction; sums of weights
    costs : k x K, what these cost together
    display_labels : of the rows; None: numbers
    prediction_labels : of the columns; None: those of the rows

    Attributes
    ----------
    shares : k x K, ``costs`` divided by their sum
    im_, text_, ax_, figure_ : what plot drew
    """

    def __init__(self, counts: Any, costs: Any, *, display_labels: Any = None, prediction_labels: Any = None) -> None:
        self.counts, self.costs = np.asarray(counts, dtype=float), np.asarray(costs, dtype=float)
        total = self.costs.sum()
        self.shares = self.costs / total if total > 0 else np.zeros_like(self.costs)
        self.display_labels = np.arange(len(self.counts)) if display_labels is None else display_labels
        self.prediction_labels = self.display_labels if prediction_labels is None else prediction_labels

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        ax: Any = None,
        sample_weight: Any = None,
        costs: Any = None,
        **plot: Any,
    ) -> CostConfusionDisplay:
        """Of the predictions of an estimator of classes or grades, or of a pipeline or search that ends in one.

        ``costs``: n x k x K, where fit was given such; ``plot`` is for plot().
        """
        final = last_step(estimator)
        if not isinstance(final, MaxMinTabular):
            remedy = "estimator.report(X, y) says where the cost comes from, for every task"
            if not hasattr(final, "report"):
                remedy = "from_predictions takes predictions of any classifier, and costs"
            raise Error(f"CostConfusionDisplay is for m4n's classes and grades, found {type(final).__name__}. {remedy}")
        check_is_fitted(final)
        predicted = estimator.predict(X) if costs is None else estimator.predict(X, costs=costs)
        y = labels_to_judge(column_or_1d(y, warn=True), final.classes_)
        own = given_again(final._model, X, costs, len(predicted), needed=True)
        prices = final.cost_matrix_
        if own is not None:
            names, numbers = own
            flat = np.repeat(prices.reshape(1, -1), len(predicted), axis=0)
            for entry, name in enumerate(final._model.cost_columns):
                if name:
                    flat[:, entry] = numbers[:, names.index(name)]
            prices = flat.reshape(len(predicted), *prices.shape)
        return cls._judging(y, predicted, prices, final.classes_, final.predictions_, sample_weight).plot(ax=ax, **plot)

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_pred: Any,
        cost_matrix: Any = None,
        *,
        labels: Any = None,
        ax: Any = None,
        sample_weight: Any = None,
        **plot: Any,
    ) -> CostConfusionDisplay:
        """Of any predictions.

        ``cost_matrix``: as of MaxMinClassifier, or n x k x K, one matrix by example. ``labels``: the classes in the
        order of its rows; None: the rows of a data frame, or else the sorted labels of y_true and y_pred. ``plot`` is
        for plot().
        """
        y_true, y_pred = column_or_1d(y_true, warn=True), column_or_1d(y_pred, warn=True)
        if labels is None:
            labels = getattr(cost_matrix, "index", None) if hasattr(cost_matrix, "columns") else None
        classes = np.unique(np.concatenate([y_true, y_pred])) if labels is None else np.asarray(labels)
        predictions = classes
        if cost_matrix is None or isinstance(cost_matrix, str):
            name = word("cost_matrix", "zero-one" if cost_matrix is None else cost_matrix, _core.losses("ordinal"))
            prices = _core.named_cost(name, len(classes)).reshape(len(classes), -1)
        elif np.ndim(cost_matrix) == 3:
            prices = reals("cost_matrix", cost_matrix, "n x k x K numbers")
        else:
            found = costs_by_rows(cost_matrix, classes)
            if found.columns:
                raise refusal("cost_matrix", cost_matrix, "numbers", "from_estimator knows the columns of X")
            prices = np.array(found.values).reshape(len(classes), -1)
            predictions = predictions_of(classes, found.predictions)
        expected = (len(classes), len(predictions))
        if prices.shape not in (expected, (len(y_true), *expected)):
            text = (
                f"cost_matrix has the shape {prices.shape}; expected {expected} for the classes {classes[:10].tolist()}"
            )
            raise refusal("cost_matrix", prices.shape, str(expected), "Name all classes with labels", text=text)
        return cls._judging(y_true, y_pred, prices, classes, predictions, sample_weight).plot(ax=ax, **plot)

    @classmethod
    def _judging(
        cls, y: np.ndarray, predicted: Any, prices: np.ndarray, classes: Any, predictions: Any, sample_weight: Any
    ) -> CostConfusionDisplay:
        """``prices``: of all examples alike, or a matrix for each."""
        check_consistent_length(y, predicted)
        weight = weights_or_ones(sample_weight, y)
        t = known(y, classes, "y")
        number = {name: p for p, name in enumerate(predictions.tolist())}
        strange = [name for name in predicted.tolist() if name not in number]
        if strange:
            raise Error(
                f"y_pred holds {shown(strange[0])}, which is none of the predictions {quoted(list(number)[:10])}"
            )
        p = np.array([number[name] for name in predicted.tolist()])
        counts = np.zeros((len(classes), len(predictions)))
        costs = np.zeros_like(counts)
        np.add.at(counts, (t, p), weight)
        np.add.at(costs, (t, p), weight * (prices[t, p] if prices.ndim == 2 else prices[np.arange(len(t)), t, p]))
        return cls(counts, costs, display_labels=classes, prediction_labels=predictions)

    def plot(
        self,
        *,
        ax: Any = None,
        include_values: bool = True,
        values_format: str = ".0%",
        cmap: Any = "Reds",
        xticks_rotation: Any = "horizontal",
        colorbar: bool = True,
        im_kw: Optional[dict[str, Any]] = None,
        text_kw: Optional[dict[str, Any]] = None,
    ) -> CostConfusionDisplay:
        """Draw the shares. In every cell that occurred: its share, and below it how often it occurred times the mean
        cost of one. The arguments are those of scikit-learn's ConfusionMatrixDisplay."""
        ax = self._on(ax)
        self.im_ = ax.imshow(self.shares, **{"cmap": cmap, "vmin": 0, "aspect": "auto", **(im_kw or {})})
        self.text_ = np.full(self.shares.shape, None, dtype=object)
        for t, p in product(*map(range, self.shares.shape)) if include_values else ():
            if self.counts[t, p] > 0:
                one = self.costs[t, p] / self.counts[t, p]
                text = f"{self.shares[t, p]:{values_format}}\n{self.counts[t, p]:.4g} \N{MULTIPLICATION SIGN} {one:.3g}"
                color = "white" if self.shares[t, p] > self.shares.max() / 2 else "black"
                style = {"ha": "center", "va": "center", "color": color, "parse_math": False, **(text_kw or {})}
                self.text_[t, p] = ax.text(p, t, text, **style)
        if colorbar:
            self.figure_.colorbar(self.im_, ax=ax, format="{x:.0%}", label="share of the total cost")
        rows, columns = map(str, self.display_labels), map(str, self.prediction_labels)
        ax.set_yticks(range(len(self.display_labels)), list(rows), parse_math=False)
        ax.set_xticks(range(len(self.prediction_labels)), list(columns), rotation=xticks_rotation, parse_math=False)
        ax.set(xlabel="prediction", ylabel="truth")
        return self


# ---- how lambda was chosen


class CostPath(NamedTuple):
    """The mean cost on held-out parts over lams, with its standard error over the parts."""

    lams: np.ndarray
    mean_costs: np.ndarray
    errors: np.ndarray


class LambdaPathDisplay(Display):
    """The mean cost on held-out parts over lam, for every surrogate that was tried, and the one that was chosen.

    Parameters
    ----------
    paths : dict of CostPath (lams, mean_costs, errors), by the names of what was tried
    chosen : the name, and the lam, of the choice

    Attributes
    ----------
    lines_ : dict of matplotlib's ErrorbarContainer, by name
    chosen_, ax_, figure_ : what plot drew
    """

    def __init__(self, paths: dict[str, CostPath], chosen: tuple[str, float]) -> None:
        self.paths, self.chosen = paths, chosen

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None, **plot: Any) -> LambdaPathDisplay:
        """Of a CV estimator that was fitted; ``plot`` is for plot()."""
        estimator = last_step(estimator)
        check_is_fitted(estimator)
        table = getattr(estimator, "cv_results_", {})
        if not {"surrogate", "smoothing", "decode", "lam", "mean_cost"} <= set(table):
            raise Error(
                "LambdaPathDisplay needs the table cv_results_ of m4n's CV estimators, which this "
                f"{type(estimator).__name__} has not: fit a CV form; model files do not keep the table"
            )
        tried = list(zip(table["surrogate"].tolist(), table["smoothing"].tolist(), table["decode"].tolist()))
        parts = np.column_stack([column for name, column in table.items() if name.startswith("split")])
        count = (~np.isnan(parts)).sum(axis=1)
        spread = np.nansum((parts - table["mean_cost"][:, None]) ** 2, axis=1)
        errors = np.sqrt(spread / np.maximum(count - 1, 1) / count)
        names = names_of_tried(list(dict.fromkeys(tried)))
        paths = {}
        for kind, name in names.items():
            own = np.flatnonzero([other == kind for other in tried])
            own = own[np.argsort(table["lam"][own])]
            paths[name] = CostPath(table["lam"][own], table["mean_cost"][own], errors[own])
        chosen = names[(estimator.surrogate_, estimator.smoothing_, estimator.decode_)]
        return cls(paths, (chosen, estimator.lam_)).plot(ax=ax, **plot)

    def plot(self, *, ax: Any = None, **errorbar_kw: Any) -> LambdaPathDisplay:
        """Draw the means with bars of one standard error, and a ring around the choice. ``errorbar_kw`` is for
        matplotlib's errorbar."""
        ax = self._on(ax)
        style = {"marker": "o", "markersize": 3, "capsize": 2, "elinewidth": 0.8, **errorbar_kw}
        self.lines_ = {
            name: ax.errorbar(path.lams, path.mean_costs, path.errors, label=name, **style)
            for name, path in self.paths.items()
        }
        name, lam = self.chosen
        path = self.paths[name]
        cost = path.mean_costs[np.argmin(np.abs(np.log(path.lams / lam)))]
        (self.chosen_,) = ax.plot(
            [lam], [cost], linestyle="none", marker="o", markersize=12, markerfacecolor="none", markeredgewidth=1.5,
            color="black", label=f"chosen: {name}, lam {lam:.3g}", zorder=5,
        )  # fmt: skip
        ax.set(xscale="log", xlabel="lam", ylabel="mean cost on held-out parts")
        self._add_legend()
        return self


def names_of_tried(kinds: list[tuple[str, float, str]]) -> dict[tuple[str, float, str], str]:
    """Names for surrogates, smoothings and decoders: as short as tells them apart."""
    names = {}
    for surrogate, smoothing, decode in kinds:
        name = f"{surrogate}, smoothing {smoothing:g}" if smoothing > 0 else surrogate
        alike = [other for other in kinds if other[:2] == (surrogate, smoothing)]
        names[surrogate, smoothing, decode] = f"{name}, {decode}" if len(alike) > 1 else name
    return names


# ---- how well it is trained


class CertificateDisplay(Display):
    """The interval that provably holds the best possible objective, as training went on.

    Parameters
    ----------
    log : dict of arrays: epoch, seconds, primal, dual, relative_gap, an entry by certificate; as ``log_`` of estimators

    Attributes
    ----------
    lines_ : the upper and the lower end
    interval_, ax_, figure_ : what plot drew
    """

    def __init__(self, log: dict[str, Any]) -> None:
        self.log = log

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None, **plot: Any) -> CertificateDisplay:
        """Of the last fit of an estimator; ``plot`` is for plot()."""
        estimator = last_step(estimator)
        check_is_fitted(estimator)
        if not hasattr(estimator, "log_"):
            raise Error(
                f"this {type(estimator).__name__} has no log_, which fit of m4n's estimators keeps and model files do "
                "not. CertificateDisplay.from_log takes the file of m4n train --log"
            )
        return cls(estimator.log_).plot(ax=ax, **plot)

    @classmethod
    def from_log(cls, path: Any, *, ax: Any = None, **plot: Any) -> CertificateDisplay:
        """Of a file that the command ``m4n train --log`` wrote; ``plot`` is for plot()."""
        name = file_name("path", path)
        os.stat(name)  # an OSError says what is not there
        with in_python_words():
            return cls(_core.read_log(name)).plot(ax=ax, **plot)

    def plot(self, *, ax: Any = None, x: str = "epoch", **line_kw: Any) -> CertificateDisplay:
        """Draw both ends over ``x``, 'epoch' (passes over the data) or 'seconds'. ``line_kw`` is for matplotlib's plot.

        In view are the values that primal takes, and as much below: dual often starts much lower.
        """
        over, low, high = (
            np.asarray(self.log[name]) for name in (word("x", x, ("epoch", "seconds")), "dual", "primal")
        )
        ax = self._on(ax)
        style = {"marker": "o", "markersize": 3, **line_kw}
        (upper,) = ax.plot(over, high, label="primal: this far", **style)
        (lower,) = ax.plot(over, low, label="dual: cannot be lower", **style)
        self.lines_ = (upper, lower)
        self.interval_ = ax.fill_between(over, low, high, alpha=0.15, color="gray", label="holds the optimum")
        ax.set(xlabel="passes over the data" if x == "epoch" else x, ylabel="objective")
        ax.set_title(f"relative gap {np.asarray(self.log['relative_gap'])[-1]:.2g} at the end")
        if (span := max(high.max() - high[-1], 2 * (high[-1] - low[-1]))) > 0:
            ax.set_ylim(low[-1] - span, high[-1] + 1.1 * span)
        self._add_legend()
        return self


# ---- whether probabilities are right


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
        if found.ndim != 2 or not (found >= 0).all() or not (found <= 1).all():
            raise refusal("y_prob", y_prob, "n x k probabilities, from 0 to 1")
        if isinstance(n_bins, bool) or not isinstance(n_bins, int) or n_bins < 1:
            raise refusal("n_bins", n_bins, "a whole number from 1")
        marks = np.ndim(y_true) == 2 and np.shape(y_true)[1] == found.shape[1] > 1
        if marks:
            outcome = reals("y_true", y_true, "n x k of 0 and 1")
            classes = np.arange(found.shape[1]) if labels is None else np.asarray(labels)
        else:
            y_true = column_or_1d(y_true, warn=True)
            classes = np.unique(y_true) if labels is None else np.asarray(labels)
            outcome = (labels_to_judge(y_true, classes)[:, None] == classes).astype(float)
        check_consistent_length(found, outcome)
        if found.shape[1] != len(classes):
            text = f"y_prob has {found.shape[1]} columns for the {len(classes)} classes {classes[:10].tolist()}"
            raise refusal("y_prob", found.shape, f"(n, {len(classes)})", "Name the classes with labels", text=text)
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
