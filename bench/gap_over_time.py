"""The certified gap over the seconds of training: the paper's algorithm beside the solvers of this house.

    python3 bench/gap_over_time.py [--seconds 60]

Trains M4N with 0-1 costs on letter (15,000 examples, 26 classes; looked for in M4N_DATA, or in ../shared/data) at
lambda 2^-10 with one thread, and writes docs/pictures/data/gap.csv, which `make pictures` draws.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
BINARY = os.environ.get("M4N_BIN", str(ROOT / "build" / "release" / "m4n"))
DATA = pathlib.Path(os.environ.get("M4N_DATA", ROOT.parent / "shared" / "data")) / "letter.csv.gz"
SOLVERS = {
    "the paper's algorithm": ("--solver", "gbcfw", "--oracle", "spmp", "--step", "paper", "--average", "yes"),
    "exact oracle, line search": ("--solver", "gbcfw", "--step", "line-search"),
    "block ascent": ("--solver", "prox"),
    "smooth": ("--solver", "smooth"),
}
POINTS = 24  # of a curve, at most


def curve(options, seconds, folder):
    """The lines of the training log, thinned evenly in the logarithm of the seconds."""
    log = folder / "log.jsonl"
    common = ("--lambda", "2^-10", "--tol", "1e-5", "--epochs", "1000000", "--threads", "1", "--quiet")
    command = [BINARY, "train", DATA, *common, *options, "--time-limit", seconds, "--log", log]
    subprocess.run(list(map(str, command)), check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    every = [step for step in map(json.loads, log.read_text().splitlines()) if 0 < step["relative_gap"] <= 1]
    first, last = every[0]["seconds"], every[-1]["seconds"]
    out = []
    for step in every:
        due = first * (last / first) ** (len(out) / (POINTS - 1)) if last > first else first
        if step["seconds"] >= due * (1 - 1e-9) or step is every[-1]:
            out.append(step)
    return out


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--seconds", type=float, default=60, help="at most so many for a solver")
    asked = arguments.parse_args()
    if not DATA.exists():
        sys.exit(f"gap_over_time: {DATA} is missing; say with M4N_DATA where the data sets are")
    lines = [
        f"# M4N, 0-1 costs, letter, lambda 2^-10, one thread; measured by: {' '.join(['python3', *sys.argv])}",
        "solver,seconds,relative_gap",
    ]
    with tempfile.TemporaryDirectory() as scratch:
        for name, options in SOLVERS.items():
            for step in curve(options, asked.seconds, pathlib.Path(scratch)):
                lines.append(f'"{name}",{step["seconds"]:.4g},{step["relative_gap"]:.3g}')
    (ROOT / "docs" / "pictures" / "data" / "gap.csv").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
