"""Where the cost comes from."""

from __future__ import annotations

from itertools import product
from typing import Any, Optional

import numpy as np
from sklearn.utils import check_consistent_length
from sklearn.utils.validation import check_is_fitted

from .. import _core
from .._errors import Error
from .._example_costs import given_again
from .._labels import costs_by_rows, predictions_of
from .._options import reals, refusal, shown, word
from .._tabular import MaxMinTabular
from ._display import Display, classes_given, labels_given, last_step, numbers_of, weights_or_ones

LARGEST_COST = 1e30  # of the library


def refuse_no_shares(prices: np.ndarray, classes: np.ndarray, predictions: np.ndarray) -> None:
    """Shares of a total are of costs that are finite and not negative."""
    wrong = np.argwhere(~((prices >= 0) & (prices <= LARGEST_COST)))
    if len(wrong) == 0:
        return
    *example, t, p = wrong[0].tolist()
    found, expected = float(prices[tuple(wrong[0])]), f"a cost from 0 to {LARGEST_COST:g}"
    where = f"row {shown(classes[t])} (truth), column {shown(predictions[p])} (prediction)"
    of = "".join(f" of example {i + 1} (counted from 1)" for i in example)
    remedy = "Only differences between the costs of a row matter, so add the same amount to all of them"
    text = f"the cost matrix{of}: {where}: the cost is {found:g}; expected {expected}"
    raise refusal("cost_matrix", found, expected, remedy if -np.inf < found < 0 else "", text=text)


def prices_of(final: Any, X: Any, costs: Any, examples: int) -> np.ndarray:
    """What predictions cost an estimator: k x K, or n x k x K where that differs from example to example."""
    prices, own = final.cost_matrix_, given_again(final._model, X, costs, examples, needed=True)
    if own is None:
        return prices
    names, numbers = own
    flat = np.repeat(prices.reshape(1, -1), examples, axis=0)
    for entry, name in enumerate(final._model.cost_columns):
        if name:
            flat[:, entry] = numbers[:, names.index(name)]
    return flat.reshape(examples, *prices.shape)


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
        y = labels_given("y", y)
        prices = prices_of(final, X, costs, len(predicted))
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
        y_true, y_pred = labels_given("y_true", y_true), labels_given("y_pred", y_pred)
        if labels is not None:
            classes = classes_given(labels)
        elif hasattr(cost_matrix, "index") and hasattr(cost_matrix, "columns"):
            classes = np.asarray(cost_matrix.index)
        else:
            classes = np.unique(np.concatenate([y_true, y_pred]))
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
        refuse_no_shares(prices, classes, predictions)
        weight = weights_or_ones(sample_weight, y)
        t, p = numbers_of("y", y, classes), numbers_of("y_pred", predicted, predictions)
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
