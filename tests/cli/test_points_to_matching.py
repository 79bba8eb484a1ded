"""examples/points_to_matching.py: tables of points to the text of matchings."""

import gzip
import math
import subprocess
import sys

import numpy as np
import pytest
from conftest import ROOT


def convert(*arguments):
    command = [sys.executable, ROOT / "examples" / "points_to_matching.py", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60)


def converted(*arguments):
    """Names of the features, and (partners, M x M x d features) of every matching; the text must be as documented."""
    result = convert(*arguments)
    assert result.returncode == 0, result.stderr
    lines = iter([line.split() for line in result.stdout.splitlines() if not line.startswith("#")])
    word, *names = next(lines)
    assert word == "features"
    matchings = []
    for word, size, *partners in lines:
        size, partners = int(size), [int(p) - 1 for p in partners]
        assert word == "matching" and sorted(partners) == list(range(size))
        rows = [next(lines) for _ in range(size**2)]
        assert [row[:2] for row in rows] == [[str(i), str(j)] for i in range(1, size + 1) for j in range(1, size + 1)]
        matchings.append((partners, np.array([row[2:] for row in rows], float).reshape(size, size, len(names))))
    assert result.stderr == f"{len(matchings)} matchings\n"
    return names, matchings


def write_table(path, names, frames):
    """frames: {frame: {point: values}}"""
    rows = [[t, p, *map(repr, map(float, values))] for t, points in frames.items() for p, values in points.items()]
    text = "\n".join(",".join(map(str, row)) for row in [["frame", "point", *names], *rows]) + "\n"
    if str(path).endswith(".gz"):
        path.write_bytes(gzip.compress(text.encode()))
    else:
        path.write_text(text)
    return path


@pytest.fixture
def frames():
    """Seven frames of six points, each a small step from the last; frame 3 lacks a point."""
    rng = np.random.default_rng(4)
    positions = rng.normal(size=(6, 2)) + 0.01 * np.arange(7)[:, None, None] * rng.normal(size=(6, 2))
    table = {t: {f"p{i}": positions[t, i] for i in range(6)} for t in range(7)}
    del table[3]["p5"]
    return table


def test_pairs_have_minus_the_differences(frames, tmp_path):
    table = write_table(tmp_path / "points.csv.gz", ["a", "b"], frames)
    for kind, distance in {
        "squared": lambda u, v: (u - v) ** 2,
        "absolute": lambda u, v: np.abs(u - v),
        "chi2": lambda u, v: (u - v) ** 2 / (np.abs(u) + np.abs(v)),
    }.items():
        names, matchings = converted(table, "--gap", 2, "--difference", kind, "--seed", 5)
        assert names == ["a", "b"]
        assert [len(partners) for partners, _ in matchings] == [6, 5, 6, 5, 6]
        for t, (partners, features) in enumerate(matchings):
            common = sorted(set(frames[t]) & set(frames[t + 2]))
            for i, first in enumerate(common):
                for other, second in enumerate(common):
                    expected = -distance(frames[t][first], frames[t + 2][second])
                    np.testing.assert_allclose(features[i, partners[other]], expected, rtol=1e-8, atol=1e-12)
    # Shuffled, and differently every time.
    assert len({tuple(partners) for partners, _ in matchings}) == 5


def test_frames_gaps_and_two_tables(frames, tmp_path):
    table = write_table(tmp_path / "points.csv", ["a", "b"], frames)
    moved = {t + 100: points for t, points in frames.items()}
    later = write_table(tmp_path / "later.csv", ["a", "b"], moved)
    text = convert(table, "--gap", 1, 4, "--frames", "1:6", "--every", 2).stdout
    assert [line for line in text.splitlines() if line.startswith("#")] == [
        "# frames 1 and 2", "# frames 3 and 4", "# frames 5 and 6", "# frames 1 and 5"]  # fmt: skip
    _, matchings = converted(table, later, "--gap", 100)
    assert len(matchings) == 7
    for partners, features in matchings:
        assert all(np.all(features[i, p] == 0) for i, p in enumerate(partners))
    assert convert(table, "--gap", 1).stdout == convert(table, "--gap", 1, "--seed", 0).stdout
    assert convert(table, "--gap", 1).stdout != convert(table, "--gap", 1, "--seed", 1).stdout


def test_shape_contexts(tmp_path):
    """A centre and eight points around it, at known distances and directions; then everything scaled and moved."""
    around = [(0.02, 10), (0.5, 50), (1, 100), (2, 140), (4, 200), (8, 250), (2, 290), (2, 335)]
    points = [(0.0, 0.0)] + [(r * math.cos(math.radians(a)), r * math.sin(math.radians(a))) for r, a in around]
    mean = np.mean([math.dist(p, q) for i, p in enumerate(points) for j, q in enumerate(points) if i != j])
    expected = np.zeros((5, 12))
    edges = np.geomspace(1 / 8, 2, 6)[1:5]  # between the rings
    for r, a in around:
        expected[np.searchsorted(edges, r / mean, side="right"), a // 30] += 1
    # A point alone in its place: against no points around it, minus the squared difference tells the counts.
    table = write_table(tmp_path / "points.csv", ["x", "y"],
                        {0: dict(enumerate(points)), 1: {0: (3, 4)}, 2: {i: (7 + 5 * x, 5 * y) for i, (x, y) in enumerate(points)}})  # fmt: skip
    names, ((_, features),) = converted(table, "--gap", 1, "--frames", "0:1")
    assert len(names) == 60 and names[0] == "ring1_sector1" and names[-1] == "ring5_sector12"
    np.testing.assert_array_equal(features.reshape(5, 12), -(expected**2))
    _, ((partners, same),) = converted(table, "--gap", 2)
    assert all(np.all(same[i, p] == 0) for i, p in enumerate(partners))


def test_shape_contexts_in_place_of_descriptors(frames, tmp_path):
    plain = write_table(tmp_path / "points.csv", ["x", "y"], frames)
    extra = {t: {p: [7, *values] for p, values in points.items()} for t, points in frames.items()}
    table = write_table(tmp_path / "more.csv", ["colour", "x", "y"], extra)
    assert converted(table, "--gap", 1)[0] == ["colour", "x", "y"]
    assert convert(table, "--gap", 1, "--shape-context").stdout == convert(plain, "--gap", 1).stdout


@pytest.mark.parametrize(
    "text, words",
    [
        ("", ["line 1", "'frame'", "nothing"]),
        ("frame,x,y\n0,1,2\n", ["line 1", "'point'", "frame, x, y"]),
        ("frame,point,x,y\n0,a,1,2\n0,b,1\n", ["line 3", "3 cells", "expected 4"]),
        ("frame,point,x,y\n0,a,1,2\n0,b,1,red\n", ["line 3", "red", "numbers"]),
        ("frame,point,x,y\n0.5,a,1,2\n", ["line 2", "0.5", "whole number"]),
        ("frame,point,x,y\n0,a,1,nan\n", ["line 2", "nan"]),
        ("frame,point,x,y\n0,a,1,2\n0,a,1,2\n", ["line 3", "'a' stands twice", "frame 0"]),
        ("frame,point,x,y\n0,a,1,2\n1,b,1,2\n", ["no two frames"]),
    ],
)
def test_bad_tables(tmp_path, text, words):
    path = tmp_path / "points.csv"
    path.write_text(text)
    result = convert(path, "--gap", 1)
    assert result.returncode == 1 and "Traceback" not in result.stderr
    for word in words:
        assert word in result.stderr


def test_wrong_usage(frames, tmp_path):
    table = write_table(tmp_path / "points.csv", ["a", "b"], frames)
    other = write_table(tmp_path / "other.csv", ["a", "c"], frames)
    for arguments, word in [
        ([], "--gap"),
        (["--gap", 1, "--frames", "3"], "A:B"),
        (["--gap", 1, "--every", 0], "--every"),
    ]:
        result = convert(table, *arguments)
        assert result.returncode == 2 and word in result.stderr
    assert "other descriptors" in convert(table, other, "--gap", 1).stderr
    assert "no columns x and y" in convert(table, "--gap", 1, "--shape-context").stderr
    missing = convert(tmp_path / "absent.csv", "--gap", 1).stderr
    assert "absent.csv" in missing and "Traceback" not in missing
