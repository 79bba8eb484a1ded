"""Checkpoints: training, searches and reproductions that were killed go on and end the same."""

import csv
import json
import os
import random
import resource
import signal
import subprocess
import time

import pytest
from conftest import DONE, FAILED, INTERRUPTED, ROOT, WRONG_USAGE

# What is generated, and what training takes then; a second or so on one core, so that there is something to kill.
RUNS = {
    "m3n by block ascent": ("multiclass --kind softmax --features 20 --classes 6 --n 3000", "--surrogate m3n --solver prox --lambda 1e-5"),
    "m4n, smoothed": ("multiclass --kind softmax --features 20 --classes 6 --n 3000", "--solver smooth --lambda 1e-6 --tol 1e-6"),
    "a matrix of costs": ("ordinal --n 1000", "--loss squared --solver smooth --lambda 1e-6 --tol 1e-6"),
    "an exact kernel": ("multiclass --n 800", "--features rbf --lambda 1e-6 --tol 1e-6"),
    "the paper's solver": ("multiclass --n 2000", "--solver gbcfw --oracle spmp --epochs 20"),
    "label sets": ("multilabel --n 3000", "--lambda 1e-6 --tol 1e-7"),
    "label sets with edges": ("multilabel --n 200", "--edges tree --lambda 1e-3"),
    "sequences": ("sequence --n 60", "--template words.tpl --lambda 1e-2"),
    "crf of sequences": ("sequence --n 150", "--template words.tpl --surrogate crf --lambda 1e-5 --tol 1e-6"),
    "rankings": ("ranking --n 60", "--lambda 1e-3"),
    "matchings": ("matching --n 20", "--surrogate m3n --lambda 1e-2"),
    "graphs": ("graph --n 40", "--lambda 1e-2"),
}  # fmt: skip


def killed_after(tool, seconds, number, *arguments):
    """The exit code of a run that is sent a signal after so many seconds, unless it is done by then."""
    process = subprocess.Popen([tool.binary, *map(str, arguments)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        process.send_signal(number)
    messages = process.communicate()[1].decode()
    assert process.returncode in (DONE, INTERRUPTED, -number), messages  # -SIGINT: before it began to listen
    return process.returncode


@pytest.mark.parametrize("run", RUNS)
def test_killed_training_ends_with_the_same_bytes(m4n, tmp_path, run):
    task, options = (text.split() for text in RUNS[run])
    data, model, whole, kept = (tmp_path / name for name in ("data", "model", "whole", "kept"))
    m4n("generate", "--task", *task, "--seed", 1, "--out", data, expect=DONE)
    template = tmp_path / "words.tpl"
    template.write_text("U0:%x[0,0]\nB\n")
    options = [template if option == "words.tpl" else option for option in options]
    train = ["train", data, *options, "--threads", 1, "--quiet", "--model"]
    m4n(*train, whole, expect=DONE)
    luck = random.Random(run)
    for _ in range(20):
        number = luck.choice([signal.SIGKILL, signal.SIGKILL, signal.SIGINT])
        more = ["--checkpoint", kept, "--every", "0.01", *(["--resume", kept] if kept.exists() else [])]
        if killed_after(m4n, luck.uniform(0.03, 0.3), number, *train, model, *more) == DONE:
            break
    else:
        m4n(*train, model, "--checkpoint", kept, *(["--resume", kept] if kept.exists() else []), expect=DONE)
    assert model.read_bytes() == whole.read_bytes()
    assert {path.name for path in tmp_path.iterdir()} <= {"data", "model", "whole", "kept", "words.tpl"}


def test_checkpoints_are_checked(m4n, tmp_path):
    data, model, kept = (tmp_path / name for name in ("data.csv", "model.m4n", "kept.m4nc"))
    m4n("generate", "--task", "multiclass", "--n", 300, "--seed", 1, "--out", data, expect=DONE)
    m4n("train", data, "--model", model, "--checkpoint", kept, expect=DONE)
    resume = ["train", data, "--model", model, "--resume", kept]
    m4n(*resume, "--epochs", 2000, "--time-limit", 100, "--threads", 1, expect=DONE)
    other = m4n(*resume, "--seed", 1, expect=FAILED)
    assert f"{kept}: is a checkpoint of other data or options (seed is 1 now, 0 there)" in other.stderr
    assert "(data is " in m4n("train", model.parent / "data.csv", "--ignore", "x1", *resume[2:], expect=FAILED).stderr
    for wrong, words in ((b"", "no checkpoint"), (b"M4NSTATE" + bytes(40), "damaged"), (b"\0" * 100, "no checkpoint")):
        broken = tmp_path / "broken"
        broken.write_bytes(wrong)
        assert words in m4n("train", data, "--resume", broken, expect=FAILED).stderr
    broken.write_bytes(kept.read_bytes()[:-9])
    assert "damaged" in m4n("train", data, "--resume", broken, expect=FAILED).stderr
    assert "cannot be opened" in m4n("train", data, "--resume", tmp_path / "none", expect=FAILED).stderr
    assert "no directory" in m4n("train", data, "--checkpoint", tmp_path / "no" / "kept", expect=FAILED).stderr
    assert "also --model" in m4n("train", data, "--model", model, "--checkpoint", model, expect=WRONG_USAGE).stderr
    assert "--every: found '-1'" in m4n("train", data, "--checkpoint", kept, "--every", "-1", expect=WRONG_USAGE).stderr
    assert "--every requires --checkpoint" in m4n("train", data, "--every", 3, expect=WRONG_USAGE).stderr
    both = m4n("train", data, "--resume", kept, "--init", kept, expect=WRONG_USAGE)
    assert "give one of them" in both.stderr
    os.mkfifo(tmp_path / "pipe")  # nobody would ever read from it, or write to it
    for option in ("--checkpoint", "--resume"):
        assert "is a pipe" in m4n("train", data, option, tmp_path / "pipe", expect=FAILED).stderr
    assert "--checkpoint" in m4n("cv", data, "--checkpoint", kept, expect=WRONG_USAGE).stderr


def test_training_starts_from_a_checkpoint(m4n, tmp_path):
    """A few rows changed: a fraction of the passes."""
    data, more, kept = (tmp_path / name for name in ("data.csv", "more.csv", "kept.m4nc"))
    make = ["generate", "--task", "multiclass", "--kind", "softmax", "--features", 20, "--classes", 5]
    m4n(*make, "--n", 1000, "--seed", 1, "--out", data, expect=DONE)
    m4n(*make, "--n", 10, "--seed", 2, "--out", more, expect=DONE)
    lines = data.read_text().splitlines(keepends=True)
    data.write_text("".join(lines[:991]) + "".join(more.read_text().splitlines(keepends=True)[1:]))
    options = ["--surrogate", "m3n", "--lambda", "1e-3", "--solver", "prox"]
    before = tmp_path / "before.csv"
    before.write_text("".join(lines))
    m4n("train", before, *options, "--checkpoint", kept, expect=DONE)
    cold = m4n.json("train", data, *options)
    warm = m4n.json("train", data, *options, "--init", kept)
    assert warm["converged"] and warm["epochs"] <= 0.7 * cold["epochs"]
    refused = m4n("train", data, "--surrogate", "crf", "--init", kept, expect=FAILED)
    assert "another task, surrogate, cost or other labels" in refused.stderr


def without_seconds(tree):
    if isinstance(tree, dict):
        return {key: without_seconds(value) for key, value in tree.items() if key != "seconds"}
    return [without_seconds(item) for item in tree] if isinstance(tree, list) else tree


def results(directory):
    """Every file of a directory by its name, without times."""
    out = {}
    for path in directory.rglob("*"):
        if path.suffix == ".csv":
            with open(path, newline="") as file:
                out[path.name] = without_seconds(list(csv.DictReader(file)))
        elif path.suffix == ".json":
            out[path.name] = without_seconds(json.loads(path.read_text()))
        else:
            out[str(path.relative_to(directory))] = None
    return out


def killed_again_and_again(tool, *arguments, shortest):
    """Runs a command until it is done, killed each time within a part of what it takes undisturbed."""
    *command, whole, killed = arguments
    start = time.monotonic()
    tool(*command, "--out", whole, expect=DONE)
    seconds = time.monotonic() - start
    luck = random.Random(1)
    for kills in range(40):
        patience = max(shortest if kills > 0 else 0, luck.uniform(0.25, 0.5) * seconds * 1.1**kills)
        if killed_after(tool, patience, signal.SIGKILL, *command, "--out", killed) == DONE:
            return
    pytest.fail("it does not get anywhere")


@pytest.mark.parametrize(
    ("rows", "options"),
    [(8000, ["--solver", "smooth", "--tol", "1e-6", "--lambdas", "2^-4:2^-18"]),
     (2000, ["--features", "rbf", "--tol", "1e-5", "--lambdas", "2^-4:2^-14"])],
)  # fmt: skip
def test_a_killed_search_goes_on_and_ends_the_same(m4n, tmp_path, rows, options):
    """One split: its path takes longer than the command is left alone."""
    data, whole, killed = (tmp_path / name for name in ("data.csv", "whole", "killed"))
    m4n("generate", "--task", "multiclass", "--kind", "softmax", "--features", 20, "--classes", 6, "--n", rows, "--seed", 1,
        "--out", data, expect=DONE)  # fmt: skip
    command = ["cv", data, *options, "--splits", 1, "--extend", "no", "--threads", 1, "--quiet"]
    killed_again_and_again(m4n, *command, whole, killed, shortest=0.6)
    assert results(killed) == results(whole)
    assert {path.name for path in killed.iterdir()} == {"settings.json", "cells.csv", "cv.json"}


def test_a_killed_reproduction_goes_on_and_ends_the_same(m4n, tmp_path):
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    command = [
        "reproduce",
        "table1",
        "--data",
        ROOT / "data",
        "--only",
        "iris",
        "--splits",
        1,
        "--threads",
        1,
        "--quiet",
    ]
    killed_again_and_again(m4n, *command, whole, killed, shortest=0.4)
    assert results(killed) == results(whole)
    assert not list(killed.rglob("running")) and not list(killed.rglob("*.m4nc"))


def test_a_search_refuses_what_it_did_not_leave(m4n, tmp_path):
    data, out = tmp_path / "data.csv", tmp_path / "out"
    m4n("generate", "--task", "multiclass", "--n", 200, "--seed", 1, "--out", data, expect=DONE)
    cv = ["cv", data, "--splits", 1, "--lambdas", "2^-2:2^-4", "--extend", "no", "--out", out]
    (out / "running").mkdir(parents=True)
    assert "not of a cross-validation" in m4n(*cv, expect=FAILED).stderr
    (out / "running").rmdir()
    m4n(*cv, expect=DONE)
    (out / "cells.csv").write_text("")
    (out / "running").mkdir()
    (out / "running" / "notes.txt").write_text("of the user")
    path = out / "running" / "split1-gamma1-m4n-smoothing0-lambda0.25.m4nc"
    path.write_bytes(b"M4NSTATE" + bytes(100))
    assert f"{path}: is damaged" in m4n(*cv, expect=FAILED).stderr
    path.unlink()
    m4n(*cv, expect=DONE)
    assert [file.name for file in (out / "running").iterdir()] == ["notes.txt"]


def test_names_are_checked_before_any_work(m4n, tmp_path):
    data, kept, model = tmp_path / "no-data.csv", tmp_path / "kept", tmp_path / "model"
    refused = lambda code, *options: m4n("train", data, *options, expect=code).stderr
    assert "--resume nowhere: cannot be opened" in refused(FAILED, "--resume", "nowhere")
    kept.write_text("?")
    assert "also --resume" in refused(WRONG_USAGE, "--resume", kept, "--model", kept)
    assert "also --resume" in refused(WRONG_USAGE, "--resume", kept, "--log", kept)
    assert "also an input" in refused(WRONG_USAGE, "--init", kept, "--checkpoint", kept)
    assert "also --checkpoint" in refused(WRONG_USAGE, "--checkpoint", kept, "--log", kept, "--model", model)
    assert "is a directory" in refused(FAILED, "--checkpoint", tmp_path)
    for seconds in ("-1", "nan", "inf", "", "x"):
        assert "--every: found" in refused(WRONG_USAGE, "--checkpoint", kept, "--every", seconds)
    assert "is no checkpoint" in m4n("train", ROOT / "data" / "iris.csv", "--resume", "/dev/zero", expect=FAILED).stderr


def test_training_goes_on_where_a_checkpoint_cannot_be_written(m4n, tmp_path):
    """A disk that is full: one warning, the checkpoint of before stays whole, the model is saved."""
    data, model, kept, whole = (tmp_path / name for name in ("data.csv", "model.m4n", "kept.m4nc", "whole.m4n"))
    m4n("generate", "--task", "multiclass", "--n", 2000, "--seed", 1, "--out", data, expect=DONE)
    train = ["train", data, "--quiet", "--solver", "prox", "--tol", "1e-5"]
    m4n(*train, "--model", whole, "--checkpoint", kept, "--every", 0.001, expect=DONE)
    before = kept.read_bytes()
    assert len(before) > 20_000 > whole.stat().st_size

    def small_files():
        resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)

    result = m4n(*train, "--model", model, "--checkpoint", kept, "--every", 0.001, expect=DONE,
                 preexec_fn=small_files)  # fmt: skip
    assert (
        result.stderr.count("warning") == 1
        and "kept.m4nc: cannot be written: File too large; training goes on" in result.stderr
    )
    assert model.read_bytes() == whole.read_bytes() and kept.read_bytes() == before
    assert {path.name for path in tmp_path.iterdir()} == {"data.csv", "model.m4n", "kept.m4nc", "whole.m4n"}
    result = m4n(*train, "--model", model, "--checkpoint", "/dev/full", expect=DONE)
    assert "/dev/full: cannot be written: No space left on device" in result.stderr


def test_a_checkpoint_behind_a_link(m4n, tmp_path):
    """The link stays, also one that leads nowhere yet."""
    data, link = tmp_path / "data.csv", tmp_path / "link.m4nc"
    m4n("generate", "--task", "multiclass", "--n", 300, "--seed", 1, "--out", data, expect=DONE)
    (tmp_path / "elsewhere").mkdir()
    link.symlink_to("elsewhere/kept.m4nc")
    for resume in ([], ["--resume", link]):
        m4n("train", data, "--checkpoint", link, *resume, expect=DONE)
        assert link.is_symlink() and [path.name for path in (tmp_path / "elsewhere").iterdir()] == ["kept.m4nc"]


def test_checkpoints_go_from_one_instruction_set_to_another(m4n, tmp_path):
    """Where the digits go on from there, rounded as the other one does; the certificate holds."""
    data, kept = tmp_path / "data.csv", tmp_path / "kept.m4nc"
    m4n("generate", "--task", "multiclass", "--n", 500, "--seed", 1, "--out", data, expect=DONE)
    m4n("train", data, "--tol", "1e-6", "--epochs", 2, "--checkpoint", kept, expect=DONE)
    scalar = {"M4N_SIMD": "scalar", "PATH": "/usr/bin"}
    text = m4n("train", data, "--tol", "1e-6", "--resume", kept, "--json", expect=DONE, env=scalar).stdout
    assert json.loads(text)["converged"]


def test_a_checkpoint_of_another_version_is_refused(m4n, tmp_path):
    data, kept = tmp_path / "data.csv", tmp_path / "kept.m4nc"
    m4n("generate", "--task", "multiclass", "--n", 200, "--seed", 1, "--out", data, expect=DONE)
    m4n("train", data, "--checkpoint", kept, expect=DONE)
    version = m4n("--version", expect=DONE).stdout.split()[1].encode()
    whole = kept.read_bytes()[:-8]
    assert whole.count(b"version") == 1 and version in whole
    other = whole.replace(version, b"9" * len(version), 1)
    kept.write_bytes(other + crc64(other).to_bytes(8, "little"))
    assert f"(version is {version.decode()} now, 99" in m4n("train", data, "--resume", kept, expect=FAILED).stderr


def crc64(data):
    """CRC-64/XZ."""
    crc = 2**64 - 1
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0xC96C5795D7870F42 if crc & 1 else 0)
    return crc ^ 2**64 - 1
