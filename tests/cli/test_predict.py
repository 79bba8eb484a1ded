"""predict, eval and dump: what they print, where, and what they refuse."""

import csv
import io
import json
import os
import signal
import subprocess

import numpy as np
import pytest
from conftest import DONE, FAILED, WRONG_USAGE, blobs, write_csv


def test_header_and_order(m4n, model, small):
    text = m4n("predict", model, small, expect=DONE).stdout
    lines = text.splitlines()
    assert lines[0] == "label" and len(lines) == 61 and set(lines[1:]) <= {"ant", "bee", "cat"}


def test_scores_are_the_linear_scores_of_the_dumped_weights(m4n, model, small):
    rows = m4n.predict(model, small, "--scores")
    names = ["ant", "bee", "cat"]
    assert list(rows[0]) == ["label", "score_ant", "score_bee", "score_cat"]
    scores = np.array([[float(row["score_" + c]) for c in names] for row in rows])
    dump = m4n.json("dump", model)
    weights = np.zeros((5, 3))
    for entry in dump["weights"]:
        feature = 4 if entry["feature"] == "(bias)" else int(entry["feature"][1:]) - 1
        weights[feature, names.index(entry["class"])] = entry["weight"]
    x = np.genfromtxt(small, delimiter=",", skip_header=1)[:, :4]
    np.testing.assert_allclose(dump["mean"], x.mean(axis=0), atol=1e-14)
    np.testing.assert_allclose(1 / np.array(dump["inverse_scale"]), x.std(axis=0), rtol=1e-12)
    z = (x - dump["mean"]) * dump["inverse_scale"]
    np.testing.assert_allclose(scores, z @ weights[:4] + weights[4], atol=1e-12)
    assert [row["label"] for row in rows] == [names[j] for j in scores.argmax(axis=1)]


def test_dump_is_sorted_and_agrees_with_json(m4n, model):
    result = m4n("dump", model, expect=DONE)
    assert "standardised" in result.stderr
    rows = list(csv.DictReader(io.StringIO(result.stdout)))
    assert list(rows[0]) == ["feature", "class", "weight"]
    sizes = [abs(float(row["weight"])) for row in rows]
    assert sizes == sorted(sizes, reverse=True)
    entries = [{**row, "weight": float(row["weight"])} for row in rows]
    assert entries == m4n.json("dump", model)["weights"]
    norm = sum(size**2 for size in sizes)
    assert norm == pytest.approx(m4n.json("info", model)["norm_squared"], rel=1e-12)


def test_label_column_is_ignored_and_columns_match_by_name(m4n, model, small, tmp_path):
    expected = m4n("predict", model, small, "--scores", expect=DONE).stdout
    rows = list(csv.reader(small.open()))
    bare, turned = tmp_path / "bare.csv", tmp_path / "turned.csv"
    csv.writer(bare.open("w")).writerows(row[:-1] for row in rows)
    csv.writer(turned.open("w")).writerows(row[::-1] for row in rows)
    assert m4n("predict", model, bare, "--scores", expect=DONE).stdout == expected
    assert m4n("predict", model, turned, "--scores", expect=DONE).stdout == expected


def test_out_file_equals_stdout_and_leaves_nothing_else(m4n, model, small, tmp_path):
    out = tmp_path / "out.csv"
    out.write_text("old")
    before = set(tmp_path.iterdir())
    assert m4n("predict", model, small, "--out", out, expect=DONE).stdout == ""
    assert out.read_text() == m4n("predict", model, small, expect=DONE).stdout
    assert set(tmp_path.iterdir()) == before


def test_out_is_untouched_where_a_late_line_is_wrong(m4n, model, tmp_path):
    data, out = tmp_path / "long.csv", tmp_path / "out.csv"
    rows = "1,2,3,4\n" * 60000
    data.write_text("x1,x2,x3,x4\n" + rows + "1,2,oops,4\n" + rows)
    out.write_text("old")
    for threads in (1, 2):
        refused = m4n("predict", model, data, "--out", out, "--threads", threads, expect=FAILED)
        assert "line 60002, column 3 ('x3'): found 'oops'" in refused.stderr
        assert out.read_text() == "old"
        assert sorted(path.name for path in tmp_path.iterdir()) == ["long.csv", "out.csv", "small.csv", "small.m4n"]


def lines_of_data(data_format, rows):
    """A CSV or LIBSVM file for the model of `small`, line by line."""
    if data_format == "csv":
        yield "x1,x2,x3,x4\n"
    for i in range(rows):
        x = [(i * step) % 97 / 10 for step in (1, 7, 31, 59)]
        csv_line = ",".join(map(str, x))
        yield (csv_line if data_format == "csv" else " ".join(f"{j + 1}:{v}" for j, v in enumerate(x))) + "\n"


@pytest.fixture
def nameless(m4n, tmp_path):
    """A model without names of features, which takes LIBSVM files."""
    data, model = tmp_path / "data.libsvm", tmp_path / "nameless.m4n"
    x, y = blobs(60, 4, 3, seed=1)
    lines = (f"{c} " + " ".join(f"{j + 1}:{v}" for j, v in enumerate(row)) for row, c in zip(x, y))
    data.write_text("\n".join(lines) + "\n")
    m4n.train(data, model)
    return model


@pytest.mark.parametrize("data_format", ["csv", "libsvm"])
def test_predictions_are_the_same_for_any_number_of_threads(m4n, model, nameless, data_format, tmp_path):
    data = tmp_path / "data"
    data.write_text("".join(lines_of_data(data_format, 9000)))
    asked = (model if data_format == "csv" else nameless, data)
    for options in ((), ("--scores",), ("--json", "--scores")):
        one = m4n("predict", *asked, *options, "--threads", 1, expect=DONE).stdout
        for threads in (2, 3, 8):
            assert m4n("predict", *asked, *options, "--threads", threads, expect=DONE).stdout == one
    # Rows by themselves are predicted as among others.
    alone = tmp_path / "alone"
    lines = list(lines_of_data(data_format, 9000))
    header = 1 if data_format == "csv" else 0
    alone.write_text("".join(lines[:header] + lines[-50:]))
    last = m4n("predict", asked[0], alone, "--scores", expect=DONE).stdout.splitlines()[1:]
    assert m4n("predict", *asked, "--scores", expect=DONE).stdout.splitlines()[-50:] == last


@pytest.mark.parametrize("data_format", ["csv", "libsvm"])
def test_memory_does_not_grow_with_the_rows_of_a_pipe(m4n, model, nameless, data_format):
    def peak_kilobytes(rows):
        process = subprocess.Popen(
            [m4n.binary, "predict", model if data_format == "csv" else nameless, "-", "--threads", "2"],
            stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)  # fmt: skip
        process.stdin.writelines(lines_of_data(data_format, rows))
        process.stdin.close()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        assert process.returncode == DONE
        return usage.ru_maxrss

    assert peak_kilobytes(250_000) < peak_kilobytes(50_000) + 4000  # kept, the rows alone take 8000 more


def test_out_is_checked(m4n, model, small, tmp_path):
    assert "nowhere" in m4n("predict", model, small, "--out", tmp_path / "nowhere" / "x", expect=FAILED).stderr
    assert "/dev/full" in m4n("predict", model, small, "--out", "/dev/full", expect=FAILED).stderr
    for path in (model, small):
        m4n("predict", model, small, "--out", path, expect=WRONG_USAGE)


def test_full_disk_on_stdout(m4n, model, small):
    for command in (["predict", model, small], ["eval", model, small], ["info", model], ["dump", model], ["help"]):
        with open("/dev/full", "w") as full:
            result = subprocess.run([m4n.binary, *map(str, command)], stdout=full, stderr=subprocess.PIPE, text=True)
        assert result.returncode == FAILED and "No space left" in result.stderr, command


@pytest.mark.parametrize("ignore_sigpipe", [False, True])
def test_a_reader_that_leaves_early_is_no_event(m4n, tmp_path, ignore_sigpipe):
    x, y = blobs(20000, 3, 3, seed=4)
    data = write_csv(tmp_path / "many.csv", x, y)
    m4n.train(data, tmp_path / "m.m4n", "--tol", "0.1")
    process = subprocess.Popen([m4n.binary, "predict", tmp_path / "m.m4n", data, "--scores"], stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, restore_signals=not ignore_sigpipe)  # fmt: skip
    assert process.stdout.readline() == b"label,score_0,score_1,score_2\n"
    process.stdout.close()
    assert process.stderr.read() == b""
    assert process.wait(timeout=30) == (FAILED if ignore_sigpipe else -signal.SIGPIPE)


def test_marginals(m4n, small, model, tmp_path):
    message = m4n("predict", model, small, "--marginals", expect=WRONG_USAGE).stderr
    assert str(model) in message and "m4n" in message and "crf" in message
    crf = tmp_path / "crf.m4n"
    m4n.train(small, crf, "--surrogate", "crf")
    rows = m4n.predict(crf, small, "--marginals", "--scores")
    assert list(rows[0]) == ["label", *(f"{what}_{c}" for what in ("score", "p") for c in ("ant", "bee", "cat"))]
    p = np.array([[float(row["p_" + c]) for c in ("ant", "bee", "cat")] for row in rows])
    v = np.array([[float(row["score_" + c]) for c in ("ant", "bee", "cat")] for row in rows])
    e = np.exp(v - v.max(axis=1, keepdims=True))
    np.testing.assert_allclose(p, e / e.sum(axis=1, keepdims=True), atol=1e-14)


def test_ids_and_names_are_quoted_where_needed(m4n, tmp_path):
    data = tmp_path / "data.csv"
    with data.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["name", "a,b", "label"])
        writer.writerows([['say "hi"', -1, "x, y"], ["plain", 1, 'z"'], ["3,5", -2, "x, y"], ["", 2, 'z"']])
    m4n.train(data, tmp_path / "m.m4n", "--id", "name")
    rows = m4n.predict(tmp_path / "m.m4n", data, "--id", "name", "--scores")
    assert list(rows[0]) == ["name", "label", "score_x, y", 'score_z"']
    assert [row["name"] for row in rows] == ['say "hi"', "plain", "3,5", ""]
    assert [row["label"] for row in rows] == ["x, y", 'z"', "x, y", 'z"']
    dump = list(csv.DictReader(io.StringIO(m4n("dump", tmp_path / "m.m4n", expect=DONE).stdout)))
    assert {row["feature"] for row in dump} <= {"a,b", "(bias)"} and {row["class"] for row in dump} == {"x, y", 'z"'}


def test_threads_do_not_matter(m4n, model, small):
    outputs = {m4n("predict", model, small, "--scores", "--threads", t, expect=DONE).stdout for t in (1, 2, 5)}
    assert len(outputs) == 1


def test_eval_json(m4n, model, small):
    result = m4n("eval", model, small, "--json", expect=DONE)
    assert result.stdout.count("\n") == 1 and result.stderr == ""
    report = json.loads(result.stdout)
    assert {"n", "loss", "metrics"} <= set(report) and report["n"] == 60
    assert {"error", "balanced_accuracy", "macro_f1", "confusion", "expected_cost"} <= set(report["metrics"])
    assert report["loss"] == report["metrics"]["error"]
    assert "macro_f1" in m4n("eval", model, small, expect=DONE).stdout


def test_bootstrap_gives_intervals(m4n, model, small):
    plain = m4n.json("eval", model, small)
    report = m4n.json("eval", model, small, "--bootstrap", 2000, "--seed", 3)
    intervals = report.pop("bootstrap")
    assert report == plain and "bootstrap" not in plain
    assert list(intervals) == ["replicates", "seed", "confidence", "loss", "metrics"]
    assert (intervals["replicates"], intervals["seed"], intervals["confidence"]) == (2000, 3, 0.95)
    assert list(intervals["metrics"]) == [name for name in plain["metrics"] if name != "confusion"]
    for name, interval in intervals["metrics"].items():
        assert list(interval) == ["low", "high", "se"]
        assert interval["low"] < plain["metrics"][name] < interval["high"]
    # The error rate of a resample is binomial / n.
    error = plain["metrics"]["error"]
    assert 0 < error < 1 and intervals["loss"] == intervals["metrics"]["error"]
    assert intervals["loss"]["se"] == pytest.approx((error * (1 - error) / 60) ** 0.5, rel=0.1)
    assert intervals["loss"]["high"] - intervals["loss"]["low"] == pytest.approx(
        3.92 * intervals["loss"]["se"], rel=0.2
    )


def test_bootstrap_depends_on_the_seed_alone(m4n, model, small):
    command = ["eval", model, small, "--bootstrap", 500]
    default = m4n(*command, expect=DONE).stdout
    outputs = {m4n(*command, "--seed", 0, "--threads", t, expect=DONE).stdout for t in (1, 2, 5)}
    assert outputs == {default}
    assert "the middle 95% of the values on 500 resamples of the examples (seed 0)" in default
    assert m4n(*command, "--seed", 1, expect=DONE).stdout != default


@pytest.mark.parametrize("value", ["0", "1", "1000001", "-5", "ten", "1e3", ""])
def test_bootstrap_needs_a_sensible_number(m4n, model, small, value):
    message = m4n("eval", model, small, "--bootstrap", value, expect=WRONG_USAGE).stderr
    assert "--bootstrap" in message and "a whole number from 2 to 1000000" in message and f"'{value}'" in message


def test_unseen_labels_are_errors_with_one_warning(m4n, model, small, tmp_path):
    lines = small.read_text().splitlines()
    other = tmp_path / "other.csv"
    extra = [line.rsplit(",", 1)[0] for line in lines[1:4]]
    other.write_text("\n".join([*lines, extra[0] + ",dog", extra[1] + ",emu", extra[2] + ",dog"]) + "\n")
    known = m4n.json("eval", model, small)
    result = m4n("eval", model, other, "--json", expect=DONE)
    report = json.loads(result.stdout)
    assert result.stderr.count("warning") == 1 and "'dog', 'emu'" in result.stderr and str(other) in result.stderr
    assert report["n"] == 63 and report["unseen"] == 3
    assert sum(map(sum, report["metrics"]["confusion"])) == 60
    text = m4n("eval", model, other, expect=DONE).stdout
    assert "3 of the 63 examples with labels unseen in training: they are not in the table" in text
    assert "unseen" not in m4n("eval", model, small, expect=DONE).stdout
    assert report["loss"] == pytest.approx((60 * known["loss"] + 3) / 63)


def test_many_unseen_labels_are_not_all_listed(m4n, model, small, tmp_path):
    lines = small.read_text().splitlines()
    other = tmp_path / "other.csv"
    other.write_text(
        "\n".join([lines[0], *(f"{line.rsplit(',', 1)[0]},new {i}" for i, line in enumerate(lines[1:]))]) + "\n"
    )
    message = m4n("eval", model, other, expect=DONE).stderr
    assert "'new 9' and 50 more" in message and "'new 10'" not in message


def test_many_classes_have_their_confusion_in_json(m4n, tmp_path):
    x, y = blobs(124, 3, 31, seed=6)
    data = write_csv(tmp_path / "data.csv", x, y)
    m4n.train(data, tmp_path / "m.m4n", "--epochs", 5)
    text = m4n("eval", tmp_path / "m.m4n", data, expect=DONE).stdout
    assert "--json has it" in text and "predicted" not in text
    assert len(m4n.json("eval", tmp_path / "m.m4n", data)["metrics"]["confusion"]) == 31


@pytest.fixture
def named(tmp_path):
    """Label, weights and id under names of their own."""
    x, y = blobs(40, 2, 2, seed=4)
    path = tmp_path / "named.csv"
    rows = [f"r{i},{a!r},{'ab'[c]},{b!r},{1 + i % 3}\n" for i, ((a, b), c) in enumerate(zip(x.tolist(), y))]
    path.write_text("key,x1,kind,x2,w\n" + "".join(rows))
    return path


NAMES = ["--target", "kind", "--weights", "w", "--id", "key"]


def test_columns_named_in_training_need_not_be_named_again(m4n, named, tmp_path):
    model = tmp_path / "m.m4n"
    m4n.train(named, model, *NAMES)
    plain = m4n("predict", model, named, "--scores", expect=DONE).stdout
    assert plain.startswith("label,score_a,score_b\n")
    bare = tmp_path / "bare.csv"
    table = [line.split(",") for line in named.read_text().splitlines()]
    bare.write_text("".join(f"{row[1]},{row[3]}\n" for row in table))
    assert m4n("predict", model, bare, "--scores", expect=DONE).stdout == plain
    with_ids = m4n.predict(model, named, "--id", "key")
    assert [row["key"] for row in with_ids] == [f"r{i}" for i in range(40)]
    # eval: the label is known, weights count only where asked for.
    unweighted, weighted = m4n.json("eval", model, named), m4n.json("eval", model, named, "--weights", "w")
    wrong = np.array([row["label"] != line[2] for row, line in zip(with_ids, table[1:])])
    weight = np.array([float(line[4]) for line in table[1:]])
    assert unweighted["loss"] == pytest.approx(wrong.mean())
    assert weighted["loss"] == pytest.approx(np.average(wrong, weights=weight))
    assert unweighted["n"] == weighted["n"] == 40
    assert unweighted["metrics"]["confusion"] == weighted["metrics"]["confusion"]
    info = m4n.json("info", model)
    assert [info[f"{role}_column"] for role in ("target", "weights", "id")] == ["kind", "w", "key"]


def test_an_unknown_column_names_the_options_for_it(m4n, model, small, tmp_path):
    other = tmp_path / "other.csv"
    other.write_text(
        "".join(f"{i},{line}\n" if i else f"row,{line}\n" for i, line in enumerate(small.read_text().splitlines()))
    )
    message = m4n("predict", model, other, expect=FAILED).stderr
    assert "'row'" in message and all(option in message for option in ("--target", "--id", "--weights"))
    for option in ("--id", "--weights"):
        m4n("predict", model, other if option == "--id" else weighted(other), option, "row", expect=DONE)


def weighted(path):
    """The same file with row numbers from 1: weights are positive."""
    lines = path.read_text().splitlines()
    path.write_text(
        "\n".join([lines[0], *(f"{i + 1},{line.split(',', 1)[1]}" for i, line in enumerate(lines[1:]))]) + "\n"
    )
    return path


def test_predict_json(m4n, named, tmp_path):
    model = tmp_path / "m.m4n"
    m4n.train(named, model, *NAMES, "--surrogate", "crf")
    bare = m4n.json("predict", model, named)
    assert set(bare) == {"n", "label"} and bare["n"] == 40 and len(bare["label"]) == 40
    result = m4n("predict", model, named, "--json", "--scores", "--marginals", "--id", "key", expect=DONE)
    assert result.stdout.count("\n") == 1
    full, rows = json.loads(result.stdout), m4n.predict(model, named, "--scores", "--marginals", "--id", "key")
    assert set(full) == {"n", "id", "label", "classes", "scores", "marginals"} and full["classes"] == ["a", "b"]
    assert (
        full["id"] == [row["key"] for row in rows] and full["label"] == [row["label"] for row in rows] == bare["label"]
    )
    assert full["scores"] == [[float(row["score_a"]), float(row["score_b"])] for row in rows]
    assert full["marginals"] == [[float(row["p_a"]), float(row["p_b"])] for row in rows]
    m4n("predict", model, named, "--json", "--out", tmp_path / "out.json", expect=DONE)
    assert json.loads((tmp_path / "out.json").read_text()) == bare


def test_eval_needs_labels(m4n, model, small, tmp_path):
    bare = tmp_path / "bare.csv"
    bare.write_text("\n".join(line.rsplit(",", 1)[0] for line in small.read_text().splitlines()) + "\n")
    assert str(bare) in m4n("eval", model, bare, expect=FAILED).stderr
