"""The order of grades, and costs by the names of classes."""

import warnings

import numpy as np
import pandas as pd
import pytest
from conftest import blobs
from sklearn.base import clone
from sklearn.exceptions import DataConversionWarning

from m4n import MaxMinClassifier, MaxMinOrdinalClassifier


def test_order_of_grades():
    X, y = blobs(seed=12)
    words = np.array(["low", "mid", "high"])
    by_number = MaxMinOrdinalClassifier().fit(X, y)
    given = MaxMinOrdinalClassifier(categories=list(words)).fit(X, words[y])
    ordered = pd.Series(pd.Categorical(words[y], categories=list(words), ordered=True))
    for estimator in (given, MaxMinOrdinalClassifier().fit(X, ordered)):
        assert list(estimator.classes_) == list(words)
        assert np.array_equal(estimator.decision_function(X), by_number.decision_function(X))
        assert estimator.score(X, words[y]) == by_number.score(X, y)
    with pytest.warns(UserWarning, match="alphabet"):
        MaxMinOrdinalClassifier().fit(X, words[y])
    with pytest.raises(ValueError, match="not in categories"):
        MaxMinOrdinalClassifier(categories=["low", "high"]).fit(X, words[y])
    empty = MaxMinOrdinalClassifier(categories=["low", "none", "mid", "high"]).fit(X, words[y])
    assert empty.cost_matrix_.shape == (4, 4)


def test_costs_of_a_data_frame_follow_its_names():
    pd = pytest.importorskip("pandas")
    X, y = blobs(seed=18)
    names = np.array(["low", "mid", "top"])[np.unique(y, return_inverse=True)[1]]
    cost = pd.DataFrame([[0, 1, 2], [3, 0, 4], [5, 6, 0]], index=["low", "mid", "top"], columns=["low", "mid", "top"])
    shuffled = cost.loc[["top", "low", "mid"], ["mid", "top", "low"]]
    right = MaxMinClassifier(cost).fit(X, names)
    assert MaxMinClassifier(shuffled).fit(X, names).to_bytes() == right.to_bytes()
    assert MaxMinClassifier(cost.to_numpy()).fit(X, names).to_bytes() == right.to_bytes()
    with pytest.raises(ValueError, match="expected"):
        MaxMinClassifier(cost.rename(index={"low": "lowest"})).fit(X, names)


def test_numbers_written_as_words_have_no_named_cost():
    X, y = blobs(seed=19)
    words = np.array(["1", "9", "10"])[np.unique(y, return_inverse=True)[1]]
    with pytest.raises(ValueError, match="sort as words"):
        MaxMinClassifier("absolute").fit(X, words)
    with pytest.raises(ValueError, match="sort as words"):
        MaxMinOrdinalClassifier().fit(X, words)
    MaxMinOrdinalClassifier(categories=["1", "9", "10"]).fit(X, words)


def test_the_order_of_grades_in_every_form_of_pandas():
    X, y = blobs(seed=20)
    words = np.array(["low", "mid", "high"])
    ordered = pd.Categorical(words[y], categories=["low", "none", "mid", "high"], ordered=True)
    declared = ["low", "none", "mid", "high"]  # grades that no example has are still steps
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        expected = MaxMinOrdinalClassifier(categories=declared).fit(X, words[y])
        for form in (ordered, pd.Series(ordered), pd.Series(ordered).to_frame()):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DataConversionWarning)
                fitted = MaxMinOrdinalClassifier().fit(X, form)
            assert fitted.classes_.tolist() == declared and fitted.to_bytes() == expected.to_bytes()
    with pytest.warns(UserWarning, match="order of the alphabet") as caught:
        MaxMinOrdinalClassifier().fit(X, words[y])
    assert [w.filename for w in caught if "alphabet" in str(w.message)] == [__file__]


def test_grades_that_are_fractions():
    X, y = blobs(seed=21)
    grades = np.array([0.5, 1.25, 3.0])
    fitted = MaxMinOrdinalClassifier(categories=grades).fit(X, grades[y])
    assert fitted.classes_.tolist() == grades.tolist() and set(fitted.predict(X)) <= set(grades)
    same = MaxMinOrdinalClassifier().fit(X, y)
    assert np.array_equal(fitted.coef_, same.coef_) and fitted.score(X, grades[y]) == same.score(X, y)
    loaded = MaxMinOrdinalClassifier.from_bytes(fitted.to_bytes())
    assert np.array_equal(loaded.predict(X), fitted.predict(X))
    with pytest.raises(ValueError, match="continuous"):
        MaxMinOrdinalClassifier().fit(X, grades[y] + 0.1)


def test_a_frame_of_costs_may_name_classes_that_are_absent():
    X, y = blobs(seed=22)
    names = np.array(["b", "c", "a"])
    costs = pd.DataFrame(np.arange(16.0).reshape(4, 4) + 1, index=list("abcd"), columns=list("abcd"))
    costs = costs.where(~np.eye(4, dtype=bool), 0.0)
    few = MaxMinClassifier(costs).fit(X, names[y])
    exact = MaxMinClassifier(costs.loc[list("abc"), list("abc")].to_numpy()).fit(X, names[y])
    assert few.to_bytes() == exact.to_bytes()
    shuffled = MaxMinClassifier(costs.loc[list("dcab"), list("badc")]).fit(X, names[y])
    assert shuffled.to_bytes() == exact.to_bytes()
    with pytest.raises(ValueError, match="may have more"):
        MaxMinClassifier(costs.to_numpy()).fit(X, names[y])
    with pytest.raises(ValueError, match="expected each of"):
        MaxMinClassifier(costs.loc[list("abd"), list("abd")]).fit(X, names[y])


def test_a_loaded_ordinal_model_knows_the_order_of_its_grades():
    X, y = blobs(seed=24)
    for grades in (np.array(["low", "mid", "high"]), np.array([0.5, 1.25, 3.0]), np.array([3, 1, 2])):
        fitted = MaxMinOrdinalClassifier(categories=grades).fit(X, grades[y])
        loaded = MaxMinOrdinalClassifier.from_bytes(fitted.to_bytes())
        again = clone(loaded).fit(X, grades[y])
        assert again.classes_.tolist() == grades.tolist() and again.to_bytes() == fitted.to_bytes()
    assert MaxMinOrdinalClassifier.from_bytes(MaxMinOrdinalClassifier().fit(X, y).to_bytes()).categories is None
