"""Fits of parts over the executor of threads: the bytes depend on the parts alone, the optimum not even on them."""

import importlib
import pickle
import sys

import numpy as np
import pytest
from conftest import blobs
from scipy import sparse

from m4n import Error, MaxMinClassifier, MaxMinOrdinalClassifier
from m4n._distributed import Rows, ThreadExecutor, fit_parts

COSTS = [[0, 1, 2], [4, 0, 1], [3, 1, 0]]


def cut(X, y, ends, weight=None):
    """Parts that end there; an end that occurs twice makes an empty one."""
    starts = [0, *ends]
    return [Rows(X[a:b], y[a:b], None if weight is None else weight[a:b]) for a, b in zip(starts, [*ends, X.shape[0]])]


def fitted(model, X, y, ends=(40, 40, 90), weight=None, workers=2):
    return fit_parts(model, ThreadExecutor(workers), cut(X, y, list(ends), weight), X[:0])


def agree(found, expected, tol):
    """Both certificates bracket one optimum."""
    a, b = found.certificate_, expected.certificate_
    assert a.converged and b.converged
    assert a.dual <= b.primal * (1 + 1e-10) and b.dual <= a.primal * (1 + 1e-10)
    assert a.primal == pytest.approx(b.primal, rel=2 * tol)


MODELS = [
    MaxMinClassifier(lam=0.01, tol=1e-5),
    MaxMinClassifier(COSTS, lam=0.01, tol=1e-5),
    MaxMinClassifier(COSTS, lam=0.01, tol=1e-5, smoothing=0.5),
    MaxMinClassifier(COSTS, surrogate="m3n", lam=0.01, tol=1e-5),
    MaxMinClassifier(COSTS, surrogate="crf", lam=0.01, tol=1e-5),
    MaxMinClassifier(tol=1e-5, fit_intercept=False, standardize=False, class_weight="balanced"),
    MaxMinOrdinalClassifier(lam=0.01, tol=1e-5, class_weight={0: 1.0, 1: 3.0, 2: 1.0}),
]


@pytest.mark.parametrize("model", MODELS, ids=str)
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix, lambda X: X.astype(np.float32)])
def test_the_optimum_is_that_of_a_fit_in_memory(model, kind):
    X, y = blobs(150)
    X[:, 1] = 1e6 + 10 * X[:, 1]
    X[:, 2] = 7
    if kind is sparse.csr_matrix:
        X[X < 0.5] = 0
    X = kind(X)
    weight = np.random.default_rng(1).uniform(0.2, 2, size=150)
    weight[::7] = 0
    made = model.set_params(max_iter=20000)
    found = fitted(pickle.loads(pickle.dumps(made)), X, y, weight=weight)
    expected = pickle.loads(pickle.dumps(made)).fit(X, y, weight)
    assert found.lam_ == pytest.approx(expected.lam_, rel=1e-12)
    assert found.decode_ == expected.decode_
    agree(found, expected, 1e-5)
    np.testing.assert_allclose(found.decision_function(X), expected.decision_function(X), atol=0.1)
    again = type(found).from_bytes(found.to_bytes())
    np.testing.assert_array_equal(again.predict(X), found.predict(X))


@pytest.mark.parametrize("model", MODELS[:2] + MODELS[4:5], ids=str)
def test_workers_and_empty_parts_change_no_byte(model):
    X, y = blobs(400, spread=3)
    expected = fitted(model, X, y, (100, 170, 171, 350), workers=1).to_bytes()
    for workers in (2, 8):
        assert fitted(model, X, y, (100, 170, 171, 350), workers=workers).to_bytes() == expected
    assert fitted(model, X, y, (0, 100, 100, 170, 171, 350, 400)).to_bytes() == expected
    assert fitted(model.set_params(n_jobs=2), X, y, (100, 170, 171, 350)).to_bytes() == expected


def test_standardising_is_that_of_all_rows():
    X, y = blobs(300)
    X *= [1e-7, 1, 1e5, 3, 1]
    X[:, 3] = 5
    model = MaxMinClassifier(lam=10.0, tol=1e-9)
    found = fitted(model, X, y).coef_
    np.testing.assert_allclose(found, MaxMinClassifier(lam=10.0, tol=1e-9).fit(X, y).coef_, rtol=1e-3, atol=1e-12)


def test_classes_may_be_missing_in_parts():
    X, y = blobs(120)
    order = np.argsort(y, kind="stable")
    X, y = X[order], np.array(["one", "two", "three"])[y[order]]
    found = fitted(MaxMinClassifier(lam=0.01), X, y, (40, 80))
    assert found.classes_.tolist() == ["one", "three", "two"]
    agree(found, MaxMinClassifier(lam=0.01).fit(X, y), 1e-3)


def test_weights_count_as_repeated_examples():
    X, y = blobs(90)
    weight = np.arange(90) % 3
    rows = np.repeat(np.arange(90), weight)
    model = MaxMinClassifier(tol=1e-6, max_iter=20000)
    found, repeated = (
        fitted(model, X, y, weight=weight),
        fitted(MaxMinClassifier(tol=1e-6, max_iter=20000), X[rows], y[rows]),
    )
    assert found.certificate_.primal == pytest.approx(repeated.certificate_.primal, rel=1e-5)
    assert found.lam_ == pytest.approx(repeated.lam_)


def test_grades_keep_their_order():
    X, y = blobs(120)
    words = np.array(["low", "mid", "high"])[y]
    model = MaxMinOrdinalClassifier(categories=["low", "mid", "high", "top"], lam=0.01)
    found = fitted(model, X, words)
    assert found.classes_.tolist() == ["low", "mid", "high", "top"]
    agree(found, MaxMinOrdinalClassifier(categories=["low", "mid", "high", "top"], lam=0.01).fit(X, words), 1e-3)


class Restless(ThreadExecutor):
    """Runs every task twice: each is a function of its arguments that changes none of them."""

    def submit(self, function, *arguments):
        super().submit(function, *arguments)
        return super().submit(function, *arguments)


def test_tasks_can_be_run_again():
    X, y = blobs(400, spread=3)
    for surrogate in ("m4n", "crf"):
        expected = fitted(MaxMinClassifier(COSTS, surrogate=surrogate, lam=0.001), X, y, (100, 250))
        again = fit_parts(
            MaxMinClassifier(COSTS, surrogate=surrogate, lam=0.001), Restless(3), cut(X, y, [100, 250]), X[:0]
        )
        assert again.to_bytes() == expected.to_bytes()


class Far(ThreadExecutor):
    """Arguments and values travel as bytes, as between machines."""

    def submit(self, function, *arguments):
        return super().submit(there_and_back, function, *arguments)


def there_and_back(function, *arguments):
    function, arguments = pickle.loads(pickle.dumps((function, arguments)))
    return pickle.loads(pickle.dumps(function(*arguments)))


def test_everything_travels():
    X, y = blobs(200)
    X = sparse.csr_matrix(np.where(X > 0, X, 0))
    expected = fitted(MaxMinClassifier(COSTS), X, y, (50, 120)).to_bytes()
    assert fit_parts(MaxMinClassifier(COSTS), Far(2), cut(X, y, [50, 120]), X[:0]).to_bytes() == expected


@pytest.mark.parametrize(
    "changes, words",
    [
        ({"features": "rbf"}, "features"),
        ({"surrogate": "qs"}, "surrogate"),
        ({"warm_start": True}, "warm_start"),
        ({"checkpoint": "file"}, "checkpoint"),
        ({"resume_from": "file"}, "resume_from"),
        ({"cost_matrix": [[0, "x", 1], [1, 0, 1], [1, 1, 0]]}, "cost_matrix"),
        ({"lam": -1.0}, "lam"),
        ({"standardize": "perhaps"}, "standardize"),
        ({"ignore": ["x"]}, "ignore"),
        ({"class_weight": {0: 0.0}}, "class_weight"),
        ({"class_weight": "even"}, "class_weight"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_makes_no_sense_is_refused(changes, words):
    X, y = blobs()
    model = MaxMinClassifier(**changes)
    with pytest.raises((Error, TypeError), match=words):
        fitted(model, X, y)
    assert not hasattr(model, "classes_") and not hasattr(model, "n_features_in_")


@pytest.mark.parametrize(
    "spoil, words",
    [
        (lambda X, y, w: X.__setitem__((60, 1), np.nan), "partition 2 .*NaN"),
        (lambda X, y, w: y.__setitem__(60, np.nan), "partition 2 .*label at 20"),
        (lambda X, y, w: y.__setitem__(60, 0.5), "partition 2 .*whole"),
        (lambda X, y, w: y.__setitem__(slice(None), 1), "only one class"),
        (lambda X, y, w: w.__setitem__(60, -1), "partition 2 .*negative"),
        (lambda X, y, w: w.__setitem__(slice(None), 0), "no examples"),
    ],
)
def test_bad_data_are_refused_with_their_place(spoil, words):
    X, y = blobs()
    y, weight = y.astype(float), np.ones(len(y))
    spoil(X, y, weight)
    with pytest.raises(Error, match=words):
        fitted(MaxMinClassifier(), X, y, weight=weight)


def test_parts_must_be_alike():
    X, y = blobs()
    for other, words in ((X[60:, :3], "columns"), (sparse.csr_matrix(X[60:]), "sparse")):
        parts = [Rows(X[:60], y[:60]), Rows(other, y[60:])]
        with pytest.raises(Error, match=words):
            fit_parts(MaxMinClassifier(), ThreadExecutor(1), parts, X[:0])
    with pytest.raises(Error, match="words"):
        parts = [Rows(X[:60], y[:60]), Rows(X[60:], y[60:].astype(str))]
        fit_parts(MaxMinClassifier(), ThreadExecutor(1), parts, X[:0])
    with pytest.raises(Error, match="partition 0"):
        fit_parts(MaxMinClassifier(), ThreadExecutor(1), [Rows(X, y[:-1])], X[:0])


def test_without_dask_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "dask", None)
    monkeypatch.delitem(sys.modules, "m4n.dask", raising=False)
    with pytest.raises(ImportError, match=r"pip install m4n\[dask\]"):
        importlib.import_module("m4n.dask")
