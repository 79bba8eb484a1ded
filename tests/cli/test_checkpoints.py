"""Checkpoints: training that was killed goes on and ends with the same bytes."""

import random
import signal
import subprocess

import pytest
from conftest import DONE, FAILED, INTERRUPTED, WRONG_USAGE

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
        m4n(*train, model, "--checkpoint", kept, "--resume", kept, expect=DONE)
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
