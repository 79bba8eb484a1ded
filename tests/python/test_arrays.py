"""Layouts, types and threads change nothing; what is the same number gives the same bits."""

import numpy as np
import pytest
from conftest import blobs
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from m4n import MaxMinClassifier


def layouts(x):
    """The same numbers in other places of memory."""
    wide = np.zeros((2 * x.shape[0], 3 * x.shape[1] + 1), dtype=x.dtype)
    wide[::2, 1::3] = x
    backwards = np.ascontiguousarray(x[::-1, ::-1])
    readonly = x.copy()
    readonly.flags.writeable = False
    padded = np.zeros((x.shape[0], x.shape[1] + 3), dtype=x.dtype)
    padded[:, : x.shape[1]] = x
    record = np.zeros(x.shape, dtype=[("a", np.int8), ("x", x.dtype)])
    record["x"] = x
    return {
        "C": np.ascontiguousarray(x),
        "F": np.asfortranarray(x),
        "steps": wide[::2, 1::3],
        "backwards": backwards[::-1, ::-1],
        "readonly": readonly,
        "part of rows": padded[:, : x.shape[1]],
        "unaligned": record["x"],
    }


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_layouts(dtype):
    X, y = blobs(seed=1)
    X = X.astype(dtype)
    expected = MaxMinClassifier(surrogate="crf").fit(X.astype(np.float64), y)
    scores = expected.decision_function(X.astype(np.float64))
    for name, same in layouts(X).items():
        assert np.array_equal(same, X), name
        estimator = MaxMinClassifier(surrogate="crf").fit(same, y)
        assert estimator.to_bytes() == expected.to_bytes(), name
        assert np.array_equal(estimator.decision_function(same), scores), name


@pytest.mark.parametrize("n_jobs", [2, 3, -1])
@pytest.mark.parametrize("features", ["linear", "rbf", "nystrom"])
def test_threads(n_jobs, features):
    X, y = blobs(n=900, seed=2)
    one = MaxMinClassifier(features=features, n_jobs=1).fit(X, y)
    many = MaxMinClassifier(features=features, n_jobs=n_jobs).fit(X, y)
    assert one.to_bytes() == many.to_bytes()
    assert np.array_equal(one.decision_function(X), many.decision_function(X))


def test_blocks_of_rows_that_are_converted():
    X, y = blobs(n=9000, d=3, seed=3)
    estimator = MaxMinClassifier(max_iter=3, tol=0.5).fit(X, y)
    assert np.array_equal(estimator.decision_function(np.asfortranarray(X)), estimator.decision_function(X))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("container", [sparse.csr_matrix, sparse.csr_array, sparse.csc_matrix, sparse.coo_matrix])
def test_sparse(dtype, index, container):
    X, y = blobs(seed=4)
    X = np.where(np.abs(X) < 1, 0, X).astype(dtype)
    reference = MaxMinClassifier().fit(sparse.csr_matrix(X.astype(np.float64)), y)
    rows = container(X)
    for name in ("indices", "indptr", "row", "col"):
        if hasattr(rows, name):
            setattr(rows, name, getattr(rows, name).astype(index))
    assert MaxMinClassifier().fit(rows, y).to_bytes() == reference.to_bytes()
    # Unscaled, sparse and dense are the same problem.
    plain = MaxMinClassifier(standardize=False)
    dense = plain.fit(X, y).decision_function(X)
    assert np.allclose(plain.fit(rows, y).decision_function(rows), dense, atol=1e-9)


def test_sparse_rows_out_of_order():
    X, y = blobs(seed=5)
    rows = sparse.csr_matrix(X)
    twisted = sparse.csr_matrix((rows.data[::-1].copy(), rows.indices[::-1].copy(), rows.indptr), shape=X.shape)
    doubled = sparse.csr_matrix(
        (np.repeat(twisted.data / 2, 2), np.repeat(twisted.indices, 2), 2 * twisted.indptr), shape=X.shape
    )
    expected = MaxMinClassifier().fit(sparse.csr_matrix(twisted.toarray()), y).to_bytes()
    before = twisted.indices.copy()
    assert MaxMinClassifier().fit(twisted, y).to_bytes() == expected
    assert MaxMinClassifier().fit(doubled, y).to_bytes() == expected
    assert np.array_equal(twisted.indices, before), "the caller's matrix was changed"


def test_a_broken_sparse_matrix_is_refused():
    X, y = blobs(seed=6)
    rows = sparse.csr_matrix(X)
    rows.has_canonical_format = True
    rows.indices[3] = 1000
    with pytest.raises(ValueError, match="out of range"):
        MaxMinClassifier().fit(rows, y)
    rows.indices[3] = -5
    with pytest.raises(ValueError, match="out of range"):
        MaxMinClassifier().fit(rows, y)


@settings(max_examples=60, deadline=None)
@given(
    n=st.integers(2, 40),
    d=st.integers(1, 6),
    k=st.integers(2, 5),
    dtype=st.sampled_from([np.float64, np.float32, np.int64, np.int8, np.bool_, np.float16, ">f8", object]),
    labels=st.sampled_from([np.int64, np.uint8, np.float64, str, bool]),
    scale=st.sampled_from([1e-3, 1.0, 100.0]),
    seed=st.integers(0, 1000),
)
def test_any_shape_and_type(n, d, k, dtype, labels, scale, seed):
    rng = np.random.default_rng(seed)
    X = (scale * rng.normal(size=(n, d))).clip(-100, 100).astype(dtype)
    y = (rng.permutation(np.arange(n) % (2 if labels is bool else k))).astype(labels)
    estimator = MaxMinClassifier(lam=0.1).fit(X, y)
    assert np.array_equal(estimator.classes_, np.unique(y))
    predicted = estimator.predict(X)
    assert predicted.shape == (n,) and predicted.dtype == estimator.classes_.dtype
    assert set(predicted.tolist()) <= set(y.tolist())
    scores = estimator.decision_function(X)
    width = len(estimator.classes_)
    assert scores.shape == ((n,) if width == 2 else (n, width)) and np.isfinite(scores).all()
    linear = X.astype(np.float64) @ estimator.coef_.T + estimator.intercept_
    assert np.allclose(scores, linear[:, 0] if width == 2 else linear, atol=1e-8 * (1 + np.abs(linear).max()))
    again = MaxMinClassifier.from_bytes(estimator.to_bytes())
    assert np.array_equal(again.decision_function(X), scores)
