"""The tool beside the package, and small generated data."""

import csv
import json
import os
import pathlib
import signal
import subprocess

os.environ.setdefault("SCIPY_ARRAY_API", "1")  # before scipy is loaded: else scikit-learn skips a check
os.environ.setdefault("MPLBACKEND", "Agg")  # pictures without a screen

import numpy as np
import pytest

# What is started in the background ignores Ctrl-C, and its children too; the tests of it need the usual behaviour.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

ROOT = pathlib.Path(__file__).resolve().parents[2]
BINARY = pathlib.Path(os.environ.get("M4N_BIN", ROOT / "build" / "release" / "m4n")).resolve()


@pytest.fixture(scope="session")
def cli():
    """Runs the tool and returns what it prints."""
    assert BINARY.exists(), f"{BINARY}: not built; run make build, or set M4N_BIN"

    def run(*arguments):
        done = subprocess.run([str(BINARY), *map(str, arguments)], capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout) if "--json" in arguments else done.stdout

    return run


def blobs(n=120, d=5, k=3, seed=0, spread=1.5):
    """Overlapping Gaussian classes, every class present."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) % k)
    return rng.normal(size=(k, d))[y] + spread * rng.normal(size=(n, d)), y


def write_csv(path, x, y):
    """Numbers are written so that they read back exactly."""
    with open(path, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([f"x{j + 1}" for j in range(x.shape[1])] + ["label"])
        writer.writerows([*map(repr, row.tolist()), label] for row, label in zip(x, y))
    return path


def tagged(sentences=60, seed=0):
    """Sentences of made-up words: attributes and labels, with noise."""
    rng = np.random.default_rng(seed)
    words = [f"w{i}" for i in range(30)]
    X, y = [], []
    for _ in range(sentences):
        length = int(rng.integers(2, 9))
        chosen = rng.integers(0, len(words), size=length)
        labels = (chosen + rng.integers(0, 2, size=length)) % 3
        X.append(
            [
                {
                    "word": words[w],
                    "even": bool(w % 2 == 0),
                    "size": float(w) / 30,
                    "last": {"of": words[chosen[t - 1]]},
                }
                if t
                else {"word": words[w], "even": bool(w % 2 == 0), "size": float(w) / 30}
                for t, w in enumerate(chosen.tolist())
            ]
        )
        y.append([["B", "I", "O"][label] for label in labels])
    return X, y
