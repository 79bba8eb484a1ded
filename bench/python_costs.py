#!/usr/bin/env python3
"""Mean test cost beside scikit-learn and mord, for several costs, clean and with wrong labels.

Every multi-class and ordinal set of the data folder, random splits (60% to learn from, of which at most --rows, the
rest to test on), four cost matrices and two rates of noise: labels of the training part replaced at random. All methods
see the same rows. Those of m4n choose lam (auto: the surrogate and decoder too) by 5-fold cross-validation of the cost;
LogisticRegressionCV chooses C by log-loss and decides by least expected cost; LinearSVC (Crammer-Singer) and mord's
LogisticAT choose by the cost on the folds. Dense features are standardised; everything is single-threaded.

    bench/python_costs.py [--quick] [--data DIR] [--sets A,B] [--methods A,B] [--splits N] [--rows N]
                          [--results FILE.jsonl]

Results are kept line by line in FILE.jsonl; a run that was stopped goes on from there. The tables are printed at the
end (--tables prints those of what there is). Data sets are looked for in M4N_DATA, or in ../shared/data. Needs the
packages of bench/python-requirements.txt (make bench-python installs them).
"""

import argparse
import json
import os
import pathlib
import time
import warnings

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")

import mord
import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.datasets import load_svmlight_file
from sklearn.linear_model import LogisticRegressionCV
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from m4n import MaxMinClassifierCV

ROOT = pathlib.Path(__file__).resolve().parents[1]
ORDINAL = ("abalone", "machine", "stocks", "wisconsin", "era", "esl")
SETS = (
    "iris", "wine", "segment", "mfeat", "letter", "letter_full", "covtype15k", "shuttle", "mnist10k", "trec_qc_train",
    *ORDINAL,
)  # fmt: skip
OURS = {
    "m4n argmax": {"surrogate": "m4n", "decode": "argmax"},
    "m4n adversary": {"surrogate": "m4n", "decode": "adversary"},
    "smoothed m4n": {"surrogate": "smoothed"},
    "m3n": {"surrogate": "m3n"},
    "crf": {"surrogate": "crf"},
    "auto": {"surrogate": "auto"},
}
RIVALS = ("LogisticRegressionCV", "LinearSVC", "LogisticAT")


def load(folder, name):
    """Features and labels 0..k-1; raw targets are cut into ten grades at their quantiles."""
    if name == "trec_qc_train":
        x, y = load_svmlight_file(str(folder / f"{name}.libsvm.gz"))
        return x.tocsr(), y.astype(int)
    path = next(p for p in (folder / f"{name}.csv", folder / f"{name}.csv.gz") if p.exists())
    table = pd.read_csv(path)
    x, target = table.iloc[:, :-1].to_numpy(float), table.iloc[:, -1]
    if target.name == "target":
        target = np.searchsorted(np.quantile(target, np.arange(1, 10) / 10), target)
    return x, np.unique(target, return_inverse=True)[1]


def costs_of(k, seed):
    steps = np.abs(np.subtract.outer(np.arange(k), np.arange(k))).astype(float)
    rng = np.random.default_rng(seed)
    asymmetric = rng.uniform(0.1, 1.9, size=(k, k))
    np.fill_diagonal(asymmetric, 0)
    costly = (steps > 0).astype(float)
    costly[rng.integers(k)] *= 10
    return {"0-1": (steps > 0).astype(float), "absolute": steps, "asymmetric": asymmetric, "one class 10x": costly}


def split(x, y, seed, rows, noise):
    """Every class is in the training part; of a class with one example that one."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(x.shape[0])
    first = np.unique(y[order], return_index=True)[1]  # one of every class, then the others
    order = np.concatenate([order[first], np.delete(order, first)])
    size = int(0.6 * len(order))
    train, test = order[: min(size, rows)], order[size : size + rows]
    labels = y[train].copy()
    wrong = rng.random(len(labels)) < noise
    wrong[: len(first)] = False
    labels[wrong] = rng.integers(0, y.max() + 1, size=wrong.sum())
    if sparse.issparse(x):  # words that do not occur in training have no weight, whatever the method
        x = x[:, np.flatnonzero(x[train].getnnz(axis=0))]
    return x[train], labels, x[test], y[test]


def scaler(x):
    """Words of a text are not scaled, neither here nor by MaxMinClassifierCV."""
    return "passthrough" if sparse.issparse(x) else StandardScaler()


def folds_cost(cost):
    return lambda model, x, y: -cost[y, model.predict(x)].mean()


def grid(model, parameter, values, costs, x, y):
    """One search per cost: all are scored on the same folds. The seconds are those of the whole search."""
    scoring = {name: folds_cost(cost) for name, cost in costs.items()}
    search = GridSearchCV(make_pipeline(scaler(x), model), {parameter: values}, scoring=scoring, refit=False, cv=5)
    search.fit(x, y)
    found = {}
    for name in costs:
        best = search.cv_results_["params"][int(np.argmax(search.cv_results_[f"mean_test_{name}"]))]
        found[name] = make_pipeline(scaler(x), model).set_params(**best).fit(x, y).predict
    return found


def logistic(costs, x, y):
    model = LogisticRegressionCV(Cs=10, cv=5, scoring="neg_log_loss", max_iter=1000, use_legacy_attributes=False)
    fitted = make_pipeline(scaler(x), model).fit(x, y)
    return {name: lambda t, cost=cost: (fitted.predict_proba(t) @ cost).argmin(axis=1) for name, cost in costs.items()}


def rivals(name):
    """(method, fit) with fit(costs, x, y) -> prediction by cost; they do not look at the costs while they learn."""
    yield "LogisticRegressionCV", logistic
    svc = LinearSVC(multi_class="crammer_singer", max_iter=2000)
    yield "LinearSVC", lambda costs, x, y: grid(svc, "linearsvc__C", np.logspace(-4, 1, 6), costs, x, y)
    if name in ORDINAL:
        at = mord.LogisticAT()
        yield "LogisticAT", lambda costs, x, y: grid(at, "logisticat__alpha", np.logspace(-3, 3, 7), costs, x, y)


def measure(name, data, seed, rows, noise, methods, done, emit):
    x, y, x_test, y_test = split(*data, seed, rows, noise)
    costs = costs_of(int(data[1].max()) + 1, seed)

    def report(method, cost, predicted, seconds):
        value = float(costs[cost][y_test, predicted].mean())
        emit({"set": name, "noise": noise, "split": seed, "cost": cost, "method": method, "value": value,
              "seconds": seconds, "rows": len(y)})  # fmt: skip

    for method, fit in rivals(name):
        if method not in methods or all((name, noise, seed, cost, method) in done for cost in costs):
            continue
        start = time.process_time()
        try:
            found = fit(costs, x, y)
        except (ValueError, IndexError) as error:  # what a rival cannot do is no result
            print(f"{name}, {method}: {error}")
            continue
        seconds = time.process_time() - start
        for cost, predict in found.items():
            report(method, cost, predict(x_test), seconds)
    for cost, matrix in costs.items():
        for method, parameters in OURS.items():
            if method not in methods or (name, noise, seed, cost, method) in done:
                continue
            start = time.process_time()
            model = MaxMinClassifierCV(matrix, **parameters).fit(x, y)
            report(method, cost, model.predict(x_test), time.process_time() - start)


def keyed(line):
    return line["set"], line["noise"], line["split"], line["cost"], line["method"]


def tables(lines):
    """Mean cost with its standard error over splits; below, how often a method is beyond two standard errors of the
    differences from LogisticRegressionCV, split by split; and how auto does beside the best of the single ones."""
    frame = pd.DataFrame(lines).drop_duplicates(["set", "noise", "cost", "split", "method"], keep="last")
    splits = frame[frame.method == "auto"].groupby("set").size()
    frame = frame[frame.set.isin(splits.index[splits == splits.max()])]  # sets that are done
    methods = [m for m in (*OURS, *RIVALS) if m in set(frame.method)]
    for cost in ("0-1", "absolute", "asymmetric", "one class 10x"):
        for noise in (0.0, 0.3):
            part = frame[(frame.cost == cost) & (frame.noise == noise)]
            if part.empty:
                continue
            print(f"\n### {cost}, {'clean' if noise == 0 else '30% of the training labels at random'}\n")
            print("| set | " + " | ".join(methods) + " |\n|" + "---|" * (len(methods) + 1))
            for name in [s for s in SETS if s in set(part.set)]:
                cells = []
                for method in methods:
                    values = part[(part.set == name) & (part.method == method)].value
                    cells.append(f"{values.mean():.3f} ± {values.sem():.3f}" if len(values) > 1 else "-")
                print(f"| {name} | " + " | ".join(cells) + " |")
    print("\n### Beside LogisticRegressionCV with expected-cost decisions\n")
    print("Mean of cost / its cost - 1 over the sets; sets better / within two standard errors / worse.\n")
    compare(frame, [m for m in methods if m != "LogisticRegressionCV"], lambda own, _: own["LogisticRegressionCV"])
    print("\n### auto beside each single one\n")
    print(
        "The same the other way round: auto's cost / that method's cost - 1; sets where auto is better / equal / "
        "worse.\n"
    )
    compare(frame, [m for m in methods if m != "auto"], lambda own, method: own[method], of="auto")
    print("\n### CPU seconds of a fit with its search, median over splits and costs\n")
    print("| set | rows | " + " | ".join(methods) + " |\n|" + "---|" * (len(methods) + 2))
    for name in [s for s in SETS if s in set(frame.set)]:
        part = frame[frame.set == name]
        cells = [f"{part[part.method == m].seconds.median():.2f}" if (part.method == m).any() else "-" for m in methods]
        print(f"| {name} | {part.rows.max()} | " + " | ".join(cells) + " |")


def compare(frame, methods, rival_of, of=None):
    """One row per method, one column per cost and noise; the last column adds them up."""
    kinds = list(frame.groupby(["cost", "noise"], sort=False).groups)
    print("| method | " + " | ".join(f"{c}, {'clean' if n == 0 else 'noise'}" for c, n in kinds) + " | all |")
    print("|" + "---|" * (len(kinds) + 2))
    for method in methods:
        cells, total = [], np.zeros(3, dtype=int)
        for cost, noise in kinds:
            ratios, counts = [], [0, 0, 0]
            for _, own in frame[(frame.cost == cost) & (frame.noise == noise)].groupby("set"):
                wide = own.pivot(index="split", columns="method", values="value")
                if of is not None and of not in wide or method not in wide or "LogisticRegressionCV" not in wide:
                    continue
                a, b = wide[of or method], rival_of(wide, method)
                difference = (a - b).dropna()
                if len(difference) < 2 or b.mean() == 0:
                    continue
                ratios.append(a.mean() / b.mean() - 1)
                error = 2 * difference.sem()
                counts[0 if difference.mean() < -error else 2 if difference.mean() > error else 1] += 1
            cells.append(f"{np.mean(ratios):+.0%} {'/'.join(map(str, counts))}" if ratios else "-")
            total += counts
        print(f"| {method} | " + " | ".join(cells) + f" | {'/'.join(map(str, total))} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument(
        "--data", type=pathlib.Path, default=os.environ.get("M4N_DATA", ROOT.parent / "shared" / "data")
    )
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--methods", default=",".join((*OURS, *RIVALS)))
    parser.add_argument("--splits", type=int, default=10)
    parser.add_argument("--rows", type=int, default=1000, help="at most so many to learn from, and to test on")
    parser.add_argument("--results", type=pathlib.Path, default=ROOT / "build" / "bench-python.jsonl")
    parser.add_argument("--quick", action="store_true", help="three splits of three small sets, 200 rows")
    parser.add_argument("--tables", action="store_true", help="measure nothing, print the tables of what there is")
    options = parser.parse_args()
    if unknown := set(options.methods.split(",")) - {*OURS, *RIVALS}:
        parser.error(f"--methods: no method {sorted(unknown)}; there are {[*OURS, *RIVALS]}")
    if options.quick:
        options.sets, options.splits, options.rows = "iris,wine,esl", 3, 200
        options.results = options.results.with_name("bench-python-quick.jsonl")
    options.results.parent.mkdir(parents=True, exist_ok=True)
    lines = [json.loads(line) for line in options.results.open()] if options.results.exists() else []
    done = {keyed(line) for line in lines}
    with options.results.open("a") as file:

        def emit(line):
            lines.append(line)
            file.write(json.dumps(line) + "\n")
            file.flush()

        for name in () if options.tables else options.sets.split(","):
            data = load(options.data, name)
            for seed in range(options.splits):
                for noise in (0.0, 0.3):
                    measure(name, data, seed, options.rows, noise, options.methods.split(","), done, emit)
            print(f"{name}: done", flush=True)
    tables(lines)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
