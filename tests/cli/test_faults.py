"""Disks that fail: whatever goes wrong while files are written, each is the old one or the new one, whole, and the next
run leaves nothing behind.

`faults.c` is loaded before the C library and makes one write, fsync or rename fail, or ends the process there. A few
places are tried by make test, all of them by make test-faults (M4N_FAULTS=all).
"""

import itertools
import os
import shutil
import subprocess

import pytest
from conftest import DONE, FAILED, ROOT
from test_checkpoints import results

IRIS = ROOT / "data" / "iris.csv"
KINDS = ("ENOSPC", "EIO", "short", "kill")
KILLED = 137
PLACES = 4  # that are tried for each command in the short form

COMMANDS = {
    "train": lambda folder: ["train", IRIS, "--solver", "prox", "--epochs", 3, "--model", folder / "model.m4n",
                             "--checkpoint", folder / "kept.m4nc"],
    "predict": lambda folder: ["predict", folder / ".." / "model.m4n", IRIS, "--out", folder / "answers.csv"],
    "cv": lambda folder: ["cv", IRIS, "--splits", 2, "--lambdas", "2^-2:2^-5", "--extend", "no", "--out", folder,
                          "--model", folder / "model.m4n"],
    "reproduce": lambda folder: ["reproduce", "table1", "--data", IRIS.parent, "--only", "iris", "--splits", 1,
                                 "--protocols", "exact", "--out", folder],
}  # fmt: skip


@pytest.fixture(scope="session")
def library(tmp_path_factory):
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        pytest.skip("needs a C compiler")
    out = tmp_path_factory.mktemp("faults") / "faults.so"
    source = ROOT / "tests" / "cli" / "faults.c"
    built = subprocess.run([compiler, "-shared", "-fPIC", "-o", out, source], capture_output=True, text=True)
    if built.returncode != 0:
        pytest.skip(f"faults.c cannot be compiled here: {built.stderr}")
    return out


def with_faults(m4n, library, command, **settings):
    """The command, on one thread so that calls come in one order."""
    environment = {**os.environ, "LD_PRELOAD": str(library), **{name: str(value) for name, value in settings.items()}}
    return m4n(*command, "--threads", 1, env=environment)


def contents(folder):
    """What is in a folder: models, checkpoints and predictions by their bytes, results without their times."""
    out = results(folder)
    out.update(
        {
            name: (folder / name).read_bytes()
            for name, value in out.items()
            if value is None and (folder / name).is_file()
        }
    )
    out.pop("reproduce.md", None)  # shows seconds
    out.get("cv.json", {}).pop("model", None)  # says where it is
    if out.get("kept.m4nc", b"old") != b"old":
        out["kept.m4nc"] = "a checkpoint"  # with seconds in it
    return out


@pytest.mark.parametrize("name", COMMANDS)
def test_files_are_whole_whatever_fails(m4n, library, tmp_path, name):
    m4n("train", IRIS, "--epochs", 2, "--model", tmp_path / "model.m4n", expect=DONE)
    old, new, folder = (tmp_path / part for part in ("old", "new", "folder"))
    command = COMMANDS[name]
    new.mkdir()
    count = tmp_path / "count"
    whole = with_faults(m4n, library, command(new), M4N_FAULT_COUNT=count)
    assert whole.returncode == DONE, whole.stderr
    calls, expected = int(count.read_text()), contents(new)
    assert calls >= 4
    # What was there before: files of the same names with other contents, where the command replaces them.
    old.mkdir()
    for file in ("model.m4n", "kept.m4nc", "answers.csv"):
        if (new / file).exists():
            (old / file).write_bytes(b"old")
    before = contents(old)
    tries = list(itertools.product(range(1, calls + 1), KINDS))
    if os.environ.get("M4N_FAULTS") != "all":
        tries = [(1 + (calls - 1) * i // (PLACES - 1), KINDS[i % len(KINDS)]) for i in range(PLACES)]
    for at, kind in tries:
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(old, folder)
        failed = with_faults(m4n, library, command(folder), M4N_FAULT=kind, M4N_FAULT_AT=at)
        where = f"{kind} at call {at} of {calls}: {failed.stderr}"
        # How often a search saves where it stands depends on the time it takes.
        killed = (KILLED,) if name in ("train", "predict") else (KILLED, DONE)
        assert failed.returncode in (killed if kind == "kill" else (DONE,) if kind == "short" else (DONE, FAILED)), (
            where
        )
        assert failed.returncode != FAILED or "cannot be" in failed.stderr, where
        found = contents(folder)
        for file in ("model.m4n", "answers.csv", "cv.json", "reproduce.json"):
            assert found.get(file) in (before.get(file), expected.get(file)), f"{file}, {where}"
        if kind != "kill":
            assert not [path for path in folder.rglob(".m4n-*")], where
        if found.get("kept.m4nc") == "a checkpoint":
            m4n(*command(folder), "--resume", folder / "kept.m4nc", expect=DONE)
        again = m4n(*command(folder), "--threads", 1, expect=DONE)
        assert contents(folder) == expected, f"{again.stderr}, after {where}"
