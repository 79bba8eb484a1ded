#!/usr/bin/env python3
"""Multi-label training beside scikit-learn's OneVsRest(LogisticRegression): the same ten lambdas, one thread, one run.

  bench/multilabel_peers.py --bench build/bench/bench/bench_multilabel --data DIR [--quick]

Both have the standardised features and a column of ones, which is penalised like the others, so that crf minimises
exactly what scikit-learn does: lambda = 2 / (C n). The losses of m4n and m3n are means over the M labels; they have
these lambdas and M times these lambdas. scikit-learn stops by its default tolerance, m4n at a certified gap of 1e-3;
the objectives reached at every lambda are told beside the times. Prints JSON.
"""

import argparse
import csv
import gzip
import json
import os
import pathlib
import subprocess
import sys
import time

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"

import numpy  # threads are limited before it is loaded
import sklearn
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier

REPEATS = 3


def read(path):
    with gzip.open(path, "rt", encoding="utf-8") as file:
        rows = csv.reader(file)
        names = next(rows)
        values = numpy.array([[float(cell) for cell in row] for row in rows])
    of_label = numpy.array([name.startswith("y") for name in names])
    x, y = values[:, ~of_label], values[:, of_label].astype(int)
    spread = x.std(axis=0)
    x = (x - x.mean(axis=0)) / numpy.where(spread > 0, spread, 1)
    return numpy.hstack([x, numpy.ones((len(x), 1))]), y


def objective(model, x, y, lam):
    """sum_j log(1 + exp(-score)) and the penalty, as m4n counts them."""
    beta = numpy.vstack([one.coef_[0] for one in model.estimators_])
    margin = (2 * y - 1) * (x @ beta.T)
    return float(numpy.logaddexp(0, -margin).sum(axis=1).mean() + lam / 4 * (beta**2).sum())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bench", required=True)
    parser.add_argument("--data", required=True, type=pathlib.Path)
    parser.add_argument("--quick", action="store_true", help="the first data set, once")
    options = parser.parse_args()
    flags = ["--quick"] if options.quick else []
    ours = json.loads(
        subprocess.run(
            [options.bench, *flags],
            stdout=subprocess.PIPE,
            check=True,
            env={**os.environ, "M4N_DATA": str(options.data)},
        ).stdout
    )
    rows = []
    for name in dict.fromkeys(row["set"] for row in ours["multilabel"]):
        x, y = read(options.data / f"ml_{name}_train.csv.gz")
        best, reached = float("inf"), []
        for _ in range(1 if options.quick else REPEATS):
            start, models = time.process_time(), []
            for lam in ours["lambdas"]:
                c = 2 / (lam * len(x))
                models.append(
                    OneVsRestClassifier(LogisticRegression(C=c, fit_intercept=False, max_iter=1000)).fit(x, y)
                )
            best = min(best, time.process_time() - start)
            reached = [objective(m, x, y, lam) for m, lam in zip(models, ours["lambdas"])]
        own = [row for row in ours["multilabel"] if row["set"] == name]
        crf = next(row for row in own if row["surrogate"] == "crf")
        excess = max(ours_p / theirs - 1 for ours_p, theirs in zip(crf["primal"], reached))
        print(
            f"  {name}: scikit-learn {best:.3f} s; objective of crf at most {excess:.2e} above scikit-learn's",
            file=sys.stderr,
        )
        rows.append(
            {"set": name, "sklearn_seconds": best, "sklearn_primal": reached, "m4n": own, "largest_excess": excess}
        )
    print(json.dumps({"multilabel_peers": rows, "sklearn_version": sklearn.__version__}))


if __name__ == "__main__":
    main()
