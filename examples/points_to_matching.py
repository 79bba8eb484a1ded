#!/usr/bin/env python3
"""Tables of points in frames to matchings for m4n (docs/formats.md): which point of frame t is which of frame t + gap?

  points_to_matching.py FIRST.csv [SECOND.csv] --gap 10 [20 ..] [--frames 0:60] [--every 5] > matchings.txt

A table (CSV, or CSV.gz) has the columns frame (a whole number), point (a name, the same in every frame) and one for
each descriptor. Where the descriptors are x and y only, or with --shape-context, every point is described by its shape
context: how many others lie in each of 5 x 12 cells around it, by the logarithm of their distance and their direction.
Frames t are taken from FIRST, frames t + gap from SECOND (or FIRST too). An example matches the points that both frames
have; the second side is shuffled. The features of a pair are, for every descriptor, minus the difference: squared,
absolute, or as in the chi-squared distance of histograms, (a - b)^2 / (a + b). With all weights 1 their sum is minus a
usual distance.
"""

import argparse
import csv
import gzip
import math
import random
import sys

RINGS, SECTORS = 5, 12
INNER, OUTER = 1 / 8, 2  # of the mean distance in the frame; points beyond count in the outermost ring

DIFFERENCES = {
    "squared": lambda a, b: (a - b) ** 2,
    "absolute": lambda a, b: abs(a - b),
    "chi2": lambda a, b: (a - b) ** 2 / (abs(a) + abs(b)) if a != b else 0.0,
}


def read_points(path):
    """Names of the descriptors, and {frame: {point: descriptors}}."""
    with (gzip.open if path.endswith(".gz") else open)(path, "rt", newline="") as file:
        table = csv.reader(file)
        header = next(table, [])
        for name in ("frame", "point"):
            if name not in header:
                sys.exit(f"{path}: line 1: no column {name!r}; found {', '.join(header) or 'nothing'}")
        names = [name for name in header if name not in ("frame", "point")]
        frames = {}
        for row in filter(None, table):
            where = f"{path}: line {table.line_num}"
            if len(row) != len(header):
                sys.exit(f"{where}: found {len(row)} cells, expected {len(header)} as in the header")
            cells = dict(zip(header, row))
            try:
                frame, values = int(cells["frame"]), [float(cells[name]) for name in names]
            except ValueError as error:
                sys.exit(f"{where}: {error}; expected a whole number for the frame and numbers for the descriptors")
            if not all(map(math.isfinite, values)):
                sys.exit(f"{where}: found nan or inf; leave the point out")
            if frames.setdefault(frame, {}).setdefault(cells["point"], values) is not values:
                sys.exit(f"{where}: point {cells['point']!r} stands twice in frame {frame}")
    return names, frames


def shape_contexts(points):
    """{point: 60 counts} from {point: (x, y)}."""
    offsets = {p: [(x2 - x1, y2 - y1) for q, (x2, y2) in points.items() if q != p] for p, (x1, y1) in points.items()}
    distances = [math.hypot(*o) for own in offsets.values() for o in own]
    mean = sum(distances) / len(distances) if any(distances) else 1.0
    contexts = {}
    for p, own in offsets.items():
        contexts[p] = [0.0] * (RINGS * SECTORS)
        for dx, dy in own:
            depth = math.log(max(math.hypot(dx, dy) / mean, INNER) / INNER) / math.log(OUTER / INNER)
            ring = min(int(RINGS * depth), RINGS - 1)
            sector = int(SECTORS * (math.atan2(dy, dx) / math.tau % 1)) % SECTORS
            contexts[p][ring * SECTORS + sector] += 1
    return contexts


def read_described(path, shape_context):
    names, frames = read_points(path)
    if not shape_context and set(names) != {"x", "y"}:
        return names, frames
    if not {"x", "y"} <= set(names):
        sys.exit(f"{path}: line 1: no columns x and y, from which shape contexts are computed")
    x, y = names.index("x"), names.index("y")
    names = [f"ring{r + 1}_sector{s + 1}" for r in range(RINGS) for s in range(SECTORS)]
    return names, {t: shape_contexts({p: (v[x], v[y]) for p, v in points.items()}) for t, points in frames.items()}


def write_matching(first, second, difference, rng, out):
    points = sorted(first.keys() & second.keys())
    shuffled = rng.sample(points, len(points))
    place = {point: j for j, point in enumerate(shuffled, start=1)}
    print("matching", len(points), *(place[point] for point in points), file=out)
    for i, a in enumerate(points, start=1):
        for j, b in enumerate(shuffled, start=1):
            pair = (0.0 - difference(u, v) for u, v in zip(first[a], second[b]))
            print(i, j, *(f"{value:.9g}" for value in pair), file=out)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("first", metavar="FIRST.csv")
    parser.add_argument("second", metavar="SECOND.csv", nargs="?")
    parser.add_argument("--gap", type=int, nargs="+", required=True, help="how many frames lie between the two sides")
    parser.add_argument(
        "--frames", default=":", help="A:B, frames t of the first side from A to before B (default: all)"
    )
    parser.add_argument("--every", type=int, default=1, help="take every so many of these frames only")
    parser.add_argument(
        "--shape-context", action="store_true", help="from the columns x and y, leave other descriptors out"
    )
    parser.add_argument(
        "--difference", choices=DIFFERENCES, default="squared", help="of two descriptors (default: squared)"
    )
    parser.add_argument("--seed", type=int, default=0, help="of the shuffle (default: 0)")
    options = parser.parse_args()
    try:
        low, high = (int(bound) if bound else None for bound in options.frames.split(":"))
    except ValueError:
        parser.error(f"--frames {options.frames}: expected A:B, whole numbers or nothing")
    if options.every < 1:
        parser.error(f"--every {options.every}: expected 1 or more")

    names, first = read_described(options.first, options.shape_context)
    second_names, second = read_described(options.second or options.first, options.shape_context)
    if names != second_names:
        sys.exit(f"{options.second}: line 1: other descriptors than in {options.first}")
    print("features", *(name.replace(" ", "_") for name in names))
    rng, count = random.Random(options.seed), 0
    starts = [t for t in sorted(first) if (low is None or t >= low) and (high is None or t < high)][:: options.every]
    for gap in options.gap:
        for t in starts:
            if first[t].keys() & second.get(t + gap, {}).keys():
                print(f"# frames {t} and {t + gap}")
                write_matching(first[t], second[t + gap], DIFFERENCES[options.difference], rng, sys.stdout)
                count += 1
    if count == 0:
        sys.exit("no two frames so far apart have a point in common; check --gap and --frames")
    print(f"{count} matchings", file=sys.stderr)


if __name__ == "__main__":
    try:
        main()
    except (OSError, EOFError, UnicodeDecodeError) as error:
        sys.exit(f"points_to_matching: {error}")
