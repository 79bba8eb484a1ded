"""The parts m4n is made of, for training loops of one's own. Everything is batched over leading axes.

The max-min oracle solves, for scores v and costs A[predicted, true] = cost[true][predicted],

    max over mu of  min over predictions y of (A mu)_y  +  v . mu

with mu in the simplex, the marginal polytope of a chain or the doubly stochastic matrices. Its maximiser mu minus the
indicator of the truth is a subgradient of the M4N loss.
"""

from __future__ import annotations

import numbers
import warnings
from typing import Any, NamedTuple, Optional

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from . import _core
from ._errors import Error
from ._options import in_python_words, number, quoted, reals, refusal, threads_of, word
from ._positions import position_cost

__all__ = [
    "ChainMaxMin",
    "MaxMin",
    "assignment",
    "loss",
    "max_min",
    "max_min_chain",
    "max_min_permutation",
    "sinkhorn",
    "viterbi",
]

NO_LABEL = np.iinfo(np.int64).min  # a target to be passed over
NOBODY = np.zeros(0, dtype=np.int64)  # the numbers of examples that nothing is kept of

# Of a class, and of a label in a sequence.
NAMED_COSTS = list(dict.fromkeys([*_core.losses("multiclass"), *_core.losses("sequence")]))


class MaxMin(NamedTuple):
    """The value lies between ``value``, attained at ``mu``, and ``bound``, attained at ``nu``."""

    value: np.ndarray
    bound: np.ndarray
    mu: np.ndarray  # the max player: a mean of truths
    nu: np.ndarray  # the min player: a mean of predictions


class ChainMaxMin(NamedTuple):
    """As MaxMin; ``pairs[..., a, b]`` is how often, on average, label b follows label a."""

    value: np.ndarray
    bound: np.ndarray
    mu: np.ndarray
    nu: np.ndarray
    pairs: np.ndarray


def _batched(values: Any, axes: int, name: str = "scores") -> tuple[np.ndarray, tuple[int, ...]]:
    """As one batch, C-ordered float64, and the shape of the batch."""
    array = reals(name, values, "numbers")
    if array.ndim < axes:
        raise _refused_shape(name, array.shape, f"at least {axes} axes")
    batch = array.shape[: array.ndim - axes]
    if 0 in array.shape[array.ndim - axes :]:
        raise _refused_shape(name, array.shape, "no empty axis beside those of the batch")
    return np.ascontiguousarray(array.reshape(-1, *array.shape[array.ndim - axes :])), batch


def _not_negative(name: str, value: Any) -> float:
    found = float(number(name, value))
    if not 0 <= found < np.inf:
        raise refusal(name, value, "finite and not negative")
    return found


def _refused_shape(name: str, found: tuple[int, ...], expected: str) -> Error:
    return refusal(name, found, expected, text=f"{name} has the shape {found}; expected {expected}")


def _unbatched(arrays: Any, batch: tuple[int, ...]) -> list[Any]:
    return [a.reshape(batch + a.shape[1:])[()] for a in arrays]


def _cost(cost: Any, k: int) -> np.ndarray:
    if not isinstance(cost, str):
        values = reals("cost", cost, f"a name or {k} x {k} numbers")
        if values.shape != (k, k):
            raise _refused_shape("cost", values.shape, f"{(k, k)}, or a name")
        return values
    if cost not in NAMED_COSTS:
        raise refusal("cost", cost, f"{quoted(NAMED_COSTS)} or a {k} x {k} matrix")
    return _core.named_cost(cost, k)


def max_min(scores: Any, cost: Any = "zero-one", *, n_jobs: Optional[int] = None) -> MaxMin:
    """Max-min oracle of classes: scores (..., k), cost k x k [true][predicted] or a name.

    >>> import numpy as np
    >>> answer = max_min([1.0, 1.0, -5.0])
    >>> float(answer.value), answer.mu.tolist()
    (1.5, [0.5, 0.5, 0.0])
    """
    v, batch = _batched(scores, 1)
    with in_python_words("cost"):
        found = _core.max_min(v, _cost(cost, v.shape[1]), threads_of(n_jobs))
    return MaxMin(*_unbatched(found, batch))


def loss(
    scores: Any,
    y: Any,
    cost: Any = "zero-one",
    *,
    surrogate: str = "m4n",
    smoothing: float = 0.0,
    n_jobs: Optional[int] = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Surrogate loss and its (sub)gradient in the scores: scores (..., k), y (...) of class numbers.

    surrogate: 'm4n' (smoothed by ``smoothing`` times the mean cost of a mistake), 'm3n' or 'crf'.

    >>> value, gradient = loss([[2.0, 0.0, 0.0]], [0])
    >>> value.tolist(), gradient.tolist()
    ([0.0], [[0.0, 0.0, 0.0]])
    """
    v, batch = _batched(scores, 1)
    labels = np.asarray(y)
    if labels.dtype.kind not in "iu":
        raise TypeError(f"y must hold whole numbers, found {labels.dtype}")
    if labels.shape != batch:
        raise _refused_shape("y", labels.shape, str(batch))
    labels = np.ascontiguousarray(labels.reshape(-1).clip(-1, np.iinfo(np.int64).max), dtype=np.int64)
    smoothing = _not_negative("smoothing", smoothing)
    word("surrogate", surrogate, ("m4n", "m3n", "crf"))
    with in_python_words("cost"):
        found = _core.class_loss(
            v,
            labels,
            _cost(cost, v.shape[1]),
            surrogate,
            smoothing,
            NO_LABEL,
            None,
            NOBODY,
            v.shape,
            threads_of(n_jobs),
        )
    return tuple(_unbatched(found, batch))


def _edges(transitions: Any, start: Any, end: Any, labels: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    def array(name: str, values: Any, shape: tuple[int, ...]) -> np.ndarray:
        found = np.zeros(shape) if values is None else reals(name, values, "numbers")
        if found.shape != shape:
            raise _refused_shape(name, found.shape, str(shape))
        return found

    between = array("transitions", transitions, (labels, labels))
    return between, array("start", start, (labels,)), array("end", end, (labels,))


def max_min_chain(
    unary: Any,
    transitions: Any,
    cost: Any = "hamming",
    *,
    start: Any = None,
    end: Any = None,
    tol: float = 1e-6,
    n_jobs: Optional[int] = None,
) -> ChainMaxMin:
    """Max-min oracle of chains: unary (..., length, k), transitions k x k [from][to]; the cost is the mean over the
    chain. ``tol``: largest difference of value and bound."""
    v, batch = _batched(unary, 2, "unary")
    k = v.shape[2]
    edges = _edges(transitions, start, end, k)
    with in_python_words("cost"):
        found = _core.max_min_chain(v, *edges, _cost(cost, k), _not_negative("tol", tol), threads_of(n_jobs))
    return ChainMaxMin(*_unbatched(found, batch))


def viterbi(
    unary: Any, transitions: Any, *, start: Any = None, end: Any = None, n_jobs: Optional[int] = None
) -> tuple[np.ndarray, np.ndarray]:
    """The largest score of a labelling and the labelling: unary (..., length, k), transitions k x k [from][to].

    >>> value, labels = viterbi([[0.0, 1.0], [0.0, 0.1]], [[0.0, 0.0], [0.5, 0.0]])
    >>> float(value), labels.tolist()
    (1.5, [1, 0])
    """
    v, batch = _batched(unary, 2, "unary")
    edges = _edges(transitions, start, end, v.shape[2])
    with in_python_words():
        found = _core.viterbi(v, *edges, threads_of(n_jobs))
    return tuple(_unbatched(found, batch))


def max_min_permutation(
    scores: Any, cost: Any = "hamming", *, tol: float = 1e-6, n_jobs: Optional[int] = None
) -> MaxMin:
    """Max-min oracle of permutations: scores (..., M, M) of item i at position j; mu and nu are doubly stochastic.

    cost: 'hamming', 'footrule', 'spearman', 'precision@K', 'dcg', M weights of items for a weighted Hamming cost, or an
    M x M matrix [true position][predicted position] whose mean over items counts. ``tol``: largest difference of value
    and bound, in units of the range of the cost.
    """
    v, batch = _batched(scores, 2)
    named, values = position_cost(cost, v.shape[1])
    with in_python_words("cost"):
        found = _core.max_min_permutation(
            v, named.get("loss", ""), values, _not_negative("tol", tol), threads_of(n_jobs)
        )
    return MaxMin(*_unbatched(found, batch))


def assignment(scores: Any, *, n_jobs: Optional[int] = None) -> tuple[np.ndarray, np.ndarray]:
    """The largest score of a permutation, and the position of every item: scores (..., M, M).

    >>> value, position = assignment([[1.0, 3.0], [0.0, 1.0]])
    >>> float(value), position.tolist()
    (3.0, [1, 0])
    """
    v, batch = _batched(scores, 2)
    with in_python_words():
        found = _core.assignment(v, threads_of(n_jobs))
    return tuple(_unbatched(found, batch))


def sinkhorn(scores: Any, *, tol: float = 1e-9, max_iter: int = 1000, n_jobs: Optional[int] = None) -> np.ndarray:
    """The doubly stochastic matrix diag(a) exp(scores) diag(b), scores (..., M, M) of any size.

    By Newton's method rather than Sinkhorn's sweeps, which take as long as the scores are large. Sums of columns are
    right to ``tol`` (a ConvergenceWarning says where they are not) and then made exact.

    >>> sinkhorn([[1.0, 0.0], [0.0, 1.0]]).round(4).tolist()
    [[0.7311, 0.2689], [0.2689, 0.7311]]
    """
    v, batch = _batched(scores, 2)
    number("max_iter", max_iter, numbers.Integral)
    if max_iter < 0:
        raise refusal("max_iter", max_iter, "a whole number that is not negative")
    steps = min(int(max_iter), np.iinfo(np.int32).max)
    with in_python_words():
        found, error = _core.sinkhorn(v, _not_negative("tol", tol), steps, threads_of(n_jobs))
    if (error > tol).any():
        warnings.warn(
            f"stopped after {steps} steps with sums that are wrong by up to {error.max():.3g}: allow more with "
            "max_iter",
            ConvergenceWarning,
            stacklevel=2,
        )
    return _unbatched([found], batch)[0]
