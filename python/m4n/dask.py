"""Estimators that learn from dask collections, where no machine has all the examples.

    >>> from m4n.dask import MaxMinClassifier                                            # doctest: +SKIP
    >>> MaxMinClassifier(client=client).fit(frame[names], frame["label"]).certificate_   # doctest: +SKIP

See docs/scaling.md.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Callable, Sequence

import numpy as np

try:
    import dask
    import dask.array
    from dask.distributed import Client, default_client
except ImportError as error:
    raise ModuleNotFoundError("m4n.dask needs dask: pip install m4n[dask]", name="dask") from error

from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from . import classifier, ordinal
from ._distributed import Rows, fit_parts
from ._errors import Error
from ._estimator import has_probabilities
from ._options import refusal
from ._parameters import doc, documented
from ._tabular import MaxMinTabular

__all__ = ["DaskExecutor", "MaxMinClassifier", "MaxMinOrdinalClassifier"]


class DaskExecutor:
    """Tasks and values on the workers of a client (m4n._distributed.Executor)."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def place(self, parts: Sequence[Any]) -> list[Any]:
        return self._client.compute(list(parts))

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Any:
        return self._client.submit(function, *arguments, pure=False)

    def gather(self, handles: Sequence[Any]) -> list[Any]:
        return self._client.gather(list(handles))


def is_collection(value: Any) -> bool:
    return dask.is_dask_collection(value) and hasattr(value, "to_delayed")


def blocks_of(name: str, value: Any, rows: Any) -> list[Any]:
    """The partitions of a collection; those of a dask array are cut as ``rows`` says, where that is known."""
    if not is_collection(value):
        expected = "a dask array or data frame"
        remedy = (
            "dask.array.from_array and dask.dataframe.from_pandas make one; m4n itself learns from what is in memory"
        )
        raise refusal(name, type(value).__name__, expected, remedy)
    if isinstance(value, dask.array.Array):
        known = rows is not None and not np.isnan([*rows, *value.chunks[0]]).any()
        if known and sum(rows) == value.shape[0]:
            value = value.rechunk({0: rows})
        value = value.rechunk({axis: -1 for axis in range(1, value.ndim)})
    return list(np.ravel(np.asarray(value.to_delayed(), dtype=object)))


def parts_of(X: Any, y: Any, weight: Any) -> list[Any]:
    """One part for each partition of X, computed by nobody yet."""
    rows = X.chunks[0] if isinstance(X, dask.array.Array) else None
    columns = [blocks_of("X", X, rows), blocks_of("y", y, rows)]
    if weight is not None:
        columns.append(blocks_of("sample_weight", weight, rows))
    for name, blocks in zip(("y", "sample_weight"), columns[1:]):
        if len(blocks) != len(columns[0]):
            raise Error(
                f"{name} has {len(blocks)} partitions and X {len(columns[0])}; cut both alike, for example by taking "
                "them from one data frame"
            )
    return [dask.delayed(Rows, pure=True)(*part) for part in zip(*columns)]


def like(X: Any) -> Any:
    """No rows, but the columns of X."""
    return X._meta if hasattr(X, "columns") else np.empty((0, X.shape[1]))


def answers(part: Any, estimator: Any, method: str, width: int, columns: Any) -> Any:
    """What a method says of one partition; with the index of a data frame, and these columns."""
    if part.shape[0]:
        found = getattr(estimator, method)(part)
    else:
        found = np.empty((0, width) if width else 0, dtype=dtype_of(estimator, method))
    if not hasattr(part, "columns"):
        return found
    frame = type(part) if width else part._constructor_sliced
    return frame(found, index=part.index, **({"columns": columns} if width else {}))


def dtype_of(estimator: Any, method: str) -> Any:
    return estimator.predictions_.dtype if method == "predict" else np.dtype(np.float64)


def scored(part: Rows, estimator: Any) -> tuple[float, float]:
    """The score of a partition times its weight, and that weight."""
    weight = float(len(part.y) if part.weight is None else np.sum(part.weight))
    return (estimator.score(part.X, part.y, part.weight) * weight, weight) if weight > 0 else (0.0, 0.0)


def refuse_costs(costs: Any) -> None:
    if costs is not None:
        text = "costs that differ from example to example are for fits in memory"
        raise refusal("costs", costs, "left out", "Leave them out", text=text)


@dataclass(kw_only=True, eq=False, repr=False)
class OnDask(MaxMinTabular):
    """What estimators of tables do with dask collections."""

    client: Any = field(
        default=None, metadata=doc("dask.distributed.Client or None", "Whose workers learn; None: the current one.")
    )

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, costs: Any = None) -> Any:
        """Learn from the partitions of dask arrays or data frames that are cut alike, on the machines that hold them.

        Blocks of X may be CSR matrices. Empty partitions are passed over, as are examples of weight zero. ``costs`` of
        the examples are for fits in memory.
        """
        refuse_costs(costs)
        parts = parts_of(X, y, sample_weight)
        client = default_client() if self.client is None else self.client
        grades = y._meta if getattr(y.dtype, "ordered", False) else None
        return fit_parts(self, DaskExecutor(client), parts, like(X), grades)

    def __getstate__(self) -> Any:
        """A client stays where it is."""
        return {**super().__getstate__(), "client": None}

    def predict(self, X: Any, *, costs: Any = None) -> Any:
        """The class of every row; of a dask collection one of predictions, cut alike."""
        if not is_collection(X):
            return super().predict(X, costs=costs)
        refuse_costs(costs)
        return self._on_partitions("predict", X, 0)

    def decision_function(self, X: Any) -> Any:
        """The scores of the classes, as MaxMinClassifier has them."""
        if not is_collection(X):
            return super().decision_function(X)
        return self._on_partitions("decision_function", X, 0 if len(self.classes_) == 2 else len(self.classes_))

    @available_if(has_probabilities)
    def predict_proba(self, X: Any, *, costs: Any = None) -> Any:
        """Probabilities of the classes, as MaxMinClassifier has them."""
        if not is_collection(X):
            return super().predict_proba(X, costs=costs)
        refuse_costs(costs)
        return self._on_partitions("predict_proba", X, len(self.classes_))

    def score(self, X: Any, y: Any, sample_weight: Any = None, *, costs: Any = None) -> float:
        """Minus the mean cost of the predictions where costs are set, accuracy where every mistake costs the same."""
        if not is_collection(X):
            return super().score(X, y, sample_weight, costs=costs)
        refuse_costs(costs)
        parts = [dask.delayed(scored)(part, self) for part in parts_of(X, y, sample_weight)]
        found = dask.compute(*parts) if self.client is None else self.client.gather(self.client.compute(parts))
        return sum(score for score, _ in found) / sum(weight for _, weight in found)

    def _on_partitions(self, method: str, X: Any, width: int) -> Any:
        """``width``: columns of what comes out; 0: it has none."""
        check_is_fitted(self)
        arguments = self, method, width, self.classes_
        if hasattr(X, "columns"):
            return X.map_partitions(answers, *arguments, meta=answers(X._meta, *arguments))
        X = X.rechunk({1: -1})
        shape = {"chunks": (X.chunks[0], (width,))} if width else {"drop_axis": 1}
        empty = np.empty((0, width) if width else 0, dtype=dtype_of(self, method))
        return X.map_blocks(answers, *arguments, meta=empty, dtype=empty.dtype, **shape)


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class MaxMinClassifier(OnDask, classifier.MaxMinClassifier):
    """m4n.MaxMinClassifier that learns from dask collections.

    The model is the one that minimises the same objective over all rows, with a certificate over all of them.
    Predictions of dask collections are dask collections; those of other rows come at once. surrogate is 'm4n', 'm3n' or 'crf',
    features is 'linear'; warm_start, checkpoint and resume_from are for fits in memory.

    The attributes are those of m4n.MaxMinClassifier.
    """


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class MaxMinOrdinalClassifier(OnDask, ordinal.MaxMinOrdinalClassifier):
    """m4n.MaxMinOrdinalClassifier that learns from dask collections, as MaxMinClassifier here does.

    The attributes are those of m4n.MaxMinClassifier.
    """
