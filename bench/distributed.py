"""m4n.dask on a cluster of processes of this machine, beside a fit in memory: rounds, seconds and bytes.

    python bench/distributed.py [--rows 200000] [--features 50] [--classes 10] [--lam 1e-5] [--workers 2]

Rows are normal, labels drawn from a softmax. The table of docs/scaling.md is from here; its last lines are a cluster's
own cost: rounds of parts that have next to no rows.
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
from m4n._distributed import Rows, fit_parts, itself
from m4n.dask import DaskExecutor

BLOCKS = 8


class Counting(DaskExecutor):
    """Counts the bytes that the driver sends and receives in rounds."""

    def __init__(self, client):
        super().__init__(client)
        self.bytes = 0

    def submit(self, function, *arguments):
        if function is itself:
            self.bytes += len(pickle.dumps(arguments[0]))
        return super().submit(function, *arguments)

    def gather(self, handles):
        found = super().gather(handles)
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


def measured(client, arguments, rows, parts, tol):
    X, y = dask.persist(*collections(arguments, rows, parts))
    blocks = [dask.delayed(Rows)(a, b) for a, b in zip(X.to_delayed().ravel(), y.to_delayed().ravel())]
    client.gather(client.compute([dask.delayed(len)(one) for one in blocks]))  # the rows are there
    executor = Counting(client)
    model = m4n.MaxMinClassifier(lam=arguments.lam, tol=tol)
    start = time.perf_counter()
    fit_parts(model, executor, blocks, np.empty((0, arguments.features)))
    return model, time.perf_counter() - start, executor


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--features", type=int, default=50)
    parser.add_argument("--classes", type=int, default=10)
    parser.add_argument("--lam", type=float, default=1e-5)
    parser.add_argument("--workers", type=int, default=2)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    dask.config.set({"distributed.worker.memory.target": False})

    blocks = [block(b, arguments.rows // BLOCKS, arguments.features, arguments.classes) for b in range(BLOCKS)]
    X, y = (np.concatenate(column) for column in zip(*blocks))
    print(f"{'':24} {'tol':>6} {'rounds':>7} {'seconds':>8} {'s/round':>8} {'KB/round':>9}  gap")
    for tol in (1e-2, 1e-3):
        for jobs in (1, arguments.workers):
            start = time.perf_counter()
            model = m4n.MaxMinClassifier(lam=arguments.lam, tol=tol, n_jobs=jobs).fit(X, y)
            report(f"in memory, {jobs} threads", tol, model, time.perf_counter() - start)
    del X, y, blocks
    with (
        LocalCluster(n_workers=arguments.workers, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        for tol in (1e-2, 1e-3):
            for parts in (1, 2, 4, 8):
                report(f"{parts} partitions", tol, *measured(client, arguments, arguments.rows, parts, tol))
        for parts in (1, 2, 4, 8):
            report(f"{parts} partitions, 800 rows", 1e-3, *measured(client, arguments, 800, parts, 1e-3))


def report(name, tol, model, seconds, executor=None):
    rounds = model.n_iter_ + 1
    size = f"{executor.bytes / rounds / 1e3:9.1f}" if executor else f"{'':9}"
    gap = model.certificate_.relative_gap
    print(f"{name:24} {tol:6.0e} {rounds:7} {seconds:8.2f} {seconds / rounds:8.4f} {size}  {gap:.1e}", flush=True)


if __name__ == "__main__":
    main()
