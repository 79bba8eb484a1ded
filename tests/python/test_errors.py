"""What is refused, as data: the parameter, its value, what was expected and what to do."""

import os
import pickle

import numpy as np
import pandas as pd
import pytest
from conftest import tagged

import m4n
from m4n import (
    MaxMinClassifier,
    MaxMinClassifierCV,
    MaxMinMultiLabelClassifier,
    MaxMinOrdinalClassifier,
    MaxMinRanker,
    MaxMinSequenceLabeler,
    oracle,
)

X = np.array([[0.0], [1.0], [2.0], [3.0]])
Y = np.array([0, 0, 1, 1])
MARKS = np.array([[0, 1], [1, 0], [0, 0], [1, 1]])
RANKS = np.array([[1, 2], [2, 1], [1, 2], [2, 1]])
TOKENS, LABELS = tagged(4)
HUGE, ENDLESS = 10**400, 10**5000  # more than a double holds, more than Python writes


def error_of(estimator, *data):
    with pytest.raises(m4n.Error) as caught:
        estimator.fit(*(data or (X, Y)))
    return caught.value


def refused(**parameters):
    return error_of(MaxMinClassifier(**parameters))


def test_a_wrong_value_is_named():
    error = refused(lam=-1.0)
    assert (error.option, error.value) == ("lam", "-1.0")
    assert error.expected and error.expected in str(error)


def test_the_remedy_speaks_of_parameters():
    error = refused(surrogate="m3n", smoothing=1)
    assert error.remedy == "Leave it out, or use surrogate m4n"
    assert str(error).endswith(error.remedy)
    assert "--" not in str(error) and "=>" not in str(error)


@pytest.mark.parametrize(
    "estimator, data, option, value",
    [
        (MaxMinClassifier(surrogate="svm"), (X, Y), "surrogate", "svm"),
        (MaxMinClassifier(surrogate=3), (X, Y), "surrogate", "3"),
        (MaxMinClassifier(surrogate=None), (X, Y), "surrogate", "None"),
        (MaxMinClassifier(features="cosine"), (X, Y), "features", "cosine"),
        (MaxMinClassifier(decode="viterbi"), (X, Y), "decode", "viterbi"),
        (MaxMinClassifier(class_weight="heavy"), (X, Y), "class_weight", "heavy"),
        (MaxMinClassifier(class_weight=[1, 2, 3]), (X, Y), "class_weight", "[1, 2, 3]"),
        (MaxMinClassifier(class_weight={0: 1, 1: -2.0}), (X, Y), "class_weight", "-2.0"),
        (MaxMinClassifier(class_weight={0: 1, 1: "x"}), (X, Y), "class_weight", "x"),
        (MaxMinClassifier(class_weight={7: 1}), (X, Y), "class_weight", "{7: 1}"),
        (MaxMinClassifier(random_state=-1), (X, Y), "random_state", "-1"),
        (MaxMinClassifier(random_state=True), (X, Y), "random_state", "True"),
        (MaxMinClassifier(random_state="x"), (X, Y), "random_state", "x"),
        (MaxMinClassifier(n_jobs=0), (X, Y), "n_jobs", "0"),
        (MaxMinClassifier("cubic"), (X, Y), "cost_matrix", "cubic"),
        (MaxMinClassifier(np.ones((3, 3))), (X, Y), "cost_matrix", "(3, 3)"),
        (MaxMinClassifier(5), (X, Y), "cost_matrix", "()"),
        (MaxMinClassifier(), (X, Y, [1, 1, 1, -1]), "sample_weight", "-1.0"),
        (MaxMinOrdinalClassifier("cubic"), (X, Y), "cost_matrix", "cubic"),
        (MaxMinOrdinalClassifier(categories=[0, 0, 1]), (X, Y), "categories", "0"),
        (MaxMinOrdinalClassifier(categories=[1, 2]), (X, Y), "categories", "[1, 2]"),
        (MaxMinClassifierCV(lams=[-1.0], cv=2), (X, Y), "lams", "[-1.0]"),
        (MaxMinClassifierCV(lams="x", cv=2), (X, Y), "lams", "x"),
        (MaxMinClassifierCV(surrogate=[]), (X, Y), "surrogate", "[]"),
        (MaxMinClassifierCV(cv="x"), (X, Y), "cv", "x"),
        (MaxMinClassifierCV(cv=[5]), (X, Y), "cv", "5"),
        (MaxMinClassifierCV(cv=[([0, 9], [1])]), (X, Y), "cv", "array([0, 9])"),
        (MaxMinMultiLabelClassifier("kendall"), (X, MARKS), "cost", "kendall"),
        (MaxMinMultiLabelClassifier(np.ones(3)), (X, MARKS), "cost", "(3,)"),
        (MaxMinMultiLabelClassifier(edges="path"), (X, MARKS), "edges", "path"),
        (MaxMinMultiLabelClassifier(edges=5), (X, MARKS), "edges", "5"),
        (MaxMinMultiLabelClassifier(edges=[(0, 7)]), (X, MARKS), "edges", "(0, 7)"),
        (MaxMinMultiLabelClassifier(edges=[(0, [])]), (X, MARKS), "edges", "(0, [])"),
        (MaxMinRanker("kendall"), (X, RANKS), "cost", "kendall"),
        (MaxMinRanker(np.ones(3)), (X, RANKS), "cost", "(3,)"),
        (MaxMinSequenceLabeler("cubic"), (TOKENS, LABELS), "cost_matrix", "cubic"),
        (MaxMinSequenceLabeler(min_count=0), (TOKENS, LABELS), "min_count", "0"),
        (MaxMinSequenceLabeler(hash_bits=31), (TOKENS, LABELS), "hash_bits", "31"),
    ],
)  # fmt: skip
def test_what_python_checks_itself_is_refused_alike(estimator, data, option, value):
    error = error_of(estimator, *data)
    assert (error.option, error.value) == (option, value)
    assert error.expected and option in str(error)


def test_errors_keep_their_fields_on_the_way_between_processes():
    error = refused(surrogate="svm")
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.option, again.value) == (str(error), "surrogate", "svm")


@pytest.mark.parametrize("size", [HUGE, -HUGE, ENDLESS], ids=["huge", "minus-huge", "endless"])
@pytest.mark.parametrize("name", ["lam", "tol", "max_iter", "smoothing", "gamma"])
def test_numbers_without_end(name, size):
    error = refused(**{name: size})
    assert error.option == name and len(str(error)) < 200


def test_whole_numbers_without_end():
    for name in ("degree", "n_components"):
        assert refused(**{name: ENDLESS}, features="poly" if name == "degree" else "nystrom").option == name
    assert refused(random_state=2**64).option == "random_state"
    assert MaxMinClassifier(random_state=2**64 - 1).fit(X, Y).certificate_.converged
    for size in (HUGE, ENDLESS, -ENDLESS):
        assert refused(random_state=size).option == "random_state"
        assert error_of(MaxMinClassifierCV(lams=[size], cv=2)).option == "lams"
        assert error_of(MaxMinClassifierCV(cv=[size])).option == "cv"
        assert refused(cost_matrix=[[0, size], [1, 0]]).option == "cost_matrix"
        assert refused(class_weight={0: size, 1: 1}).option == "class_weight"
        assert error_of(MaxMinClassifier(), X, Y, [size, 1, 1, 1]).option == "sample_weight"
        assert error_of(MaxMinRanker([size, 1]), X, RANKS).option == "cost"
        assert error_of(MaxMinSequenceLabeler(min_count=size), TOKENS, LABELS).option == "min_count"
        for name, call in (
            ("scores", lambda: oracle.max_min([size, 0])),  # noqa: B023
            ("cost", lambda: oracle.max_min([1, 0], [[0, size], [1, 0]])),  # noqa: B023
            ("tol", lambda: oracle.max_min_permutation(np.zeros((2, 2)), tol=size)),  # noqa: B023
            ("smoothing", lambda: oracle.loss([[0.0, 1.0]], [0], smoothing=size)),  # noqa: B023
        ):
            with pytest.raises(m4n.Error, match=name) as caught:
                call()
            assert caught.value.option == name


@pytest.mark.parametrize(
    "categories",
    [
        [np.nan, 0, 1],
        [None, 0, 1],
        [pd.NA, 0, 1],
        [[0, 1], [2]],
        [[0, 1]],
        [0, "1"],
        ["0", "1"],
        [{0}, {1}],
        {0, 1},
        "01",
        5,
    ],
)
def test_grades(categories):
    error = error_of(MaxMinOrdinalClassifier(categories=categories))
    assert error.option == "categories" and "categories" in str(error)


@pytest.mark.parametrize("parameters", [{"gamma": -1}, {"gamma": np.nan}, {"degree": -5}, {"n_components": -3}])
@pytest.mark.parametrize("features", ["linear", "rbf"])
def test_parameters_that_are_not_used_must_make_sense(parameters, features):
    (name,) = parameters
    assert refused(**parameters, features=features).option == name


def test_parts_of_a_split_are_not_empty():
    for held_out in ([], np.zeros(4, bool)):
        assert "empty held-out part" in str(error_of(MaxMinClassifierCV(cv=[(np.arange(4), held_out)])))
    assert "empty training part" in str(error_of(MaxMinClassifierCV(cv=[([], np.arange(4))])))


def test_costs_of_a_data_frame_that_names_a_class_twice():
    error = refused(cost_matrix=pd.DataFrame(np.ones((2, 2)), index=[0, 0], columns=[0, 1]))
    assert error.option == "cost_matrix" and "cost_matrix has two rows called '0'" in str(error)


def test_classes_of_weight_zero_are_called_so():
    X, y = np.arange(6.0)[:, None], np.arange(6) % 3
    error = error_of(MaxMinClassifier(np.ones((3, 3)) - np.eye(3), class_weight={0: 0, 1: 1, 2: 1}), X, y)
    assert "Weights of zero leave out the classes [0]" in str(error)
    error = error_of(MaxMinClassifier(class_weight={0: 0, 1: 0, 2: 1}), X, y)
    assert "Weights of zero leave out the classes [0, 1]" in str(error)


def test_sequences_of_another_depth():
    error = error_of(MaxMinSequenceLabeler(), [[None, None], [None]], [["a", "b"], ["a"]])
    assert "sequence 0 is [None, None]; expected a row of numbers or attributes for every token" in str(error)
    error = error_of(MaxMinSequenceLabeler(), [X, [1.0, 2.0]], [Y, [0, 1]])
    assert "sequence 1 is [1.0, 2.0]; expected a row" in str(error)
    words, rows = MaxMinSequenceLabeler().fit(TOKENS, LABELS), MaxMinSequenceLabeler().fit([X], [Y])
    for fitted, sequences in (
        (words, TOKENS),
        (words, TOKENS[:1]),
        (rows, [X, X]),
        (rows, [X, X[:2]]),
        (rows, X[None]),
    ):
        with pytest.raises(TypeError, match="predict_single expects one sequence"):
            fitted.predict_single(sequences)
    assert words.predict_single(TOKENS[0]) == words.predict(TOKENS)[0]
    assert rows.predict_single(X) == rows.predict_single(X.tolist())


def test_model_files_that_are_none(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path in ("/dev/zero", tmp_path, tmp_path / "pipe"):
        with pytest.raises(m4n.Error, match="is no regular file") as caught:
            MaxMinClassifier.load(path)
        assert caught.value.value == str(path) and "from_bytes" in caught.value.remedy
    large = tmp_path / "large"
    with open(large, "wb") as file:
        file.truncate(2**40)  # zeros that take no room
    with pytest.raises(m4n.Error, match="is not a model file"):
        MaxMinClassifier.load(large)
    with pytest.raises(FileNotFoundError, match="none.m4n"):
        MaxMinClassifier.load(tmp_path / "none.m4n")
