"""The estimators inside scikit-learn's world."""

import inspect
import pickle
import re
import warnings

import numpy as np
import pandas as pd
import pytest
from conftest import blobs
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import m4n
from m4n import MaxMinClassifier, MaxMinClassifierCV, MaxMinOrdinalClassifier, MaxMinOrdinalClassifierCV

COST = np.array([[0.0, 1.0, 5.0], [2.0, 0.0, 1.0], [3.0, 0.25, 0.0]])


def test_version_is_that_of_the_build():
    from conftest import ROOT

    assert f"project(m4n VERSION {m4n.__version__} " in (ROOT / "CMakeLists.txt").read_text()


def test_certificate_brackets_the_optimum_of_another_solver():
    """Of the crf, whose optimum scikit-learn finds too: P(w) = mean log-loss + lam/2 |w|^2, the bias included."""
    X, y = blobs(seed=1)
    lam = 0.02
    found = MaxMinClassifier(surrogate="crf", lam=lam, tol=1e-6, standardize=False).fit(X, y)
    rows = np.hstack([X, np.ones((len(X), 1))])
    other = LogisticRegression(C=1 / (lam * len(X)), fit_intercept=False, tol=1e-10, max_iter=10000).fit(rows, y)
    w = other.coef_
    scores = rows @ w.T
    losses = np.log(np.exp(scores).sum(axis=1)) - scores[np.arange(len(y)), y]
    optimum = losses.mean() + lam / 2 * (w**2).sum()
    certificate = found.certificate_
    assert certificate.dual <= optimum + 1e-9 and optimum <= certificate.primal + 1e-9
    assert certificate.gap == certificate.primal - certificate.dual
    assert certificate.converged and certificate.relative_gap <= 1e-6
    assert np.allclose(found.coef_, w[:, :-1], atol=1e-3) and np.allclose(found.intercept_, w[:, -1], atol=1e-3)
    assert np.allclose(found.predict_proba(X), other.predict_proba(rows), atol=1e-3)
    assert np.allclose(np.exp(found.predict_log_proba(X)), found.predict_proba(X))


def test_a_fit_that_stops_early_says_so():
    X, y = blobs(seed=2)
    with pytest.warns(ConvergenceWarning, match="max_iter") as caught:
        estimator = MaxMinClassifier(max_iter=1, tol=1e-8).fit(X, y)
    assert caught[0].filename == __file__
    assert not estimator.certificate_.converged and estimator.n_iter_ == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert MaxMinClassifier().fit(X, y).certificate_.converged


def test_probabilities_exist_for_crf_only():
    X, y = blobs(seed=3)
    assert hasattr(MaxMinClassifier(surrogate="crf"), "predict_proba")
    for surrogate in ("m4n", "m3n", "qs"):
        estimator = MaxMinClassifier(surrogate=surrogate).fit(X, y)
        assert not hasattr(estimator, "predict_proba") and not hasattr(estimator, "predict_log_proba")
    probabilities = MaxMinClassifier(surrogate="crf").fit(X, y).predict_proba(X)
    assert np.allclose(probabilities.sum(axis=1), 1) and (probabilities >= 0).all()


def test_decisions_of_least_expected_cost():
    X, y = blobs(seed=4)
    estimator = MaxMinClassifier(COST, surrogate="crf").fit(X, y)
    assert estimator.decode_ == "expected"
    assert np.array_equal(estimator.predict(X), (estimator.predict_proba(X) @ COST).argmin(axis=1))


def test_score_is_minus_the_mean_cost():
    X, y = blobs(seed=5)
    plain = MaxMinClassifier().fit(X, y)
    assert plain.score(X, y) == (plain.predict(X) == y).mean()
    weight = np.linspace(1, 2, len(y))
    costly = MaxMinClassifier(COST).fit(X, y)
    costs = COST[y, costly.predict(X)]
    assert costly.score(X, y) == -costs.mean()
    assert costly.score(X, y, weight) == pytest.approx(-np.average(costs, weights=weight))
    assert costly.score(X[:1], [99]) == -COST.max()  # a class never seen costs the most
    words = MaxMinClassifier(COST).fit(X, np.array(["a", "b", "c"])[y])
    assert words.score(X[:2], ["nobody", "b"]) == -(COST.max() + COST[1, "abc".index(words.predict(X[1:2])[0])]) / 2
    graded = MaxMinOrdinalClassifier().fit(X, y)
    assert graded.score(X, y) == -np.abs(graded.predict(X) - y).mean()


def test_pickle_and_clone():
    X, y = blobs(seed=6)
    for estimator in (MaxMinClassifier(COST, features="rbf"), MaxMinOrdinalClassifierCV(lams=[1, 0.1], cv=3)):
        fitted = clone(estimator).fit(X, y)
        again = pickle.loads(pickle.dumps(fitted))
        assert np.array_equal(again.predict(X), fitted.predict(X))
        assert again.certificate_ == fitted.certificate_ and again.to_bytes() == fitted.to_bytes()
        assert repr(clone(fitted)) == repr(estimator)
        assert not hasattr(clone(fitted), "classes_")


def test_loaded_estimators_know_what_they_are(tmp_path):
    X, y = blobs(seed=7)
    for labels in (y, np.array([-1.0, 0.0, 2.0])[y], np.array(["x", "y", "ü"])[y], y == 1):
        fitted = MaxMinClassifier(smoothing=2.0, lam=0.01, tol=1e-4).fit(X, labels)
        fitted.save(tmp_path / "model.m4n")
        loaded = MaxMinClassifier.load(tmp_path / "model.m4n")
        assert loaded.classes_.tolist() == fitted.classes_.tolist()
        assert (loaded.smoothing, loaded.lam, loaded.tol, loaded.n_features_in_) == (2.0, 0.01, 1e-4, X.shape[1])
        assert clone(loaded).fit(X, labels).to_bytes() == fitted.to_bytes()
    cv = MaxMinClassifierCV.from_bytes(fitted.to_bytes())
    assert cv.lams == [0.01] and np.array_equal(cv.decision_function(X), fitted.decision_function(X))


def test_grid_search_and_cross_validation():
    X, y = blobs(seed=10)
    grid = GridSearchCV(MaxMinClassifier(COST), {"lam": [1.0, 0.01], "surrogate": ["m4n", "crf"]}, cv=3, n_jobs=2)
    grid.fit(X, y)
    assert grid.best_score_ <= 0 and grid.best_params_["lam"] in (1.0, 0.01)
    assert (cross_val_score(MaxMinOrdinalClassifier(), X, y, cv=3, n_jobs=2) <= 0).all()
    pipeline = make_pipeline(StandardScaler(), MaxMinClassifier(standardize=False, lam=0.01))
    assert cross_val_score(pipeline, X, y, cv=3).mean() > 0.5


def test_data_frames():
    X, y = blobs(seed=11)
    frame = pd.DataFrame(X, columns=list("abcde"))
    frame["kind"] = np.array(["u", "v"])[(X[:, 0] > 0).astype(int)]
    target = pd.Series(np.array(["low", "mid", "top"])[y], index=np.arange(len(y)) + 7)
    columns = make_column_transformer((OneHotEncoder(), ["kind"]), remainder="passthrough")
    model = make_pipeline(columns, MaxMinClassifier()).fit(frame, target)
    assert set(model.predict(frame)) <= {"low", "mid", "top"}
    plain = MaxMinClassifier().fit(frame[list("abcde")], target)
    assert list(plain.feature_names_in_) == list("abcde")
    with pytest.raises(ValueError, match="feature names"):
        plain.predict(frame[list("edcba")])


def test_parameters_that_features_have_no_use_for():
    X, y = blobs(seed=13)
    plain = MaxMinClassifier().fit(X, y).to_bytes()
    assert MaxMinClassifier(gamma=3.0, n_components=7, degree=5).fit(X, y).to_bytes() == plain
    kernel = MaxMinClassifier(features="rbf", gamma=0.5).fit(X, y)
    assert kernel.gamma_ == 0.5 and not hasattr(kernel, "coef_")
    assert not hasattr(kernel.set_params(features="linear").fit(X, y), "gamma_")


def test_verbose(capsys):
    X, y = blobs(seed=14)
    MaxMinClassifier(verbose=1).fit(X, y)
    assert "gap" in capsys.readouterr().out
    MaxMinClassifierCV(verbose=1, lams=[1.0], cv=3).fit(X, y)
    assert "paths" in capsys.readouterr().out


def test_what_an_observer_raises_ends_the_fit(monkeypatch):
    import m4n._estimator

    def angry(_):
        def show(*_):
            raise RuntimeError("enough")

        return show

    monkeypatch.setattr(m4n._estimator, "printer", angry)
    X, y = blobs(seed=15)
    with pytest.raises(RuntimeError, match="enough"):
        MaxMinClassifier(tol=1e-9).fit(X, y)


@pytest.mark.parametrize(
    "words",
    [
        dict(standardize=False),
        dict(fit_intercept=False),
        dict(features="poly", degree=2),
        dict(features="nystrom", n_components=10),
    ],
)
def test_a_loaded_estimator_refits_to_the_same_bytes(words):
    X, y = blobs(seed=16)
    model = MaxMinClassifier(**words).fit(X, y)
    loaded = MaxMinClassifier.from_bytes(model.to_bytes())
    assert clone(loaded).fit(X, y).to_bytes() == model.to_bytes()


def test_a_failed_refit_leaves_the_model_as_it_was():
    X, y = blobs(seed=17)
    model = MaxMinClassifier().fit(X, y)
    before = model.predict(X)
    for rows in (X, X[:, :2], pd.DataFrame(X[:, :3], columns=list("abc"))):
        with pytest.raises(ValueError):
            model.set_params(lam=-1.0).fit(rows, np.where(y == y[0], "a", "b"))
        assert (model.predict(X) == before).all() and model.n_features_in_ == X.shape[1]
        assert not hasattr(model, "feature_names_in_")


@pytest.mark.parametrize("estimator", [MaxMinClassifier(lam=-1.0), MaxMinClassifierCV(lams=[-1.0])])
def test_a_failed_first_fit_is_no_fit(estimator):
    X, y = blobs(seed=17)
    with pytest.raises(ValueError):
        estimator.fit(X, y)
    with pytest.raises(NotFittedError):
        estimator.predict(X)
    assert not hasattr(estimator, "n_features_in_") and not hasattr(estimator, "cv_results_")


def test_equal_costs_are_scored_by_accuracy_whatever_they_are_called():
    X, y = blobs(seed=20)
    model = MaxMinClassifier("zero-one").fit(X, y)
    assert (
        model.score(X, y) == MaxMinClassifier.from_bytes(model.to_bytes()).score(X, y) == np.mean(model.predict(X) == y)
    )


def test_class_weights_of_zero_and_weights_of_zero_are_the_same():
    X, y = blobs(n=90, seed=29)
    by_class = MaxMinClassifier(class_weight={0: 0, 1: 1, 2: 1}).fit(X, y)
    both = MaxMinClassifier(class_weight={0: 0, 1: 1, 2: 1}).fit(X, y, np.ones(90))
    assert by_class.lam_ == both.lam_ == 1 / 60 and by_class.classes_.tolist() == [1, 2]
    with pytest.raises(ValueError, match="class_weight leaves no example"):
        MaxMinClassifier(class_weight={0: 0, 1: 0, 2: 0}).fit(X, y)


def test_defaults_are_those_of_the_command_line(cli):
    described = {
        row[0].strip("-"): row for row in re.findall(r"\| `(--[a-z-]+)[^|]*\| ([^|]*) \|", cli("help", "--markdown"))
    }
    parameters = inspect.signature(MaxMinClassifier).parameters
    for option, name in (("tol", "tol"), ("epochs", "max_iter"), ("degree", "degree"), ("smoothing", "smoothing")):
        default, said = parameters[name].default, described[option][1].strip()
        assert said == str(default) or float(said) == default, (option, said, default)
