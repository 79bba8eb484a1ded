"""Choosing lam, and the surrogate, on held-out parts along warm-started paths."""

from __future__ import annotations

import numbers
import warnings
from typing import Any, Iterable, Optional

import numpy as np
from sklearn import model_selection
from sklearn.exceptions import ConvergenceWarning

from . import _core
from ._errors import Error, SearchWarning
from ._estimator import Training
from ._options import (
    cv_printer,
    decoding_options,
    in_python_words,
    printer,
    reals,
    refusal,
    shown,
    surrogate_options,
    threads_of,
    word,
    words_of,
    yes_no,
)
from ._parameters import SearchParameters

SMALLEST, LARGEST = 1e-30, 1e30  # lams
USUAL_FOLDS = 5


def descending(lams: Any) -> list[float]:
    """None: none, which asks for the usual ones."""
    if lams is None:
        return []
    try:
        values = reals("lams", lams, "a list of numbers")
    except (TypeError, Error):
        values = np.zeros(0)
    if values.ndim != 1 or len(values) == 0 or not ((values >= SMALLEST) & (values <= LARGEST)).all():
        raise refusal("lams", lams, f"a list of numbers from {SMALLEST:g} to {LARGEST:g}")
    return np.unique(values)[::-1].tolist()


def names_of(surrogate: Any) -> list[str]:
    """What to choose among; none: nothing, for one is given with the other options."""
    single = _core.choices("surrogate")
    if isinstance(surrogate, str) and surrogate in single:
        return []
    names = list(surrogate) if isinstance(surrogate, (list, tuple)) else [surrogate]
    if not names:
        raise refusal("surrogate", surrogate, "a name or several", text="surrogate is an empty list")
    allowed = [*single, "smoothed", *(["auto"] if len(names) == 1 else [])]
    return [word("surrogate", name, allowed) for name in names]


MOST_FOLDS = 2**31 - 1
PAIRS = "pairs: the part to learn from, the part to judge by"


def check_cv(cv: Any, y: Any = None, classifier: bool = False) -> Any:
    """That of scikit-learn, which takes any iterable for pairs and any number for one of folds."""
    if isinstance(cv, numbers.Integral):
        if not 2 <= int(cv) <= MOST_FOLDS:
            raise refusal("cv", cv, f"a number of folds from 2 to {MOST_FOLDS}")
    elif cv is not None and (isinstance(cv, str) or not hasattr(cv, "split")):
        if isinstance(cv, (str, bytes)) or not hasattr(cv, "__iter__"):
            raise refusal("cv", cv, f"None, a number of folds, a splitter, or {PAIRS}")
        cv = list(cv)
        for split in cv:
            if isinstance(split, (str, bytes)) or not hasattr(split, "__len__") or len(split) != 2:
                raise refusal("cv", split, PAIRS, text=f"cv gives {shown(split)}; expected {PAIRS}")
    return model_selection.check_cv(cv, y, classifier=classifier)


def mapped(splits: Iterable[Any], examples: int, kept: Optional[np.ndarray]) -> list[tuple[np.ndarray, np.ndarray]]:
    """Splits of all examples as ascending numbers among those that are kept; None: all are."""

    def numbers_of(name: str, part: Any) -> np.ndarray:
        part, expected = np.asarray(part), f"the numbers 0 to {examples - 1} of examples"
        if part.dtype == bool and part.shape == (examples,):
            part = np.flatnonzero(part)
        if part.size == 0:
            raise refusal("cv", part.tolist(), expected, text=f"a split of cv has an empty {name}; expected {expected}")
        if part.dtype.kind not in "iu" or part.ndim != 1 or (part < 0).any() or (part >= examples).any():
            raise refusal("cv", part, expected, text=f"a split of cv holds something else than {expected}")
        if kept is not None:
            part = (np.cumsum(kept) - 1)[part[kept[part]]]
        return np.sort(part).astype(np.int32)

    found = []
    for split in splits:
        if not isinstance(split, (tuple, list)) or len(split) != 2:
            raise refusal("cv", split, PAIRS, text=f"cv gives {shown(split)}; expected {PAIRS}")
        found.append((numbers_of("training part", split[0]), numbers_of("held-out part", split[1])))
    if kept is not None:  # a part of examples that are absent is none
        found = [(train, held_out) for train, held_out in found if len(train) and len(held_out)]
    if not found:
        raise refusal("cv", "", "pairs of parts", text="cv gives no splits")
    return found


def indices(mask: np.ndarray) -> np.ndarray:
    return np.flatnonzero(mask).astype(np.int32)


def splits_of(
    cv: Any, training: Training, seed: int, X: Any, y: Any, groups: Any
) -> list[tuple[np.ndarray, np.ndarray]]:
    """A number of folds: random ones, with labels as frequent in each as in all the data; splitters of the user's own
    see X and y."""
    if cv is None or isinstance(cv, numbers.Integral):
        check_cv(cv)
        folds, examples = int(cv or USUAL_FOLDS), training.data.examples
        if folds > examples:
            raise refusal("cv", folds, f"at most {examples}", text=f"cv asks for {folds} folds of n_samples={examples}")
        fold = np.array(_core.folds(training.data, training.options["task"], folds, seed))
        return [(indices(fold != f), indices(fold == f)) for f in range(fold.max() + 1)]
    return mapped(check_cv(cv).split(X, y, groups), training.examples, training.kept)


def table_of(found: Any, splits: int) -> dict[str, np.ndarray]:
    """The mean cost on every held-out part, of every candidate and lam that was tried."""
    costs: dict[tuple[int, float], np.ndarray] = {}
    converged: dict[tuple[int, float], bool] = {}
    for candidate, split, lam, cost, reached in found["cells"]:
        key = (candidate, -lam)
        costs.setdefault(key, np.full(splits, np.nan))[split] = cost
        converged[key] = converged.get(key, True) and reached
    keys = sorted(costs)
    tried = [found["candidates"][candidate] for candidate, _ in keys]
    by_split = np.array([costs[key] for key in keys])
    table = {
        "surrogate": np.array([surrogate for surrogate, _, _ in tried]),
        "smoothing": np.array([smoothing for _, smoothing, _ in tried]),
        "decode": np.array([decode for _, _, decode in tried]),
        "lam": np.array([-negative for _, negative in keys]),
        "mean_cost": np.nanmean(by_split, axis=1),
        "std_cost": np.nanstd(by_split, axis=1),
        "converged": np.array([converged[key] for key in keys]),
    }
    return {**table, **{f"split{s}_cost": by_split[:, s] for s in range(splits)}}


class Search(SearchParameters):
    """What all CV forms have in common; before the estimator in the order of bases."""

    def _surrogate_options(self: Any) -> dict[str, str]:
        choosing = decoding_options if names_of(self.surrogate) else surrogate_options
        return choosing(self, self._decoders)

    def _learn(self: Any, training: Training, X: Any, y: Any, groups: Any) -> Any:
        with in_python_words(self._cost_name):
            splits = splits_of(self.cv, training, int(training.options["seed"]), X, y, groups)
            found, (model, self.log_) = _core.choose(
                training.data, training.options, training.cost, names_of(self.surrogate), descending(self.lams),
                yes_no("extend", self.extend) == "yes", splits, threads_of(self.n_jobs), cv_printer(self.verbose),
                printer(self.verbose),
            )  # fmt: skip
        self.cv_results_ = table_of(found, len(splits))
        self.best_cost_ = found["best_loss"]
        for pieces in found["warnings"]:
            text = "".join(text for text, _ in words_of(pieces, self._cost_name))
            warnings.warn(text, SearchWarning, stacklevel=4)
        if found["unconverged"] > 0:
            warnings.warn(
                f"{found['unconverged']} of the {len(found['cells'])} fits on parts of the data stopped before the "
                "tolerance was reached (cv_results_['converged'] says which): allow more with max_iter, ask for less "
                "with tol, or leave out the smallest lams",
                ConvergenceWarning,
                stacklevel=4,
            )
        return model

    def _adopt(self: Any, model: Any, classes: Any) -> Any:
        super()._adopt(model, classes)  # type: ignore[misc]
        self.surrogate_, self.smoothing_ = model.surrogate, model.smoothing
        return self

    @classmethod
    def _parameters_of(cls: Any, model: Any) -> dict[str, Any]:
        parameters = super()._parameters_of(model)  # type: ignore[misc]
        parameters["lams"] = [parameters.pop("lam")]
        return parameters


class TableSearch(Search):
    """The CV form of an estimator whose X is a table."""

    def fit(self: Any, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Any:
        """Choose lam (and the surrogate) by cross-validation, then learn from all the data.

        Examples of weight zero count as absent.
        """
        return self._fit(X, y, sample_weight, groups)


class ClassSearch(Search):
    """The CV form of an estimator of classes or grades."""

    def fit(self: Any, X: Any, y: Any, sample_weight: Any = None, groups: Any = None, *, costs: Any = None) -> Any:
        """Choose lam (and the surrogate) by cross-validation, then learn from all the data.

        Examples of weight zero count as absent. ``costs``: an array n x k x K of what predictions cost, by example, true
        class and prediction, instead of cost_matrix.
        """
        return self._fit(X, y, sample_weight, groups, costs=costs)


class ListSearch(Search):
    """The CV form of an estimator whose X is a list."""

    def fit(self: Any, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Any:
        """Choose lam (and the surrogate) by cross-validation, then learn from all examples.

        Examples of weight zero count as absent.
        """
        return self._fit(X, y, sample_weight, groups)
