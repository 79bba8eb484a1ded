"""A label for every token of a sequence."""

from __future__ import annotations

import numbers
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Optional

import numpy as np
from scipy import sparse
from sklearn.utils import check_array
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from . import _core
from ._cv import ListSearch
from ._errors import Error
from ._estimator import Training, has_probabilities
from ._features import REALS, features_for_core
from ._labels import (
    Costs,
    class_names,
    csv_text,
    encode,
    name_of,
    predictions_of,
)
from ._options import in_python_words, listed, number, refusal, shown, threads_of, word
from ._pages import Judged
from ._parameters import LamParameter, doc, documented
from ._parts import PartEstimator, cut, labels_of
from ._weights import kept_of, weights_of, with_weights

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
        if isinstance(token, str):
            raise TypeError(f"found the token {token!r}; expected a dict of attributes, or a list of their names")
        if not isinstance(token, (list, tuple)):
            return False
        if token:
            return any(isinstance(name, str) for name in token)
    return None


def is_table(sequence: Any) -> bool:
    """Whether there is a row of numbers, right or wrong, for every token."""
    try:
        return sparse.issparse(sequence) or np.asarray(sequence, dtype=np.float64).ndim == 2
    except (OverflowError, TypeError, ValueError):
        return False


def holds_sequences(sequence: Any) -> bool:
    """Whether the first token is a sequence itself."""
    if isinstance(sequence, np.ndarray):
        return sequence.ndim > 2
    first = sequence[0] if isinstance(sequence, (list, tuple)) and len(sequence) > 0 else None
    if isinstance(first, (list, tuple)):
        return len(first) > 0 and isinstance(first[0], (dict, set, frozenset, list, tuple, np.ndarray))
    return getattr(first, "ndim", 1) == 2


def tokens_of(X: Any) -> Tokens:
    """Sequences with at least one token each."""
    sequences = list(X)
    if not sequences:
        raise Error("X has no sequences")
    told = (_has_attributes(sequence) for sequence in sequences)
    if next((kind for kind in told if kind is not None), True):
        lists = [sequence if isinstance(sequence, (list, tuple)) else list(sequence) for sequence in sequences]
        return Tokens(lists, [len(sequence) for sequence in lists], True)
    parts = []
    for i, sequence in enumerate(sequences):
        try:
            parts.append(check_array(sequence, accept_sparse="csr", dtype=REALS))
        except (OverflowError, TypeError, ValueError) as error:
            if is_table(sequence):
                raise type(error)(f"sequence {i}: {error}") from None
            raise Error(
                f"sequence {i} is {shown(sequence)}; expected a row of numbers or attributes for every token. "
                "X must be a list of such sequences"
            ) from None
    for i, part in enumerate(parts):
        if part.shape[1] != parts[0].shape[1]:
            raise Error(f"sequence {i} has {part.shape[1]} features; expected {parts[0].shape[1]} as in the first")
    lengths = [part.shape[0] for part in parts]
    if any(sparse.issparse(part) for part in parts):
        return Tokens(features_for_core(sparse.vstack(parts, format="csr")), lengths, False)
    return Tokens([features_for_core(part) for part in parts], lengths, False)


def length_of(sequence: Any, number: int) -> int:
    if isinstance(sequence, dict):
        raise TypeError(f"X[{number}] is a token; expected a list of sequences, each a list of tokens")
    shape = getattr(sequence, "shape", None)
    if shape is None and not hasattr(sequence, "__len__") or isinstance(sequence, (str, bytes)) or shape == ():
        raise TypeError(f"sequence {number} is {sequence!r:.80}; expected rows of numbers, or tokens with attributes")
    return len(sequence) if shape is None else int(shape[0])


def columns_of(X: list[Any]) -> Optional[list[str]]:
    """The names of the features, where sequences are data frames; all must have the same ones."""
    names = None
    for i, sequence in enumerate(X):
        if hasattr(sequence, "columns") and hasattr(sequence, "iloc"):
            own = list(map(str, sequence.columns))
            if names is not None and own != names:
                raise Error(f"sequence {i} has the columns {own[:5]}; expected {names[:5]} as in those before")
            names = own
    return names


@dataclass(kw_only=True, eq=False, repr=False)
class SequenceEstimator(PartEstimator):
    """Shared by MaxMinSequenceLabeler and its CV form."""

    _task = _noun = "sequence"
    _part = "token"
    _decoders = ("viterbi", "argmax", "adversary", "expected")

    decode: Any = field(
        default=None,
        metadata=doc(
            "None, 'viterbi', 'adversary' or 'expected'",
            """The labelling of largest score, the min player's most likely answers (m4n), or the least expected cost
            (crf). None: the usual one for surrogate and costs, see ``decode_``.""",
        ),
    )
    standardize: Any = field(
        default=None,
        metadata=doc("bool or None", "Scale every feature to mean 0 and variance 1; dense rows only. None: no."),
    )
    min_count: int = field(default=1, metadata=doc("int", "Keep attributes that at least so many tokens have."))
    hash_bits: Any = field(
        default=None,
        metadata=doc("int or None", "Hash attributes to 2^hash_bits columns instead of keeping their names."),
    )

    constraints: Any = field(
        default=None,
        metadata=doc(
            "None, 'bio', 'bioes' or list of pairs",
            """Transitions that do not exist, in training and in prediction: those that break chunks tagged B, I, O (or
            B, I, E, S, O); or pairs (from, to) of labels, where '*' is any label, 'START' and 'END' are the ends of a
            sequence.""",
        ),
    )

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Learn from sequences X and their labels y: for every sequence an array of rows, or a list of tokens with
        attributes, and a list of labels. Sequences of weight zero count as absent."""
        return self._fit(X, y, sample_weight)

    def _training(self, X: Any, y: Any, sample_weight: Any) -> Training:
        X, y = listed("X", X), [labels_of(labels, i, self._noun) for i, labels in enumerate(listed("y", y))]
        if len(X) != len(y):
            raise Error(f"{len(X)} sequences and {len(y)} lists of labels do not belong together")
        for i, (sequence, labels) in enumerate(zip(X, y)):
            length = length_of(sequence, i)
            if length != len(labels):
                raise Error(f"sequence {i} has {length} tokens and {len(labels)} labels")
            if length == 0:
                raise Error(f"sequence {i} has no tokens; leave it out")
        weights, sequences = weights_of(sample_weight, np.zeros(len(X))), len(X)
        if weights.kept is not None:
            X, y = kept_of(X, weights), kept_of(y, weights)
        tokens = tokens_of(X)
        if len({labels.dtype.kind in "US" for labels in y}) > 1:
            raise Error("the labels of some sequences are text, those of others are not; expected one kind")
        classes, label = encode(np.concatenate(y))
        if len(classes) < 2:
            raise Error(f"only one class in y, {classes!r}; {type(self).__name__} needs at least two")
        options, cost = self._options(classes)
        names = columns_of(X)
        self.__dict__.pop("feature_names_in_", None)
        if names is not None:
            self.feature_names_in_ = np.array(names, dtype=object)
        with in_python_words():
            if tokens.attributes:
                data = _core.attribute_sequences(
                    tokens.x, tokens.lengths, label, class_names(classes), int(self.min_count), int(self.hash_bits or 0)
                )
            else:
                data = _core.examples(
                    tokens.x, tokens.lengths, label, tokens.lengths, class_names(classes), None, [], []
                )
        with_weights(data, weights)
        return Training(data, options, cost, classes, sequences, weights.kept, weights.total)

    def _options(self, classes: np.ndarray) -> tuple[dict[str, str], Costs]:
        options = self._common_options()
        options["min-count"] = number("min_count", self.min_count, numbers.Integral)
        if not 1 <= self.min_count <= LARGEST_COUNT:
            raise refusal("min_count", self.min_count, f"from 1 to {LARGEST_COUNT}")
        if self.hash_bits is not None:
            number("hash_bits", self.hash_bits, numbers.Integral)
            if not 1 <= self.hash_bits <= LARGEST_HASH_BITS:
                raise refusal("hash_bits", self.hash_bits, f"None or from 1 to {LARGEST_HASH_BITS}")
            if self.min_count > 1:
                raise Error("min_count chooses among names of attributes, and hash_bits keeps none")
        if self.constraints is not None:
            options["constraints"] = self._constraints()
        return self._with_costs(options, classes)

    def _constraints(self) -> str:
        """A name, or a file that lists what is forbidden."""
        if isinstance(self.constraints, str):
            return word("constraints", self.constraints, ("bio", "bioes"))
        expected = "None, 'bio', 'bioes' or a list of pairs of labels"
        rows = []
        for pair in listed("constraints", self.constraints):
            if isinstance(pair, (str, bytes)) or not hasattr(pair, "__len__") or len(pair) != 2:
                raise refusal("constraints", pair, expected)
            rows.append([name_of(label) for label in pair])
        return "pairs:" + csv_text(rows)

    def _adopt(self, model: Any, classes: Any) -> Any:
        super()._adopt(model, classes)
        self.classes_, self.n_features_in_ = classes, model.d
        self.predictions_ = predictions_of(classes, model.predictions)
        self.cost_matrix_ = model.cost().reshape(len(classes), -1)
        weights = model.arrays()
        self.coef_, self.intercept_ = weights["coef"], weights["intercept"]
        self.transitions_, self.start_, self.end_ = weights["transitions"], weights["start"], weights["end"]
        return self

    @property
    def attributes_(self) -> list[str]:
        """The names of the attributes that have weights, in the order of the columns of ``coef_``."""
        check_is_fitted(self)
        return _core.attribute_names(self._model)

    def _sequences(self, X: Any) -> tuple[list[Any], list[int]]:
        """A list, with the columns that the model knows if there are names; and the lengths."""
        check_is_fitted(self)
        X = listed("X", X)
        names, known = columns_of(X), getattr(self, "feature_names_in_", None)
        if names is not None and known is not None and names != known.tolist():
            raise Error(f"the sequences have the columns {names[:5]}; the model was trained on {known[:5].tolist()}")
        return X, [length_of(sequence, i) for i, sequence in enumerate(X)]

    def _apply(self, function: str, X: Any) -> tuple[np.ndarray, list[int]]:
        """Answers for all tokens, and the lengths; sequences without tokens have none."""
        X, lengths = self._sequences(X)
        tokens = tokens_of([s for s, length in zip(X, lengths) if length > 0]) if any(lengths) else None
        if tokens is None:
            return np.zeros(0), lengths
        with in_python_words():
            return getattr(self._model, function)(self._encoded(tokens), threads_of(self.n_jobs)), lengths

    def _encoded(self, tokens: Tokens) -> Any:
        """Rows of tokens, as the model reads them."""
        if tokens.attributes:
            return _core.encoded(self._model, tokens.x, tokens.lengths)
        if _core.takes_attributes(self._model):
            raise TypeError(
                "the model was trained on tokens with attributes; give a dict or a list of str for every token"
            )
        return _core.examples(tokens.x, tokens.lengths, None, 1, [], None, [], [])

    def _full_sequences(self, X: Any) -> tuple[list[Any], list[int]]:
        """Refuses those without tokens."""
        X, lengths = self._sequences(X)
        if 0 in lengths:
            raise Error(f"sequence {lengths.index(0)} has no tokens; leave it out")
        return X, lengths

    def _judged_by(self, X: Any, y: Any, costs: Any) -> Judged:
        X, lengths = self._full_sequences(X)
        return self._judged_by_labels(self._encoded(tokens_of(X)), lengths, y)

    def predict(self, X: Any) -> list[list[Any]]:
        """A list of labels for every sequence."""
        label, lengths = self._apply("predict", X)
        return cut(self.predictions_[label.astype(np.int64).ravel()].tolist(), lengths)

    def predict_single(self, sequence: Any) -> list[Any]:
        """The labels of one sequence."""
        if holds_sequences(sequence):
            raise TypeError("found a list of sequences; predict_single expects one sequence. Use predict for a list")
        return self.predict([sequence])[0]

    def predict_k_best(self, X: Any, k: int) -> list[list[tuple[list[Any], float]]]:
        """For every sequence its k best labellings with their scores, best first; fewer where there are fewer."""
        if isinstance(k, bool) or not isinstance(k, numbers.Integral) or not 1 <= k <= LARGEST_COUNT:
            raise refusal("k", k, f"a whole number from 1 to {LARGEST_COUNT}")
        X, _ = self._full_sequences(X)
        with in_python_words():
            found = _core.k_best(self._model, self._encoded(tokens_of(X)), int(k)) if X else []
        return [[(self.classes_[labels].tolist(), score) for score, labels in own] for own in found]

    @available_if(has_probabilities)
    def predict_marginals(self, X: Any) -> list[list[dict[Any, float]]]:
        """The probabilities of the labels of every token, as dicts; only with surrogate='crf'."""
        probabilities, lengths = self._apply("marginals", X)
        names = self.classes_.tolist()
        rows = probabilities.reshape(-1, len(names)).tolist()
        return cut([dict(zip(names, row)) for row in rows], lengths)

    @classmethod
    def _parameters_of(cls, model: Any) -> dict[str, Any]:
        bias, hashed = model.features()["bias"], _core.hash_bits(model)
        own = {"fit_intercept": bias, "hash_bits": hashed or None}
        return {**super()._parameters_of(model), **own}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.dict = True
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        return tags


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class MaxMinSequenceLabeler(LamParameter, SequenceEstimator):
    """A label for every token of a sequence, by scores of tokens and of neighbouring labels.

    Sequences are arrays of rows (dense or CSR), or lists of tokens with attributes in the forms of python-crfsuite and
    sklearn-crfsuite: a dict {'word': 'dog', 'upper': False, 'length': 3.0}, or a list of names.

    Attributes
    ----------
    classes_, n_features_in_, n_iter_, certificate_, lam_, decode_, cost_matrix_ : as those of MaxMinClassifier
    feature_names_in_ : of data frames
    attributes_ : names of the columns of ``coef_``
    coef_, intercept_ : k x d and k
    transitions_ : k x k, [from][to]
    start_, end_ : scores of the first and the last label

    Examples
    --------
    >>> from m4n import MaxMinSequenceLabeler
    >>> X = [[{"word": "the"}, {"word": "dog"}], [{"word": "a"}, {"word": "cat"}]]
    >>> y = [["DET", "NOUN"], ["DET", "NOUN"]]
    >>> MaxMinSequenceLabeler(lam=0.1).fit(X, y).predict([[{"word": "the"}, {"word": "cat"}]])
    [['DET', 'NOUN']]
    """


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class MaxMinSequenceLabelerCV(ListSearch, SequenceEstimator):
    """MaxMinSequenceLabeler with lam, and if asked the surrogate, chosen by the mean cost on held-out sequences.

    The attributes are those of MaxMinClassifierCV, and of MaxMinSequenceLabeler.
    """
