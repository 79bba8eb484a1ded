"""The labeller of sequences."""

import pickle

import numpy as np
import pandas as pd
import pytest
from conftest import tagged
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score

from m4n import MaxMinSequenceLabeler, MaxMinSequenceLabelerCV


def rows(sentences=40, d=4, seed=0):
    rng = np.random.default_rng(seed)
    X = [rng.normal(size=(rng.integers(1, 8), d)) for _ in range(sentences)]
    return X, [(x[:, 0] + 0.5 * rng.normal(size=len(x)) > 0).astype(int) + (x[:, 1] > 1) for x in X]


def test_forms_of_attributes_are_those_of_crfsuite():
    """Every way to write the same attributes gives the same model."""
    y = [["a", "b", "a"], ["b", "b"]]
    plain = [
        [{"x:1": 1.0, "y": 2.0}, {"z": 1.0}, {"x:2": 1.0, "p:q": 0.5}],
        [{"z": 1.0, "s:u": 1.0, "s:v": 1.0}, {"n": 0.0}],
    ]
    fancy = [
        [{"x": "1", "y": np.float32(2)}, ["z"], {"x": "2", "p": {"q": 0.5}}],
        [{"z": True, "s": ["u", "v"]}, {"n": False}],
    ]
    assert MaxMinSequenceLabeler().fit(plain, y).to_bytes() == MaxMinSequenceLabeler().fit(fancy, y).to_bytes()
    names = set(MaxMinSequenceLabeler().fit(fancy, y).attributes_)
    assert names == {"x:1", "x:2", "y", "z", "p:q", "s:u", "s:v", "n"}


def test_layouts_and_types_of_rows():
    X, y = rows()
    expected = MaxMinSequenceLabeler().fit(X, y).to_bytes()
    assert MaxMinSequenceLabeler().fit([np.asfortranarray(x) for x in X], y).to_bytes() == expected
    assert (
        MaxMinSequenceLabeler(n_jobs=2).fit([x.tolist() for x in X], [list(labels) for labels in y]).to_bytes()
        == expected
    )
    single = [x.astype(np.float32) for x in X]
    double = [x.astype(np.float64) for x in single]
    assert MaxMinSequenceLabeler().fit(single, y).to_bytes() == MaxMinSequenceLabeler().fit(double, y).to_bytes()
    exact = MaxMinSequenceLabeler(surrogate="crf", tol=1e-8)
    dense = exact.fit(X, y).predict(X)
    assert exact.fit([sparse.csr_matrix(x) for x in X], y).predict([sparse.csr_array(x) for x in X]) == dense


def by_hand(model, x):
    """The best labelling, by trying all."""
    k = len(model.classes_)
    unary = x @ model.coef_.T + model.intercept_
    best, value = None, -np.inf
    for code in range(k ** len(x)):
        labels = [code // k**t % k for t in range(len(x))]
        score = (
            sum(unary[t, label] for t, label in enumerate(labels)) + model.start_[labels[0]] + model.end_[labels[-1]]
        )
        score += sum(model.transitions_[a, b] for a, b in zip(labels, labels[1:]))
        if score > value + 1e-12:
            best, value = labels, score
    return model.classes_[best].tolist()


def test_predictions_are_the_best_labellings_of_the_weights():
    X, y = rows(seed=1)
    model = MaxMinSequenceLabeler(lam=0.02).fit(X, y)
    assert model.decode_ == "viterbi" and model.certificate_.converged
    assert all(model.predict_single(x) == by_hand(model, x) for x in X)


def test_probabilities():
    X, y = rows(seed=2)
    model = MaxMinSequenceLabeler(surrogate="crf").fit(X, y)
    marginals = model.predict_marginals(X)
    assert [len(m) for m in marginals] == [len(x) for x in X]
    assert all(sum(token.values()) == pytest.approx(1) and set(token) == {0, 1, 2} for m in marginals for token in m)
    most_likely = [[max(token, key=token.get) for token in m] for m in marginals]
    expected = MaxMinSequenceLabeler(surrogate="crf", decode="expected").fit(X, y)
    assert most_likely == expected.predict(X)
    assert not hasattr(MaxMinSequenceLabeler(), "predict_marginals")


def test_scores():
    X, y = rows(seed=3)
    plain = MaxMinSequenceLabeler().fit(X, y)
    assert plain.score(X, y) == pytest.approx(np.mean(np.concatenate(plain.predict(X)) == np.concatenate(y)))
    cost = np.array([[0, 1, 4], [2, 0, 1], [1, 1, 0.0]])
    costly = MaxMinSequenceLabeler(cost).fit(X, y)
    means = [cost[truth, found].mean() for truth, found in zip(y, costly.predict(X))]
    assert costly.score(X, y) == pytest.approx(-np.mean(means))
    assert costly.decode_ == "adversary"


def test_sequences_without_tokens():
    X, y = tagged(20)
    model = MaxMinSequenceLabeler().fit(X, y)
    assert model.predict([[], X[0], []]) == [[], model.predict([X[0]])[0], []]
    assert model.predict([]) == [] and model.predict([[]]) == [[]]


def test_unknown_attributes_are_passed_over():
    X, y = tagged(20)
    model = MaxMinSequenceLabeler().fit(X, y)
    assert model.predict([[{"never": "seen"}] + X[0][1:]]) == model.predict([[{}] + X[0][1:]])


def test_search_pickle_and_grids():
    X, y = tagged(40)
    found = MaxMinSequenceLabelerCV(lams=[1.0, 0.1], cv=3, surrogate="auto", n_jobs=2).fit(X, y)
    assert set(found.cv_results_["surrogate"]) == {"m4n", "m3n", "crf"}
    again = MaxMinSequenceLabeler(lam=found.lam_, surrogate=found.surrogate_, decode=found.decode_).fit(X, y)
    assert again.to_bytes() == found.to_bytes()
    copy = pickle.loads(pickle.dumps(found))
    assert copy.predict(X) == found.predict(X)
    assert clone(found).get_params() == found.get_params()
    grid = GridSearchCV(MaxMinSequenceLabeler(), {"lam": [1.0, 0.1]}, cv=3).fit(X, y)
    assert 0 < grid.best_score_ <= 1
    assert len(cross_val_score(MaxMinSequenceLabeler(lam=0.1), X, y, cv=3)) == 3


def test_tokens_without_names_do_not_hide_those_that_have_some():
    X = [[[], ["a"]], [["b"], ["a"]], [[], []]]
    y = [["x", "y"], ["x", "y"], ["x", "x"]]
    fitted = MaxMinSequenceLabeler(lam=0.01).fit(X, y)
    assert fitted.attributes_ == ["a", "b"] and fitted.predict(X) == y
    assert fitted.predict([[[], []]]) == fitted.predict([X[2]])


def test_data_frames_are_held_to_their_columns():
    rng = np.random.default_rng(0)
    rows = [pd.DataFrame(rng.normal(size=(4, 2)), columns=["a", "b"]) for _ in range(10)]
    y = [(frame["a"] > 0).astype(int).tolist() for frame in rows]
    fitted = MaxMinSequenceLabeler().fit(rows, y)
    assert fitted.feature_names_in_.tolist() == ["a", "b"]
    assert fitted.predict(rows) == fitted.predict([frame.to_numpy() for frame in rows])
    with pytest.raises(ValueError, match=r"\['b', 'a'\]; the model was trained on \['a', 'b'\]"):
        fitted.predict([frame[["b", "a"]] for frame in rows])
    with pytest.raises(ValueError, match="sequence 1 has the columns"):
        MaxMinSequenceLabeler().fit([rows[0], rows[1][["b", "a"]], *rows[2:]], y)
    assert not hasattr(fitted.fit([frame.to_numpy() for frame in rows], y), "feature_names_in_")


def test_nothing_to_judge_by():
    X, y = tagged(5)
    with pytest.raises(ValueError, match="no token"):
        MaxMinSequenceLabeler().fit(X, y).score([], [])
