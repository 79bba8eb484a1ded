"""Bad input: the exceptions users of scikit-learn expect, with words that help."""

import numpy as np
import pytest
from conftest import blobs, tagged
from scipy import sparse
from sklearn.exceptions import DataConversionWarning, NotFittedError

from m4n import (
    MaxMinClassifier,
    MaxMinClassifierCV,
    MaxMinMatcher,
    MaxMinOrdinalClassifier,
    MaxMinRanker,
    MaxMinSequenceLabeler,
    oracle,
)

X, y = blobs()


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_values_that_are_no_numbers(bad):
    wrong = X.copy()
    wrong[3, 1] = bad
    with pytest.raises(ValueError, match="NaN|infinity"):
        MaxMinClassifier().fit(wrong, y)
    with pytest.raises(ValueError, match="NaN|infinity"):
        MaxMinClassifier().fit(X, y).predict(wrong)
    with pytest.raises(ValueError, match="sequence 1"):
        MaxMinSequenceLabeler().fit([X[:3], wrong[:5]], [y[:3], y[:5]])


def test_shapes():
    fitted = MaxMinClassifier().fit(X, y)
    with pytest.raises(ValueError, match="3 features, but MaxMinClassifier is expecting 5"):
        fitted.predict(X[:, :3])
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        MaxMinClassifier().fit(X, y[:-1])
    with pytest.raises(ValueError, match="2D array"):
        MaxMinClassifier().fit(X[0], y)
    with pytest.raises(NotFittedError):
        MaxMinClassifier().predict(X)
    with pytest.raises(NotFittedError):
        MaxMinClassifier().to_bytes()


@pytest.mark.parametrize(
    "cost, words",
    [
        (np.ones((2, 2)), r"\(2, 2\); expected \(3, 3\)"),
        (np.ones(3), r"\(3,\)"),
        (np.full((3, 3), np.nan), "finite"),
        (np.ones((3, 3)), "no more than the right one"),
        ("cubic", "'zero-one', 'absolute', 'squared'"),
    ],
)
def test_costs(cost, words):
    with pytest.raises(ValueError, match=words):
        MaxMinClassifier(cost).fit(X, y)


@pytest.mark.parametrize(
    "parameters, error, words",
    [
        ({"surrogate": "svm"}, ValueError, "surrogate must be one of 'm4n'"),
        ({"decode": "viterbi"}, ValueError, "decode must be one of"),
        ({"decode": "expected"}, ValueError, "decode expected needs a distribution"),
        ({"surrogate": "crf", "smoothing": 1.0}, ValueError, "smoothing smooths the max-min game"),
        ({"smoothing": -1.0}, ValueError, "smoothing"),
        ({"features": "cosine"}, ValueError, "features must be one of"),
        ({"features": "rbf", "gamma": -1.0}, ValueError, "gamma"),
        ({"features": "rbf", "gamma": "scale"}, TypeError, "gamma"),
        ({"features": "nystrom", "n_components": 0}, ValueError, "n_components"),
        ({"lam": 0.0}, ValueError, "^lam: found"),
        ({"lam": -1}, ValueError, "lam"),
        ({"lam": "1"}, TypeError, "lam must be a number"),
        ({"tol": 2.0}, ValueError, "tol"),
        ({"tol": None}, TypeError, "tol"),
        ({"max_iter": 0}, ValueError, "max_iter"),
        ({"max_iter": 2.5}, TypeError, "max_iter must be a whole number"),
        ({"random_state": -1}, ValueError, "random_state"),
        ({"random_state": "x"}, ValueError, "random_state must be"),
        ({"n_jobs": 0}, ValueError, "n_jobs"),
        ({"n_jobs": "all"}, TypeError, "n_jobs"),
        ({"standardize": "yes"}, TypeError, "standardize"),
        ({"fit_intercept": 1}, TypeError, "fit_intercept"),
    ],
)
def test_parameters(parameters, error, words):
    with pytest.raises(error, match=words) as raised:
        MaxMinClassifier(**parameters).fit(X, y)
    assert "--" not in str(raised.value)


def test_search_parameters():
    for lams in ([], [0.0], [-1.0], [np.nan], 3.0, ["a"]):
        with pytest.raises(ValueError, match="lams"):
            MaxMinClassifierCV(lams=lams).fit(X, y)
    with pytest.raises(ValueError, match="decode"):
        MaxMinClassifierCV(surrogate="auto", decode="argmax").fit(X, y)
    with pytest.raises(ValueError, match="empty"):
        MaxMinClassifierCV(surrogate=[]).fit(X, y)
    with pytest.raises(TypeError, match="extend must be True or False"):
        MaxMinClassifierCV(extend="no").fit(X, y)
    with pytest.raises(ValueError, match="surrogate must be"):
        MaxMinClassifierCV(surrogate=["m4n", "svm"]).fit(X, y)


def test_labels():
    with pytest.raises(ValueError, match="one class"):
        MaxMinClassifier().fit(X, np.zeros(len(y)))
    with pytest.raises(ValueError, match="continuous|Unknown label type"):
        MaxMinClassifier().fit(X, np.linspace(0, 1, len(y)) + 0.001)
    with pytest.raises(ValueError, match="twice"):
        MaxMinOrdinalClassifier(categories=[0, 1, 1, 2]).fit(X, y)


def test_model_files(tmp_path):
    with pytest.raises(FileNotFoundError):
        MaxMinClassifier.load(tmp_path / "none.m4n")
    data = MaxMinClassifier().fit(X, y).to_bytes()
    for broken in (b"", data[:100], data[:-1], data + b"x", data[:200] + b"?" + data[201:]):
        with pytest.raises(ValueError):
            MaxMinClassifier.from_bytes(broken)
    with pytest.raises(ValueError, match="task multiclass"):
        MaxMinOrdinalClassifier.from_bytes(data)
    with pytest.raises(OSError, match="none"):
        MaxMinClassifier().fit(X, y).save(tmp_path / "none" / "model.m4n")
    with pytest.raises(ValueError, match="too large"):
        MaxMinClassifier().fit(X * 1e-3, y).predict(np.full((1, 5), 1e308))


def test_sequences():
    words, labels = tagged(10)
    with pytest.raises(ValueError, match="do not belong together"):
        MaxMinSequenceLabeler().fit(words, labels[:-1])
    with pytest.raises(ValueError, match="sequence 0 has .* tokens and"):
        MaxMinSequenceLabeler().fit(words, [labels[0][:-1], *labels[1:]])
    with pytest.raises(ValueError, match="no tokens"):
        MaxMinSequenceLabeler().fit([*words, []], [*labels, []])
    for bad in ({"a": None}, {"a": object()}, {3: 1.0}, {"a": [1]}, ["x", 3]):
        with pytest.raises(TypeError, match="sequence 0, token 1"):
            MaxMinSequenceLabeler().fit([[{"a": 1.0}, bad]], [["x", "y"]])
    with pytest.raises(ValueError, match="sequence 0, token 0.*nan"):
        MaxMinSequenceLabeler().fit([[{"a": float("nan")}, {}]], [["x", "y"]])
    fitted = MaxMinSequenceLabeler().fit(words, labels)
    with pytest.raises(TypeError, match="attributes"):
        fitted.predict([np.zeros((3, 2))])
    rows = MaxMinSequenceLabeler(tol=0.1).fit(np.split(X, 40), np.split(y, 40))
    with pytest.raises(TypeError, match="rows of numbers"):
        rows.predict(words)
    with pytest.raises(ValueError, match="features"):
        rows.predict([X[:, :2]])
    with pytest.raises(ValueError, match="surrogate qs"):
        MaxMinSequenceLabeler(surrogate="qs").fit(words, labels)


def test_oracles():
    with pytest.raises(ValueError, match="finite"):
        oracle.max_min([0.0, np.nan])
    with pytest.raises(ValueError, match=r"\(2, 2\); expected \(3, 3\)"):
        oracle.max_min([0.0, 1.0, 2.0], np.ones((2, 2)))
    with pytest.raises(ValueError, match=r"y\[1\] is 3"):
        oracle.loss(np.zeros((2, 3)), [0, 3])
    with pytest.raises(ValueError, match="shape"):
        oracle.loss(np.zeros((2, 3)), [0])
    with pytest.raises(ValueError, match="square"):
        oracle.assignment(np.zeros((2, 3)))
    with pytest.raises(ValueError, match="axes"):
        oracle.viterbi([1.0, 2.0], np.zeros((2, 2)))
    with pytest.raises(ValueError, match=r"transitions has the shape \(3, 3\); expected \(2, 2\)"):
        oracle.viterbi([[1.0, 2.0]], np.zeros((3, 3)))
    with pytest.raises(ValueError, match="cost must be one of"):
        oracle.max_min_permutation(np.zeros((2, 2)), "kendall")


def test_scores_refuse_truths_and_weights_that_do_not_fit():
    X = np.random.default_rng(0).normal(size=(30, 2))
    y = (X[:, 0] > 0).astype(int)
    model = MaxMinClassifier(cost_matrix=[[0, 1], [2, 0]]).fit(X, y)
    right = model.score(X, y)
    with pytest.warns(DataConversionWarning):
        assert model.score(X, y[:, None]) == right
    assert model.score(X, y, np.full(30, 2.0)) == pytest.approx(right)
    for bad in (y[:1], y[:10], np.stack([y, y], axis=1)):
        with pytest.raises(ValueError):
            model.score(X, bad)
    for weight in (np.ones(3), np.zeros(30), -np.ones(30), np.full(30, np.nan)):
        with pytest.raises(ValueError):
            model.score(X, y, weight)
    ranks = np.argsort(np.argsort(X @ [[1, 0, 1], [0, 1, 1]])) + 1
    ranker = MaxMinRanker().fit(X, ranks)
    for weight in (np.ones(3), np.ones(31), np.zeros(30), -np.ones(30)):
        with pytest.raises(ValueError):
            ranker.score(X, ranks, weight)


def test_a_broken_csr_matrix_is_refused():
    X = sparse.random(20, 5, density=0.5, format="csr", random_state=0)
    y = np.arange(20) % 2
    X.indptr[5] = 100000
    X.has_sorted_indices = X.has_canonical_format = False
    with pytest.raises(ValueError):
        MaxMinClassifier().fit(X, y)


def test_dicts_nested_without_end_are_refused():
    token = {"word": "a"}
    token["again"] = token
    with pytest.raises(ValueError, match="nested"):
        MaxMinSequenceLabeler().fit([[token], [{"word": "b"}]], [["x"], ["y"]])


@pytest.mark.parametrize("size", [1e90, 1e150, -1e300])
def test_oracles_refuse_scores_that_meet_the_padding(size):
    chain, transitions = np.full((1, 3, 2), size), np.zeros((2, 2))
    with pytest.raises(ValueError, match="at most"):
        oracle.max_min(chain[0])
    with pytest.raises(ValueError, match="at most"):
        oracle.max_min_chain(chain, transitions)
    with pytest.raises(ValueError, match="at most"):
        oracle.viterbi(np.zeros((1, 3, 2)), transitions + size)


@pytest.mark.parametrize(
    "cv, words",
    [
        ([], "cv gives no splits"),
        ([([0, 1, -1], [2, 3])], "numbers 0 to 119"),
        ([([0, 1, 2], [3, 120])], "numbers 0 to 119"),
        ([([0.5, 1.5], [2.0])], "numbers 0 to 119"),
    ],
)
def test_splits(cv, words):
    with pytest.raises(ValueError, match=words):
        MaxMinClassifierCV(lams=[1.0], cv=cv).fit(X, y)


def test_surrogates_of_a_search():
    for surrogate in (None, 3, {"m4n"}):
        with pytest.raises(ValueError, match="surrogate must be one of"):
            MaxMinClassifierCV(surrogate=surrogate).fit(X, y)


def test_class_weights_that_are_negative_are_called_by_their_name():
    with pytest.raises(ValueError, match="class_weight must .* not negative; found -1.0 for the class 0"):
        MaxMinClassifier(class_weight={0: -1.0, 1: 1.0, 2: 1.0}).fit(X, y)


def test_more_threads_than_there_can_be():
    assert MaxMinClassifier(n_jobs=2**40).fit(X, y).to_bytes() == MaxMinClassifier().fit(X, y).to_bytes()


def test_bytes_of_other_kinds():
    fitted = MaxMinClassifier().fit(X, y)
    for same in (bytearray(fitted.to_bytes()), memoryview(fitted.to_bytes())):
        assert MaxMinClassifier.from_bytes(same).to_bytes() == fitted.to_bytes()
    with pytest.raises(TypeError, match="bytes-like"):
        MaxMinClassifier.from_bytes("model.m4n")


@pytest.mark.parametrize(
    "parameters, words",
    [
        ({"hash_bits": -1}, "hash_bits must be None or from 1 to 30"),
        ({"hash_bits": 0}, "hash_bits must be None or from 1 to 30"),
        ({"hash_bits": 31}, "hash_bits"),
        ({"hash_bits": 8, "min_count": 2}, "hash_bits keeps none"),
        ({"min_count": 0}, "min_count must be from 1"),
        ({"min_count": 10**30}, "min_count must be from 1"),
    ],
)
def test_attributes(parameters, words):
    with pytest.raises(ValueError, match=words):
        MaxMinSequenceLabeler(**parameters).fit(*tagged(10))


def test_labels_of_two_kinds():
    tokens = [[{"a": 1.0}, {"b": 1.0}], [{"a": 1.0}, {"b": 1.0}]]
    with pytest.raises(ValueError, match="sequence 1 has labels that are text and others that are not"):
        MaxMinSequenceLabeler().fit(tokens, [["x", "y"], ["x", 1]])
    with pytest.raises(ValueError, match="expected one kind"):
        MaxMinSequenceLabeler().fit(tokens, [["0", "1"], [0, 1]])


def test_features_of_different_widths_say_of_what():
    with pytest.raises(ValueError, match="sequence 1 has 3 features; expected 4"):
        MaxMinSequenceLabeler().fit([np.zeros((2, 4)), np.zeros((2, 3))], [[0, 1], [0, 1]])
    with pytest.raises(ValueError, match="example 1 has 4 rows of 3 features; expected 4 of 2"):
        MaxMinMatcher().fit([np.zeros((2, 2, 2)), np.zeros((2, 2, 3))], [[0, 1], [1, 0]])


@pytest.mark.parametrize("surrogate", ["m4n", "crf"])
def test_scores_that_meet_the_padding_are_refused(surrogate):
    fitted = MaxMinClassifier(surrogate=surrogate, standardize=False).fit(X, y)
    with pytest.raises(ValueError, match="too large for the model"):
        fitted.predict(np.full((1, 5), 1e120) * np.sign(fitted.coef_[0]))
    rows = MaxMinSequenceLabeler(surrogate=surrogate, tol=0.1).fit(np.split(X, 40), np.split(y, 40))
    with pytest.raises(ValueError, match="beyond what can be computed with"):
        rows.predict([np.full((2, 5), -1e120) * np.sign(rows.coef_[0])])


def test_words_of_oracles():
    for call in (
        lambda: oracle.max_min([0.0, 1.0], np.ones(2)),
        lambda: oracle.viterbi(np.zeros((3, 2)), np.zeros(2)),
        lambda: oracle.assignment(np.full((2, 2), 1e305)),
        lambda: oracle.sinkhorn(np.full((2, 2), 1e305)),
    ):
        with pytest.raises(ValueError) as raised:
            call()
        assert "--" not in str(raised.value) and "incompatible" not in str(raised.value)
    with pytest.raises(ValueError, match="cost") as raised:
        oracle.max_min_permutation(np.zeros((2, 2)), np.zeros((2, 2)))
    assert "--" not in str(raised.value)
    with pytest.raises(ValueError, match="surrogate must be one of"):
        oracle.loss(np.zeros((1, 3)), [0], surrogate="qs")
    with pytest.raises(ValueError, match=r"expected \(2,\) or \(2, 2\)"):
        oracle.max_min_permutation(np.zeros((2, 2)), np.zeros((3, 3)))
    with pytest.raises(TypeError, match="max_iter"):
        oracle.sinkhorn(np.zeros((2, 2)), max_iter=1.5)
