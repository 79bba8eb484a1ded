"""Weights of examples and of classes."""

import numpy as np
import pytest
from conftest import blobs

from m4n import MaxMinClassifier, MaxMinClassifierCV


@pytest.mark.parametrize("surrogate", ["m4n", "m3n", "crf", "qs"])
def test_weights_are_repetitions(surrogate):
    X, y = blobs(seed=1)
    weight = np.random.default_rng(0).integers(0, 4, size=len(y))
    weighted = MaxMinClassifier(surrogate=surrogate, tol=1e-12).fit(X, y, weight)
    repeated = MaxMinClassifier(surrogate=surrogate, tol=1e-12).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    assert np.allclose(weighted.decision_function(X), repeated.decision_function(X), atol=1e-5)
    assert weighted.lam_ == repeated.lam_


def test_class_weights():
    X, y = blobs(n=150, seed=2)
    kept = np.flatnonzero((y != 0) | (np.arange(len(y)) % 5 == 0))
    X, y = X[kept], y[kept]
    plain = MaxMinClassifier().fit(X, y)
    balanced = MaxMinClassifier(class_weight="balanced").fit(X, y)
    assert (balanced.predict(X) == 0).sum() > (plain.predict(X) == 0).sum()
    heavy = MaxMinClassifier(class_weight={0: 1000, 1: 1, 2: 1}).fit(X, y)
    assert (heavy.predict(X)[y == 0] == 0).all()


def test_bad_weights():
    X, y = blobs(seed=3)
    with pytest.raises(ValueError, match="negative"):
        MaxMinClassifier().fit(X, y, -np.ones(len(y)))
    with pytest.raises(ValueError, match="shape"):
        MaxMinClassifier().fit(X, y, np.ones(3))
    with pytest.raises(ValueError):
        MaxMinClassifier().fit(X, y, np.zeros(len(y)))
    with pytest.raises(ValueError, match="class_weight"):
        MaxMinClassifier(class_weight="heavy").fit(X, y)


def test_search_leaves_out_examples_of_weight_zero():
    X, y = blobs(seed=4)
    kept = np.arange(len(y)) % 4 != 0
    splits = [
        (np.flatnonzero(np.arange(len(y)) % 3 != f), np.flatnonzero(np.arange(len(y)) % 3 == f)) for f in range(3)
    ]
    number = np.cumsum(kept) - 1
    fewer = [(number[a[kept[a]]], number[b[kept[b]]]) for a, b in splits]
    weighted = MaxMinClassifierCV(lams=[1.0, 0.1], cv=splits).fit(X, y, kept.astype(float))
    without = MaxMinClassifierCV(lams=[1.0, 0.1], cv=fewer).fit(X[kept], y[kept])
    assert np.allclose(weighted.cv_results_["mean_cost"], without.cv_results_["mean_cost"])
    assert weighted.lam_ == without.lam_
