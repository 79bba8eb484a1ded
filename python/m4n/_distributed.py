"""Fits of examples that lie in parts on several machines.

A pass over the examples is a round of tasks: (part, weights, smoothing, centres) -> sums. Tasks are functions of their
arguments alone and change none of them, so that whoever runs them can run any of them again, anywhere. Sums are added
in the order of the parts; so the digits depend on the parts and not on who works on them.

``Executor`` is all that is asked of a cluster.
"""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Callable, NamedTuple, Optional, Protocol, Sequence

import numpy as np
from scipy import sparse
from sklearn.utils import check_array, check_consistent_length, column_or_1d
from sklearn.utils.validation import validate_data

from . import _core
from ._certificate import warn_unless_converged
from ._errors import Error
from ._estimator import undone_on_failure
from ._example_costs import ignored_names, require_there, without
from ._features import REALS, features_for_core
from ._labels import class_names, encode, index_of, is_missing, text_of
from ._options import in_python_words, printer, refusal, threads_of, yes_no
from ._weights import positive_weights

FAN_IN = 16  # sums that one task adds up


class Executor(Protocol):
    """A handle stands for a value that is, or will be, somewhere."""

    def place(self, parts: Sequence[Any]) -> list[Any]:
        """Handles of the parts of the data (``Rows``), in their order."""

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """The handle of what the function returns, called with the values of handles and with other arguments."""

    def gather(self, handles: Sequence[Any]) -> list[Any]:
        """Their values; raises what a task raised."""


class ThreadExecutor:
    """The reference: threads of this process."""

    def __init__(self, workers: int) -> None:
        self._pool = ThreadPoolExecutor(workers)

    def place(self, parts: Sequence[Any]) -> list[Any]:
        return [self.submit(itself, part) for part in parts]

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Any:
        # The pool starts tasks in the order in which they come, so that nobody waits for one that cannot start.
        return self._pool.submit(lambda: function(*(a.result() if isinstance(a, Future) else a for a in arguments)))

    def gather(self, handles: Sequence[Any]) -> list[Any]:
        return [handle.result() for handle in handles]


# ---- what is done to one part


class Rows(NamedTuple):
    """A part of the data as it comes."""

    X: Any
    y: Any
    weight: Any = None


class Look(NamedTuple):
    """What a fit must know of a part before it begins; of labels by ``labels``, those that occur."""

    examples: int
    columns: int
    sparse: bool
    labels: np.ndarray
    counts: np.ndarray
    weights: np.ndarray


class Part(NamedTuple):
    """A part that is ready: standardised rows, numbers of classes, weights that sum to 1 over all parts, and those that
    were given."""

    X: Any
    label: np.ndarray
    weight: np.ndarray
    given: Optional[np.ndarray]


class Sums(NamedTuple):
    values: np.ndarray
    gradient: np.ndarray


def itself(value: Any) -> Any:
    return value


def first_of(values: Any) -> Any:
    return values[0]


def second_of(values: Any) -> Any:
    return values[1]


def checked(number: int, rows: Rows, ignored: Sequence[str]) -> Rows:
    """Without examples of weight zero and the columns ignored; X is float64, dense or CSR."""
    try:
        X = check_array(
            without(rows.X, ignored), accept_sparse="csr", dtype=REALS, ensure_min_samples=0, input_name="X"
        )
        y = column_or_1d(rows.y)
        check_consistent_length(X, y, rows.weight)
        if y.dtype.kind in "fO" and any(missing := [is_missing(label) for label in y.tolist()]):
            raise Error(f"y has no label at {missing.index(True)}; expected one for every example")
        if y.dtype.kind == "f" and (y != np.floor(y)).any():
            raise Error("y holds numbers that are no whole ones; expected labels of classes")
        X = X.astype(np.float64, copy=False) if sparse.issparse(X) else np.ascontiguousarray(X, dtype=np.float64)
        if rows.weight is None:
            return Rows(X, y)
        weight = np.asarray(rows.weight, dtype=np.float64)
        kept = positive_weights(weight, X) > 0 if weight.any() else np.zeros(len(y), dtype=bool)
        return Rows(X[kept], y[kept], weight[kept])
    except (TypeError, ValueError) as error:
        raise Error(f"partition {number} (from 0): {error}") from None


def look(rows: Rows) -> Look:
    labels, number, counts = np.unique(rows.y, return_inverse=True, return_counts=True)
    weights = counts if rows.weight is None else np.bincount(number, rows.weight, len(labels))
    is_sparse = sparse.issparse(rows.X)
    return Look(len(rows.y), rows.X.shape[1], is_sparse, labels, counts, weights.astype(np.float64))


def weighed(rows: Rows, classes: np.ndarray, factor: np.ndarray) -> Rows:
    """With weights that are multiplied with a factor by class."""
    own = factor[index_of(rows.y, classes)]
    return rows._replace(weight=own if rows.weight is None else own * rows.weight)


def moments(rows: Rows) -> Any:
    return _core.column_moments(features_for_core(rows.X), rows.weight)


def prepared(rows: Rows, classes: np.ndarray, mean: np.ndarray, scale: np.ndarray, by_class: np.ndarray) -> Part:
    """``by_class``: what the weight of an example is multiplied with."""
    label = index_of(rows.y, classes).astype(np.int32)
    weight = by_class[label] if rows.weight is None else by_class[label] * rows.weight
    X = features_for_core(rows.X)
    if len(scale) and isinstance(X, tuple):
        starts, columns, values, width = X
        X = starts, columns, values * scale[columns], width
    elif len(scale):
        X = (X - mean) * scale
    return Part(X, label, weight, rows.weight)


def moving_round(
    problem: Any, part: Part, centres: Any, threads: int, w: np.ndarray, smoothing: float, moving: Optional[float]
) -> tuple[Sums, Any]:
    """The sums of a part at w, and its centres after they moved."""
    values, gradient, moved = problem.round(part.X, part.label, part.weight, w, moving, smoothing, centres, threads)
    return Sums(values, gradient), moved


def plain_round(problem: Any, part: Part, centres: Any, threads: int, w: np.ndarray, smoothing: float) -> Sums:
    """The sums of a part at w."""
    return moving_round(problem, part, centres, threads, w, smoothing, None)[0]


def added(*parts: Sums) -> Sums:
    values, gradient = parts[0].values.copy(), parts[0].gradient.copy()
    for part in parts[1:]:
        values += part.values
        gradient += part.gradient
    return Sums(values, gradient)


def judged(part: Part, model: Any, threads: int) -> tuple[float, float]:
    """What the predictions for a part cost in all, and the weight of its examples."""
    n = len(part.label)
    found = model.decode(model.scores(part.X, threads), threads)
    weight = float(n) if part.given is None else float(part.given.sum())
    return model.mean_loss([1] * n, part.label, found, part.given) * weight, weight


# ---- the fit


class Rounds:
    """A pass over all parts, as the solver of the library asks for it."""

    def __init__(self, executor: Executor, problem: Any, parts: Sequence[Any], threads: int) -> None:
        self.executor, self.parts, self.threads = executor, parts, threads
        self.problem = executor.submit(itself, problem)
        self.centres: list[Any] = [None] * len(parts)

    def __call__(self, w: np.ndarray, moving: Optional[float], smoothing: float) -> Sums:
        submit = self.executor.submit
        point = submit(itself, w)  # travels once, whatever the number of parts
        own = [(self.problem, part, centres, self.threads, point) for part, centres in zip(self.parts, self.centres)]
        if moving is None:
            sums = [submit(plain_round, *arguments, smoothing) for arguments in own]
        else:
            both = [submit(moving_round, *arguments, smoothing, moving) for arguments in own]
            sums = [submit(first_of, one) for one in both]
            self.centres = [submit(second_of, one) for one in both]
        return self.executor.gather([self._sum(sums)])[0]

    def judge(self, model: Any) -> float:
        """The mean cost of a model's predictions."""
        shared = self.executor.submit(itself, model)
        costs = self.executor.gather([self.executor.submit(judged, part, shared, self.threads) for part in self.parts])
        return sum(cost for cost, _ in costs) / sum(weight for _, weight in costs)

    def _sum(self, sums: list[Any]) -> Any:
        while len(sums) > 1:
            groups = [sums[first : first + FAN_IN] for first in range(0, len(sums), FAN_IN)]
            sums = [self.executor.submit(added, *group) for group in groups]
        return sums[0]


def refuse_what_is_for_memory(estimator: Any) -> None:
    """Parameters of fits in memory that have no meaning here."""
    for name in ("warm_start", "checkpoint", "resume_from"):
        value = getattr(estimator, name, None)
        if value is not None and value is not False:
            text = f"{name} is for fits in memory; found {value!r}"
            raise refusal(name, value, "left out", "Leave it out", text=text)


def fit_parts(estimator: Any, executor: Executor, parts: Sequence[Any], like: Any, grades: Any = None) -> Any:
    """Fit an estimator of classes or grades to parts that the executor can place. ``like``: no rows, but the columns of
    X. ``grades``: labels that tell the order of classes by their type. To be called from fit: warnings point at the line
    that called it."""
    refuse_what_is_for_memory(estimator)
    threads = threads_of(estimator.n_jobs)
    if estimator.standardize is not None:
        yes_no("standardize", estimator.standardize)
    with undone_on_failure(estimator):
        ignored = ignored_names(estimator.ignore)
        require_there(like, ignored)
        validate_data(estimator, without(like, ignored), reset=True, skip_check_array=True)
        rows, looks = looked_at(executor, parts, ignored)
        classes, problem = problem_of(estimator, looks, grades)
        given, balancing = class_factors(estimator, classes, looks)
        if given is not None:
            rows = [executor.submit(weighed, part, classes, given) for part in rows]
        factor = balancing if given is None else given
        by_class = balancing / sum(factor[index_of(own.labels, classes)] @ own.weights for own in looks)
        mean, scale = np.zeros(0), np.zeros(0)
        if not looks[0].sparse if estimator.standardize is None else estimator.standardize:
            mean, scale = _core.standardizer(executor.gather([executor.submit(moments, part) for part in rows]))
        ready = [executor.submit(prepared, part, classes, mean, scale, by_class) for part in rows]
        del rows  # what is not needed any more need not be kept
        rounds = Rounds(executor, problem, ready, threads)
        examples, weight = sum(own.examples for own in looks), sum(own.weights.sum() for own in looks)
        with in_python_words():
            model = problem.fit(
                examples, weight, looks[0].columns, looks[0].sparse, mean, scale, rounds, rounds.judge,
                printer(estimator.verbose),
            )  # fmt: skip
        estimator._adopt(model, classes)
    return warn_unless_converged(estimator)


def looked_at(executor: Executor, parts: Sequence[Any], ignored: Sequence[str]) -> tuple[list[Any], list[Look]]:
    """The parts that have examples, checked, and what there is to know of each."""
    rows = [executor.submit(checked, number, part, ignored) for number, part in enumerate(executor.place(parts))]
    looks = executor.gather([executor.submit(look, part) for part in rows])
    there = [number for number, own in enumerate(looks) if own.examples]
    if not there:
        raise Error("there are no examples to learn from: every partition is empty, or has weights of zero")
    first = looks[there[0]]
    for number in there:
        if looks[number].columns != first.columns:
            found = f"{looks[number].columns} columns, partition {there[0]} has {first.columns}"
            raise Error(f"partition {number} (from 0) has {found}; expected as many in all")
        if looks[number].sparse != first.sparse:
            raise Error("some partitions of X are sparse and others dense; expected one kind")
    return [rows[number] for number in there], [looks[number] for number in there]


def problem_of(estimator: Any, looks: Sequence[Look], grades: Any) -> tuple[np.ndarray, Any]:
    """The classes, and what a fit of the estimator learns, for the library."""
    if len({own.labels.dtype.kind in "OUS" for own in looks}) > 1:
        raise Error("some partitions of y hold words and others numbers; expected labels of one kind")
    present = np.unique(np.concatenate([own.labels for own in looks]))
    order = estimator._order(present if grades is None else grades)
    classes, _ = encode(present, present.tolist() if order is None else order)
    if len(classes) < 2:
        raise Error(f"only one class in y, {classes!r}; {type(estimator).__name__} needs at least two")
    options, cost = estimator._options(classes, None)
    if cost.columns:
        text = "cost_matrix names columns of X: costs that differ from example to example are for fits in memory"
        raise refusal("cost_matrix", estimator.cost_matrix, "numbers", "Give numbers", text=text)
    options.pop("class-weight", None)  # class_factors
    if estimator.ignore:
        options["ignore"] = ",".join(ignored_names(estimator.ignore))
    names = text_of("column", getattr(estimator, "feature_names_in_", ()))
    with in_python_words():
        return classes, _core.Parted(options, cost, class_names(classes), names)


def class_factors(
    estimator: Any, classes: np.ndarray, looks: Sequence[Look]
) -> tuple[Optional[np.ndarray], np.ndarray]:
    """What class_weight multiplies the weights of examples with, by class: as if they had been given so, None where
    nothing is; and beside those that are given, so that all classes count the same."""
    if isinstance(estimator.class_weight, dict):
        given = estimator._factors(classes, np.arange(len(classes)))
        if not given.all():
            text = "class_weight has a weight of 0, which leaves a class out"
            raise refusal("class_weight", 0.0, "weights above 0", "Leave these examples out of X and y", text=text)
        return given, np.ones(len(classes))
    if estimator.class_weight is None:
        return None, np.ones(len(classes))
    counts = np.zeros(len(classes))
    for own in looks:
        counts[index_of(own.labels, classes)] += own.counts
    return None, counts.sum() / (len(classes) * np.maximum(counts, 1))
