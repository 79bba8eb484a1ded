#!/usr/bin/env python3
"""Sets of labels: what the surrogates reach on test examples, each label alone and joined by a tree.

  bench/label_sets.py > table.md

Lambda is chosen by `m4n cv` on the training file, the choice is fitted on all of it and judged on the test file. Data:
M4N_DATA, or ../shared/data; the tool: M4N_BIN, or build/release/m4n. Prints a table in Markdown; the commands go to
stderr.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
TOOL = pathlib.Path(os.environ.get("M4N_BIN", ROOT / "build" / "release" / "m4n")).resolve()
DATA = pathlib.Path(os.environ.get("M4N_DATA", ROOT.parent / "shared" / "data"))

# Means over the labels, so that their lambdas are larger than those of sums.
LAMBDAS = {"m4n": "2^4:2^-3", "m3n": "2^5:2^-2", "crf": "2^1:2^-6", "qs": "2^2:2^-5"}
ROWS = [("m4n", "none"), ("m3n", "none"), ("crf", "none"), ("qs", "none"), ("m4n", "tree"), ("crf", "tree")]
METRICS = ["hamming", "subset_accuracy", "micro_f1", "macro_f1"]


def call(*arguments):
    print("m4n", *arguments, file=sys.stderr, flush=True)
    done = subprocess.run([TOOL, *map(str, arguments)], stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)


def row(name, surrogate, edges, model):
    train, test = (DATA / f"ml_{name}_{part}.csv.gz" for part in ("train", "test"))
    chosen = call(
        "cv",
        train,
        "--task",
        "multilabel",
        "--surrogate",
        surrogate,
        "--edges",
        edges,
        "--lambdas",
        LAMBDAS[surrogate],
        "--splits",
        "5",
        "--tol",
        "1e-2",
        "--model",
        model,
        "--json",
    )
    found = call("eval", model, test, "--json")["metrics"]
    return [name, surrogate, edges, f"{chosen['best_lambda']:.4g}", *(f"{found[metric]:.4f}" for metric in METRICS)]


def main():
    header = ["set", "surrogate", "edges", "lambda", *METRICS]
    print("| " + " | ".join(header) + " |\n|" + "---|" * len(header))
    with tempfile.TemporaryDirectory() as folder:
        for name in ("emotions", "yeast"):
            for surrogate, edges in ROWS:
                print(
                    "| " + " | ".join(row(name, surrogate, edges, os.path.join(folder, "labels.m4n"))) + " |",
                    flush=True,
                )


if __name__ == "__main__":
    main()
