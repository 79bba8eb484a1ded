#!/usr/bin/env python3
"""scipy's linear_sum_assignment on the matrices that bench_assignment left in a folder.

  bench_assignment FOLDER && bench/assignment_scipy.py FOLDER [--quick]

Timed as src/core/timing.h does: CPU time of the thread, the mean over the matrices in the fastest of several sweeps. A
call from Python costs about a microsecond in itself, which the times include. Prints JSON.
"""

import argparse
import json
import pathlib
import time

import numpy
import scipy
from scipy.optimize import linear_sum_assignment


def microseconds_each(matrices, budget):
    start, best, sweeps = time.thread_time(), float("inf"), 0
    while sweeps < 3 or time.thread_time() - start < budget:
        before = time.thread_time()
        for matrix in matrices:
            linear_sum_assignment(matrix, maximize=True)
        best = min(best, time.thread_time() - before)
        sweeps += 1
    return 1e6 * best / len(matrices)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    rows = []
    for file in sorted(options.folder.glob("*.f64"), key=lambda f: int(f.stem)):
        size = int(file.stem)
        matrices = list(numpy.fromfile(file).reshape(-1, size, size))
        values = [m[linear_sum_assignment(m, maximize=True)].sum() for m in matrices]
        rows.append(
            {
                "size": size,
                "scipy_us": microseconds_each(matrices, 0.01 if options.quick else 0.5),
                "scipy_value": float(numpy.mean(values)),
            }
        )
    print(json.dumps({"scipy_version": scipy.__version__, "rows": rows}))


if __name__ == "__main__":
    main()
