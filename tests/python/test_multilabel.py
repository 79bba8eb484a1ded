"""Sets of labels."""

import csv
import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone, is_classifier
from sklearn.model_selection import cross_val_score

from m4n import MaxMinMultiLabelClassifier, MaxMinMultiLabelClassifierCV

COST = np.array([[5.0, 1.0, 2.0], [1.0, 1.0, 0.5]])


def marked(n=80, d=4, m=3, seed=0):
    """Labels of noisy linear scores, each leaning on the one before."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    scores = X @ rng.normal(size=(d, m)) + rng.normal(size=(n, m))
    for j in range(1, m):
        scores[:, j] += scores[:, j - 1]
    return X, (scores > 0).astype(int)


@pytest.mark.parametrize("surrogate", ["m4n", "m3n", "crf", "qs"])
@pytest.mark.parametrize("extra", [{}, {"edges": "tree"}, {"cost": COST}])
def test_same_label_sets_as_the_command_line(surrogate, extra, cli, tmp_path):
    if surrogate == "qs" and "edges" in extra:
        pytest.skip("qs regresses every label on its own")
    X, Y = marked()
    data, model, costs = tmp_path / "data.csv", tmp_path / "cli.m4n", tmp_path / "costs.csv"
    with open(data, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([f"x{j + 1}" for j in range(X.shape[1])] + [f"y{j + 1}" for j in range(Y.shape[1])])
        writer.writerows([*map(repr, x.tolist()), *y.tolist()] for x, y in zip(X, Y))
    np.savetxt(costs, COST.T, delimiter=",")
    options = ["--edges", "tree"] if "edges" in extra else ["--loss", costs] if "cost" in extra else []
    cli("train", data, "--task", "multilabel", "--surrogate", surrogate, "--model", model, "--quiet", *options)
    frame = pd.DataFrame(X, columns=[f"x{j + 1}" for j in range(X.shape[1])])
    estimator = MaxMinMultiLabelClassifier(surrogate=surrogate, **extra).fit(frame, Y)
    assert estimator.to_bytes() == model.read_bytes()
    loaded = MaxMinMultiLabelClassifier.load(model)
    assert np.array_equal(loaded.predict(frame), estimator.predict(frame))
    assert -loaded.score(frame, Y) == pytest.approx(cli("eval", model, data, "--json")["loss"], rel=1e-12)


def test_probabilities_and_scores():
    X, Y = marked(seed=1)
    for edges in (None, "tree"):
        crf = MaxMinMultiLabelClassifier(surrogate="crf", edges=edges).fit(X, Y)
        p = crf.predict_proba(X)
        assert p.shape == Y.shape and (p >= 0).all() and (p <= 1).all()
        assert crf.decision_function(X).shape == Y.shape
    plain = MaxMinMultiLabelClassifier().fit(X, Y)
    assert not hasattr(plain, "predict_proba")
    assert np.array_equal(plain.predict(X), plain.decision_function(X) > 0)
    assert plain.score(X, Y) == pytest.approx(-(plain.predict(X) != Y).mean())
    costly = MaxMinMultiLabelClassifier(COST).fit(X, Y)
    found = costly.predict(X)
    assert costly.score(X, Y) == pytest.approx(-(COST[0] * (Y > found) + COST[1] * (Y < found)).mean())
    assert found[:, 0].sum() > plain.predict(X)[:, 0].sum()


def test_forms_of_marks_searches_and_pickle():
    X, Y = marked(seed=2)
    expected = MaxMinMultiLabelClassifier().fit(X, Y).to_bytes()
    for same in (Y.astype(bool), Y.astype(float), sparse.csr_matrix(Y), Y.tolist(), np.asfortranarray(Y)):
        assert MaxMinMultiLabelClassifier(n_jobs=2).fit(X, same).to_bytes() == expected
    named = MaxMinMultiLabelClassifier().fit(X, pd.DataFrame(Y, columns=["red", "green", "blue"]))
    assert named.labels_.tolist() == ["red", "green", "blue"]
    found = MaxMinMultiLabelClassifierCV(COST, lams=[0.1, 0.01], cv=3, surrogate="auto", extend=False).fit(X, Y)
    again = MaxMinMultiLabelClassifier(COST, lam=found.lam_, surrogate=found.surrogate_, decode=found.decode_)
    assert again.fit(X, Y).to_bytes() == found.to_bytes()
    assert np.array_equal(pickle.loads(pickle.dumps(found)).predict(X), found.predict(X))
    assert (cross_val_score(clone(again), X, Y, cv=3) <= 0).all()


def test_bad_marks():
    X, Y = marked()
    for wrong in (Y + 1, Y * 0.5, Y[:, 0]):
        with pytest.raises(ValueError):
            MaxMinMultiLabelClassifier().fit(X, wrong)
    with pytest.raises(ValueError, match=r"expected \(2, 3\)"):
        MaxMinMultiLabelClassifier(np.ones((4, 3))).fit(X, Y)
    with pytest.raises(ValueError, match="edges"):
        MaxMinMultiLabelClassifier(edges="all").fit(X, Y)
    with pytest.raises(ValueError, match="inconsistent"):
        MaxMinMultiLabelClassifier().fit(X, Y[1:])


def test_is_a_classifier_of_labels():
    X, Y = marked(seed=3)
    tagger = MaxMinMultiLabelClassifier().fit(X, pd.DataFrame(Y, columns=["red", "green", "blue"]))
    assert is_classifier(tagger) and tagger.classes_.tolist() == ["red", "green", "blue"]
    assert tagger.edges_.shape == (0, 2)
    scores = cross_val_score(MaxMinMultiLabelClassifier(), X, Y, cv=3, scoring="f1_macro")
    assert ((scores > 0) & (scores <= 1)).all()


def test_edges_that_are_given(cli, tmp_path):
    X, Y = marked(n=150, m=4, seed=4)
    tree = MaxMinMultiLabelClassifier(edges="tree").fit(X, Y)
    assert tree.edges_.shape == (3, 2) and tree.edge_weights_.shape == (3, 2, 2)
    together = tree.edge_weights_[:, 0, 0] + tree.edge_weights_[:, 1, 1]
    assert (together > tree.edge_weights_[:, 0, 1] + tree.edge_weights_[:, 1, 0]).any()
    scores = X @ tree.coef_.T + tree.intercept_  # two per label, for off and on
    assert scores.shape == (150, 8)
    assert MaxMinMultiLabelClassifier(edges=tree.edges_).fit(X, Y).to_bytes() == tree.to_bytes()
    frame = pd.DataFrame(Y, columns=list("abcd"))
    path = [("a", "b"), ("b", "c"), ("c", "d"), ("d", "a")]
    named = MaxMinMultiLabelClassifier(edges=path).fit(X, frame)
    assert named.edges_.tolist() == [[0, 1], [1, 2], [2, 3], [3, 0]]
    loaded = MaxMinMultiLabelClassifier.from_bytes(named.to_bytes())
    assert clone(loaded).fit(X, frame).to_bytes() == named.to_bytes()
    found = MaxMinMultiLabelClassifierCV(edges=path, lams=[1.0, 0.1], cv=3, extend=False).fit(X, frame)
    assert found.edges_.tolist() == named.edges_.tolist()
    data, edges, model = tmp_path / "data.csv", tmp_path / "edges.txt", tmp_path / "model.m4n"
    table = pd.DataFrame(X, columns=[f"x{j + 1}" for j in range(X.shape[1])])
    numbered = pd.DataFrame(Y, columns=["y1", "y2", "y3", "y4"])
    pd.concat([table, numbered], axis=1).to_csv(data, index=False)
    edges.write_text("y1 y2\ny2 y3\ny3 y4\ny4 y1\n")
    cli("train", data, "--task", "multilabel", "--edges", edges, "--model", model, "--quiet")
    again = MaxMinMultiLabelClassifier(edges=named.edges_).fit(table, numbered)
    assert again.to_bytes() == model.read_bytes()


@pytest.mark.parametrize(
    "edges, words",
    [
        ([(0, 3)], "edges holds"),
        ([(0, 1, 2)], "edges holds"),
        ([("a", "b")], "edges holds"),
        ([(-1, 0)], "edges holds"),
        ([(1, 1)], "^edges: "),
        ([(0, 1), (1, 0)], "^edges: "),
    ],
)
def test_bad_edges(edges, words):
    with pytest.raises(ValueError, match=words):
        MaxMinMultiLabelClassifier(edges=edges).fit(*marked())


@pytest.mark.parametrize("surrogate", ["m4n", "m3n", "crf", "qs"])
def test_weights_are_repetitions(surrogate):
    X, Y = marked(seed=5)
    weight = np.random.default_rng(0).integers(0, 3, size=len(X))
    weighted = MaxMinMultiLabelClassifier(surrogate=surrogate, tol=1e-10).fit(X, Y, weight)
    repeated = MaxMinMultiLabelClassifier(surrogate=surrogate, tol=1e-10)
    repeated.fit(np.repeat(X, weight, axis=0), np.repeat(Y, weight, axis=0))
    assert weighted.lam_ == repeated.lam_
    assert np.allclose(weighted.decision_function(X), repeated.decision_function(X), atol=1e-4)
