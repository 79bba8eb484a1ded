"""The estimators inside scikit-learn's world."""

import inspect
import pickle
import re
import warnings

import numpy as np
import pandas as pd
import pytest
from conftest import blobs, write_csv
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.exceptions import ConvergenceWarning, DataConversionWarning, NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, cross_val_score
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


def test_search_chooses_the_least_mean_cost():
    """By hand: one fit a fold and lam; the estimator's table has the same numbers where fits are exact enough."""
    X, y = blobs(seed=8)
    lams, folds = [1.0, 0.1, 0.01], KFold(4, shuffle=True, random_state=0)
    found = MaxMinClassifierCV(COST, lams=lams, cv=folds, extend=False, tol=1e-9).fit(X, y)
    by_hand = [
        np.mean([
            -MaxMinClassifier(COST, lam=lam, tol=1e-9).fit(X[train], y[train]).score(X[test], y[test])
            for train, test in folds.split(X)
        ])
        for lam in lams
    ]  # fmt: skip
    assert np.allclose(found.cv_results_["mean_cost"], by_hand)
    assert by_hand[lams.index(found.lam_)] == min(by_hand) and found.best_cost_ == pytest.approx(min(by_hand))
    per_split = np.array([found.cv_results_[f"split{s}_cost"] for s in range(4)])
    assert np.allclose(per_split.mean(axis=0), by_hand) and np.allclose(
        per_split.std(axis=0), found.cv_results_["std_cost"]
    )


def test_search_over_surrogates():
    X, y = blobs(seed=9)
    found = MaxMinClassifierCV(COST, surrogate="auto", lams=[0.1, 0.01], cv=3).fit(X, y)
    table = found.cv_results_
    tried = set(zip(table["surrogate"].tolist(), table["smoothing"].tolist(), table["decode"].tolist()))
    assert tried == {
        ("m4n", 0.0, "argmax"),
        ("m4n", 0.0, "adversary"),
        ("m4n", 4.0, "expected"),
        ("m3n", 0.0, "argmax"),
        ("crf", 0.0, "expected"),
    }
    assert hasattr(found, "predict_proba") == (found.surrogate_ == "crf")
    two = MaxMinClassifierCV(surrogate=["crf", "smoothed"], lams=[0.1], cv=3).fit(X, y)
    assert set(zip(two.cv_results_["surrogate"], two.cv_results_["smoothing"])) == {("crf", 0.0), ("m4n", 4.0)}
    for n_jobs in (2, -1):
        again = MaxMinClassifierCV(COST, surrogate="auto", lams=[0.1, 0.01], cv=3, n_jobs=n_jobs).fit(X, y)
        assert again.to_bytes() == found.to_bytes()


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


def test_equal_costs_are_scored_by_accuracy_whatever_they_are_called():
    X, y = blobs(seed=20)
    model = MaxMinClassifier("zero-one").fit(X, y)
    assert (
        model.score(X, y) == MaxMinClassifier.from_bytes(model.to_bytes()).score(X, y) == np.mean(model.predict(X) == y)
    )


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


def test_a_loaded_search_says_what_it_chose():
    X, y = blobs(seed=23)
    found = MaxMinClassifierCV(surrogate="auto", lams=[1.0, 0.1], cv=3, extend=False).fit(X, y)
    loaded = MaxMinClassifierCV.from_bytes(found.to_bytes())
    assert (loaded.surrogate_, loaded.smoothing_, loaded.lam_) == (found.surrogate_, found.smoothing_, found.lam_)


def test_a_loaded_ordinal_model_knows_the_order_of_its_grades():
    X, y = blobs(seed=24)
    for grades in (np.array(["low", "mid", "high"]), np.array([0.5, 1.25, 3.0]), np.array([3, 1, 2])):
        fitted = MaxMinOrdinalClassifier(categories=grades).fit(X, grades[y])
        loaded = MaxMinOrdinalClassifier.from_bytes(fitted.to_bytes())
        again = clone(loaded).fit(X, grades[y])
        assert again.classes_.tolist() == grades.tolist() and again.to_bytes() == fitted.to_bytes()
    assert MaxMinOrdinalClassifier.from_bytes(MaxMinOrdinalClassifier().fit(X, y).to_bytes()).categories is None


def test_candidates_are_those_of_the_command_line(cli, tmp_path):
    X, y = blobs(seed=25)
    data = write_csv(tmp_path / "data.csv", X, y)
    found = MaxMinClassifierCV(surrogate="auto", smoothing=1.0, lams=[0.1], cv=3, extend=False).fit(X, y)
    assert 1.0 in found.cv_results_["smoothing"] and 4.0 not in found.cv_results_["smoothing"]
    tried = cli("cv", data, "--surrogates", "auto", "--smoothing", 1, "--lambdas", "0.1", "--folds", 3, "--json")
    assert {one["smoothing"] for one in tried["results"]} == set(found.cv_results_["smoothing"].tolist())
    for surrogate, words in ((["m4n", "m4n"], "twice"), (["m4n", "crf"], "smoothing is for the surrogate")):
        with pytest.raises(ValueError, match=words) as raised:
            MaxMinClassifierCV(surrogate=surrogate, smoothing=1.0, lams=[0.1], cv=3).fit(X, y)
        assert "--" not in str(raised.value)


def test_the_usual_lams_are_walked_down_while_that_pays():
    X, y = blobs(n=90, seed=26, spread=0.3)
    noise = np.random.default_rng(0).integers(0, 3, size=90)
    for labels in (y, noise):
        table = MaxMinClassifierCV(cv=3, tol=0.05).fit(X, labels).cv_results_
        best = table["lam"][table["mean_cost"].argmin()]
        assert {2.0**-p for p in range(9)} <= set(table["lam"])
        assert table["lam"].min() >= 2.0**-24 and best >= table["lam"].min()
    short = MaxMinClassifierCV(cv=3, tol=0.05, lams=[1.0, 0.5], extend=False).fit(X, y).cv_results_
    assert set(short["lam"]) == {1.0, 0.5}


def test_fits_of_a_search_that_stop_early_are_counted():
    X, y = blobs(seed=27)
    with pytest.warns(ConvergenceWarning, match="of the 6 fits on parts of the data stopped") as caught:
        found = MaxMinClassifierCV(lams=[1e-3, 1e-4], cv=3, max_iter=1, tol=1e-9, extend=False).fit(X, y)
    assert not found.cv_results_["converged"].any()
    assert {w.filename for w in caught} == {__file__}


def test_splitters_see_the_data_and_groups():
    X, y = blobs(seed=28)

    class ByFirstColumn:
        def split(self, rows, labels, groups):
            assert rows is X and labels is y
            yield np.flatnonzero(rows[:, 0] > 0), np.flatnonzero(rows[:, 0] <= 0)

        def get_n_splits(self, *_):
            return 1

    assert "split0_cost" in MaxMinClassifierCV(lams=[0.1], cv=ByFirstColumn()).fit(X, y).cv_results_
    groups = np.arange(len(y)) % 4
    found = MaxMinClassifierCV(lams=[0.1], cv=GroupKFold(4)).fit(X, y, groups=groups)
    assert sum(key.startswith("split") for key in found.cv_results_) == 4


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
