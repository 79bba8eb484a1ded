#!/usr/bin/env python3
"""m4n.boosting beside softprob with decisions of least expected cost: mean test cost on data sets of scikit-learn.

Random splits (60% to learn from, at most --rows; the rest to test on), random asymmetric costs, drawn anew for every
split, the training labels as they are and with 30% of them replaced at random. XGBoost and LightGBM learn --rounds
rounds with the same settings; each column of a learner differs in the objective only.

    bench/boosting.py [--sets A,B] [--splits N] [--rows N] [--rounds N] [--smoothings 1,4,16]

Prints a Markdown table: mean and standard error over splits, and of m4n also how many standard errors of the paired
differences it lies from softprob (negative: it costs less). One thread. Needs the packages of
bench/python-requirements.txt.
"""

import argparse
import warnings

import numpy as np
from lightgbm import LGBMClassifier
from sklearn import datasets
from sklearn.model_selection import train_test_split
from xgboost import XGBClassifier

from m4n import boosting

SETS = ("breast_cancer", "wine", "iris", "digits")


def xgboost(x, y, t, rounds, **objective):
    model = XGBClassifier(n_estimators=rounds, learning_rate=0.1, max_depth=3, n_jobs=1, **objective).fit(x, y)
    return model.predict(t, output_margin=True) if objective else model.predict_proba(t)


def lightgbm(x, y, t, rounds, **objective):
    model = LGBMClassifier(n_estimators=rounds, learning_rate=0.1, max_depth=3, n_jobs=1, verbose=-1, **objective)
    return model.fit(x, y).predict_proba(t, raw_score=bool(objective))


def costs_of(k, rng):
    cost = rng.uniform(0.1, 1.9, size=(k, k))
    np.fill_diagonal(cost, 0)
    return cost


def measure(learner, x, y, noise, seed, options):
    """The mean test cost by objective."""
    rng = np.random.default_rng(seed)
    cost = costs_of(y.max() + 1, rng)
    x, t, y, truth = train_test_split(x, y, train_size=0.6, random_state=seed, stratify=y)
    x, y = x[: options.rows], y[: options.rows].copy()
    wrong = rng.random(len(y)) < noise
    y[wrong] = rng.integers(0, len(cost), size=wrong.sum())
    found = {"softprob": (learner(x, y, t, options.rounds) @ cost).argmin(axis=1)}
    for smoothing in options.smoothings:
        loss = boosting.objective(cost, smoothing)
        found[f"m4n, smoothing {smoothing:g}"] = loss.decode(learner(x, y, t, options.rounds, objective=loss))
    return {name: cost[truth, predicted].mean() for name, predicted in found.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--splits", type=int, default=10)
    parser.add_argument("--rows", type=int, default=500, help="at most so many to learn from")
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--smoothings", type=lambda text: [float(s) for s in text.split(",")], default=[1.0, 4.0, 16.0])
    options = parser.parse_args()
    names = ["softprob", *(f"m4n, smoothing {s:g}" for s in options.smoothings)]
    print("| set | labels | learner | " + " | ".join(names) + " |\n|" + "---|" * (len(names) + 3))
    for name in options.sets.split(","):
        x, y = getattr(datasets, f"load_{name}")(return_X_y=True)
        for noise in (0.0, 0.3):
            for learner in (xgboost, lightgbm):
                paid = [measure(learner, x, y, noise, seed, options) for seed in range(options.splits)]
                values = np.array([[row[n] for n in names] for row in paid])
                mean, error = values.mean(axis=0), values.std(axis=0, ddof=1) / np.sqrt(len(values))
                beside = values - values[:, :1]
                spread = beside.std(axis=0, ddof=1) / np.sqrt(len(values))
                cells = [f"{m:.3f} ± {e:.3f}" for m, e in zip(mean, error)]
                for c in range(1, len(cells)):
                    cells[c] += f" ({beside[:, c].mean() / spread[c]:+.1f})" if spread[c] > 0 else ""
                kind = f"{noise:.0%} at random" if noise else "clean"
                print(f"| {name} | {kind} | {learner.__name__} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
