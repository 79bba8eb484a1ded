"""The CV forms: what is tried, what is chosen."""

import numpy as np
import pytest
from conftest import blobs, write_csv
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GroupKFold, KFold

from m4n import MaxMinClassifier, MaxMinClassifierCV

COST = np.array([[0.0, 1.0, 5.0], [2.0, 0.0, 1.0], [3.0, 0.25, 0.0]])


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


def test_a_loaded_search_says_what_it_chose():
    X, y = blobs(seed=23)
    found = MaxMinClassifierCV(surrogate="auto", lams=[1.0, 0.1], cv=3, extend=False).fit(X, y)
    loaded = MaxMinClassifierCV.from_bytes(found.to_bytes())
    assert (loaded.surrogate_, loaded.smoothing_, loaded.lam_) == (found.surrogate_, found.smoothing_, found.lam_)


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
    """Those below 2^-8 are tried if and only if the best of the first nine is among the last two of them."""
    X, y = blobs(n=90, seed=21, spread=1.0)
    walked = []
    for scale in (3.0, 1.0, 0.3):  # small features want large weights, and so small lams
        search = MaxMinClassifierCV(surrogate="m3n", cv=3, tol=0.05, extend=False, standardize=False)
        table = search.fit(scale * X, y).cv_results_
        cost = dict(zip(table["lam"].tolist(), table["mean_cost"].tolist()))
        first = [cost[2.0**-p] for p in range(9)]
        best = {p for p in range(9) if first[p] == min(first)}
        assert best <= {7, 8} or not best & {7, 8}, "a tie tells nothing: other data, please"
        walked.append(min(cost) < 2.0**-8)
        assert walked[-1] == (best <= {7, 8}), (best, sorted(cost))
    assert walked == [False, False, True]
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
