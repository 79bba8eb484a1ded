"""Graphs in Python: against enumeration of labellings, networkx, weights, bad input."""

import itertools
import pickle

import numpy as np
import pytest
from sklearn.base import clone

import m4n
from m4n import MaxMinGraphLabeler, MaxMinGraphLabelerCV


def cycles(n, seed, edge_features=1):
    """Cycles of 3 to 6 nodes whose neighbours like to agree."""
    rng = np.random.default_rng(seed)
    X, y = [], []
    for _ in range(n):
        nodes = rng.integers(3, 7)
        labels = np.repeat(rng.integers(0, 3), nodes)
        labels[rng.random(nodes) < 0.3] = rng.integers(0, 3)
        edges = [(i, (i + 1) % nodes) for i in range(nodes)]
        features = np.eye(3)[labels] + rng.normal(size=(nodes, 3))
        X.append((features, edges, rng.normal(size=(nodes, edge_features))) if edge_features else (features, edges))
        y.append(np.array(["a", "b", "c"])[labels])
    return X, y


def score_of(model, graph, labelling):
    """The definition: nodes by their features, edges by a constant and theirs."""
    nodes, edges, features = graph
    total = sum(model.coef_[k] @ x + model.intercept_[k] for k, x in zip(labelling, np.asarray(nodes)))
    for (u, v), x in zip(edges, features):
        tables = model.edge_coef_[0]
        total += (np.append(x, 1.0) @ tables.reshape(len(x) + 1, -1)).reshape(3, 3)[labelling[u], labelling[v]]
    return total


@pytest.mark.parametrize("standardize", [True, False])
def test_probabilities_and_predictions_are_those_of_enumeration(standardize):
    X, y = cycles(30, 1)
    crf = MaxMinGraphLabeler(surrogate="crf", lam=0.05, standardize=standardize).fit(X, y)
    margin = MaxMinGraphLabeler(surrogate="m3n", lam=0.05, standardize=standardize).fit(X, y)
    for graph, marginals in zip(X[:5], crf.predict_marginals(X[:5])):
        nodes = len(graph[0])
        labellings = np.array(list(itertools.product(range(3), repeat=nodes)))
        scores = np.array([score_of(crf, graph, labelling) for labelling in labellings])
        p = np.exp(scores - scores.max())
        p /= p.sum()
        expected = np.array([[p[labellings[:, m] == k].sum() for k in range(3)] for m in range(nodes)])
        assert np.allclose(marginals, expected, atol=1e-8)
        assert crf.predict([graph])[0] == crf.classes_[expected.argmax(axis=1)].tolist()
        best = labellings[np.argmax([score_of(margin, graph, labelling) for labelling in labellings])]
        assert margin.predict([graph])[0] == margin.classes_[best].tolist()


@pytest.mark.parametrize("surrogate", ["m4n", "m3n", "crf"])
def test_learns_saves_and_loads(surrogate, tmp_path):
    X, y = cycles(60, 2)
    fresh, truth = cycles(60, 3)
    model = MaxMinGraphLabeler(surrogate=surrogate, lam=0.02).fit(X, y)
    assert model.certificate_.converged
    alone = [(nodes, [], None) for nodes, _, _ in X]
    without = MaxMinGraphLabeler(surrogate=surrogate, lam=0.02).fit(alone, y)
    assert model.score(fresh, truth) > without.score([(nodes, []) for nodes, _, _ in fresh], truth)
    model.save(tmp_path / "g.m4n")
    for copy in (MaxMinGraphLabeler.load(tmp_path / "g.m4n"), pickle.loads(pickle.dumps(model))):
        assert copy.predict(fresh) == model.predict(fresh)
    assert clone(model).get_params() == model.get_params()


def test_weights_are_repetitions_and_zero_is_absence():
    X, y = cycles(12, 4)
    settings = dict(surrogate="crf", lam=0.1, tol=1e-8, max_iter=100_000, standardize=False)
    weighted = MaxMinGraphLabeler(**settings).fit(X, y, sample_weight=[2.0] * 6 + [0.0] * 6)
    twice = MaxMinGraphLabeler(**settings).fit(X[:6] + X[:6], y[:6] + y[:6])
    assert np.allclose(weighted.coef_, twice.coef_, atol=1e-4)
    assert np.allclose(weighted.edge_coef_, twice.edge_coef_, atol=1e-4)


def test_costs_and_search():
    X, y = cycles(40, 5)
    costs = np.array([[0, 1, 1], [1, 0, 1], [9, 9, 0.0]])
    model = MaxMinGraphLabeler(costs, lam=0.02).fit(X, y)
    assert model.decode_ == "adversary"
    found = np.concatenate(model.predict(X))
    assert (found == "c").mean() > (np.concatenate(y) == "c").mean()
    index = {name: k for k, name in enumerate("abc")}
    by_graph = [
        np.mean([costs[index[t], index[p]] for t, p in zip(truth, own)]) for truth, own in zip(y, model.predict(X))
    ]
    assert np.isclose(model.score(X, y), -np.mean(by_graph))
    search = MaxMinGraphLabelerCV(lams=[0.5, 0.05], cv=3, surrogate=["m4n", "crf"], tol=1e-2, extend=False).fit(X, y)
    assert set(search.cv_results_["surrogate"]) == {"m4n", "crf"} and search.lam_ in (0.5, 0.05)


def test_networkx_graphs():
    networkx = pytest.importorskip("networkx")
    X, y = cycles(20, 6)
    model = MaxMinGraphLabeler(lam=0.05).fit(X, y)
    graphs = []
    for nodes, edges, features in X:
        graph = networkx.Graph()
        graph.add_nodes_from((f"n{i}", {"x": x}) for i, x in enumerate(nodes))
        graph.add_edges_from((f"n{u}", f"n{v}", {"x": x}) for (u, v), x in zip(edges, features))
        graphs.append(graph)
    other = MaxMinGraphLabeler(lam=0.05, tol=1e-6).fit(graphs, y)
    assert np.mean([a == b for a, b in zip(model.predict(X), other.predict(graphs))]) > 0.5
    graph.add_node("lonely")
    with pytest.raises(m4n.Error, match="a node has no attribute 'x'"):
        model.predict([graph])


@pytest.mark.parametrize(
    "graph, message",
    [
        (([[1.0], [2.0]], [(0, 0)]), "joins a node with itself"),
        (([[1.0], [2.0]], [(0, 2)]), "not one of 0 to 1"),
        (([[1.0], [2.0]], [(-1, 1)]), "not one of 0 to 1"),
        (([[1.0], [2.0]], [(0, 1), (1, 0)]), "joined twice"),
        (([[1.0], [2.0]], [(0.5, 1)]), "pairs of numbers"),
        (([[1.0], [2.0]], [(0, 1, 2)]), "pairs of numbers"),
        (([[1.0], [np.nan]], [(0, 1)]), "graph 0"),
        (([[1.0], [2.0]], [(0, 1)], [[np.inf]]), "finite"),
        (3, "expected"),
        (([[1.0], [2.0]],), "expected"),
    ],
)
def test_bad_graphs_are_refused_with_their_number(graph, message):
    with pytest.raises((m4n.Error, TypeError, ValueError), match=message):
        MaxMinGraphLabeler().fit([graph], [["a", "b"]])


def test_graphs_that_do_not_belong_together():
    X, y = cycles(3, 7)
    with pytest.raises(m4n.Error, match="3 graphs and 2 lists"):
        MaxMinGraphLabeler().fit(X, y[:2])
    with pytest.raises(m4n.Error, match="nodes and"):
        MaxMinGraphLabeler().fit(X, [labels[:-1] for labels in y])
    with pytest.raises(m4n.Error, match="features per node"):
        MaxMinGraphLabeler().fit([X[0], (np.zeros((len(y[1]), 2)), X[1][1], X[1][2]), X[2]], y)
    model = MaxMinGraphLabeler(lam=0.1).fit(X, y)
    with pytest.raises(m4n.Error, match="other edges, types or features of edges"):
        model.predict([(X[0][0], X[0][1])])
    with pytest.raises(m4n.Error):
        model.predict([])
