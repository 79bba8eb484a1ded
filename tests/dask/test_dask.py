"""m4n.dask on clusters of processes of this machine: the bytes are those of threads, whatever happens to workers."""

import os
import pickle
import signal
import threading
import time

import numpy as np
import pytest

distributed = pytest.importorskip("dask.distributed", reason="make test-dask installs it")

import dask.array
import dask.dataframe
import joblib
import pandas
from scipy import sparse
from sklearn.model_selection import GridSearchCV

import m4n
from m4n._distributed import Rows, ThreadExecutor, fit_parts
from m4n.dask import DaskExecutor, MaxMinClassifier, MaxMinOrdinalClassifier

COSTS = [[0, 1, 2], [4, 0, 1], [3, 1, 0]]
CHUNKS = (100, 0, 150, 50)


@pytest.fixture(scope="module")
def client():
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, host="127.0.0.1"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def problem(n=300, d=4, k=3, spread=2.0):
    rng = np.random.default_rng(0)
    y = rng.permutation(np.arange(n) % k)
    return rng.normal(size=(k, d))[y] + spread * rng.normal(size=(n, d)), y


def reference(model, X, y, chunks=CHUNKS, weight=None):
    """The same parts by threads of this process."""
    ends = np.cumsum([0, *chunks])
    parts = [Rows(X[a:b], y[a:b], None if weight is None else weight[a:b]) for a, b in zip(ends, ends[1:])]
    return fit_parts(model, ThreadExecutor(2), parts, X[:0])


def arrays(X, y, chunks=CHUNKS):
    return dask.array.from_array(X, chunks=(chunks, -1)), dask.array.from_array(y, chunks=(chunks,))


@pytest.mark.parametrize("surrogate", ["m4n", "m3n", "crf"])
def test_arrays_give_the_bytes_of_threads(client, surrogate):
    X, y = problem()
    expected = reference(m4n.MaxMinClassifier(COSTS, surrogate=surrogate, lam=0.01, tol=0.01), X, y)
    Xd, yd = arrays(X, y)
    found = MaxMinClassifier(COSTS, surrogate=surrogate, lam=0.01, tol=0.01).fit(Xd, yd)
    assert found.to_bytes() == expected.to_bytes()
    assert found.certificate_ == expected.certificate_ and found.certificate_.converged
    np.testing.assert_array_equal(found.predict(Xd).compute(), expected.predict(X))
    np.testing.assert_array_equal(found.decision_function(Xd).compute(), expected.decision_function(X))
    np.testing.assert_array_equal(found.predict(X), expected.predict(X))
    assert found.score(Xd, yd) == pytest.approx(expected.score(X, y), rel=1e-12)
    if surrogate == "crf":
        np.testing.assert_array_equal(found.predict_proba(Xd).compute(), expected.predict_proba(X))


def test_data_frames(client):
    X, y = problem()
    names = ["a", "b", "c", "d"]
    frame = pandas.DataFrame(X, columns=names)
    frame["number"] = np.arange(len(y))
    frame["label"] = np.array(["low", "mid", "high"])[y]
    frame["weight"] = 1.0 + y
    parts = dask.dataframe.from_pandas(frame, npartitions=3)
    rows = parts[[*names, "number"]]
    found = MaxMinClassifier(lam=0.01, ignore=["number"]).fit(rows, parts["label"], parts["weight"])
    lengths = parts.map_partitions(len).compute()
    words = frame["label"].to_numpy(dtype=object)
    expected = reference(m4n.MaxMinClassifier(lam=0.01), X, words, lengths, frame["weight"].to_numpy())
    np.testing.assert_array_equal(found.coef_, expected.coef_)
    assert found.feature_names_in_.tolist() == names
    predicted = found.predict(rows).compute()
    assert predicted.index.equals(frame.index)
    np.testing.assert_array_equal(predicted, expected.predict(X))
    scores = found.decision_function(rows).compute()
    assert scores.columns.tolist() == found.classes_.tolist()
    np.testing.assert_array_equal(scores, expected.decision_function(X))
    kind = pandas.CategoricalDtype(["low", "mid", "high"], ordered=True)
    grades = MaxMinOrdinalClassifier(lam=0.01).fit(parts[names], parts["label"].astype(kind))
    assert grades.classes_.tolist() == ["low", "mid", "high"]


def test_sparse_blocks(client):
    X, y = problem()
    X[X < 0] = 0
    Xd, yd = arrays(X, y)
    found = MaxMinClassifier(lam=0.01).fit(Xd.map_blocks(sparse.csr_matrix), yd)
    assert found.to_bytes() == reference(m4n.MaxMinClassifier(lam=0.01), sparse.csr_matrix(X), y).to_bytes()


def test_an_estimator_can_be_sent_without_its_client(client):
    X, y = arrays(*problem())
    found = MaxMinClassifier(client=client, lam=0.01).fit(X, y)
    again = pickle.loads(pickle.dumps(found))
    assert again.client is None and again.to_bytes() == found.to_bytes()
    assert found.score(X, y) == again.score(X, y)


class Eventful(DaskExecutor):
    """Something happens when so many rounds have begun."""

    def __init__(self, client, happens, at):
        super().__init__(client)
        self.gathered, self.happens, self.at = 0, happens, at

    def gather(self, handles):
        self.gathered += 1
        if self.gathered == self.at:
            self.happens()
        return super().gather(handles)


def eventful_fit(client, happens, at=8):
    X, y = problem()
    model = m4n.MaxMinClassifier(COSTS, lam=1e-3, tol=0.01)
    Xd, yd = arrays(X, y)
    parts = [dask.delayed(Rows)(a, b) for a, b in zip(Xd.to_delayed().ravel(), yd.to_delayed().ravel())]
    executor = Eventful(client, happens, at)
    found = fit_parts(model, executor, parts, X[:0])
    assert executor.gathered > at
    assert found.to_bytes() == reference(m4n.MaxMinClassifier(COSTS, lam=1e-3, tol=0.01), X, y).to_bytes()


def test_a_worker_may_be_killed_in_mid_round(client):
    """The tasks of the round are on their way when it goes; its parts and centres are made again elsewhere."""

    def kill():
        where = client.run(os.getpid)
        os.kill(next(iter(where.values())), signal.SIGKILL)

    eventful_fit(client, kill)
    client.wait_for_workers(2)


def test_a_worker_may_join_late(client):
    cluster = client.cluster
    eventful_fit(client, lambda: (cluster.scale(3), client.wait_for_workers(3)))
    cluster.scale(2)


def hold(seconds):
    time.sleep(seconds)


def test_a_worker_may_be_slow(client):
    """One thread of a worker is taken by others in mid-fit."""
    address = next(iter(client.scheduler_info()["workers"]))
    held = []
    eventful_fit(client, lambda: held.append(client.submit(hold, 2, workers=[address], pure=False)))


def test_fits_at_the_same_time_do_not_disturb_each_other(client):
    X, y = arrays(*problem())
    lams, found = [0.1, 0.01], {}

    def fit(lam):
        found[lam] = MaxMinClassifier(lam=lam, client=client).fit(X, y).to_bytes()

    threads = [threading.Thread(target=fit, args=(lam,)) for lam in lams]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for lam in lams:
        assert found[lam] == MaxMinClassifier(lam=lam).fit(X, y).to_bytes()


def test_a_search_is_one_future_for_each_fit(client):
    X, y = problem()
    search = GridSearchCV(m4n.MaxMinClassifier(COSTS), {"lam": [0.1, 0.01]}, cv=3)
    expected = search.fit(X, y).cv_results_["mean_test_score"]
    with joblib.parallel_config(backend="dask"):
        found = search.fit(X, y).cv_results_["mean_test_score"]
    np.testing.assert_array_equal(found, expected)


def test_what_is_no_collection_is_refused(client):
    X, y = problem()
    Xd, yd = arrays(X, y)
    with pytest.raises(m4n.Error, match="X must be a dask array"):
        MaxMinClassifier().fit(X, yd)
    with pytest.raises(m4n.Error, match="y must be a dask array"):
        MaxMinClassifier().fit(Xd, y)
    frame = dask.dataframe.from_pandas(pandas.DataFrame(X), npartitions=2)
    with pytest.raises(m4n.Error, match="y has 4 partitions and X 2"):
        MaxMinClassifier().fit(frame, yd)
    with pytest.raises(m4n.Error, match="partition . .*NaN"):
        MaxMinClassifier().fit(dask.array.where(Xd > 1, np.nan, Xd), yd)
    with pytest.raises(m4n.Error, match="features"):
        MaxMinClassifier(features="rbf").fit(Xd, yd)
