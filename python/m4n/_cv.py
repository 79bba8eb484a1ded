"""Choosing lam, and the surrogate, on held-out parts along warm-started paths."""

from __future__ import annotations

from typing import Any, Iterable, Optional

import numpy as np
from sklearn.model_selection import check_cv

from . import _core
from ._certificate import warn_unless_converged
from ._options import cost_name, cv_printer, in_python_words, number, printer, threads_of, word

USUAL_LAMS = 2.0 ** -np.arange(17)
FIRST_LAMS = 9  # of the usual ones; fits at smaller ones take the most time and are seldom the best
USUAL_SMOOTHING = 4.0
SURROGATES = ("m4n", "smoothed", "m3n", "crf", "qs")


def descending(lams: Any) -> list[float]:
    if lams is None:
        return USUAL_LAMS.tolist()
    values = np.asarray(lams, dtype=np.float64)
    if values.ndim != 1 or len(values) == 0 or not (values > 0).all() or not np.isfinite(values).all():
        raise ValueError(f"lams must be a list of positive numbers, found {lams!r}")
    return np.unique(values)[::-1].tolist()


def candidates_of(surrogate: Any, smoothing: float, decode: Optional[str]) -> list[tuple[str, float, str]]:
    """(surrogate, smoothing, decode) to compare; none: the usual ones."""
    if isinstance(surrogate, str) and surrogate == "auto":
        if decode is not None:
            raise ValueError("decode is chosen together with the surrogate 'auto'; leave it at None")
        return []
    names = list(surrogate) if isinstance(surrogate, (list, tuple)) else [surrogate]
    if not names:
        raise ValueError("surrogate is an empty list")
    found = []
    for name in names:
        word("surrogate", name, SURROGATES)
        smooth = smoothing if name == "smoothed" or (name == "m4n" and len(names) == 1) else 0.0
        if name == "smoothed" and smooth == 0:
            smooth = USUAL_SMOOTHING
        found.append(("m4n" if name == "smoothed" else name, float(smooth), decode or "auto"))
    return found


def mapped(splits: Iterable[Any], examples: int, kept: Optional[np.ndarray]) -> list[tuple[np.ndarray, np.ndarray]]:
    """Splits of all examples as ascending numbers among those that are kept; None: all are."""

    def numbers_of(part: Any) -> np.ndarray:
        part = np.asarray(part)
        if part.dtype == bool:
            part = np.flatnonzero(part)
        if part.dtype.kind not in "iu" or (part < 0).any() or (part >= examples).any():
            raise ValueError(f"a split of cv holds something else than the numbers 0 to {examples - 1} of examples")
        if kept is not None:
            part = (np.cumsum(kept) - 1)[part[kept[part]]]
        return np.sort(part).astype(np.int32)

    found = [(numbers_of(train), numbers_of(held_out)) for train, held_out in splits]
    if not found:
        raise ValueError("cv gives no splits")
    return found


def search(estimator: Any, data: Any, options: dict[str, str], cost: list[float], splits: list[Any]) -> Any:
    """Choose, then fit the choice on all the data: the model. Sets what was learnt on the way.

    Of the usual lams some are tried at once, the others while the best is among the last two.
    """
    smoothing = getattr(estimator, "smoothing", 0.0)
    number("smoothing", smoothing)
    candidates = candidates_of(estimator.surrogate, smoothing, estimator.decode)
    threads = threads_of(estimator.n_jobs)
    first = FIRST_LAMS if estimator.lams is None else 0
    with in_python_words(cost_name(estimator)):
        found = _core.choose(
            data, options, cost, candidates, descending(estimator.lams), first, bool(estimator.extend), splits,
            threads, cv_printer(estimator.verbose),
        )  # fmt: skip
        estimator.cv_results_ = table_of(found, len(splits))
        _, surrogate, smoothing, decode = found["candidates"][found["best_candidate"]]
        chosen = {**options, "surrogate": surrogate, "decode": decode, "lambda": repr(found["best_lambda"])}
        if smoothing > 0:
            chosen["smoothing"] = repr(smoothing)
        model = _core.fit(data, chosen, cost, threads, printer(estimator.verbose))
    estimator.best_cost_ = found["best_loss"]
    return model


def table_of(found: Any, splits: int) -> dict[str, np.ndarray]:
    cells: dict[tuple[int, float], np.ndarray] = {}
    for candidate, split, lam, cost in found["cells"]:
        cells.setdefault((candidate, -lam), np.full(splits, np.nan))[split] = cost
    keys = sorted(cells)
    names = found["candidates"]
    costs = np.array([cells[key] for key in keys])
    table = {
        "surrogate": np.array([names[candidate][0] for candidate, _ in keys]),
        "decode": np.array([names[candidate][3] for candidate, _ in keys]),
        "lam": np.array([-negative for _, negative in keys]),
        "mean_cost": costs.mean(axis=1),
        "std_cost": costs.std(axis=1),
    }
    return {**table, **{f"split{s}_cost": costs[:, s] for s in range(splits)}}


class Search:
    """What all CV forms have in common; before the estimator in the order of bases."""

    def _surrogate_options(self: Any) -> dict[str, str]:
        return {}

    def _adopt(self: Any, model: Any, *classes: Any) -> Any:
        super()._adopt(model, *classes)  # type: ignore[misc]
        self.surrogate_, self.smoothing_ = model.surrogate, model.smoothing
        return self

    @classmethod
    def _parameters_of(cls: Any, model: Any) -> dict[str, Any]:
        parameters = super()._parameters_of(model)  # type: ignore[misc]
        parameters["lams"] = [parameters.pop("lam")]
        return parameters


def folds_of(estimator: Any, examples: int, groups: Any, kept: Optional[np.ndarray] = None) -> list[Any]:
    """The splits of examples that are not to be stratified."""
    return mapped(check_cv(estimator.cv).split(np.zeros((examples, 1)), None, groups), examples, kept)


class LambdaSearch(Search):
    """The CV form of a tabular estimator; before it in the order of bases."""

    def fit(self: Any, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Any:
        """Choose lam (and the surrogate) by cross-validation, then learn from all the data."""
        training = self._training(X, y, sample_weight)
        n = len(training.label)
        splitter = check_cv(self.cv, training.label, classifier=True)
        splits = mapped(splitter.split(np.zeros((n, 1)), training.label, groups), n, training.kept)
        model = search(self, training.data, training.options, training.cost, splits)
        return warn_unless_converged(self._adopt(model, training.classes))


class OutputSearch(Search):
    """The CV form of an estimator of several outputs; before it in the order of bases."""

    def fit(self: Any, X: Any, Y: Any, sample_weight: Any = None, groups: Any = None) -> Any:
        """Choose lam (and the surrogate) by cross-validation, then learn from all the data."""
        data, options, cost, kept = self._training(X, Y, sample_weight)
        examples = data.examples if kept is None else len(kept)
        splits = folds_of(self, examples, groups, kept)
        return warn_unless_converged(self._adopt(search(self, data, options, cost, splits)))
