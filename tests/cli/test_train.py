"""train: the report, the files it leaves, determinism, stopping early."""

import contextlib
import json
import os
import signal
import subprocess
import time

import numpy as np
import pytest
from conftest import DONE, FAILED, INTERRUPTED, NOT_CONVERGED, WRONG_USAGE, blobs, write_csv

TRAIN_KEYS = set(
    "task surrogate loss features n d k lambda epochs seconds seconds_total primal dual gap relative_gap converged "
    "train_loss norm_squared oracle_calls model".split()
)

VARIANTS = [
    ["--surrogate", "m4n"],
    ["--surrogate", "m4n", "--smoothing", "1"],
    ["--surrogate", "m4n", "--solver", "gbcfw"],
    ["--surrogate", "m4n", "--oracle", "spmp", "--epochs", "20"],
    ["--surrogate", "m3n"],
    ["--surrogate", "crf"],
    ["--surrogate", "crf", "--solver", "lbfgs"],
    ["--surrogate", "qs"],
]


def test_json_is_one_object_with_the_contract_keys(m4n, small, tmp_path):
    result = m4n("train", small, "--model", tmp_path / "m.m4n", "--json", expect=DONE)
    assert result.stdout.count("\n") == 1
    report = json.loads(result.stdout)
    assert TRAIN_KEYS <= set(report)
    assert (report["n"], report["d"], report["k"]) == (60, 4, 3)
    assert report["task"] == "multiclass" and report["surrogate"] == "m4n" and report["loss"] == "zero-one"
    assert report["lambda"] == 1 / 60
    assert report["model"] == str(tmp_path / "m.m4n")
    assert report["converged"] and 0 <= report["relative_gap"] <= 1e-3
    assert report["gap"] == report["primal"] - report["dual"]
    assert report["relative_gap"] == pytest.approx(report["gap"] / report["primal"])
    assert "guessed" in result.stderr


def test_info_repeats_what_train_said(m4n, small, tmp_path):
    report = m4n.train(small, tmp_path / "m.m4n", "--seed", "3")
    info = m4n.json("info", tmp_path / "m.m4n")
    for key in TRAIN_KEYS - {"seconds", "seconds_total", "model"}:
        assert info[key] == report[key], key


def test_text_report(m4n, small, tmp_path):
    result = m4n("train", small, "--model", tmp_path / "m.m4n", "--lambda", "2^-10", expect=DONE)
    assert "0.000976562" in result.stdout and "converged" in result.stdout
    assert m4n("info", tmp_path / "m.m4n", expect=DONE).stdout.count("\n") > 5


def test_without_model_nothing_is_saved_and_that_is_said(m4n, small, tmp_path):
    before = set(tmp_path.iterdir())
    result = m4n("train", small, expect=DONE, cwd=tmp_path)
    assert "not saved" in result.stderr and "warning" not in result.stderr
    assert set(tmp_path.iterdir()) == before


def test_quiet(m4n, small, tmp_path):
    result = m4n("train", small, "--model", tmp_path / "m.m4n", "--quiet", expect=DONE)
    assert result.stderr == "" and result.stdout != ""


def test_progress_is_drawn_on_a_terminal_only(m4n, small):
    master, terminal = os.openpty()
    result = subprocess.run(
        [m4n.binary, "train", small], stdout=subprocess.PIPE, stderr=terminal, text=True, timeout=30
    )
    os.close(terminal)
    drawn = ""
    with contextlib.suppress(OSError):  # at the end of what was drawn
        while part := os.read(master, 1 << 16):  # a terminal hands out a few kilobytes at a time
            drawn += part.decode()
    os.close(master)
    assert result.returncode == DONE and "\r" not in result.stdout
    assert "epoch" in drawn and "\r" in drawn and "[####################]" in drawn
    assert "epoch" not in m4n("train", small, expect=DONE).stderr


@pytest.mark.parametrize("options", VARIANTS, ids=" ".join)
def test_same_seed_same_bytes_whatever_the_threads(m4n, tmp_path, options):
    """Enough examples that every loop over them has several chunks to share out."""
    x, y = blobs(1600, 4, 3, seed=1)
    data = write_csv(tmp_path / "data.csv", x, y)
    if "--epochs" not in options:
        options = [*options, "--epochs", "20"]
    models = []
    for name, threads in (("a", 1), ("b", 2), ("c", 5), ("d", 1)):
        m4n("train", data, "--model", tmp_path / name, "--threads", threads, "--seed", "7", *options, expect=DONE)
        models.append((tmp_path / name).read_bytes())
    assert all(model == models[0] for model in models)


@pytest.mark.parametrize("options", VARIANTS, ids=" ".join)
def test_the_loaded_model_predicts_as_the_training_process_did(m4n, small, tmp_path, options):
    report = m4n.train(small, tmp_path / "m.m4n", *options)
    assert report["dual"] <= report["primal"]
    assert m4n.json("eval", tmp_path / "m.m4n", small)["loss"] == pytest.approx(report["train_loss"], rel=1e-14)


def test_gzip_and_plain_and_libsvm_agree(m4n, tmp_path):
    import gzip

    x, y = blobs(40, 3, 3, seed=5)
    plain = write_csv(tmp_path / "plain.csv", x, y)
    packed = tmp_path / "packed.csv.gz"
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    m4n.train(plain, tmp_path / "plain.m4n")
    m4n.train(packed, tmp_path / "packed.m4n")
    assert (tmp_path / "plain.m4n").read_bytes() == (tmp_path / "packed.m4n").read_bytes()
    svm = tmp_path / "data.svm"
    svm.write_text(
        "".join(
            f"{c} " + " ".join(f"{j + 1}:{v!r}" for j, v in enumerate(map(float, row))) + "\n" for row, c in zip(x, y)
        )
    )
    dense = m4n.train(plain, tmp_path / "dense.m4n", "--standardize", "no", "--tol", "1e-6")
    sparse = m4n.train(svm, tmp_path / "sparse.m4n", "--tol", "1e-6")
    assert sparse["primal"] == pytest.approx(dense["primal"], rel=2e-6)


def test_log(m4n, small, tmp_path):
    log = tmp_path / "log.jsonl"
    report = m4n.train(small, tmp_path / "m.m4n", "--log", log, "--tol", "1e-6")
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    assert lines and all(set(line) == {"epoch", "seconds", "primal", "dual", "relative_gap"} for line in lines)
    assert [line["epoch"] for line in lines] == sorted(line["epoch"] for line in lines)
    assert all(line["dual"] <= line["primal"] for line in lines)
    assert lines[-1]["relative_gap"] <= 1e-6 and lines[-1]["epoch"] == report["epochs"]


def test_an_earlier_log_survives_bad_data(m4n, small, tmp_path):
    log, bad = tmp_path / "log.jsonl", tmp_path / "bad.csv"
    log.write_text("precious\n")
    bad.write_text("x1,label\n1,a\ntwo,b\n")
    m4n("train", bad, "--log", log, expect=FAILED)
    m4n("train", tmp_path / "absent.csv", "--log", log, expect=FAILED)
    assert log.read_text() == "precious\n"
    m4n("train", small, "--log", log, expect=DONE)
    assert "precious" not in log.read_text() and log.read_text()


def test_one_epoch_is_singular(m4n, small):
    result = m4n("train", small, "--epochs", 1, "--tol", "1e-9", expect=DONE)
    assert "after 1 epoch " in result.stderr and "1 epoch," in result.stdout


def test_a_signal_that_is_ignored_stays_ignored(m4n, small, tmp_path):
    """nohup starts programs that way."""
    model, log = tmp_path / "m.m4n", tmp_path / "log.jsonl"
    arguments = [*endless_training(tmp_path, model, log), "--time-limit", "1"]
    process = subprocess.Popen([m4n.binary, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                               preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))  # fmt: skip
    deadline = time.monotonic() + 30
    while (not log.exists() or not log.read_text()) and time.monotonic() < deadline:
        time.sleep(0.01)
    process.send_signal(signal.SIGHUP)
    out, messages = process.communicate(timeout=30)
    assert process.returncode == DONE and not json.loads(out)["interrupted"], messages


def test_grades_with_gaps_are_said_to_be_ranks(m4n, tmp_path):
    data = tmp_path / "grades.csv"
    data.write_text("x1,label\n1,0\n2,2\n3,10\n4,2\n")
    note = m4n("train", data, "--task", "ordinal", expect=DONE).stderr
    assert "the grades 0, 2, 10 count as ranks 0, 1, 2" in note
    assert m4n("train", data, "--task", "ordinal", "--quiet", expect=DONE).stderr == ""
    assert "ranks" not in m4n("train", data, "--task", "multiclass", expect=DONE).stderr
    data.write_text("x1,label\n1,1\n2,2\n3,3\n4,2\n")
    assert "ranks" not in m4n("train", data, "--task", "ordinal", expect=DONE).stderr


def test_a_target_left_out_beside_the_label_is_said(m4n, tmp_path):
    data = tmp_path / "both.csv"
    data.write_text("x1,target,label\n1,0.5,a\n2,0.7,b\n3,0.1,a\n")
    note = m4n("train", data, expect=DONE).stderr
    assert "left out" in note and "'target'" in note and "'label'" in note
    assert "left out" not in m4n("train", data, "--quiet", expect=DONE).stderr


def test_not_converged_is_a_warning(m4n, small, tmp_path):
    result = m4n("train", small, "--epochs", 1, "--tol", "1e-9", "--model", tmp_path / "m.m4n", expect=DONE)
    assert "warning" in result.stderr and "--epochs" in result.stderr and "1e-09" in result.stderr
    assert m4n.json("info", tmp_path / "m.m4n")["converged"] is False


def test_require_converged(m4n, small, tmp_path):
    model = tmp_path / "m.m4n"
    result = m4n(
        "train", small, "--epochs", 1, "--tol", "1e-9", "--model", model, "--require-converged", expect=NOT_CONVERGED
    )
    assert "--epochs" in result.stderr
    assert m4n.json("info", model)["epochs"] == 1
    m4n("train", small, "--require-converged", expect=DONE)


def endless_training(tmp_path, model, log):
    """Arguments of a training that will not reach its tolerance in this century."""
    x, y = blobs(2000, 20, 5, seed=8, spread=4)
    data = write_csv(tmp_path / "endless.csv", x, y)
    return ["train", data, "--model", model, "--log", log, "--solver", "gbcfw", "--step", "paper", "--tol", "1e-14",
            "--lambda", "1e-6", "--epochs", "1000000000", "--json"]  # fmt: skip


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_saves_and_exits_with_130(m4n, tmp_path, number):
    model, log = tmp_path / "m.m4n", tmp_path / "log.jsonl"
    arguments = endless_training(tmp_path, model, log)
    process = subprocess.Popen(
        [m4n.binary, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    deadline = time.monotonic() + 30
    while (not log.exists() or not log.read_text()) and time.monotonic() < deadline:
        time.sleep(0.01)
    process.send_signal(number)
    out, messages = process.communicate(timeout=30)
    assert process.returncode == INTERRUPTED, messages
    report = json.loads(out)
    assert report["interrupted"] and not report["converged"]
    assert "interrupted" in messages
    info = m4n.json("info", model)
    assert info["primal"] == report["primal"] and info["epochs"] >= 1 and info["interrupted"]


def test_time_limit(m4n, tmp_path):
    arguments = endless_training(tmp_path, tmp_path / "m.m4n", tmp_path / "log.jsonl")
    result = m4n(*arguments, "--time-limit", "0.2", expect=DONE)
    assert "warning" in result.stderr
    report = json.loads(result.stdout)
    assert not report["converged"] and not report["interrupted"] and report["seconds"] >= 0.2


def test_outputs_are_checked_before_the_data_are_read(m4n, tmp_path):
    absent = tmp_path / "absent.csv"
    for option in ("--model", "--log"):
        place = tmp_path / "nowhere" / "out"
        assert str(place) in m4n("train", absent, option, place, expect=FAILED).stderr
        assert str(tmp_path) in m4n("train", absent, option, tmp_path, expect=FAILED).stderr
        unwritable = "/proc/m4n-test-output"
        assert unwritable in m4n("train", absent, option, unwritable, expect=FAILED).stderr


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_directory_without_permission(m4n, small, tmp_path):
    locked = tmp_path / "locked"
    locked.mkdir(mode=0o555)
    assert str(locked) in m4n("train", small, "--model", locked / "m.m4n", expect=FAILED).stderr


def test_inputs_are_not_overwritten(m4n, small, tmp_path):
    before = small.read_bytes()
    (tmp_path / "link.csv").symlink_to(small)
    for name in (small, tmp_path / "." / "small.csv", tmp_path / "link.csv"):
        assert "input" in m4n("train", small, "--model", name, expect=WRONG_USAGE).stderr
    m4n("train", small, "--log", small, expect=WRONG_USAGE)
    message = m4n("train", small, "--model", tmp_path / "x", "--log", tmp_path / "x", expect=WRONG_USAGE).stderr
    assert "is also --model" in message and "is also an input" not in message
    assert small.read_bytes() == before


def test_full_disk(m4n, small, tmp_path):
    with open("/dev/full", "w") as full:
        result = subprocess.run(
            [m4n.binary, "train", small, "--model", tmp_path / "m.m4n"], stdout=full, stderr=subprocess.PIPE, text=True
        )
    assert result.returncode == FAILED and "standard output" in result.stderr
    assert m4n.json("info", tmp_path / "m.m4n")["converged"]
    assert "/dev/full" in m4n("train", small, "--model", "/dev/full", expect=FAILED).stderr
    assert "/dev/full" in m4n("train", small, "--log", "/dev/full", expect=FAILED).stderr


def test_class_and_example_weights(m4n, tmp_path):
    """An example of weight 3 is an example written three times; so is a class of weight 3."""
    x, y = blobs(30, 2, 2, seed=9)
    repeat = np.where(y == 1, 3, 1)
    thrice = write_csv(tmp_path / "thrice.csv", np.repeat(x, repeat, axis=0), np.repeat(y, repeat))
    weighted = tmp_path / "weighted.csv"
    weighted.write_text(
        "x1,x2,w,label\n" + "".join(f"{a!r},{b!r},{w},{c}\n" for (a, b), w, c in zip(x.tolist(), repeat, y))
    )
    classes = tmp_path / "classes.csv"
    classes.write_text("0,1\n1,3\n")
    options = ["--lambda", "0.05", "--tol", "1e-8", "--standardize", "no"]
    expected = m4n.train(thrice, tmp_path / "a.m4n", *options)["primal"]
    by_example = m4n.train(weighted, tmp_path / "b.m4n", "--weights", "w", *options)["primal"]
    plain = write_csv(tmp_path / "plain.csv", x, y)
    by_class = m4n.train(plain, tmp_path / "c.m4n", "--class-weight", classes, *options)["primal"]
    assert by_example == pytest.approx(expected, rel=1e-7)
    assert by_class == pytest.approx(expected, rel=1e-7)
    assert m4n.train(plain, tmp_path / "d.m4n", *options)["primal"] != pytest.approx(expected, rel=1e-3)


def test_binned_targets(m4n, graded, tmp_path):
    result = m4n("train", graded, "--bins", 5, "--model", tmp_path / "m.m4n", "--json", expect=DONE)
    assert "ordinal" in result.stderr
    report = json.loads(result.stdout)
    assert (report["task"], report["loss"], report["k"]) == ("ordinal", "absolute", 5)
    target = np.loadtxt(graded, delimiter=",", skiprows=1)[:, -1]
    cuts = m4n.json("info", tmp_path / "m.m4n")["cuts"]
    np.testing.assert_allclose(cuts, np.quantile(target, [0.2, 0.4, 0.6, 0.8]), rtol=1e-13)
    predicted = [int(row["label"]) for row in m4n.predict(tmp_path / "m.m4n", graded)]
    assert set(predicted) <= set(range(5))
    truth = np.searchsorted(cuts, target)
    assert m4n.json("eval", tmp_path / "m.m4n", graded)["loss"] == pytest.approx(np.mean(np.abs(truth - predicted)))
