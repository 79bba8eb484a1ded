"""Fits that start where the last one ended."""

import copy
import pickle

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_digits

import m4n
from m4n import (
    MaxMinClassifier,
    MaxMinGraphLabeler,
    MaxMinMultiLabelClassifier,
    MaxMinOrdinalClassifier,
    MaxMinSequenceLabeler,
)


def sentences(n, seed=0):
    random = np.random.default_rng(seed)
    X = [random.normal(size=(random.integers(3, 9), 4)) for _ in range(n)]
    y = [["abc"[int(np.argmax(x[:3] + 0.5 * random.normal(size=3)))] for x in rows] for rows in X]
    return X, y


def tables():
    X, y = load_digits(return_X_y=True)
    yield MaxMinClassifier(lam=0.01), X, y
    yield MaxMinClassifier(lam=0.01, surrogate="m3n"), X, y
    yield MaxMinClassifier(lam=0.01, surrogate="crf"), X, y
    yield MaxMinClassifier(lam=0.01, smoothing=1.0), X, y
    yield MaxMinOrdinalClassifier(lam=0.01), X, y
    yield MaxMinMultiLabelClassifier(lam=0.01), X, np.column_stack([y > 4, y % 2]).astype(int)
    X, y = load_breast_cancer(return_X_y=True)
    yield MaxMinClassifier([[0, 5], [1, 0]], lam=0.01, features="rbf"), X, y


def lists():
    X, y = sentences(300)
    for surrogate in ("m4n", "m3n", "crf"):
        yield MaxMinSequenceLabeler(surrogate=surrogate, lam=0.01), X, y
        graphs = [(rows, [(i, i + 1) for i in range(len(rows) - 1)]) for rows in X]
        yield MaxMinGraphLabeler(surrogate=surrogate, lam=0.01), graphs, y


def name(case):
    return f"{type(case[0]).__name__}-{case[0].surrogate}" if isinstance(case, tuple) else None


@pytest.mark.parametrize("case", [*tables(), *lists()], ids=name)
def test_a_refit_takes_a_fraction_and_comes_to_the_same(case):
    model, X, y = case
    n = len(X) - 3
    cold_passes = model.set_params(warm_start=True).fit(X[:n], y[:n]).n_iter_
    # One example becomes another, two are added.
    order = [*range(n), n, n + 1]
    order[5] = n + 2
    X, y = [X[i] for i in order], [y[i] for i in order]
    if isinstance(case[1], np.ndarray):
        X, y = np.array(X), np.array(y)
    warm = model.fit(X, y)
    fresh = type(model)(**{**model.get_params(), "warm_start": False}).fit(X, y)
    assert warm.certificate_.converged and fresh.certificate_.converged
    assert warm.certificate_.primal == pytest.approx(fresh.certificate_.primal, rel=0.02)
    assert warm.n_iter_ <= 0.75 * max(fresh.n_iter_, 4), (warm.n_iter_, fresh.n_iter_, cold_passes)


def test_other_surrogates_costs_and_sizes_start_as_well_as_they_can():
    X, y = load_digits(return_X_y=True)
    model = MaxMinClassifier(lam=0.01, warm_start=True).fit(X[:300], y[:300])
    for change in ({"surrogate": "crf"}, {"surrogate": "m4n"}, {"lam": 0.001}, {"features": "rbf"}, {"smoothing": 1.0}):
        model.set_params(**change).fit(X[:300], y[:300])
        assert model.certificate_.converged
    few = y[:300] < 4
    model.fit(X[:300][few], y[:300][few])
    assert model.certificate_.converged and len(model.classes_) == 4


def test_what_no_longer_fits_starts_afresh():
    X, y = sentences(40)
    chain = [(rows, [(i, i + 1) for i in range(len(rows) - 1)]) for rows in X]
    ring = [(rows, [*edges, (0, len(rows) - 1)]) for rows, edges in chain]
    rewired = [(rows, [(0, i + 1) for i in range(len(rows) - 1)]) for rows, _ in chain]
    costs = [[0, 3, 1], [1, 0, 1], [2, 1, 0]]
    for surrogate in ("m4n", "m3n"):
        model = MaxMinGraphLabeler(surrogate=surrogate, lam=0.01, warm_start=True).fit(chain, y)
        for graphs in (ring, rewired, chain[:7]):
            fresh = MaxMinGraphLabeler(surrogate=surrogate, lam=0.01).fit(graphs, y[: len(graphs)])
            model.fit(graphs, y[: len(graphs)])
            assert model.certificate_.primal == pytest.approx(fresh.certificate_.primal, rel=0.002)
        model = MaxMinSequenceLabeler(surrogate=surrogate, lam=0.01, warm_start=True).fit(X, y)
        for change in ({"cost_matrix": costs}, {"cost_matrix": None}):
            model.set_params(**change).fit(X, y)
            fresh = MaxMinSequenceLabeler(surrogate=surrogate, lam=0.01, **change).fit(X, y)
            np.testing.assert_array_equal(model.coef_, fresh.coef_)
        two = [["ab"[label == "a"] for label in labels] for labels in y]
        np.testing.assert_array_equal(
            model.fit(X, two).coef_, MaxMinSequenceLabeler(surrogate=surrogate, lam=0.01).fit(X, two).coef_
        )


def test_copies_start_afresh():
    X, y = load_digits(return_X_y=True)
    model = MaxMinClassifier(lam=0.01, warm_start=True).fit(X[:300], y[:300])
    fresh = MaxMinClassifier(lam=0.01).fit(X[:300], y[:300])
    for other in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        np.testing.assert_array_equal(other.predict(X), model.predict(X))
        other.fit(X[:300], y[:300])
        np.testing.assert_array_equal(other.coef_, fresh.coef_)
    model.set_params(warm_start=False).fit(X[:300], y[:300])
    np.testing.assert_array_equal(model.coef_, fresh.coef_)
    with pytest.raises(TypeError, match="warm_start"):
        m4n.MaxMinClassifier(warm_start="yes").fit(X[:300], y[:300])
