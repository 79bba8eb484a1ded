"""Rankings and matchings."""

import csv
import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score

from m4n import MaxMinMatcher, MaxMinMatcherCV, MaxMinRanker, MaxMinRankerCV, oracle


def rankings(n=60, d=3, m=4, seed=0):
    """Items are ranked by noisy linear scores."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    scores = X @ rng.normal(size=(d, m)) + rng.normal(size=(n, m))
    return X, (-scores).argsort(axis=1).argsort(axis=1) + 1


def matchings(n=25, seed=0):
    """The pairs that belong together are a little apart from the others."""
    rng = np.random.default_rng(seed)
    y = [rng.permutation(int(rng.integers(2, 6))) for _ in range(n)]
    right = [np.stack([np.eye(len(p))[p], np.zeros((len(p), len(p)))], axis=2) for p in y]
    return [pairs + 0.7 * rng.normal(size=pairs.shape) for pairs in right], y


@pytest.mark.parametrize("cost", ["hamming", "footrule", "spearman", "precision@2", "dcg"])
@pytest.mark.parametrize("surrogate", ["m4n", "m3n", "crf", "qs"])
def test_same_rankings_as_the_command_line(cost, surrogate, cli, tmp_path):
    X, Y = rankings()
    data, model = tmp_path / "data.csv", tmp_path / "cli.m4n"
    with open(data, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([f"x{j + 1}" for j in range(X.shape[1])] + [f"r{j + 1}" for j in range(Y.shape[1])])
        writer.writerows([*map(repr, x.tolist()), *y.tolist()] for x, y in zip(X, Y))
    options = ["--task", "ranking", "--loss", cost, "--surrogate", surrogate]
    cli("train", data, "--model", model, "--quiet", *options)
    frame = pd.DataFrame(X, columns=[f"x{j + 1}" for j in range(X.shape[1])])
    estimator = MaxMinRanker(cost, surrogate=surrogate).fit(frame, Y)
    assert estimator.to_bytes() == model.read_bytes()
    loaded = MaxMinRanker.load(model)
    assert loaded.cost == cost and np.array_equal(loaded.predict(frame), estimator.predict(frame))
    assert -loaded.score(frame, Y) == pytest.approx(cli("eval", model, data, "--json")["loss"], rel=1e-12)


def test_same_matchings_as_the_command_line(cli, tmp_path):
    X, y = matchings()
    lines = []
    for pairs, partners in zip(X, y):
        lines.append(" ".join(map(str, ["matching", len(partners), *(partners + 1)])))
        for i, j in np.ndindex(len(partners), len(partners)):
            lines.append(" ".join([str(i + 1), str(j + 1), *map(repr, pairs[i, j].tolist())]))
    data, model = tmp_path / "data.txt", tmp_path / "cli.m4n"
    data.write_text("\n".join(lines) + "\n")
    cli("train", data, "--task", "matching", "--model", model, "--quiet")
    estimator = MaxMinMatcher().fit(X, y)
    assert estimator.to_bytes() == model.read_bytes()
    printed = cli("predict", model, data, "--json")["partner"]
    assert printed == [(found + 1).tolist() for found in MaxMinMatcher.load(model).predict(X)]
    assert -estimator.score(X, y) == pytest.approx(cli("eval", model, data, "--json")["loss"], rel=1e-12)


def test_rankings_are_the_best_permutations_of_the_scores():
    X, Y = rankings(seed=1)
    model = MaxMinRanker().fit(X, Y)
    scores = model.decision_function(X)
    assert scores.shape == (len(X), 4, 4) and model.decode_ == "argmax"
    value, position = oracle.assignment(scores)
    found = model.predict(X) - 1
    assert np.allclose(np.take_along_axis(scores, found[:, :, None], axis=2).sum(axis=(1, 2)), value)
    assert (np.sort(model.predict(X), axis=1) == np.arange(1, 5)).all()
    sorted_scores = MaxMinRanker("spearman").fit(X, Y)
    items = sorted_scores.decision_function(X)
    assert items.shape == (len(X), 4)


def test_costs_of_rankings():
    X, Y = rankings(seed=2)
    matrix = np.abs(np.subtract.outer(np.arange(4), np.arange(4))) ** 1.5
    weights = np.array([1.0, 2.0, 3.0, 10.0])
    prices = {
        "hamming": lambda t, p: (t != p).mean(axis=1),
        "footrule": lambda t, p: np.abs(t - p).mean(axis=1),
        "spearman": lambda t, p: ((t - p) ** 2).mean(axis=1),
        "precision@2": lambda t, p: 1 - ((t <= 2) & (p <= 2)).sum(axis=1) / 2,
    }
    for cost, price in prices.items():
        model = MaxMinRanker(cost).fit(X, Y)
        assert model.score(X, Y) == pytest.approx(-price(Y, model.predict(X)).mean())
    model = MaxMinRanker(matrix).fit(X, Y)
    found = model.predict(X)
    assert model.score(X, Y) == pytest.approx(-matrix[Y - 1, found - 1].mean())
    weight = np.linspace(1, 2, len(Y))
    assert model.score(X, Y, weight) == pytest.approx(
        -np.average(matrix[Y - 1, found - 1].mean(axis=1), weights=weight)
    )
    model = MaxMinRanker(weights).fit(X, Y)
    assert model.score(X, Y) == pytest.approx(-((Y != model.predict(X)) * weights).mean())
    again = MaxMinRanker.from_bytes(model.to_bytes())
    assert np.array_equal(again.cost, weights) and clone(again).fit(X, Y).to_bytes() == model.to_bytes()


def test_probabilities():
    X, Y = rankings(seed=3)
    p = MaxMinRanker(surrogate="crf").fit(X, Y).predict_marginals(X)
    assert p.shape == (len(X), 4, 4) and np.allclose(p.sum(axis=1), 1) and np.allclose(p.sum(axis=2), 1)
    pairs, partners = matchings()
    model = MaxMinMatcher(surrogate="crf").fit(pairs, partners)
    for q, own in zip(model.predict_marginals(pairs), partners):
        assert q.shape == (len(own), len(own)) and np.allclose(q.sum(axis=0), 1) and np.allclose(q.sum(axis=1), 1)
    assert not hasattr(MaxMinRanker(), "predict_marginals") and not hasattr(MaxMinMatcher(), "predict_marginals")


def test_searches_pickle_and_grids():
    X, Y = rankings(seed=4)
    found = MaxMinRankerCV("footrule", lams=[1.0, 0.1], cv=3, surrogate="auto", extend=False, n_jobs=2).fit(X, Y)
    again = MaxMinRanker("footrule", lam=found.lam_, surrogate=found.surrogate_, decode=found.decode_).fit(X, Y)
    assert found.to_bytes() == again.to_bytes()
    assert np.array_equal(pickle.loads(pickle.dumps(found)).predict(X), found.predict(X))
    grid = GridSearchCV(MaxMinRanker(), {"lam": [1.0, 0.1]}, cv=3).fit(X, Y)
    assert grid.best_score_ <= 0 and (cross_val_score(MaxMinRanker(), X, Y, cv=3) <= 0).all()
    frame = MaxMinRanker().fit(X, pd.DataFrame(Y, columns=list("abcd")))
    assert frame.items_.tolist() == list("abcd")
    pairs, partners = matchings(seed=4)
    matcher = MaxMinMatcherCV(lams=[1.0, 0.1], cv=3, extend=False).fit(pairs, partners)
    assert matcher.to_bytes() == MaxMinMatcher(lam=matcher.lam_, decode=matcher.decode_).fit(pairs, partners).to_bytes()
    for scores, own in zip(matcher.decision_function(pairs), matcher.predict(pairs)):
        assert np.array_equal(oracle.assignment(scores)[1], own)
    copy = pickle.loads(pickle.dumps(matcher))
    assert all(np.array_equal(a, b) for a, b in zip(copy.predict(pairs), matcher.predict(pairs)))
    right = np.mean([np.mean(a == b) for a, b in zip(matcher.predict(pairs), partners)])
    assert matcher.score(pairs, partners) == pytest.approx(right - 1)


def test_layouts_and_threads():
    X, Y = rankings(seed=5)
    expected = MaxMinRanker().fit(X, Y).to_bytes()
    assert MaxMinRanker(n_jobs=2).fit(np.asfortranarray(X), Y.astype(float)).to_bytes() == expected
    plain = MaxMinRanker(standardize=False, tol=1e-9).fit(X, Y)
    for form in (sparse.csr_matrix, sparse.csr_array, sparse.csc_matrix):
        from_sparse = MaxMinRanker(standardize=False, tol=1e-9).fit(form(X), Y)
        assert np.array_equal(from_sparse.predict(form(X)), plain.predict(X))
        assert np.allclose(from_sparse.coef_, plain.coef_, atol=1e-3)
    pairs, partners = matchings(seed=5)
    expected = MaxMinMatcher().fit(pairs, partners).to_bytes()
    again = MaxMinMatcher(n_jobs=2).fit([np.asfortranarray(p) for p in pairs], [list(p) for p in partners])
    assert again.to_bytes() == expected


def test_bad_input():
    X, Y = rankings()
    for wrong in (Y - 1, np.ones_like(Y), Y + 0.5, Y[:, :1]):
        with pytest.raises(ValueError):
            MaxMinRanker().fit(X, wrong)
    with pytest.raises(ValueError, match="inconsistent"):
        MaxMinRanker().fit(X, Y[:-1])
    with pytest.raises(ValueError, match="cost"):
        MaxMinRanker("kendall").fit(X, Y)
    with pytest.raises(ValueError, match=r"\(3, 3\)"):
        MaxMinRanker(np.ones((3, 3))).fit(X, Y)
    with pytest.raises(ValueError, match="features"):
        MaxMinRanker().fit(X, Y).predict(X[:, :1])
    pairs, partners = matchings()
    with pytest.raises(ValueError, match=r"X\[0\] has the shape"):
        MaxMinMatcher().fit([p[0] for p in pairs], partners)
    with pytest.raises(ValueError, match="do not belong together"):
        MaxMinMatcher().fit(pairs, partners[1:])
    with pytest.raises(ValueError, match=r"y\[0\]"):
        MaxMinMatcher().fit(pairs, [p + 1 for p in partners])
    with pytest.raises(ValueError, match="NaN"):
        MaxMinMatcher().fit([p * np.nan for p in pairs], partners)
    model = MaxMinMatcher().fit(pairs, partners)
    with pytest.raises(ValueError):
        model.predict([p[:, :, :1] for p in pairs])
    with pytest.raises(ValueError, match="task matching"):
        MaxMinRanker.from_bytes(model.to_bytes())


@pytest.mark.parametrize("surrogate", ["m4n", "crf", "qs"])
def test_weights_are_repetitions(surrogate):
    X, Y = rankings(seed=6)
    weight = np.random.default_rng(0).integers(0, 3, size=len(X))
    weighted = MaxMinRanker(surrogate=surrogate, tol=1e-8).fit(X, Y, weight)
    repeated = MaxMinRanker(surrogate=surrogate, tol=1e-8).fit(
        np.repeat(X, weight, axis=0), np.repeat(Y, weight, axis=0)
    )
    assert weighted.lam_ == repeated.lam_
    assert np.allclose(weighted.decision_function(X), repeated.decision_function(X), atol=1e-3)


def test_a_search_leaves_out_examples_of_weight_zero():
    X, Y = rankings(seed=7)
    kept = np.arange(len(X)) % 4 != 0
    weighted = MaxMinRankerCV(lams=[1.0, 0.1], cv=3, extend=False).fit(X, Y, kept.astype(float))
    alone = MaxMinRanker(lam=weighted.lam_, decode=weighted.decode_).fit(X[kept], Y[kept])
    assert np.array_equal(weighted.coef_, alone.coef_)
    with pytest.raises(ValueError, match="sample_weight must not be negative"):
        MaxMinRanker().fit(X, Y, -np.ones(len(X)))
