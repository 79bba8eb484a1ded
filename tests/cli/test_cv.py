"""m4n cv: keys, choices, folds, refit, a directory to resume from, and bad input."""

import csv
import json
import signal
import subprocess
import time

import numpy as np
import pytest
from conftest import DONE, FAILED, INTERRUPTED, NOT_CONVERGED, WRONG_USAGE, blobs, write_csv

QUICK = ["--splits", "3", "--lambdas", "2^-2:2^-5", "--extend", "no"]


def without_times(report):
    return {key: value for key, value in report.items() if key != "seconds"}


def cells(directory):
    with open(directory / "cells.csv", newline="") as file:
        return [{k: v for k, v in row.items() if k != "seconds"} for row in csv.DictReader(file)]


def test_report_has_the_keys_of_the_contract(m4n, small):
    report = m4n.json("cv", small, "--surrogates", "m4n,smoothed,m3n,crf,qs", *QUICK)
    assert report["splits"] == 3 and report["n"] == 60 and report["k"] == 3
    assert [row["lambda"] for row in report["curve"]] == [2.0**-e for e in range(2, 6)]
    assert set(report["curve"][0]) == {"lambda", "validation_mean", "validation_std"}
    assert [(r["surrogate"], r["smoothing"]) for r in report["results"]] == [
        ("m4n", 0), ("m4n", 4), ("m3n", 0), ("crf", 0), ("qs", 0)]  # fmt: skip
    assert report["best_lambda"] in [row["lambda"] for row in report["curve"]]
    chosen = {row["lambda"]: row["validation_mean"] for row in report["curve"]}[report["best_lambda"]]
    assert chosen in [r["validation_mean"] for r in report["results"]]
    tests = [row["test"] for row in report["chosen"]]
    assert report["test_mean"] == pytest.approx(np.mean(tests))
    assert report["test_std"] == pytest.approx(np.std(tests, ddof=1))
    assert report["test_se"] == pytest.approx(np.std(tests, ddof=1) / np.sqrt(3))
    assert len(report["comparisons"]) == 10


def test_text_names_the_choice_and_every_surrogate(m4n, small):
    text = m4n("cv", small, "--surrogates", "m4n,crf", *QUICK, expect=DONE).stdout
    assert "task       multiclass, loss zero-one" in text
    assert "60 examples" in text and "3 random splits, 60/20/20" in text and "test loss" in text
    assert "\nm4n " in text and "\ncrf " in text and "2^-" in text


def test_results_do_not_depend_on_threads(m4n, small):
    options = ["cv", small, "--features", "rbf", "--gamma", "median,0.5", "--surrogates", "auto", *QUICK]
    one, four = (without_times(m4n.json(*options, "--threads", n)) for n in (1, 4))
    assert one == four
    assert one["best_gamma"] in ("median", 0.5)


def test_auto_tries_both_decoders_only_for_asymmetric_costs(m4n, small, tmp_path):
    symmetric = m4n.json("cv", small, "--surrogates", "auto", *QUICK)["results"]
    assert [r["decode"] for r in symmetric] == ["argmax", "expected", "argmax", "expected"]
    (tmp_path / "cost.csv").write_text("0,1,9\n1,0,1\n2,1,0\n")
    asymmetric = m4n.json("cv", small, "--surrogates", "auto", "--loss", tmp_path / "cost.csv", *QUICK)["results"]
    assert [r["decode"] for r in asymmetric] == ["argmax", "adversary", "expected", "argmax", "expected"]


def test_refit_is_the_model_that_train_makes_with_the_choice(m4n, small, tmp_path):
    report = m4n.json("cv", small, "--surrogates", "m4n,crf", "--features", "rbf", "--gamma", "0.1,1", *QUICK,
                      "--model", tmp_path / "cv.m4n")  # fmt: skip
    assert report["model"] == str(tmp_path / "cv.m4n")
    m4n.train(small, tmp_path / "train.m4n", "--task", "multiclass", "--surrogate", report["best_surrogate"], "--features",
              "rbf", "--gamma", report["best_gamma"], "--lambda", repr(report["best_lambda"]))  # fmt: skip
    assert (tmp_path / "cv.m4n").read_bytes() == (tmp_path / "train.m4n").read_bytes()


def test_ordinal_bins_are_cut_in_every_training_part(m4n, graded, tmp_path):
    report = m4n.json("cv", graded, "--task", "ordinal", "--bins", "4", *QUICK, "--model", tmp_path / "g.m4n")
    assert report["task"] == "ordinal" and report["loss"] == "absolute" and report["k"] == 4
    assert len(m4n.json("info", tmp_path / "g.m4n")["cuts"]) == 3


def test_a_column_names_the_folds_and_is_no_feature(m4n, tmp_path):
    x, y = blobs(60, 3, 3, seed=4)
    data = write_csv(tmp_path / "folds.csv", np.column_stack([x, np.arange(60) % 4]), y)
    text = data.read_text().replace("x4", "part")
    data.write_text(text)
    report = m4n.json("cv", data, "--folds", "part", "--lambdas", "0.1,0.01", "--model", tmp_path / "f.m4n")
    assert report["splits"] == 4 and report["d"] == 3
    # Every column of the same file is known to the model, the fold included.
    assert m4n.json("eval", tmp_path / "f.m4n", data)["n"] == 60
    assert m4n.json("info", tmp_path / "f.m4n")["fold_column"] == "part"


def test_random_folds_test_every_example_once(m4n, small, tmp_path):
    report = m4n.json("cv", small, "--folds", "5", "--lambdas", "0.1", "--out", tmp_path / "out")
    assert report["splits"] == 5 and len(cells(tmp_path / "out")) == 5


def test_directory_holds_every_cell_and_is_resumed(m4n, small, tmp_path):
    out, options = tmp_path / "out", ["cv", small, "--surrogates", "m4n,crf", *QUICK, "--out", tmp_path / "out"]
    report = m4n.json(*options)
    whole = cells(out)
    assert len(whole) == 3 * 4 * 2
    assert without_times(json.loads((out / "cv.json").read_text())) == without_times(report)
    # Half of it lost, the last line cut off in its middle.
    lines = (out / "cells.csv").read_text().splitlines(keepends=True)
    (out / "cells.csv").write_text("".join(lines[:10]) + lines[10][:7])
    again = m4n(*options, expect=DONE)
    assert "9 cells found there, not computed again" in again.stderr
    assert cells(out) == whole
    assert "24 cells found" in m4n(*options, expect=DONE).stderr


def test_directory_of_other_settings_or_data_is_refused(m4n, small, graded, tmp_path):
    out = tmp_path / "out"
    m4n("cv", small, *QUICK, "--out", out, expect=DONE)
    other = m4n("cv", small, *QUICK, "--seed", "1", "--out", out, expect=FAILED)
    assert "other settings (seed is 1 now, 0 there)" in other.stderr
    other = m4n("cv", small, *QUICK, "--class-weight", "balanced", "--out", out, expect=FAILED)
    assert "other settings (class-weight is balanced now, all equal there)" in other.stderr
    text = small.read_text()
    small.write_text(text.replace("ant", "emu", 1).replace("bee", "ant", 1).replace("emu", "bee", 1))
    assert "other settings (data is " in m4n("cv", small, *QUICK, "--out", out, expect=FAILED).stderr
    (out / "cells.csv").write_text((out / "cells.csv").read_text() + "1,2,3\n")
    small.write_text(text)
    assert "line 14: found '1,2,3'" in m4n("cv", small, *QUICK, "--out", out, expect=FAILED).stderr
    (tmp_path / "file").write_text("")
    assert "directory" in m4n("cv", small, *QUICK, "--out", tmp_path / "file", expect=FAILED).stderr
    (out / "settings.json").write_text("?")
    assert "settings.json is damaged" in m4n("cv", small, *QUICK, "--out", out, expect=FAILED).stderr


def test_files_of_others_are_never_overwritten(m4n, small, tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    data = out / "cells.csv"
    data.write_text(small.read_text())
    assert "would be overwritten" in m4n("cv", data, *QUICK, "--out", out, expect=WRONG_USAGE).stderr
    assert "not of a cross-validation" in m4n("cv", small, *QUICK, "--out", out, expect=FAILED).stderr
    assert data.read_text() == small.read_text()
    data.unlink()
    for name in ("cells.csv", "cv.json", "settings.json"):
        m4n("cv", small, *QUICK, "--out", out, "--model", out / name, expect=WRONG_USAGE)
    m4n("cv", small, *QUICK, "--out", out, "--model", out / "model.m4n", expect=DONE)


def test_one_run_at_a_time_in_a_directory(m4n, small, tmp_path):
    import fcntl
    import os

    out = tmp_path / "out"
    out.mkdir()
    handle = os.open(out, os.O_RDONLY)
    fcntl.flock(handle, fcntl.LOCK_EX)
    assert "another run is using it" in m4n("cv", small, *QUICK, "--out", out, expect=FAILED).stderr
    os.close(handle)
    m4n("cv", small, *QUICK, "--out", out, expect=DONE)


def test_a_refit_that_does_not_converge_is_said(m4n, small, tmp_path):
    options = ["cv", small, "--splits", "2", "--lambdas", "1e-6", "--epochs", "3", "--model", tmp_path / "m.m4n"]
    assert "stopped before the tolerance was reached: the relative gap is" in m4n(*options, expect=DONE).stderr
    m4n(*options, "--require-converged", expect=NOT_CONVERGED)
    assert not m4n.json("info", tmp_path / "m.m4n")["converged"]


def test_a_value_too_large_for_the_scores_names_its_example(m4n, tmp_path):
    x, y = blobs(30, 2, 2, seed=7)
    x *= 1e-3
    x[4] = 1e307
    data = write_csv(tmp_path / "huge.csv", x, y)
    # Alone in its fold, the value is never trained on and always in the way.
    text = data.read_text().splitlines()
    folds = ["fold"] + ["1" if i == 4 else str(2 + i % 3) for i in range(30)]
    data.write_text("".join(f"{line},{fold}\n" for line, fold in zip(text, folds)))
    result = m4n("cv", data, "--folds", "fold", "--lambdas", "0.1")
    assert result.returncode == FAILED and ("example 5 " in result.stderr or "range of double" in result.stderr)


def test_interrupted_run_keeps_what_is_done_and_goes_on(m4n, tmp_path):
    x, y = blobs(1500, 20, 6, seed=5, spread=3)
    data, out = write_csv(tmp_path / "large.csv", x, y), tmp_path / "out"
    command = [m4n.binary, "cv", data, "--splits", "30", "--features", "rbf", "--lambdas", "2^-2:2^-9", "--extend", "no",
               "--out", out, "--threads", "1"]  # fmt: skip
    process = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    deadline = time.time() + 25
    while time.time() < deadline and not ((out / "cells.csv").exists() and len(cells(out)) >= 8):
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    output, messages = process.communicate(timeout=25)
    assert process.returncode == INTERRUPTED and output == "" and "the same command goes on from there" in messages
    done = cells(out)
    assert 8 <= len(done) < 30 * 8
    process = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert f"{len(done)} cells found there" in process.stderr.readline() + process.stderr.readline()
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=25)


@pytest.mark.parametrize(
    "options, code, message",
    [
        (["--splits", "61"], FAILED, "--splits 61: the data have only 60 examples"),
        (["--splits", "0"], WRONG_USAGE, "a whole number from 1"),
        (["--folds", "61"], FAILED, "--folds 61: the data have only 60 examples"),
        (["--folds", "2"], WRONG_USAGE, "a whole number from 3"),
        (["--folds", "nowhere"], FAILED, "no column 'nowhere' (--folds)"),
        (["--folds", "4", "--splits", "3"], WRONG_USAGE, "Leave out one or the other"),
        (["--folds", "4", "--splits", "14"], WRONG_USAGE, "Leave out one or the other"),
        (["--ratio", "60,20"], WRONG_USAGE, "expected three numbers"),
        (["--ratio", "60,20,0"], WRONG_USAGE, "--ratio: found '0'"),
        (["--ratio", "98,1,1"], FAILED, "leave 59 for training, 1 for validation and 0 for testing"),
        (["--lambdas", "1,-2"], WRONG_USAGE, "--lambdas: found '-2'"),
        (["--lambdas", "1:0.01"], WRONG_USAGE, "two powers of one base"),
        (["--lambdas", "2^-1:3^-4"], WRONG_USAGE, "two powers of one base"),
        (["--lambdas", "2^-1:2^-1.5"], WRONG_USAGE, "two powers of one base"),
        (["--lambdas", "1^1e17:1^1e17"], WRONG_USAGE, "two powers of one base"),
        (["--lambdas", ""], WRONG_USAGE, "--lambdas"),
        (["--lambda", "1"], WRONG_USAGE, "unknown option '--lambda'"),
        (["--gamma", "1"], WRONG_USAGE, "linear features have none"),
        (["--features", "rbf", "--gamma", "0"], WRONG_USAGE, "--gamma: found '0', expected positive numbers"),
        (["--features", "rbf", "--gamma", "1,1"], WRONG_USAGE, "one value twice"),
        (["--surrogates", "m4n,svm"], WRONG_USAGE, "unknown value 'svm'"),
        (["--surrogates", "m4n,m4n"], WRONG_USAGE, "stands twice"),
        (["--surrogates", "m4n,m3n", "--smoothing", "2"], WRONG_USAGE, "which is not in --surrogates"),
        (["--surrogates", "m4n", "--surrogate", "crf"], WRONG_USAGE, "Give one of the two"),
        (["--surrogates", "auto", "--decode", "argmax"], WRONG_USAGE, "chooses the decoder too"),
        (["--surrogates", "m4n,m3n", "--decode", "adversary"], WRONG_USAGE, "m3n has none"),
        (["--model", "no/such/place.m4n"], FAILED, "there is no directory"),
    ],
)
def test_bad_input_is_refused_with_the_reason(m4n, small, options, code, message):
    result = (
        m4n("cv", small, "--lambdas", "0.1", *options) if "--lambdas" not in options else m4n("cv", small, *options)
    )
    assert result.returncode == code and message in result.stderr, result.stderr
    assert result.stdout == ""


def test_a_class_absent_from_a_training_part_is_reported(m4n, tmp_path):
    x, y = blobs(40, 3, 2, seed=6)
    data = write_csv(tmp_path / "rare.csv", x, ["rare" if i == 3 else str(c) for i, c in enumerate(y)])
    fold = ["a" if i == 3 else "bcd"[i % 3] for i in range(40)]  # the only one tests, then validates
    data.write_text("\n".join(f"{line},{f}" for line, f in zip(data.read_text().splitlines(), ["fold", *fold])))
    result = m4n("cv", data, "--folds", "fold", "--lambdas", "0.1,0.01", expect=DONE)
    assert "class 'rare' has no example in the training part of" in result.stderr


def test_what_a_race_dropped_is_not_compared(m4n, small):
    """Its mean over the few splits it was tried on would look like a loss on all of them."""
    report = m4n.json("cv", small, "--surrogates", "auto", "--splits", "6")
    dropped = [row["dropped"] for row in report["results"]]
    assert dropped[-1] is False and report["results"][-1]["surrogate"] == "crf"
    for row in report["results"]:
        assert (row["validation_mean"] is None) == row["dropped"] == (row["test_mean"] is None)
    text = m4n("cv", small, "--surrogates", "auto", "--splits", "6", expect=DONE).stdout
    assert text.count(" dropped ") == sum(dropped) > 0
