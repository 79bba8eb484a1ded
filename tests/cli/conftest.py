"""The tool under test (M4N_BIN, or build/release/m4n) and small generated data."""

import csv
import gzip
import io
import json
import os
import pathlib
import signal
import subprocess
import time

import numpy as np
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BINARY = pathlib.Path(os.environ.get("M4N_BIN", ROOT / "build" / "release" / "m4n")).resolve()
# What a command may take; an emulator is given more.
SECONDS = float(os.environ.get("M4N_TEST_SECONDS", 30))

# Children inherit what is ignored (under nohup, in the background of a script), and the tool respects it; the tests of
# signals need the usual behaviour.
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    if signal.getsignal(number) == signal.SIG_IGN:
        signal.signal(number, signal.SIG_DFL)

DONE, FAILED, WRONG_USAGE, NOT_CONVERGED, INTERRUPTED = 0, 1, 2, 3, 130


class Tool:
    """Runs the binary; a result has returncode, stdout and stderr as text."""

    binary = str(BINARY)

    def __call__(self, *arguments, expect=None, **keywords):
        # Messages quote what they found, which need not be UTF-8.
        result = subprocess.run([self.binary, *map(str, arguments)], capture_output=True, text=True, errors="replace",
                                timeout=SECONDS, **keywords)  # fmt: skip
        if expect is not None:
            assert result.returncode == expect, f"{arguments}: exit {result.returncode}\n{result.stdout}{result.stderr}"
        return result

    def json(self, *arguments):
        """The one JSON object the command prints with --json."""
        return json.loads(self(*arguments, "--json", expect=DONE).stdout)

    def train(self, data, model, *options):
        return self.json("train", data, "--model", model, *options)

    def predict(self, model, data, *options):
        """The prediction file as a list of dictionaries, one per row."""
        text = self("predict", model, data, *options, expect=DONE).stdout
        return list(csv.DictReader(io.StringIO(text)))

    def interrupted_training(self, data, model, *options, number=signal.SIGINT):
        """Trains without end, sends a signal once something was logged; what is saved and reported then."""
        log = model.with_suffix(".jsonl")
        arguments = ["train", data, *options, "--tol", "1e-15", "--epochs", 1000000000, "--model", model, "--log", log]
        process = subprocess.Popen([self.binary, *map(str, arguments), "--json"], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True)  # fmt: skip
        deadline = time.monotonic() + 30
        while (not log.exists() or not log.read_text()) and time.monotonic() < deadline and process.poll() is None:
            time.sleep(0.01)
        process.send_signal(number)
        out, messages = process.communicate(timeout=30)
        assert process.returncode == INTERRUPTED, messages
        report, info = json.loads(out), self.json("info", model)
        assert report["interrupted"] and not report["converged"] and "interrupted" in messages
        assert info["primal"] == report["primal"] and info["interrupted"] and info["epochs"] == report["epochs"]
        return report

    def same_from_gzip_and_standard_input(self, path, folder):
        """Training and prediction from a plain file, a packed one and standard input; the model is folder / "a"."""
        (folder / "packed").write_bytes(gzip.compress(path.read_bytes()))
        self("train", path, "--model", folder / "a", expect=DONE)
        self("train", folder / "packed", "--model", folder / "b", expect=DONE)
        self("train", "-", "--model", folder / "c", input=path.read_text(), expect=DONE)
        assert len({(folder / name).read_bytes() for name in "abc"}) == 1
        self("predict", folder / "a", path, "--out", folder / "out.csv", expect=DONE)
        streamed = self("predict", folder / "a", input=path.read_text(), expect=DONE).stdout
        assert streamed == (folder / "out.csv").read_text()


@pytest.fixture(scope="session")
def m4n():
    assert BINARY.exists(), f"{BINARY}: not built; run make build, or set M4N_BIN"
    return Tool()


def write_csv(path, x, labels, label_name="label"):
    """Features x1..xd and a label column; numbers are written so that they read back exactly."""
    with open(path, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([f"x{j + 1}" for j in range(x.shape[1])] + [label_name])
        for row, label in zip(x, labels):
            writer.writerow([repr(float(v)) for v in row] + [label])
    return path


def blobs(n, d, k, seed, spread=1.5):
    """k overlapping Gaussian classes: features and class indices, every class present."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % k
    centres = rng.normal(size=(k, d))
    return centres[y] + spread * rng.normal(size=(n, d)), y


@pytest.fixture
def small(tmp_path):
    """60 examples of 3 classes with words for names."""
    x, y = blobs(60, 4, 3, seed=1)
    return write_csv(tmp_path / "small.csv", x, np.array(["ant", "bee", "cat"])[y])


@pytest.fixture
def graded(tmp_path):
    """90 examples with a raw numeric target."""
    rng = np.random.default_rng(2)
    x = rng.normal(size=(90, 3))
    return write_csv(
        tmp_path / "graded.csv", x, [repr(float(t)) for t in x @ [2, -1, 0.5] + rng.normal(size=90)], "target"
    )


@pytest.fixture
def model(m4n, small, tmp_path):
    path = tmp_path / "small.m4n"
    m4n.train(small, path)
    return path
