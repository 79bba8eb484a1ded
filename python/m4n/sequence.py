"""A label for every token of a sequence."""

from __future__ import annotations

import numbers
from itertools import chain
from typing import Any, NamedTuple, Optional, Sequence

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils import check_array
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from . import _core
from ._certificate import Certificate, warn_unless_converged
from ._cv import Search, folds_of, search
from ._labels import class_names, costs_by_rows, encode, index_of, refuse_numbers_sorted_as_words
from ._model_file import ModelFile
from ._options import in_python_words, learn, number, solver_options, surrogate_options, threads_of, word
from ._tabular import features_for_core, has_probabilities

DECODERS = ("viterbi", "argmax", "adversary", "expected")
NAMED_COSTS = ("hamming", "absolute", "squared")
LARGEST_COUNT = 2**31 - 1
LARGEST_HASH_BITS = 30


class Tokens(NamedTuple):
    """Sequences for the library: tokens with attributes, matrices, or one CSR matrix; the length of each."""

    x: Any
    lengths: list[int]
    attributes: bool


def _has_attributes(sequence: Any) -> Optional[bool]:
    """Whether the tokens have attributes; None where they do not tell, being empty lists of names."""
    if isinstance(sequence, np.ndarray) or sparse.issparse(sequence) or hasattr(sequence, "iloc"):
        return False
    for token in sequence:
        if isinstance(token, (dict, set, frozenset)):
            return True
        if not isinstance(token, (list, tuple)):
            return False
        if token:
            return any(isinstance(name, str) for name in token)
    return None


def tokens_of(X: Any) -> Tokens:
    """Sequences with at least one token each."""
    sequences = list(X)
    if not sequences:
        raise ValueError("X has no sequences")
    told = (_has_attributes(sequence) for sequence in sequences)
    if next((kind for kind in told if kind is not None), True):
        lists = [sequence if isinstance(sequence, (list, tuple)) else list(sequence) for sequence in sequences]
        return Tokens(lists, [len(sequence) for sequence in lists], True)
    parts = []
    for i, sequence in enumerate(sequences):
        try:
            parts.append(check_array(sequence, accept_sparse="csr", dtype=[np.float64, np.float32]))
        except (TypeError, ValueError) as error:
            raise type(error)(f"sequence {i}: {error}") from None
    lengths = [part.shape[0] for part in parts]
    if any(sparse.issparse(part) for part in parts):
        return Tokens(features_for_core(sparse.vstack(parts, format="csr")), lengths, False)
    return Tokens(parts, lengths, False)


def labels_of(labels: Any, sequence: int) -> np.ndarray:
    """The labels of one sequence, all of one kind."""
    found = np.asarray(labels)
    if found.dtype.kind in "US" and found is not labels and not all(isinstance(label, str) for label in labels):
        raise ValueError(f"sequence {sequence} has labels that are text and others that are not; expected one kind")
    return found


class SequenceEstimator(ModelFile, BaseEstimator):
    """Shared by MaxMinSequenceLabeler and its CV form."""

    _task = "sequence"

    def fit(self, X: Any, y: Any) -> "SequenceEstimator":
        """Learn from sequences X and their labels y: one array of rows (or list of tokens with attributes) and one
        list of labels a sequence."""
        data, options, cost, classes = self._training(X, y)
        return warn_unless_converged(self._adopt(learn(self, data, options, cost), classes))

    def _training(self, X: Any, y: Any) -> tuple[Any, dict[str, str], list[float], np.ndarray]:
        X, y = list(X), [labels_of(labels, i) for i, labels in enumerate(y)]
        if len(X) != len(y):
            raise ValueError(f"{len(X)} sequences and {len(y)} lists of labels do not belong together")
        for i, (sequence, labels) in enumerate(zip(X, y)):
            length = sequence.shape[0] if hasattr(sequence, "shape") else len(sequence)
            if length != len(labels):
                raise ValueError(f"sequence {i} has {length} tokens and {len(labels)} labels")
            if length == 0:
                raise ValueError(f"sequence {i} has no tokens; leave it out")
        tokens = tokens_of(X)
        if len({labels.dtype.kind in "US" for labels in y}) > 1:
            raise ValueError("the labels of some sequences are text, those of others are not; expected one kind")
        classes, label = encode(np.concatenate(y))
        if len(classes) < 2:
            raise ValueError(f"only one class in y, {classes!r}; {type(self).__name__} needs at least two")
        options, cost = self._options(classes)
        with in_python_words():
            if tokens.attributes:
                data = _core.attribute_sequences(
                    tokens.x, tokens.lengths, label, class_names(classes), int(self.min_count), int(self.hash_bits or 0)
                )
            else:
                data = _core.sequences(tokens.x, tokens.lengths, label, class_names(classes))
        return data, options, cost, classes

    def _options(self, classes: np.ndarray) -> tuple[dict[str, str], list[float]]:
        options = {"task": self._task, **solver_options(self), **self._surrogate_options()}
        options["min-count"] = number("min_count", self.min_count, numbers.Integral)
        if not 1 <= self.min_count <= LARGEST_COUNT:
            raise ValueError(f"min_count must be from 1 to {LARGEST_COUNT}, found {self.min_count}")
        if self.hash_bits is not None:
            number("hash_bits", self.hash_bits, numbers.Integral)
            if not 1 <= self.hash_bits <= LARGEST_HASH_BITS:
                raise ValueError(f"hash_bits must be None or from 1 to {LARGEST_HASH_BITS}, found {self.hash_bits}")
            if self.min_count > 1:
                raise ValueError("min_count chooses among names of attributes, and hash_bits keeps none")
        if isinstance(self.cost_matrix, str):
            options["loss"] = word("cost_matrix", self.cost_matrix, NAMED_COSTS)
            if self.cost_matrix != "hamming":
                refuse_numbers_sorted_as_words(classes)
        elif self.cost_matrix is not None:
            return options, costs_by_rows(self.cost_matrix, classes)
        return options, []

    def _surrogate_options(self) -> dict[str, str]:
        return surrogate_options(self, DECODERS)

    def _adopt(self, model: Any, classes: Any) -> "SequenceEstimator":
        self._model, self.classes_, self.n_features_in_ = model, classes, model.d
        self.n_iter_ = model.epochs
        self.lam_ = model.lam
        self.decode_ = model.decoder
        self.cost_matrix_ = model.cost()
        weights = model.weights()
        self.coef_ = weights["features"].T
        self.intercept_ = weights["bias"] if len(weights["bias"]) else np.zeros(len(self.classes_))
        self.transitions_, self.start_, self.end_ = weights["transitions"], weights["start"], weights["end"]
        self.certificate_: Certificate = Certificate(**model.certificate())
        return self

    @property
    def attributes_(self) -> list[str]:
        """The names of the attributes that have weights, in the order of the columns of coef_."""
        check_is_fitted(self)
        return self._model.attribute_names()

    def _apply(self, function: Any, X: Any) -> tuple[np.ndarray, list[int]]:
        """One row of answers a token, and the lengths; sequences without tokens have none."""
        check_is_fitted(self)
        X = list(X)
        lengths = [s.shape[0] if hasattr(s, "shape") else len(s) for s in X]
        tokens = tokens_of([s for s, length in zip(X, lengths) if length > 0]) if any(lengths) else None
        if tokens is None:
            return np.zeros((0, len(self.classes_))), lengths
        with in_python_words():
            return function(self._model, *tokens, threads_of(self.n_jobs)), lengths

    def predict(self, X: Any) -> list[list[Any]]:
        """One list of labels a sequence."""
        label, lengths = self._apply(_core.predict_sequences, X)
        return _cut(self.classes_[label.astype(np.int64).ravel()].tolist(), lengths)

    def predict_single(self, sequence: Any) -> list[Any]:
        """The labels of one sequence."""
        return self.predict([sequence])[0]

    @available_if(has_probabilities)
    def predict_marginals(self, X: Any) -> list[list[dict[Any, float]]]:
        """The probabilities of the labels of every token, as dicts; only with surrogate='crf'."""
        probabilities, lengths = self._apply(_core.sequence_marginals, X)
        names = self.classes_.tolist()
        return _cut([dict(zip(names, row)) for row in probabilities.tolist()], lengths)

    def score(self, X: Any, y: Sequence[Any]) -> float:
        """Minus the mean over sequences of the mean cost of their tokens where costs are set; the share of tokens
        that are right where every mistake costs the same."""
        predicted, truth = self.predict(X), [np.asarray(labels) for labels in y]
        if [len(labels) for labels in predicted] != [len(labels) for labels in truth]:
            raise ValueError("X and y do not have the same lengths")
        if self._model.loss == "hamming":
            pairs = list(zip(chain(*predicted), chain(*(labels.tolist() for labels in truth))))
            return float(np.mean([a == b for a, b in pairs]))
        means = []
        for found, right in zip(predicted, truth):
            if len(right):
                known = index_of(right, self.classes_)
                cost = self.cost_matrix_[known, index_of(np.asarray(found), self.classes_)]
                means.append(np.where(known < 0, self.cost_matrix_.max(), cost).mean())
        return -float(np.mean(means))

    @classmethod
    def _parameters_of(cls, model: Any) -> dict[str, Any]:
        named = {"cost_matrix": model.loss} if model.loss in ("absolute", "squared") else {}
        own = {"fit_intercept": model.bias, "hash_bits": model.hash_bits or None}
        return {**super()._parameters_of(model), **named, **own}


def _cut(flat: list[Any], lengths: list[int]) -> list[list[Any]]:
    ends = np.cumsum(lengths)
    return [flat[end - length : end] for end, length in zip(ends, lengths)]


class MaxMinSequenceLabeler(SequenceEstimator):
    """A label for every token of a sequence, by scores of tokens and of neighbouring labels.

    Sequences are arrays of rows (dense or CSR), or lists of tokens with attributes in the forms of python-crfsuite and
    sklearn-crfsuite: a dict {'word': 'dog', 'upper': False, 'length': 3.0}, or a list of names.

    Parameters
    ----------
    cost_matrix : None, k x k array or 'absolute', 'squared', default None
        cost_matrix[true][predicted] of a token; a sequence costs their mean. None: every wrong token costs 1.
    surrogate : 'm4n', 'm3n' or 'crf', default 'm4n'
    decode : None, 'viterbi', 'adversary' or 'expected', default None
        The labelling of largest score, the min player's most likely answers (m4n), or the least expected cost (crf).
    lam : float or None, default None
        Weight of |w|^2 / 2 beside the mean loss; None: 1/n, for m4n and m3n the mean length / n.
    tol, max_iter, fit_intercept, random_state, n_jobs, verbose : as in MaxMinClassifier
    standardize : bool or None, default None
        Dense rows only; None: no.
    min_count : int, default 1
        Keep attributes that at least so many tokens have.
    hash_bits : int or None, default None
        Hash attributes to 2^hash_bits columns instead of keeping their names.

    Attributes
    ----------
    classes_, n_features_in_, n_iter_, certificate_, lam_, decode_, cost_matrix_
    coef_ (k x d), intercept_, transitions_ (k x k, [from][to]), start_, end_, attributes_ (names of the columns)

    Examples
    --------
    >>> from m4n import MaxMinSequenceLabeler
    >>> X = [[{"word": "the"}, {"word": "dog"}], [{"word": "a"}, {"word": "cat"}]]
    >>> y = [["DET", "NOUN"], ["DET", "NOUN"]]
    >>> MaxMinSequenceLabeler(lam=0.1).fit(X, y).predict([[{"word": "the"}, {"word": "cat"}]])
    [['DET', 'NOUN']]
    """

    def __init__(
        self,
        cost_matrix: Any = None,
        *,
        surrogate: str = "m4n",
        decode: Optional[str] = None,
        lam: Any = None,
        tol: float = 1e-3,
        max_iter: int = 1000,
        min_count: int = 1,
        hash_bits: Any = None,
        standardize: Any = None,
        fit_intercept: bool = True,
        random_state: Any = None,
        n_jobs: Any = None,
        verbose: int = 0,
    ) -> None:
        self.cost_matrix = cost_matrix
        self.surrogate = surrogate
        self.decode = decode
        self.lam = lam
        self.tol = tol
        self.max_iter = max_iter
        self.min_count = min_count
        self.hash_bits = hash_bits
        self.standardize = standardize
        self.fit_intercept = fit_intercept
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose


class MaxMinSequenceLabelerCV(Search, SequenceEstimator):
    """MaxMinSequenceLabeler with lam, and if asked the surrogate, chosen by the mean cost on held-out sequences.

    lams, cv (default: 5 folds of sequences), surrogate ('m4n', 'm3n', 'crf', a list of them, or 'auto': all three,
    m4n with both decoders where costs are asymmetric) and extend are those of MaxMinClassifierCV.
    """

    def __init__(
        self,
        cost_matrix: Any = None,
        *,
        lams: Any = None,
        cv: Any = None,
        surrogate: Any = "m4n",
        decode: Optional[str] = None,
        tol: float = 1e-3,
        max_iter: int = 1000,
        extend: bool = True,
        min_count: int = 1,
        hash_bits: Any = None,
        standardize: Any = None,
        fit_intercept: bool = True,
        random_state: Any = None,
        n_jobs: Any = None,
        verbose: int = 0,
    ) -> None:
        self.cost_matrix = cost_matrix
        self.lams = lams
        self.cv = cv
        self.surrogate = surrogate
        self.decode = decode
        self.tol = tol
        self.max_iter = max_iter
        self.extend = extend
        self.min_count = min_count
        self.hash_bits = hash_bits
        self.standardize = standardize
        self.fit_intercept = fit_intercept
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any, groups: Any = None) -> "MaxMinSequenceLabelerCV":
        """Choose lam (and the surrogate) by cross-validation, then learn from all sequences."""
        data, options, cost, classes = self._training(X, y)
        model = search(self, data, options, cost, folds_of(self, data.examples, groups))
        return warn_unless_converged(self._adopt(model, classes))
