"""Classes of Python objects as names in a model file, and back."""

from __future__ import annotations

import csv
import io
from typing import Any, NamedTuple, Optional, Sequence

import numpy as np
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from ._errors import Error
from ._options import reals, refusal, shown


def name_of(label: Any) -> str:
    """As the label would be written in a data file."""
    if isinstance(label, (float, np.floating)):
        return str(int(label)) if float(label).is_integer() else repr(float(label))
    try:
        return str(label)
    except ValueError:
        raise Error(f"the class {shown(label)} has more digits than Python writes") from None


def text_of(what: str, names: Sequence[Any]) -> list[str]:
    """Names that a file can hold, each once."""
    found = list(map(str, names))
    for name in found:
        try:
            name.encode()
        except UnicodeEncodeError:
            raise Error(f"the {what} {name!r} is no text of Unicode: it holds half a pair of surrogates") from None
    if len(set(found)) != len(found):
        twice = next(name for name in found if found.count(name) > 1)
        raise Error(f"the {what} {twice!r} occurs twice")
    return found


def class_names(classes: np.ndarray) -> list[str]:
    return text_of("class", [name_of(label) for label in classes])


def labels_to_judge(y: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """Refuses what cannot be a label of these classes: missing ones, and those of another kind."""
    missing = [is_missing(label) for label in y.tolist()]
    if any(missing):
        raise Error(f"y has no label at {missing.index(True)}; expected one for every example")
    if (y.dtype.kind in "US" or isinstance(y[0], str)) != (classes.dtype.kind in "US" or isinstance(classes[0], str)):
        raise Error(f"y holds labels such as {y[0]!r}, the classes are {classes[:5]}; expected labels of that kind")
    return y


def classes_from_names(names: Sequence[str]) -> np.ndarray:
    """Whole numbers if all names are, numbers if all are, truth values likewise, else the names."""
    if set(names) == {"False", "True"}:
        return np.array([name == "True" for name in names])
    for kind in (int, float):
        try:
            values = [kind(name) for name in names]
        except ValueError:
            continue
        if [name_of(value) for value in values] == list(names):
            return np.array(values)
    return np.array(list(names))


def is_missing(label: Any) -> bool:
    """None, NaN and what has no truth value when compared, as the NA of pandas."""
    try:
        return label is None or bool(label != label)
    except (TypeError, ValueError):
        return True


def grades_of(categories: Any) -> np.ndarray:
    """Grades in their order: of one kind, each once."""
    expected = "a list of grades, all numbers or all words, each once"
    try:
        given = np.asarray(categories)
        found = given.tolist() if given.ndim == 1 else None
        if given.dtype.kind == "U" and not all(isinstance(grade, str) for grade in categories):
            found = None  # numbers that became text beside words
    except ValueError:  # lists of several lengths
        found = None
    if found is None:
        raise refusal("categories", categories, expected)
    if any(map(is_missing, found)):
        gone = next(i for i, grade in enumerate(found) if is_missing(grade))
        text = f"categories[{gone}] is {shown(found[gone])}; expected {expected}"
        raise refusal("categories", found[gone], expected, text=text)
    try:
        np.unique(given)
        different = len(set(found))
    except TypeError:  # nothing that can be compared
        raise refusal("categories", categories, expected) from None
    if different != len(found):
        twice = next(grade for grade in found if found.count(grade) > 1)
        text = f"categories names the grade {shown(twice)} twice; expected {expected}"
        raise refusal("categories", twice, expected, text=text)
    return given


def encode(y: Any, order: Optional[Sequence[Any]] = None) -> tuple[np.ndarray, np.ndarray]:
    """Classes (sorted, or in the order given) and the number of the class of every example."""
    y = column_or_1d(y, warn=True)
    if order is None:
        check_classification_targets(y)
    classes, label = np.unique(y, return_inverse=True)
    if order is not None:
        given = grades_of(order)
        rank = {grade: r for r, grade in enumerate(given.tolist())}
        unknown = [grade for grade in classes.tolist() if grade not in rank]
        if unknown:
            text = f"y contains grades that are not in categories: {unknown[:5]}; expected every grade of y"
            raise refusal("categories", order, "every grade of y", text=text)
        label = np.array([rank[grade] for grade in classes.tolist()])[label]
        classes = given
    return classes, label.astype(np.int32)


def index_of(y: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """The number of the class of every label; -1 for those that are no class."""
    order = np.argsort(classes, kind="stable")
    try:
        place = np.searchsorted(classes, y, sorter=order)
    except TypeError:  # labels of another kind than the classes: none of them is one
        return np.full(len(y), -1)
    found = order[np.minimum(place, len(classes) - 1)]
    return np.where(classes[found] == y, found, -1)


def numbers_to_judge(y: np.ndarray, classes: np.ndarray) -> tuple[np.ndarray, list[str]]:
    """The number of the class of every label; those that are no class are counted behind, by the names in the list."""
    label = index_of(labels_to_judge(y, classes), classes)
    new = label < 0
    names = [name_of(own) for own in y[new].tolist()]
    unseen = list(dict.fromkeys(names))
    number = {name: len(classes) + u for u, name in enumerate(unseen)}
    label[new] = [number[name] for name in names]
    return label.astype(np.int32), text_of("class", unseen)


def refuse_numbers_sorted_as_words(classes: np.ndarray) -> None:
    """Costs of steps between '1', '10', '9' would not be those anyone means."""
    try:
        values = [float(name) for name in class_names(classes)]
    except ValueError:
        return
    if values != sorted(values):
        raise Error(f"the classes {classes[:5]} are numbers that sort as words; convert y to numbers")


def by_names(name: str, cost: Any, names: Sequence[str]) -> Any:
    """Columns of a data frame, or entries of a series, in the order of the names if they have these names."""
    labels = getattr(cost, "columns", getattr(cost, "index", None))
    if labels is None or not hasattr(cost, "iloc"):
        return cost
    own = list(map(str, labels))
    if own == [str(i) for i in range(len(own))]:
        return cost
    if sorted(own) != sorted(names):
        raise refusal(name, own[:5], str(list(names)[:5]), text=f"{name} names {own[:5]}; expected {list(names)[:5]}")
    order = [own.index(label) for label in names]
    return cost.iloc[:, order] if hasattr(cost, "columns") else cost.iloc[order]


def csv_text(rows: Sequence[Any]) -> str:
    """Lines as the library reads them from files."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()


def predictions_of(classes: np.ndarray, names: Sequence[str]) -> np.ndarray:
    """What predictions are, by number: the classes, or names of which some are those of classes."""
    if not names:
        return classes
    own = dict(zip(class_names(classes), classes.tolist()))
    found = [own.get(name, name) for name in names]
    kind = classes.dtype.kind in "US" or not any(name in own for name in names)
    return np.array(found) if kind else np.array(found, dtype=object)


def frame_of(values: np.ndarray, rows: Sequence[str], columns: Sequence[str]) -> Any:
    """Costs with the names of their columns, where pandas is there to keep them; none: an array of them."""
    if not columns:
        return values
    try:
        import pandas
    except ImportError:
        return values
    return pandas.DataFrame(values, index=list(rows), columns=list(columns))


def names_once(what: str, labels: Any) -> list[str]:
    """The names of the rows or columns of a data frame of costs."""
    names = [name_of(label) for label in labels]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        expected = f"one {what} for every class"
        text = f"cost_matrix has two {what}s called {twice!r}; expected {expected}"
        raise refusal("cost_matrix", twice, expected, text=text)
    return names


class Costs(NamedTuple):
    """By rows; the names of the columns where they are not just the classes; and for every cost the column of X that
    holds it, where some differ from example to example."""

    values: list[float] = []
    predictions: list[str] = []
    columns: list[str] = []


NO_COSTS = Costs()


def numbers_and_names(cost: Any) -> tuple[np.ndarray, Optional[np.ndarray]]:
    """Numbers, 0 where a cell is the name of a column of X, and these names; None: there are none."""
    expected = "None, a name, or k x k numbers or names of columns of X"
    try:
        cells = np.asarray(cost, dtype=object)
    except ValueError:  # rows of several lengths
        raise TypeError(f"cost_matrix must be {expected}, found {shown(cost)}") from None
    is_name = np.vectorize(lambda cell: isinstance(cell, str), otypes=[bool])(cells) if cells.size else np.zeros(0)
    if not is_name.any():
        return reals("cost_matrix", cost, expected), None
    return reals("cost_matrix", np.where(is_name, 0.0, cells), expected), np.where(is_name, cells, "")


def costs_by_rows(cost: Any, classes: np.ndarray) -> Costs:
    """k x K costs, row by row, and the names of the columns where they are not just the classes.

    The rows of a data frame may have any order, and more classes than are in y. Its columns are the classes, and perhaps
    predictions that are no class; or such predictions alone. An array has the classes first."""
    k, names = len(classes), class_names(classes)
    values, named = numbers_and_names(cost)
    predictions: list[str] = []
    if hasattr(cost, "index") and hasattr(cost, "columns"):
        rows, columns = names_once("row", cost.index), names_once("column", cost.columns)
        actions = [name for name in columns if name not in rows]
        there = [name for name in names if name in columns]
        if set(names) <= set(rows) and (len(there) == k or (not there and actions == columns)):
            used = [*there, *actions]
            used_cells = np.ix_([rows.index(name) for name in names], [columns.index(name) for name in used])
            values, named = values[used_cells], None if named is None else named[used_cells]
            predictions = used if actions else []
        elif rows != [str(i) for i in range(len(rows))] or columns[: len(rows)] != rows:
            found, expected = f"the rows {rows[:5]} and columns {columns[:5]}", f"each of {names[:5]} once"
            raise refusal("cost_matrix", found, expected, text=f"cost_matrix has {found}; expected {expected}")
    if values.ndim != 2 or len(values) != k or (values.shape[1] < k and not predictions):
        raise refusal(
            "cost_matrix", values.shape, str((k, k)),
            "More columns are predictions that are no class; a data frame whose rows and columns are named by classes "
            "may have more of both",
            text=f"cost_matrix has the shape {values.shape}; expected {(k, k)}, one row per true class of y",
        )  # fmt: skip
    return Costs(values.ravel().tolist(), predictions, [] if named is None else named.ravel().tolist())
