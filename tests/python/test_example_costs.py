"""Costs that differ from example to example, in columns of X and in arrays."""

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import m4n
from m4n import MaxMinClassifier, MaxMinClassifierCV, MaxMinOrdinalClassifier

RATES = np.array([0.2, 0.3, 0.15, 0.2, 0.8, 0.4, 0.3, 0.4])
DEFAULTS = np.array([0.04, 0.12, 0.25, 0.30, 0.35, 0.45, 0.60, 0.08])
COSTS = pd.DataFrame([[0, "amount"], ["profit", 0]], index=["default", "repaid"], columns=["default", "repaid"])


def loans(n, seed=0):
    random = np.random.default_rng(seed)
    region = random.integers(0, 8, n)
    X = pd.DataFrame(np.eye(8)[region], columns=[f"x{r + 1}" for r in range(8)])
    X["amount"] = random.choice([100.0, 1000.0, 10000.0], n)
    X["profit"] = RATES[region] * X["amount"]
    y = np.where(random.uniform(size=n) < DEFAULTS[region], "default", "repaid")
    return X, y


def as_array(X):
    out = np.zeros((len(X), 2, 2))
    out[:, 0, 1], out[:, 1, 0] = X["amount"], X["profit"]
    return out


def bill(X, y, predicted):
    wrong = predicted != y
    return float((wrong * np.where(y == "default", X["amount"], X["profit"])).mean())


@pytest.mark.parametrize("surrogate", ["m4n", "m3n", "crf", "qs"])
def test_columns_and_arrays_say_the_same(surrogate):
    X, y = loans(400)
    by_columns = MaxMinClassifier(COSTS, surrogate=surrogate).fit(X, y)
    by_array = MaxMinClassifier(surrogate=surrogate).fit(X, y, costs=as_array(X))
    new, truth = loans(200, 1)
    predicted = by_columns.predict(new)
    np.testing.assert_array_equal(predicted, by_array.predict(new, costs=as_array(new)))
    np.testing.assert_array_equal(by_columns.coef_, by_array.coef_)
    expected = -bill(new, truth, predicted)
    assert by_columns.score(new, truth) == pytest.approx(expected)
    assert by_array.score(new, truth, costs=as_array(new)) == pytest.approx(expected)


def test_a_model_of_arrays_asks_for_an_array_of_frames_too():
    X, y = loans(100)
    model = MaxMinClassifier().fit(X, y, costs=as_array(X))
    for frame in (X, X.to_numpy()):
        with pytest.raises(m4n.Error, match=r"Pass costs, an array of shape \(100, 2, 2\)"):
            model.score(frame, y)


@pytest.mark.parametrize("smoothing", [0.0, 1.0])
def test_rules_near_the_best(smoothing):
    X, y = loans(20000, 2)
    model = MaxMinClassifier(COSTS, smoothing=smoothing, ignore=["amount", "profit"]).fit(X, y)
    assert model.n_features_in_ == 8
    regions = pd.DataFrame(np.eye(8), columns=[f"x{r + 1}" for r in range(8)])
    regions["amount"], regions["profit"] = 1000.0, 1000 * RATES
    best = np.where(DEFAULTS < (1 - DEFAULTS) * RATES, "repaid", "default")
    np.testing.assert_array_equal(model.predict(regions), best)


def test_choosing_and_probabilities():
    X, y = loans(600, 3)
    search = MaxMinClassifierCV(COSTS, surrogate=["m4n", "smoothed", "crf"], lams=[1e-2, 1e-3], extend=False, cv=3)
    search.fit(X, y)
    assert search.best_cost_ > 0
    array = MaxMinClassifierCV(surrogate="crf", lams=[1e-2], cv=3).fit(X, y, costs=as_array(X))
    assert array.predict_proba(X).shape == (600, 2)
    smoothed = MaxMinClassifier(COSTS, smoothing=1.0).fit(X, y)
    np.testing.assert_allclose(smoothed.predict_proba(X).sum(axis=1), 1)


def test_files_keep_the_columns(tmp_path):
    X, y = loans(300, 4)
    model = MaxMinClassifier(COSTS, ignore=["amount"]).fit(X, y)
    model.save(tmp_path / "loans.m4n")
    back = MaxMinClassifier.load(tmp_path / "loans.m4n")
    np.testing.assert_array_equal(back.predict(X), model.predict(X))
    assert back.ignore == ["amount"]
    assert [list(row) for row in np.asarray(back.cost_matrix)] == [[0, "amount"], ["profit", 0]]
    again = clone(back).fit(X, y)
    np.testing.assert_array_equal(again.coef_, model.coef_)


def test_weights_of_zero_leave_costs_out_too():
    X, y = loans(300, 5)
    weight = np.ones(300)
    weight[::3] = 0
    kept = weight > 0
    first = MaxMinClassifier(COSTS).fit(X, y, sample_weight=weight)
    second = MaxMinClassifier(COSTS).fit(X[kept], y[kept], sample_weight=weight[kept])
    np.testing.assert_array_equal(first.coef_, second.coef_)
    third = MaxMinClassifier().fit(X, y, sample_weight=weight, costs=as_array(X))
    np.testing.assert_array_equal(first.coef_, third.coef_)


def test_actions_by_example():
    X, y = loans(500, 6)
    X["call"] = 0.02 * X["amount"]
    costs = COSTS.assign(call="call")
    model = MaxMinClassifier(costs).fit(X, y)
    assert set(model.predict(X)) <= {"default", "repaid", "call"}
    assert "call" in model.predict(X)
    array = np.concatenate([as_array(X), np.repeat(X["call"].to_numpy()[:, None, None], 2, axis=1)], axis=2)
    by_array = MaxMinClassifier().fit(X, y, costs=array)
    assert by_array.predictions_.tolist() == ["default", "repaid", "reject"]
    np.testing.assert_array_equal(by_array.predict(X, costs=array) == "reject", model.predict(X) == "call")


def test_tools_of_scikit_learn():
    X, y = loans(300, 7)
    scores = cross_val_score(MaxMinClassifier(COSTS), X, y, cv=3)
    assert (scores < 0).all()
    with config_context(enable_metadata_routing=True):
        model = MaxMinClassifier().set_fit_request(costs=True).set_score_request(costs=True)
        search = GridSearchCV(model, {"lam": [1e-6, 1e-7]}, cv=3).fit(X, y, costs=as_array(X))
        assert search.best_score_ < 0
        pipeline = make_pipeline(
            FunctionTransformer(),
            MaxMinClassifier().set_fit_request(costs=True).set_predict_request(costs=True),
        )
        assert len(pipeline.fit(X, y, costs=as_array(X)).predict(X, costs=as_array(X))) == 300


def test_grades_have_them_too():
    X, y = loans(200, 8)
    grades = (y == "repaid").astype(int)
    model = MaxMinOrdinalClassifier().fit(X, grades, costs=as_array(X))
    assert model.score(X, grades, costs=as_array(X)) < 0


def refused(match, call):
    with pytest.raises((m4n.Error, TypeError), match=match):
        call()


def test_refusals():
    X, y = loans(60, 9)
    refused("'fee', which X has not", lambda: MaxMinClassifier([[0, "fee"], [1, 0]]).fit(X, y))
    refused("X has no names", lambda: MaxMinClassifier(COSTS).fit(X.to_numpy(), y))
    refused("ignore names 'fee'", lambda: MaxMinClassifier(ignore=["fee"]).fit(X, y))
    refused("X has no names", lambda: MaxMinClassifier(ignore=["fee"]).fit(X.to_numpy(), y))
    refused("ignore must be", lambda: MaxMinClassifier(ignore=["a,b"]).fit(X, y))
    refused("ignore must be a list", lambda: MaxMinClassifier(ignore="amount").fit(X, y))
    refused("shape", lambda: MaxMinClassifier().fit(X, y, costs=as_array(X)[:5]))
    refused("shape", lambda: MaxMinClassifier().fit(X, y, costs=np.zeros((60, 2))))
    refused("both set", lambda: MaxMinClassifier(COSTS).fit(X, y, costs=as_array(X)))
    refused("no more than the right answer", lambda: MaxMinClassifier().fit(X, y, costs=np.zeros((60, 2, 2))))
    for value in (-1.0, np.nan, np.inf):
        bad = as_array(X)
        bad[7, 0, 1] = value
        refused("example 8", lambda bad=bad: MaxMinClassifier().fit(X, y, costs=bad))
    refused("must be an array", lambda: MaxMinClassifier().fit(X, y, costs=[["a"]]))
    model = MaxMinClassifier().fit(X, y, costs=as_array(X))
    refused("Pass costs", lambda: model.predict(X.to_numpy()))
    refused("Pass costs", lambda: model.predict(X))
    refused("shape", lambda: model.predict(X, costs=np.zeros((60, 2, 3))))
    columns = MaxMinClassifier(COSTS).fit(X, y)
    refused("leave them out", lambda: columns.predict(X, costs=as_array(X)))
    refused("same for all", lambda: MaxMinClassifier().fit(X, y).predict(X, costs=as_array(X)))
    assert len(MaxMinClassifier(COSTS, decode="argmax", ignore=["amount", "profit"]).fit(X, y).predict(
        X.drop(columns=["amount", "profit"]))) == 60  # fmt: skip
