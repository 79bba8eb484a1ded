"""Input that is odd rather than wrong: what it means is what a user would say, or it is refused by name."""

import os

import numpy as np
import pandas as pd
import pytest
from conftest import blobs, tagged
from scipy import sparse
from sklearn.model_selection import LeaveOneOut

from m4n import (
    MaxMinClassifier,
    MaxMinClassifierCV,
    MaxMinMatcher,
    MaxMinMultiLabelClassifier,
    MaxMinOrdinalClassifier,
    MaxMinRanker,
    MaxMinSequenceLabeler,
    oracle,
)

X, y = blobs(n=60)
COST = [[0, 1, 2], [3, 0, 4], [5, 6, 0]]
RANKS = np.argsort(np.argsort(X[:, :3], axis=1), axis=1) + 1
MARKS = (X[:, :3] > 0).astype(int)


@pytest.mark.parametrize("judge", [MaxMinClassifier(COST), MaxMinOrdinalClassifier()])
@pytest.mark.parametrize("labels", [y.astype(str), np.where(y > 0, y, np.nan), [None] * 60, [*y[:-1], "2"]])
def test_labels_of_another_kind_are_not_judged(judge, labels):
    with pytest.raises(ValueError, match="y (has|holds)|dtype"):
        judge.fit(X, y).score(X, np.asarray(labels, dtype=object if labels[0] is None else None))


def test_labels_that_come_back_as_numbers_say_so():
    words = np.array(["1", "2", "3"])[y]
    loaded = MaxMinClassifier.from_bytes(MaxMinClassifier(COST).fit(X, words).to_bytes())
    with pytest.raises(ValueError, match=r"the classes are \[1 2 3\]; expected labels of that kind"):
        loaded.score(X, words)
    flags = MaxMinClassifier([[0, 1], [5, 0]]).fit(X, y > 0)
    again = MaxMinClassifier.from_bytes(flags.to_bytes())
    assert again.classes_.dtype == bool and again.score(X, y > 0) == flags.score(X, y > 0)


def test_a_label_that_was_never_seen_costs_the_most():
    fitted = MaxMinClassifier(COST).fit(X, y)
    assert fitted.score(X[:1], [7]) == -6
    with pytest.raises(ValueError, match="no label of y is a class"):
        fitted.score(X[:2], [7, 8])


def test_costs_of_outputs_go_by_their_names():
    marks = pd.DataFrame(MARKS, columns=list("abc"))
    costs = pd.DataFrame([[5.0, 1.0, 1.0], [1.0, 1.0, 1.0]], columns=list("abc"))
    expected = MaxMinMultiLabelClassifier(costs.to_numpy()).fit(X, marks).to_bytes()
    assert MaxMinMultiLabelClassifier(costs[["c", "a", "b"]]).fit(X, marks).to_bytes() == expected
    ranks, weights = pd.DataFrame(RANKS, columns=list("abc")), pd.Series([1.0, 2.0, 5.0], index=list("abc"))
    expected = MaxMinRanker(weights.to_numpy()).fit(X, ranks).to_bytes()
    assert MaxMinRanker(weights[["b", "c", "a"]]).fit(X, ranks).to_bytes() == expected
    for estimator, target in (
        (MaxMinMultiLabelClassifier(costs.rename(columns={"a": "z"})), marks),
        (MaxMinRanker(weights.rename({"a": "z"})), ranks),
    ):
        with pytest.raises(ValueError, match="cost names .* expected"):
            estimator.fit(X, target)


def test_grades_whose_numbers_fall():
    for grades in ([3, 2, 1], [2, 1, 0]):
        order = np.array(grades)
        given = MaxMinOrdinalClassifier(categories=grades).fit(X, order[y])
        in_pandas = MaxMinOrdinalClassifier().fit(X, pd.Series(pd.Categorical(order[y], grades, ordered=True)))
        assert given.classes_.tolist() == in_pandas.classes_.tolist() == grades
        assert np.array_equal(given.coef_, MaxMinOrdinalClassifier().fit(X, y).coef_)


@pytest.mark.parametrize("path", ["model.m4n\0junk", b"model.m4n\0junk"])
def test_paths_are_not_cut(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match="null byte"):
        MaxMinClassifier().fit(X, y).save(path)
    assert os.listdir(tmp_path) == []


def test_paths_of_bytes(tmp_path):
    fitted = MaxMinClassifier().fit(X, y)
    for name in (b"plain.m4n", b"\xff.m4n"):
        path = os.path.join(os.fsencode(tmp_path), name)
        for form in (path, os.fsdecode(path)):
            fitted.save(form)
            assert MaxMinClassifier.load(form).to_bytes() == fitted.to_bytes()


def test_names_that_no_file_can_hold():
    broken = "\ud800"
    with pytest.raises(ValueError, match="the class .* is no text of Unicode"):
        MaxMinClassifier().fit(X, np.array([broken, "b", "c"], dtype=object)[y])
    with pytest.raises(ValueError, match="the column .* is no text"):
        MaxMinClassifier().fit(pd.DataFrame(X, columns=[broken, *"bcde"]), y)
    with pytest.raises(ValueError, match="the column of y .* is no text"):
        MaxMinRanker().fit(X, pd.DataFrame(RANKS, columns=[broken, "b", "c"]))
    with pytest.raises(ValueError, match="sequence 0, token 1: an attribute is no text"):
        MaxMinSequenceLabeler().fit([[{"a": 1.0}, {broken: 1.0}]], [["x", "y"]])
    with pytest.raises(ValueError, match="the column of y '1' occurs twice"):
        MaxMinMultiLabelClassifier().fit(X, pd.DataFrame(MARKS, columns=[1, "1", 2]))
    for label in ("", "a\nb"):
        with pytest.raises(ValueError, match="sequence 0 has a label that is empty or holds a line break"):
            MaxMinSequenceLabeler().fit([[["p"], ["q"]]], [["x", label]])


def test_attribute_values():
    for value in (10**400, 1e13, 1j):
        with pytest.raises((TypeError, ValueError), match="sequence 0, token 0"):
            MaxMinSequenceLabeler().fit([[{"a": value}, {}]], [["x", "y"]])


def test_records_of_numbers_as_sequences():
    record = np.zeros(60, dtype=[("pad", "i1"), ("x", "f8", (5,))])
    record["x"] = X
    parts, labels = np.split(record["x"], 6), np.split(y, 6)
    expected = MaxMinSequenceLabeler().fit(np.split(X, 6), labels)
    assert MaxMinSequenceLabeler().fit(parts, labels).to_bytes() == expected.to_bytes()
    assert expected.predict(parts) == expected.predict(np.split(X, 6))


def test_a_constant_column_of_any_size():
    plain = MaxMinClassifier().fit(X, y)
    for size in (1.0, 1e16, 1.7e18, 1e200):
        fitted = MaxMinClassifier().fit(np.column_stack([X, np.full(60, size)]), y)
        assert fitted.certificate_.converged and fitted.score(
            np.column_stack([X, np.full(60, size)]), y
        ) == plain.score(X, y)


def test_columns_of_outputs_go_by_their_names():
    marks = pd.DataFrame(MARKS, columns=list("abc"))
    tagger = MaxMinMultiLabelClassifier().fit(X, marks)
    assert tagger.score(X, marks[["c", "a", "b"]]) == tagger.score(X, marks)
    ranks = pd.DataFrame(RANKS, columns=list("abc"))
    ranker = MaxMinRanker().fit(X, ranks)
    assert ranker.score(X, ranks[["b", "c", "a"]]) == ranker.score(X, ranks)
    with pytest.raises(ValueError, match="the model was trained on"):
        ranker.score(X, ranks.rename(columns={"a": "z"}))
    numbered = pd.DataFrame(MARKS, columns=[1, 2, 3])
    assert MaxMinMultiLabelClassifier(edges=[(1, 2)]).fit(X, numbered).edges_.tolist() == [[0, 1]]


def test_names_of_users_that_look_like_options():
    names = np.array(["--loss", "--bias", "--x"])[y]
    with pytest.raises(ValueError, match="'--(loss|bias|x)'"):
        MaxMinClassifier(np.ones((3, 3))).fit(X, names)


def test_zeros_that_are_stored():
    rows = sparse.csr_matrix(np.where(np.abs(X) > 1, X, 0.0))
    stored = rows.copy()
    stored.data[::3] = 0.0
    without = stored.copy()
    without.eliminate_zeros()
    for estimator, target in ((MaxMinRanker(), RANKS), (MaxMinClassifier(standardize=True), y)):
        assert estimator.fit(stored, target).to_bytes() == estimator.fit(without, target).to_bytes()
    assert (stored.data == 0).any()


def test_folds_of_examples_that_are_absent():
    weight = np.ones(60)
    weight[[3, 7]] = 0
    found = MaxMinClassifierCV(lams=[0.1], cv=LeaveOneOut()).fit(X, y, weight)
    assert sum(key.startswith("split") for key in found.cv_results_) == 58


@pytest.mark.parametrize(
    "call, words",
    [
        (lambda: MaxMinClassifier().fit(X, y, np.full(60, 1e308)), "sample_weight must be zero or from"),
        (lambda: MaxMinClassifier().fit(X, y).score(X, y, -np.ones(60)), "sample_weight"),
        (lambda: MaxMinClassifier(class_weight={0: np.nan, 1: 1, 2: 1}).fit(X, y), "class_weight"),
        (lambda: MaxMinClassifier({}).fit(X, y), "cost_matrix must be"),
        (lambda: MaxMinClassifier(sparse.eye(3)).fit(X, y), "cost_matrix must be"),
        (lambda: MaxMinRanker({}).fit(X, RANKS), "cost must be"),
        (lambda: MaxMinRanker("precision@0").fit(X, RANKS), "cost must be one of"),
        (lambda: MaxMinMultiLabelClassifier(object()).fit(X, MARKS), "cost must be"),
        (lambda: MaxMinMultiLabelClassifier(edges=5).fit(X, MARKS), "edges"),
        (lambda: MaxMinMultiLabelClassifier(edges=[0, 1]).fit(X, MARKS), "edges holds"),
        (lambda: MaxMinOrdinalClassifier(categories={0, 1, 2}).fit(X, y), "categories must be a list"),
        (lambda: MaxMinClassifier(verbose=np.ones(2)).fit(X, y), "verbose"),
        (lambda: MaxMinClassifier(random_state=True).fit(X, y), "random_state"),
        (lambda: MaxMinClassifier(n_jobs=True).fit(X, y), "n_jobs"),
        (lambda: MaxMinClassifierCV(lams=[1e-40]).fit(X, y), "lams"),
        (lambda: MaxMinClassifierCV(decode=5).fit(X, y), "decode"),
        (lambda: MaxMinClassifierCV(cv=[(np.arange(9)[:, None], np.arange(9))]).fit(X, y), "cv"),
        (lambda: MaxMinClassifierCV(cv=[(np.ones(5, bool), np.arange(9))]).fit(X, y), "cv"),
        (lambda: MaxMinSequenceLabeler().fit(None, [["a"]]), "X must be a list"),
        (lambda: MaxMinSequenceLabeler().fit([{"w": 1.0}], [["a"]]), r"X\[0\] is a token"),
        (lambda: MaxMinSequenceLabeler().fit([["a", "b"]], [["x", "y"]]), "found the token 'a'"),
        (lambda: MaxMinRanker().fit(X, RANKS + (np.arange(60) == 7)[:, None]), "row 7 of y is"),
        (lambda: MaxMinOrdinalClassifier().fit(X, y + 0.5), "categories"),
        (lambda: MaxMinSequenceLabeler().fit([np.array(3.0)], [["a"]]), "sequence 0"),
        (lambda: MaxMinSequenceLabeler().fit([X[:2]], ["ab"]), r"y\[0\]"),
        (lambda: MaxMinMatcher().fit(None, None), "X must be a list"),
        (lambda: MaxMinMatcher().fit([np.zeros((2, 2, 0))], [[0, 1]]), r"X\[0\]"),
        (lambda: oracle.loss(np.zeros((1, 2)), [0], smoothing="x"), "smoothing"),
        (lambda: oracle.max_min_chain(np.zeros((2, 2)), np.zeros((2, 2)), tol=np.nan), "tol"),
        (lambda: oracle.max_min(np.zeros(2) + 1j), "scores must be numbers"),
        (lambda: oracle.max_min(["a", "b"]), "scores must be numbers"),
    ],
)  # fmt: skip
def test_messages_name_the_parameter(call, words):
    with pytest.raises((TypeError, ValueError), match=words) as raised:
        call()
    assert "incompatible function arguments" not in str(raised.value) and "--" not in str(raised.value)


def test_tokens_of_a_generator():
    tokens, labels = tagged(10)
    expected = MaxMinSequenceLabeler().fit(tokens, labels)
    fitted = MaxMinSequenceLabeler().fit((s for s in tokens), (s for s in labels))
    assert fitted.to_bytes() == expected.to_bytes()
    assert fitted.predict(s for s in tokens) == expected.predict(tokens)
