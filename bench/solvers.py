#!/usr/bin/env python3
"""Block ascent, the smooth solver and what auto chooses, in one run; and the smooth solver on more threads.

    bench/solvers.py --m4n build/release/m4n [--sets letter_full.csv.gz,segment.csv] [--lambdas 2^-7,1e-5] [--n 400000]

Prints two Markdown tables: seconds to a relative gap of 1e-3 with one thread, the least of three runs (sets are looked
for in M4N_DATA or ../shared/data); and seconds by number of threads on generated data (m4n generate --kind softmax).
"""

import argparse
import json
import os
import pathlib
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
DATA = pathlib.Path(os.environ.get("M4N_DATA", ROOT.parent / "shared" / "data"))


def solved(tool, data, surrogate, solver, lam, tol, threads, limit):
    """The report of a fit; its seconds are those of the solver."""
    with tempfile.TemporaryDirectory() as folder:
        arguments = ["--surrogate", surrogate, "--solver", solver, "--lambda", lam, "--tol", tol, "--threads", threads]
        arguments += ["--epochs", 1_000_000, "--time-limit", limit, "--model", pathlib.Path(folder) / "m", "--json"]
        command = [tool, "train", data, *map(str, arguments)]
        return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def shown(report):
    late = "" if report["converged"] else f" (gap {report['relative_gap']:.1g})"
    return f"{report['seconds']:.3g}, {report['epochs']} passes{late}"


def compare(tool, sets, lambdas, limit):
    print("| set | lambda | surrogate | block ascent | smooth | auto | auto / better |\n|---|---|---|---|---|---|---|")
    for name in sets:
        if not (DATA / name).exists():
            print(f"| {name} | | | left out: not in {DATA.name} | | | |")
            continue
        for lam in lambdas:
            for surrogate in ("m4n", "m3n", "crf"):
                best = []
                for solver in ("prox", "smooth", "auto"):
                    runs = [solved(tool, DATA / name, surrogate, solver, lam, 1e-3, 1, limit)]
                    if runs[0]["seconds"] < 1:
                        runs += [solved(tool, DATA / name, surrogate, solver, lam, 1e-3, 1, limit) for _ in range(2)]
                    best.append(min(runs, key=lambda report: report["seconds"]))
                ratio = best[2]["seconds"] / min(best[0]["seconds"], best[1]["seconds"])
                print(f"| {name.split('.')[0]} | {lam} | {surrogate} | {' | '.join(map(shown, best))} | {ratio:.2f} |")


def threads(tool, n, counts, limit):
    with tempfile.TemporaryDirectory() as folder:
        data = pathlib.Path(folder) / "softmax.csv"
        kind = ["--kind", "softmax", "--features", 100, "--classes", 10, "--n", n, "--out", data]
        subprocess.run([tool, "generate", "--task", "multiclass", *map(str, kind)], check=True, capture_output=True)
        names = [f"smooth, {count} thread{'s' * (count > 1)}" for count in counts]
        print(f"| surrogate | gap | block ascent | {' | '.join(names)} |\n|---|---|---|{'---|' * len(names)}")
        for surrogate in ("m4n", "m3n", "crf"):
            for tol in (1e-2, 1e-3):
                cells = [shown(solved(tool, data, surrogate, "prox", 1e-5, tol, 1, limit))]
                cells += [shown(solved(tool, data, surrogate, "smooth", 1e-5, tol, count, limit)) for count in counts]
                print(f"| {surrogate} | {tol:g} | {' | '.join(cells)} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--m4n", default=ROOT / "build" / "release" / "m4n")
    parser.add_argument("--sets", default="shuttle.csv.gz,covtype15k.csv.gz,letter_full.csv.gz,segment.csv")
    parser.add_argument("--lambdas", default="2^-4,2^-7,2^-10,2^-13,1e-5")
    parser.add_argument("--n", type=int, default=400_000, help="rows of generated data; 0: no such table")
    parser.add_argument("--threads", default="1,2", help="numbers of threads")
    parser.add_argument("--time-limit", type=float, default=120)
    arguments = parser.parse_args()
    sets = [name for name in arguments.sets.split(",") if name]
    if sets:
        compare(arguments.m4n, sets, arguments.lambdas.split(","), arguments.time_limit)
    if arguments.n:
        threads(arguments.m4n, arguments.n, [int(c) for c in arguments.threads.split(",")], arguments.time_limit)


if __name__ == "__main__":
    main()
