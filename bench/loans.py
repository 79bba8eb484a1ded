#!/usr/bin/env python3
"""Costs by example beside what people do today, on loans whose best possible cost is known.

`m4n generate --costs example` draws loans: one that is not paid back costs its amount, one that is declined its profit.
All methods see the same features; the amounts and profits are known for every example. Mean cost on 100,000 new loans,
over the Bayes risk that the generator prints; mean over --repeats training sets with its standard error.

    bench/loans.py [--sizes 300,1000,5000] [--repeats N]

Runs build/release/m4n, or M4N_BIN; needs scikit-learn.
"""

import argparse
import os
import pathlib
import re
import subprocess
import tempfile
import time
import warnings

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegressionCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from m4n import MaxMinClassifierCV

ROOT = pathlib.Path(__file__).resolve().parents[1]
M4N = os.environ.get("M4N_BIN", str(ROOT / "build" / "release" / "m4n"))
COSTS = pd.DataFrame(
    [[0, "amount"], ["profit", 0]], index=["default", "repaid"], columns=["default", "repaid"], dtype=object
)


def loans(folder, n, seed):
    """A table with its costs as columns, and the Bayes risk."""
    path = pathlib.Path(folder) / "loans.csv"
    command = [M4N, "generate", "--task", "multiclass", "--costs", "example", "--n", str(n), "--seed", str(seed)]
    said = subprocess.run([*command, "--out", path], check=True, capture_output=True, text=True).stderr
    return pd.read_csv(path), float(re.search(r"Bayes risk ([\d.]+)", said)[1])


def logistic():
    model = LogisticRegressionCV(Cs=10, cv=5, scoring="neg_log_loss", max_iter=1000, use_legacy_attributes=False)
    return make_pipeline(StandardScaler(), model)


def weighted_logistic(x, y):
    """Every example weighs what mistaking it costs; the more likely class is the answer."""
    cost = np.where(y == "default", x.amount, x.profit)
    return logistic().fit(x, y, logisticregressioncv__sample_weight=cost / cost.mean()).predict


def least_expected_cost(x, y):
    """Probabilities that know no costs, then the decision of least expected cost (Bayes minimum risk)."""
    fitted = logistic().fit(x, y)
    return lambda t: np.where(
        fitted.predict_proba(t)[:, 0] * t.amount < fitted.predict_proba(t)[:, 1] * t.profit, "repaid", "default"
    )


def blind(x, y):
    return logistic().fit(x, y).predict


METHODS = {
    "m4n auto": lambda x, y: MaxMinClassifierCV(COSTS, surrogate="auto").fit(x, y).predict,
    "m4n": lambda x, y: MaxMinClassifierCV(COSTS, surrogate="m4n").fit(x, y).predict,
    "m3n": lambda x, y: MaxMinClassifierCV(COSTS, surrogate="m3n").fit(x, y).predict,
    "logistic, least expected cost": least_expected_cost,
    "logistic, weighted by cost": weighted_logistic,
    "logistic, costs ignored": blind,
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--sizes", default="300,1000,5000")
    parser.add_argument("--repeats", type=int, default=10)
    options = parser.parse_args()
    sizes = [int(size) for size in options.sizes.split(",")]
    with tempfile.TemporaryDirectory() as folder:
        test, bayes = loans(folder, 100_000, seed=10**6)
        print(f"Bayes risk {bayes:.1f}\n")
        print("| method | " + " | ".join(f"{n} loans | seconds" for n in sizes) + " |")
        print("|---" * (1 + 2 * len(sizes)) + "|")
        for name, fit in METHODS.items():
            cells = []
            for n in sizes:
                costs, seconds = [], []
                for repeat in range(options.repeats):
                    train, _ = loans(folder, n, seed=repeat)
                    start = time.perf_counter()
                    predict = fit(train.drop(columns="label"), train.label)
                    seconds.append(time.perf_counter() - start)
                    found, truth = predict(test.drop(columns="label")), test.label
                    lent, declined = (
                        (truth == "default") & (found == "repaid"),
                        (truth == "repaid") & (found == "default"),
                    )
                    costs.append((lent * test.amount + declined * test.profit).mean() / bayes - 1)
                error = np.std(costs, ddof=1) / np.sqrt(len(costs))
                cells.append(f"{np.mean(costs):+.1%} ± {error:.1%} | {np.median(seconds):.3f}")
            print(f"| {name} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
