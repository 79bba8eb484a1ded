"""Pages about models and cross-validations: whole, safe, and with the right numbers."""

import json
import os
import re
import subprocess

import numpy as np
import pytest
from conftest import DONE, FAILED, ROOT, WRONG_USAGE
from pages import Page

IRIS = ROOT / "data" / "iris.csv"
TASKS = ["multiclass", "ordinal", "multilabel", "sequence", "ranking", "matching", "graph"]
ODD = ['<script>alert("1")</script>', "a'b\"c", "\N{GRINNING FACE}", "\u05e9\u05dc\u05d5\u05dd", "x\x1b[31mred", "y\u202eback",
       "| *pipe* `tick` [link](http://x.example)", "&lt;"]  # fmt: skip


def generated(m4n, task, folder, n=80):
    """Data of a task, a model of them, and what training was told."""
    data, model = folder / f"{task}.data", folder / f"{task}.m4n"
    m4n("generate", "--task", task, "--n", n, "--seed", 1, "--out", data, expect=DONE)
    (folder / "template").write_text("U:%x[0,0]\nB\n")
    options = ["--template", folder / "template"] if task == "sequence" else []
    m4n("train", data, "--task", task, *options, "--model", model, "--log", folder / "log.jsonl", expect=DONE)
    return data, model


@pytest.mark.parametrize("task", TASKS)
def test_page_of_every_structure(m4n, tmp_path, task):
    data, model = generated(m4n, task, tmp_path)
    out = tmp_path / "r.html"
    m4n("report", model, data, "--out", out, "--log", tmp_path / "log.jsonl", expect=DONE)
    page = Page(out.read_text())
    loss = m4n.json("eval", model, data)["loss"]
    assert f"costs {loss:.4g} in the mean" in page.text
    titles = ["What it costs", "How well it is trained", "What it goes by", "Where this comes from"]
    assert [title for title in page.headings if title in titles] == titles
    assert any(title.startswith("The costliest ") for title in page.headings) and "A closer look" in page.headings
    assert "cannot be lower" in page.text and "relative gap" in page.text  # from the log
    # The same wherever it runs and however many threads there are; as Markdown; without data.
    m4n("report", model, data, "--out", out, "--log", tmp_path / "log.jsonl", "--threads", 1, expect=DONE)
    assert Page(out.read_text()).text == page.text
    text = m4n("report", model, data, "--markdown", expect=DONE).stdout
    assert text.startswith(f"# {model.name}\n") and f"costs {loss:.4g} in the mean" in text and "<" not in text
    assert [line[3:] for line in text.splitlines() if line.startswith("## ")] == page.headings
    alone = Page(m4n("report", model, expect=DONE).stdout)
    assert "What it costs" not in alone.headings and "How well it is trained" in alone.headings
    assert str(tmp_path) not in out.read_text()


def odd_data(path, names, n=200, seed=0):
    """A CSV whose classes and features have these names; the classes overlap."""
    rng = np.random.default_rng(seed)
    quoted = ['"' + name.replace('"', '""') + '"' for name in names]
    lines = [",".join((quoted + ["p", "q"])[:4]) + ",id,label"]
    for i in range(n):
        t = int(rng.integers(len(names)))
        x = rng.normal(size=4) + np.array([t % 2, t % 3, t % 5, t / 7])
        lines.append(",".join(f"{v:.3f}" for v in x[:4]) + f",row {i} <b>," + quoted[t])
    path.write_text("\n".join(lines) + "\n")


def test_names_are_escaped(m4n, tmp_path):
    data, model = tmp_path / "odd.csv", tmp_path / "m <i>.m4n"
    odd_data(data, ODD)
    m4n("train", data, "--id", "id", "--surrogate", "crf", "--model", model, expect=DONE)
    written = m4n("report", model, data, "--id", "id", expect=DONE).stdout
    page = Page(written)
    assert "<script>alert" not in written and "<b>" not in written and "<i>" not in written
    assert len(page.scripts) == 1 and "alert" not in page.scripts[0]
    for name in ODD:
        shown = re.sub("[\x1b\u202e]", "\ufffd", name)
        assert shown in page.text, name
    assert "Are its probabilities right?" in page.headings and re.search(r"row \d+ <b>", page.text)
    without = Page(m4n("report", model, data, "--id", "id", "--no-examples", expect=DONE).stdout)
    assert not re.search(r"row \d+", without.text) and not any("costliest" in title for title in without.headings)
    markdown = m4n("report", model, data, "--markdown", "--id", "id", expect=DONE).stdout
    assert "<" not in markdown and "\x1b" not in markdown and "\n| *pipe" not in markdown and r"\[link\]" in markdown


def test_many_classes_and_few(m4n, tmp_path):
    for k, n in ((2, 60), (200, 2000)):
        data, model = tmp_path / "many.csv", tmp_path / "many.m4n"
        odd_data(
            data,
            [f"a rather long name of the class {t} of {k} " + "\N{GREEK SMALL LETTER OMEGA}" * 40 for t in range(k)],
            n,
        )
        m4n("train", data, "--id", "id", "--surrogate", "crf", "--tol", 0.1, "--model", model, expect=DONE)
        Page(m4n("report", model, data, "--id", "id", expect=DONE).stdout)


def test_numbers_agree(m4n, tmp_path):
    """Shares, intervals and baselines against the predictions, in numpy."""
    costs, model = tmp_path / "costs.csv", tmp_path / "m.m4n"
    costs.write_text("0,1,4\n2,0,1\n5,3,0\n")
    m4n("train", IRIS, "--loss", costs, "--lambda", 1, "--model", model, expect=DONE)
    cost = np.array([[0, 1, 4], [2, 0, 1], [5, 3, 0]], float)
    names = m4n.json("info", model)["classes"]
    truth = np.array([names.index(line.rsplit(",", 1)[1]) for line in IRIS.read_text().split()[1:]])
    predicted = np.array([names.index(row["label"]) for row in m4n.predict(model, IRIS)])
    losses = cost[truth, predicted]
    text = m4n("report", model, IRIS, "--markdown", expect=DONE).stdout
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line.startswith("|")]
    own = next(row for row in rows if row[0] == "this model")
    assert float(own[1]) == pytest.approx(losses.mean(), rel=1e-3)
    rng = np.random.default_rng(0)
    means = losses[rng.integers(150, size=(4000, 150))].mean(axis=1)
    assert [float(own[2]), float(own[3])] == pytest.approx(np.quantile(means, [0.025, 0.975]), rel=0.1)
    constant = next(row for row in rows if row[0].startswith("always the same"))
    assert float(constant[1]) == pytest.approx(min(cost[truth, y].mean() for y in range(3)), rel=1e-3)
    bars = {row[0]: row for row in rows if len(row) == 4}
    assert any(name.startswith("the same scores, decoded by argmax") for name in bars)
    assert any(name.startswith("crf") for name in bars)
    shares = [row for row in rows if len(row) == 6 and row[4].endswith("%")]
    expected = {
        (t, p): losses[(truth == t) & (predicted == p)].sum() / losses.sum() for t in range(3) for p in range(3)
    }
    expected = {pair: share for pair, share in expected.items() if share > 0}
    assert {(names.index(row[0]), names.index(row[1])) for row in shares} == set(expected)
    for row in shares:
        pair = names.index(row[0]), names.index(row[1])
        assert float(row[4][:-1]) == pytest.approx(100 * expected[pair], rel=1e-2)
        assert (
            float(row[3]) == pytest.approx(cost[pair])
            and int(row[2]) == ((truth == pair[0]) & (predicted == pair[1])).sum()
        )
    assert [float(row[4][:-1]) for row in shares] == sorted((float(row[4][:-1]) for row in shares), reverse=True)
    priced = [row for row in rows if len(row) == 5 and row[0] in names and row[1] in names]
    for row in priced:
        pair = names.index(row[0]), names.index(row[1])
        own_part = expected[pair] * losses.mean()
        assert float(row[2]) == pytest.approx(losses.mean() - 0.9 * own_part, rel=1e-2)
        assert float(row[4]) == pytest.approx(losses.mean() + 9 * own_part, rel=1e-2)
    assert priced


def test_data_without_labels(m4n, tmp_path):
    model = tmp_path / "m.m4n"
    m4n("train", IRIS, "--model", model, expect=DONE)
    bare = tmp_path / "bare.csv"
    bare.write_text("\n".join(line.rsplit(",", 1)[0] for line in IRIS.read_text().split()) + "\n")
    page = Page(m4n("report", model, bare, expect=DONE).stdout)
    assert "What it predicts" in page.headings and "What it costs" not in page.headings


def test_reject_is_counted(m4n, tmp_path):
    model = tmp_path / "m.m4n"
    m4n("train", IRIS, "--reject", 0.1, "--model", model, expect=DONE)
    rejected = m4n.json("eval", model, IRIS)["metrics"]["rejected"]
    page = Page(m4n("report", model, IRIS, expect=DONE).stdout)
    assert f"{round(150 * rejected)} of 150 answers were declined" in page.text


def test_weights_and_unseen_labels(m4n, tmp_path):
    data, model = tmp_path / "w.csv", tmp_path / "m.m4n"
    lines = IRIS.read_text().split()
    data.write_text("\n".join([lines[0] + ",w"] + [f"{line},{1 + i % 3}" for i, line in enumerate(lines[1:])]) + "\n")
    m4n("train", data, "--weights", "w", "--model", model, expect=DONE)
    judged = tmp_path / "judged.csv"
    judged.write_text(data.read_text().replace("setosa,1", "tulip,1"))
    loss = m4n.json("eval", model, judged, "--weights", "w")["loss"]
    result = m4n("report", model, judged, "--weights", "w", expect=DONE)
    assert "never seen, counted as errors: 'tulip'" in result.stderr
    page = Page(result.stdout)
    assert f"costs {loss:.4g} in the mean" in page.text and "(unseen in training)" in page.text


def test_report_refuses(m4n, tmp_path):
    model = tmp_path / "m.m4n"
    m4n("train", IRIS, "--model", model, expect=DONE)
    assert "--out" in m4n("report", model, IRIS, "--out", model, expect=WRONG_USAGE).stderr
    assert "no_such" in m4n("report", model, tmp_path / "no_such", expect=FAILED).stderr
    log = tmp_path / "log"
    log.write_text('{"epoch": 1}\n')
    assert "log: line 1" in m4n("report", model, "--log", log, expect=FAILED).stderr
    log.write_text("")
    assert "holds no certificate" in m4n("report", model, "--log", log, expect=FAILED).stderr


def test_the_log_of_another_training_is_refused(m4n, tmp_path):
    model, own, other = tmp_path / "m.m4n", tmp_path / "own.jsonl", tmp_path / "other.jsonl"
    report = m4n.train(IRIS, model, "--log", own)
    m4n("train", IRIS, "--lambda", "0.5", "--log", other, expect=DONE)
    m4n("report", model, "--log", own, expect=DONE)
    out = tmp_path / "r.html"
    said = m4n("report", model, "--log", other, "--out", out, expect=FAILED).stderr
    last = json.loads(other.read_text().splitlines()[-1])
    assert "other.jsonl: is the log of another training" in said and "train --log" in said
    for number in (last["dual"], last["primal"], report["dual"], report["primal"]):
        assert repr(number) in said
    assert f"after {last['epoch']} epochs" in said and f"after {report['epochs']} epochs" in said
    assert not out.exists()
    # Of an interrupted training the best certificate counts, wherever it stands.
    own.write_text(own.read_text() + other.read_text())
    m4n("report", model, "--log", own, expect=DONE)


def test_one_example_has_no_interval(m4n, tmp_path):
    model, one, reject = tmp_path / "m.m4n", tmp_path / "one.csv", tmp_path / "r.m4n"
    m4n("train", IRIS, "--model", model, expect=DONE)
    m4n("train", IRIS, "--reject", 0.1, "--model", reject, expect=DONE)
    lines = IRIS.read_text().splitlines()
    one.write_text("\n".join([lines[0], lines[1].replace("setosa", "virginica")]) + "\n")
    for path in (model, reject):
        text = m4n("report", path, one, "--markdown", expect=DONE).stdout
        assert "(no interval: one example does not say" in text and "(95% interval" not in text
        assert "| from | to |" not in text
        Page(m4n("report", path, one, expect=DONE).stdout)
    assert "| - |" in m4n("report", model, one, "--markdown", expect=DONE).stdout  # the share of the one pair
    grades, graded = generated(m4n, "ordinal", tmp_path)
    grades.write_text("\n".join(grades.read_text().splitlines()[:2]) + "\n")
    text = m4n("report", graded, grades, "--markdown", expect=DONE).stdout
    assert re.search(r"\| mean true grade \| \d \| \d \| - \| - \|", text)
    judged = m4n.json("eval", model, one, "--bootstrap", 20)["bootstrap"]
    assert judged["loss"] == {"low": None, "high": None, "se": None} == judged["metrics"]["error"]
    text = m4n("eval", model, one, "--bootstrap", 20, expect=DONE).stdout
    assert "no intervals: one example" in text and "[" not in text
    one.write_text("\n".join(lines[:3]) + "\n")
    assert "95% interval 0 to 0" in m4n("report", model, one, "--markdown", expect=DONE).stdout


def test_huge_names_are_cut(m4n, tmp_path):
    names, data, model = [c * 10_000 for c in "abc"], tmp_path / "huge.csv", tmp_path / "m.m4n"
    odd_data(data, names)
    m4n("train", data, "--id", "id", "--surrogate", "crf", "--reject", "0.4", "--model", model, expect=DONE)
    written = m4n("report", model, data, "--id", "id", "--markdown", expect=DONE).stdout
    assert "\u2026" in written and "a" * 290 in written and "a" * 301 not in written
    page = Page(m4n("report", model, data, "--id", "id", expect=DONE).stdout)
    assert "a" * 301 not in page.text


def test_page_of_a_cross_validation(m4n, tmp_path):
    out = tmp_path / "cv.html"
    arguments = ["cv", IRIS, "--surrogates", "m4n,crf", "--lambdas", "2^-2:2^-6", "--splits", 4, "--report", out]
    result = json.loads(m4n(*arguments, "--model", tmp_path / "m.m4n", "--json", expect=DONE).stdout)
    page = Page(out.read_text())
    assert page.headings[:2] == ["The path of lambdas", "Which surrogate"]
    assert f"costs {result['test_mean']:.4g}" in page.text and "How well it is trained" in page.headings
    assert "(the choice)" in page.text and "(chosen)" in page.text
    m4n("cv", IRIS, "--lambdas", "1e9,1e10", "--extend", "no", "--splits", 3, "--report", out, expect=DONE)
    assert "The path is flat" in Page(out.read_text()).text
    assert "--report" in m4n("cv", IRIS, "--report", IRIS, expect=WRONG_USAGE).stderr


def on_terminal(m4n, *arguments):
    """What the tool writes where its standard output is a terminal."""
    master, terminal = os.openpty()
    process = subprocess.Popen([m4n.binary, *map(str, arguments)], stdout=terminal, stderr=subprocess.DEVNULL)
    os.close(terminal)
    pieces = []
    while True:
        try:
            piece = os.read(master, 65536)
        except OSError:  # the other end is closed
            piece = b""
        if not piece:
            break
        pieces.append(piece)
    os.close(master)
    assert process.wait(timeout=30) == DONE
    return b"".join(pieces).decode()


def test_names_on_a_terminal(m4n, tmp_path):
    """Texts for people never hold what a terminal obeys; data do, except on a terminal."""
    data, model = tmp_path / "odd.csv", tmp_path / "m.m4n"
    odd_data(data, ODD)
    outputs = [m4n("train", data, "--id", "id", "--model", model, expect=DONE)]
    outputs += [m4n("eval", model, data, "--id", "id", expect=DONE), m4n("info", model, expect=DONE)]
    outputs.append(m4n("cv", data, "--id", "id", "--splits", 2, "--lambdas", "1,0.5", expect=DONE))
    odd = tmp_path / "x\x1b[1m.csv"
    outputs.append(m4n("eval", model, odd, expect=FAILED))
    for result in outputs:
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]", result.stdout + result.stderr)
    assert r"\x1b[31mred" in outputs[2].stdout
    assert "\x1b[31mred" in m4n("predict", model, data, "--id", "id", expect=DONE).stdout
    shown = on_terminal(m4n, "predict", model, data, "--id", "id")
    assert "\x1b[31m" not in shown and r"\x1b[31mred" in shown


def test_the_checksum_tells_models_apart_and_training_data_are_known(m4n, tmp_path):
    data, model = generated(m4n, "multiclass", tmp_path)
    other = tmp_path / "other.m4n"
    m4n("train", data, "--lambda", "0.1", "--model", other, expect=DONE)
    pages = [m4n("report", path, data, "--markdown", expect=DONE).stdout for path in (model, other)]
    sums = [re.findall(r"m4n, CRC-64/XZ ([0-9a-f]{16})", page) for page in pages]
    assert len(sums[0]) == len(sums[1]) == 1 and sums[0] != sums[1]
    assert all("look like the data that it was trained on" in page for page in pages)
    m4n("generate", "--task", "multiclass", "--n", 90, "--seed", 2, "--out", tmp_path / "new.csv", expect=DONE)
    assert "look like the data" not in m4n("report", model, tmp_path / "new.csv", "--markdown", expect=DONE).stdout


def test_what_comes_by_standard_input_is_not_overwritten(m4n, tmp_path):
    data, model = generated(m4n, "multiclass", tmp_path)
    text = data.read_bytes()
    for command in (
        ["predict", model, "--out", data],
        ["report", model, "-", "--out", data],
        ["train", "-", "--model", data],
    ):
        with data.open("rb") as file:
            assert "is also the standard input" in m4n(*command, stdin=file, expect=2).stderr
        assert data.read_bytes() == text
