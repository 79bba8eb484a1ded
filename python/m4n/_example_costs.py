"""Costs that differ from example to example: in columns of a data frame X, or in an array n x k x K."""

from __future__ import annotations

from typing import Any, Optional, Sequence

import numpy as np

from ._errors import Error
from ._labels import Costs, text_of
from ._options import listed, reals, refusal

# Names of columns, and their numbers, n x names.
Numbers = tuple[list[str], np.ndarray]


def has_columns(X: Any) -> bool:
    return hasattr(X, "columns") and hasattr(X, "__getitem__")


def ignored_names(ignore: Any) -> list[str]:
    """Of columns that are no features."""
    names = [] if ignore is None else listed("ignore", ignore)
    for name in names:
        if not isinstance(name, str) or not name or "," in name:
            expected = "names of columns, without commas"
            raise refusal("ignore", name, expected)
    return text_of("column of ignore", names)


def without(X: Any, ignored: Sequence[str]) -> Any:
    """The columns of X that are features."""
    if not ignored:
        return X
    if not has_columns(X):
        text = f"ignore names the columns {list(ignored)[:5]}, but X has no names"
        raise refusal("ignore", list(ignored), "None, or columns of a data frame", "Pass a data frame", text=text)
    return X[[name for name in X.columns if name not in set(ignored)]]


def require_there(X: Any, ignored: Sequence[str]) -> None:
    own = list(X.columns) if has_columns(X) else []
    gone = [name for name in ignored if name not in own]
    if gone and own:
        raise refusal("ignore", gone[0], f"columns of X: {own[:10]}", text=f"ignore names {gone[0]!r}, which X has not")


def distinct(columns: Sequence[str]) -> list[str]:
    return [name for name in dict.fromkeys(columns) if name]


def columns_of(X: Any, columns: Sequence[str]) -> Numbers:
    """The columns of X that costs name."""
    names = distinct(columns)
    if not has_columns(X):
        text = f"the costs name the columns {names[:5]}, but X has no names"
        raise refusal("cost_matrix", names, "columns of a data frame X", "Pass a data frame", text=text)
    gone = [name for name in names if name not in list(X.columns)]
    if gone:
        own = list(X.columns)[:10]
        text = f"the costs name the column {gone[0]!r}, which X has not; its columns are {own}"
        raise refusal("cost_matrix", gone[0], f"one of {own}", text=text)
    numbers = [reals(f"the column {name!r} of X", X[name], "numbers") for name in names]
    return names, np.ascontiguousarray(np.column_stack(numbers))


def entry_names(k: int, width: int) -> list[str]:
    """What the entries of an array are called in a model file, by numbers of classes and predictions."""
    return [f"cost[{t}][{p}]" for t in range(k) for p in range(width)]


def of_array(costs: Any, examples: int, k: int) -> tuple[Costs, Numbers]:
    """The costs of an array n x k x K, and what it holds."""
    expected = f"an array of shape ({examples}, {k}, {k}), one matrix per example, or with more columns"
    values = reals("costs", costs, expected)
    if values.ndim != 3 or values.shape[:2] != (examples, k) or values.shape[2] < k:
        raise refusal("costs", values.shape, expected, text=f"costs has the shape {values.shape}; expected {expected}")
    width = values.shape[2]
    names = entry_names(k, width)
    return Costs([0.0] * len(names), [], names), (names, values.reshape(examples, -1))


def given_again(model: Any, X: Any, costs: Any, examples: int, *, needed: bool) -> Optional[Numbers]:
    """The costs of examples for a model that was fitted with such; None: it needs none."""
    if not model.cost_columns:
        if costs is not None:
            raise Error("costs: this model was fitted with costs that are the same for all examples; leave them out")
        return None
    names = distinct(model.cost_columns)
    shape = (examples, len(model.classes), len(model.cost_columns) // len(model.classes))
    by_array = model.cost_columns == entry_names(*shape[1:])
    if costs is not None:
        if not by_array:
            raise Error(f"costs: this model takes them from the columns {names[:5]} of X; leave them out")
        if np.shape(costs) != shape:
            text = f"costs has the shape {np.shape(costs)}; expected {shape}"
            raise refusal("costs", np.shape(costs), str(shape), text=text)
        return of_array(costs, examples, shape[1])[1]
    in_columns = has_columns(X) and set(names) <= set(X.columns)
    if not needed and not in_columns:
        return None
    if by_array and not in_columns:
        text = "this model was fitted with costs by example, and it needs those of these examples"
        raise refusal("costs", None, f"an array of shape {shape}", f"Pass costs, an array of shape {shape}", text=text)
    return columns_of(X, model.cost_columns)
