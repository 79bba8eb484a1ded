"""m4n.dask on a cluster of processes of this machine, beside a fit in memory: rounds, seconds and bytes.

    python bench/dask_rounds.py [--rows 400000] [--features 100] [--classes 10] [--lam 1e-6] [--workers 2]

Rows are normal, labels drawn from a softmax. Seconds are those of the whole fit, and of one round; bytes are those that
the driver sends and receives. The last lines are the cluster's own cost: rounds of parts that have next to no rows.
"""

import argparse
import pickle
import time
import warnings

import dask
import dask.array
import numpy as np
from dask.distributed import Client, LocalCluster

import m4n
from m4n._distributed import Rows, ThreadExecutor, fit_parts, itself
from m4n.dask import DaskExecutor

BLOCKS = 8
TOLERANCES = (1e-2, 1e-3)


class Counting:
    """An executor that counts the bytes which the driver sends and receives, and the seconds that rounds take."""

    def __init__(self, executor):
        self.executor, self.place = executor, executor.place
        self.bytes, self.seconds, self.begun = 0, 0.0, None

    def submit(self, function, *arguments):
        if function is itself:
            self.bytes += len(pickle.dumps(arguments[0]))
            if isinstance(arguments[0], np.ndarray):  # the weights of a round
                self.begun = time.perf_counter()
        return self.executor.submit(function, *arguments)

    def gather(self, handles):
        found = self.executor.gather(handles)
        if self.begun is not None:
            self.seconds += time.perf_counter() - self.begun
            self.begun = None
        self.bytes += len(pickle.dumps(found))
        return found


def block(number, rows, features, classes):
    random = np.random.default_rng(number)
    X = random.normal(size=(rows, features))
    scores = X @ np.random.default_rng(1000).normal(size=(features, classes)) / np.sqrt(features)
    return X, np.argmax(scores + random.gumbel(size=scores.shape), axis=1)


def collections(arguments, rows, parts):
    """The same rows, whatever the number of parts."""
    made = [dask.delayed(block)(b, rows // BLOCKS, arguments.features, arguments.classes) for b in range(BLOCKS)]
    n = rows // BLOCKS
    X = dask.array.concatenate([dask.array.from_delayed(one[0], (n, arguments.features), float) for one in made])
    y = dask.array.concatenate([dask.array.from_delayed(one[1], (n,), int) for one in made])
    return X.rechunk({0: len(X) // parts}), y.rechunk(len(X) // parts)


def measured(name, executor, blocks, arguments, tol):
    counting = Counting(executor)
    model = m4n.MaxMinClassifier(lam=arguments.lam, tol=tol)
    start = time.perf_counter()
    fit_parts(model, counting, blocks, np.empty((0, arguments.features)))
    report(name, tol, model, time.perf_counter() - start, counting)


def on_dask(client, arguments, rows, parts, tol):
    X, y = dask.persist(*collections(arguments, rows, parts))
    blocks = [dask.delayed(Rows)(a, b) for a, b in zip(X.to_delayed().ravel(), y.to_delayed().ravel())]
    client.gather(client.compute([dask.delayed(len)(one) for one in blocks]))  # the rows are there
    few = "" if rows == arguments.rows else f", {rows} rows"
    measured(f"dask, {parts} partitions{few}", DaskExecutor(client), blocks, arguments, tol)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rows", type=int, default=400_000)
    parser.add_argument("--features", type=int, default=100)
    parser.add_argument("--classes", type=int, default=10)
    parser.add_argument("--lam", type=float, default=1e-6)
    parser.add_argument("--workers", type=int, default=2)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    dask.config.set({"distributed.worker.memory.target": False})

    blocks = [block(b, arguments.rows // BLOCKS, arguments.features, arguments.classes) for b in range(BLOCKS)]
    X, y = (np.concatenate(column) for column in zip(*blocks))
    del blocks
    print(f"{'':32} {'tol':>6} {'rounds':>7} {'seconds':>8} {'s/round':>8} {'KB/round':>9}  gap")
    for tol in TOLERANCES:
        start = time.perf_counter()
        model = m4n.MaxMinClassifier(lam=arguments.lam, tol=tol).fit(X, y)
        report("in memory", tol, model, time.perf_counter() - start)
    for tol in TOLERANCES:
        measured("one thread, 1 part", ThreadExecutor(1), [Rows(X, y)], arguments, tol)
    del X, y
    with (
        LocalCluster(n_workers=arguments.workers, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        for tol in TOLERANCES:
            for parts in (1, 2, 4, 8):
                on_dask(client, arguments, arguments.rows, parts, tol)
        for parts in (1, 2, 4, 8):
            on_dask(client, arguments, 800, parts, TOLERANCES[-1])


def report(name, tol, model, seconds, executor=None):
    rounds = model.n_iter_ + 1
    own = f"{executor.seconds / rounds:8.4f} {executor.bytes / rounds / 1e3:9.1f}" if executor else f"{'':18}"
    gap = model.certificate_.relative_gap
    print(f"{name:32} {tol:6.0e} {rounds:7} {seconds:8.2f} {own}  {gap:.1e}", flush=True)


if __name__ == "__main__":
    main()
