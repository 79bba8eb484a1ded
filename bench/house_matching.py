#!/usr/bin/env python3
"""House keypoints: which of 30 points of frame t is which of frame t + gap? Learned weights beside plain distances.

  bench/house_matching.py [--markdown]

The 111 frames are shared out by t modulo 10, which a gap of 10, 20, .. 90 leaves alone: 0 trains, 1 chooses lambda, and
4 to 7 test. No test frame is nearer than three frames to one that was learnt from. Training and the choice of lambda
see the gaps 20, 40, 60 and 80 only. A pair of points is described by the differences of their shape contexts, squared
or as in the chi-squared distance.

The table has the share of points matched right, by gap. `distance` does not learn: all differences count the same.

Data: M4N_DATA, or ../shared/data; the tool: M4N_BIN, or build/release/m4n.
"""

import argparse
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "examples"))
from points_to_matching import DIFFERENCES, read_described, write_matching

TOOL = pathlib.Path(os.environ.get("M4N_BIN", ROOT / "build" / "release" / "m4n")).resolve()
POINTS = (
    pathlib.Path(os.environ.get("M4N_DATA", ROOT.parent / "shared" / "data")) / "matching_house_shape_context.csv.gz"
)

CYCLE = 10
TRAIN, CHOOSE, TEST = [0], [1], [4, 5, 6, 7]  # frames modulo CYCLE
LEARNT_GAPS, GAPS = range(20, 90, 20), range(10, 100, 10)
LAMBDAS = [f"2^{e}" for e in range(4, -9, -1)]
SURROGATES = ["m4n", "m3n", "qs"]


def call(*arguments):
    done = subprocess.run(
        [TOOL, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False
    )
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip())
    return done.stdout


def accuracy(model, data):
    return json.loads(call("eval", model, data, "--json"))["metrics"]["match_accuracy"]


def write(path, described, residues, gaps, difference):
    """A file with all pairs of frames of these residues that are so far apart."""
    names, frames = described
    rng = random.Random(0)
    with open(path, "w", encoding="ascii") as out:
        print("features", *names, file=out)
        for gap in gaps:
            for t in sorted(frames):
                if t % CYCLE in residues and t + gap in frames:
                    write_matching(frames[t], frames[t + gap], difference, rng, out)
    return path


def summed(path):
    """The same matchings with one feature per pair: the sum of all, minus the distance."""
    out = path.with_suffix(".sum")
    with open(path, encoding="ascii") as source, open(out, "w", encoding="ascii") as sink:
        for line in source:
            words = line.split()
            if words[0] == "features":
                print("features distance", file=sink)
            elif words[0] == "matching":
                print(line, end="", file=sink)
            else:
                print(*words[:2], sum(map(float, words[2:])), file=sink)
    return out


def unlearned(train, tests, folder):
    """One weight can only scale the distance: its sign is all that matters."""
    model = folder / "distance.m4n"
    call("train", summed(train), "--task", "matching", "--tol", "1e-2", "--quiet", "--model", model)
    weight = float(call("dump", model).splitlines()[1].split(",")[-1])
    if weight <= 0:
        raise RuntimeError(f"the weight of minus the distance is {weight}, expected a positive number")
    return [accuracy(model, summed(test)) for test in tests]


def learned(surrogate, train, choose, tests, folder):
    """Lambda by the frames of CHOOSE, the larger one where two are as good."""
    best = (-1.0, "", None)
    for step, value in enumerate(LAMBDAS):
        model = folder / f"{surrogate}-{step}.m4n"
        call(
            "train",
            train,
            "--task",
            "matching",
            "--surrogate",
            surrogate,
            "--lambda",
            value,
            "--tol",
            "1e-2",
            "--quiet",
            "--model",
            model,
        )
        found = accuracy(model, choose)
        if found > best[0]:
            best = (found, value, model)
    return best[1], [accuracy(best[2], test) for test in tests]


def refused(surrogate, train, folder):
    """What the tool says to a surrogate that it cannot train on so many points."""
    try:
        call(
            "train", train, "--task", "matching", "--surrogate", surrogate, "--quiet", "--model", folder / "refused.m4n"
        )
    except RuntimeError as error:
        return str(error).splitlines()[0]
    raise RuntimeError(f"{surrogate} was trained on 30 points; put it into the table")


def show(rows, markdown):
    heads = ["difference", "matched by", "lambda", *map(str, GAPS), "all"]
    cells = [heads] + [[d, name, value, *(f"{100 * a:.1f}" for a in found)] for d, name, value, found in rows]
    if markdown:
        cells.insert(1, ["---"] * len(heads))
        print(*("| " + " | ".join(row) + " |" for row in cells), sep="\n")
        return
    widths = [max(map(len, column)) for column in zip(*cells)]
    for row in cells:
        print("  ".join(cell.rjust(w) for cell, w in zip(row, widths)))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--markdown", action="store_true", help="print the table for a page of documentation")
    options = parser.parse_args()
    if not POINTS.exists():
        print(f"skipped: {POINTS} is not there; set M4N_DATA to the folder with the data sets", file=sys.stderr)
        return
    if not TOOL.exists():
        sys.exit(f"house_matching: {TOOL} is not there; build it, or set M4N_BIN")
    described = read_described(str(POINTS), False)
    rows, refusal = [], ""
    for name in ("squared", "chi2"):
        difference = DIFFERENCES[name]
        with tempfile.TemporaryDirectory() as scratch:
            folder = pathlib.Path(scratch)
            train = write(folder / "train.txt", described, TRAIN, LEARNT_GAPS, difference)
            choose = write(folder / "choose.txt", described, CHOOSE, LEARNT_GAPS, difference)
            tests = [write(folder / f"test{gap}.txt", described, TEST, [gap], difference) for gap in GAPS]
            tests.append(write(folder / "test.txt", described, TEST, GAPS, difference))
            rows.append((name, "distance", "-", unlearned(train, tests, folder)))
            for surrogate in SURROGATES:
                rows.append((name, surrogate, *learned(surrogate, train, choose, tests, folder)))
            refusal = refused("crf", train, folder)
    show(rows, options.markdown)
    print(f"left out: {refusal}", file=sys.stderr)


if __name__ == "__main__":
    main()
