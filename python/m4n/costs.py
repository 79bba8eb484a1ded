"""Costs as people have them, as named data frames: rows are true classes, columns are predictions.

Every estimator of classes, grades and sequences takes such a frame as ``cost_matrix``, in any order of rows and columns.
They need pandas.
"""

from __future__ import annotations

from typing import Any, Iterable, Mapping, Sequence, Union

import numpy as np

from . import _core
from ._labels import class_names, csv_text
from ._options import in_python_words, number, refusal


def _frame(values: Any, rows: Sequence[Any], columns: Sequence[Any]) -> Any:
    import pandas

    return pandas.DataFrame(np.asarray(values, dtype=float), index=list(rows), columns=list(columns))


def _zero_one(classes: Iterable[Any]) -> Any:
    names = list(classes)
    if len(set(names)) != len(names) or len(names) < 2:
        raise refusal("classes", names, "at least two classes, each once")
    return _frame(1 - np.eye(len(names)), names, names)


def _named(costs: Any) -> Any:
    """A frame of costs; of a list of classes that in which every mistake costs 1."""
    return costs.astype(float) if hasattr(costs, "columns") and hasattr(costs, "index") else _zero_one(costs)


def reject(costs: Any, cost: float, name: str = "reject") -> Any:
    """With one more prediction that always costs ``cost``.

    ``costs`` is a frame, or a list of classes of which every mistake costs 1. Predictions are rejected where every class
    is expected to cost more.

    >>> reject(["spam", "ham"], 0.2)
          spam  ham  reject
    spam   0.0  1.0     0.2
    ham    1.0  0.0     0.2
    """
    out = _named(costs)
    if name in out.columns:
        raise refusal("name", name, "a name that no prediction has yet")
    value = float(number("cost", cost))
    if not np.isfinite(value):
        raise refusal("cost", cost, "a finite number")
    out[name] = value
    return out


def balanced(y: Any) -> Any:
    """A mistake costs the more the rarer its true class is: n / (k n_c), so that all classes cost the same in all.

    >>> balanced(["a", "a", "a", "b"])
         a         b
    a  0.0  0.666667
    b  2.0  0.000000
    """
    classes, counts = np.unique(np.asarray(y), return_counts=True)
    return _zero_one(classes.tolist()).mul(counts.sum() / (len(classes) * counts), axis=0)


def from_business(gains: Any) -> Any:
    """Costs from gains: what is lost beside the best decision for the true class of a row.

    ``gains`` is a frame (or a dict of dicts) of what every decision, a column, brings when the truth is the row; losses
    are negative. Decisions may be classes, or actions that are no class.

    >>> from_business({"pays": {"lend": 5, "decline": 0}, "defaults": {"lend": -100, "decline": 0}})
               lend  decline
    pays        0.0      5.0
    defaults  100.0      0.0
    """
    if isinstance(gains, Mapping):
        columns = list(dict.fromkeys(name for row in gains.values() for name in row))
        gains = _frame([[row.get(name, np.nan) for name in columns] for row in gains.values()], list(gains), columns)
    values = gains.to_numpy(dtype=float)
    if not np.isfinite(values).all():
        row, column = np.argwhere(~np.isfinite(values))[0]
        where = f"the gain of {gains.columns[column]!r} when the truth is {gains.index[row]!r}"
        raise refusal("gains", values[row, column], "a finite number", text=f"{where} is not a finite number")
    return _frame(values.max(axis=1, keepdims=True) - values, gains.index, gains.columns)


def tree(edges: Union[Mapping[Any, Any], Iterable[Sequence[Any]]], classes: Sequence[Any], inner: bool = False) -> Any:
    """The way between two classes of a tree, whose edges are (child, parent), (child, parent, length) or a dict of
    parents by child; lengths are 1 unless given. With ``inner`` its other nodes can be predicted too.

    >>> tree({"cat": "animal", "dog": "animal", "animal": "thing", "car": "thing"}, ["car", "cat", "dog"])
         car  cat  dog
    car  0.0  3.0  3.0
    cat  3.0  0.0  2.0
    dog  3.0  2.0  0.0
    """
    rows = list(edges.items()) if isinstance(edges, Mapping) else list(edges)
    with in_python_words():
        values, predictions = _core.tree_costs(csv_text(rows), class_names(np.asarray(classes)), bool(inner))
    columns = [*classes, *predictions[len(classes) :]]
    return _frame(np.reshape(values, (len(classes), -1)), classes, columns)
