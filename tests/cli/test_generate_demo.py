"""m4n generate: data with a known Bayes risk. m4n demo: M3N stays above it, M4N reaches it."""

import csv
import io
import json
import re
import subprocess

import pytest
from conftest import DONE, FAILED, ROOT, WRONG_USAGE
from pages import Page

BAYES_RISK = {"multiclass": 0.53125, "ordinal": 0.91875}
CLASSES = {"multiclass": 4, "ordinal": 5}
SURROGATES = ["m3n", "m4n", "crf", "qs"]
NAMES = [f"x{j}" for j in range(1, 9)] + ["label"]


def rows(text):
    return list(csv.reader(io.StringIO(text)))


# ---- generate


@pytest.mark.parametrize("task", CLASSES)
def test_generate_writes_indicators_and_a_label(m4n, task):
    result = m4n("generate", "--task", task, "--n", 500, "--seed", 3, expect=DONE)
    header, *data = rows(result.stdout)
    assert header == NAMES and len(data) == 500
    for row in data:
        assert sorted(row[:8]) == ["0"] * 7 + ["1"]
    assert {row[8] for row in data} == {str(c) for c in range(CLASSES[task])}
    assert f"{BAYES_RISK[task]}" in result.stderr and "500 examples" in result.stderr


@pytest.mark.parametrize("seed", [0, 1, 2**64 - 1])
def test_generate_is_deterministic(m4n, tmp_path, seed):
    def text(n, s=seed):
        return m4n("generate", "--task", "ordinal", "--n", n, "--seed", s, expect=DONE).stdout

    out = tmp_path / "data.csv"
    m4n("generate", "--task", "ordinal", "--n", 200, "--seed", seed, "--out", out, expect=DONE)
    assert text(200) == text(200) == out.read_text()
    assert text(300).startswith(text(200))
    assert text(200) != text(200, (seed + 1) % 2**64)


def test_generate_default_seed_is_zero(m4n):
    arguments = ("generate", "--task", "multiclass", "--n", 50)
    assert m4n(*arguments, expect=DONE).stdout == m4n(*arguments, "--seed", 0, expect=DONE).stdout


def test_generate_softmax(m4n, tmp_path):
    kind = ("generate", "--task", "multiclass", "--kind", "softmax", "--seed", 1)
    report = m4n.json(*kind, "--n", 4000, "--features", 3, "--classes", 5, "--out", tmp_path / "s.csv")
    assert report["d"] == 3 and report["k"] == 5
    header, *data = rows((tmp_path / "s.csv").read_text())
    assert header == ["x1", "x2", "x3", "label"] and {row[3] for row in data} == set("01234")
    model = tmp_path / "s.m4n"
    m4n.train(tmp_path / "s.csv", model, "--surrogate", "crf")
    assert abs(m4n.json("eval", model, tmp_path / "s.csv")["loss"] - report["bayes_risk"]) < 0.03
    assert len(rows(m4n(*kind, "--n", 2, expect=DONE).stdout)[0]) == 11
    header = rows(m4n("generate", "--task", "ranking", "--n", 3, "--items", 7, expect=DONE).stdout)[0]
    assert header[-1] == "r7"


@pytest.mark.parametrize(
    "arguments, words",
    [
        (["--task", "ordinal", "--kind", "softmax"], ["--kind", "--task multiclass"]),
        (["--task", "multiclass", "--items", "4"], ["--items", "--task ranking"]),
        (["--task", "multiclass", "--features", "4"], ["--kind softmax"]),
        (["--task", "multiclass", "--kind", "softmax", "--classes", "1"], ["--classes", "2"]),
        (["--task", "multiclass", "--kind", "hard"], ["regions", "softmax"]),
        (["--task", "multiclass", "--kind", "softmax", "--costs", "example", "--out", "x"], ["two kinds"]),
    ],
)
def test_generate_refuses_kinds_that_do_not_go_together(m4n, arguments, words):
    message = m4n("generate", "--n", 10, *arguments, expect=WRONG_USAGE).stderr
    assert all(word in message for word in words), message


def test_generate_more_than_one_piece(m4n):
    """Text leaves in pieces of 50,000 rows; none may be lost or doubled at their ends."""
    for n in (50_000, 50_001):
        text = m4n("generate", "--task", "multiclass", "--n", n, "--seed", 5, expect=DONE).stdout
        assert text.count("\n") == n + 1 and text.endswith("\n")
        assert set(map(len, text.splitlines()[1:])) == {17}


def test_generate_json(m4n, tmp_path):
    out = tmp_path / "data.csv"
    report = m4n.json("generate", "--task", "multiclass", "--n", 40, "--seed", 2**64 - 1, "--out", out)
    assert report == {"n": 40, "d": 8, "k": 4, "seed": 2**64 - 1, "bayes_risk": 0.53125, "out": str(out)}
    assert len(rows(out.read_text())) == 41


@pytest.mark.parametrize(
    "arguments, words",
    [
        (["--n", "5"], ["--task"]),
        (["--task", "multiclass"], ["--n"]),
        (["--task", "sorting", "--n", "5"], ["sorting", "multiclass", "ordinal", "sequence", "ranking", "graph"]),
        (["--task", "multiclass", "--n", "0"], ["'0'", "1"]),
        (["--task", "multiclass", "--n", "-3"], ["-3"]),
        (["--task", "multiclass", "--n", "1e3"], ["1e3"]),
        (["--task", "multiclass", "--n", "5", "--seed", "-1"], ["seed", "-1"]),
        (["--task", "multiclass", "--n", "5", "--seed", str(2**64)], ["seed", str(2**64)]),
        (["--task", "multiclass", "--n", "5", "--json"], ["--json", "--out"]),
        (["--task", "multiclass", "--n", "5", "--rows", "3"], ["--rows"]),
        (["--task", "multiclass", "--n", "5", "extra"], ["extra"]),
    ],
)
def test_generate_wrong_usage(m4n, arguments, words):
    result = m4n("generate", *arguments, expect=WRONG_USAGE)
    assert result.stdout == ""
    for word in words:
        assert word in result.stderr


def test_generate_where_nothing_can_be_written(m4n, tmp_path):
    result = m4n("generate", "--task", "ordinal", "--n", 5, "--out", tmp_path / "no" / "data.csv", expect=FAILED)
    assert "--out" in result.stderr and str(tmp_path / "no") in result.stderr


@pytest.mark.parametrize("task", CLASSES)
def test_generated_data_can_be_learnt(m4n, tmp_path, task):
    """With 20,000 examples M4N finds the best rule, so fresh data cost it the Bayes risk, up to their noise."""
    train, test, model = tmp_path / "train.csv", tmp_path / "test.csv", tmp_path / "model.m4n"
    m4n("generate", "--task", task, "--n", 20_000, "--seed", 1, "--out", train, expect=DONE)
    m4n("generate", "--task", task, "--n", 20_000, "--seed", 2, "--out", test, expect=DONE)
    report = m4n.train(train, model, "--task", task, "--lambda", 1e-4)
    assert report["converged"] and report["d"] == 8 and report["k"] == CLASSES[task]
    loss = m4n.json("eval", model, test)["loss"]
    assert loss == pytest.approx(BAYES_RISK[task], abs=0.03)


# ---- demo


def run_demo(m4n, *options, **keywords):
    return subprocess.run([m4n.binary, "demo", *options], capture_output=True, text=True, timeout=280, **keywords)


@pytest.fixture(scope="module")
def page_path(tmp_path_factory):
    return tmp_path_factory.mktemp("demo") / "demo.html"


@pytest.fixture(scope="module")
def numbers(m4n, page_path):
    result = run_demo(m4n, "--json", "--out", page_path)
    assert result.returncode == DONE and result.stderr == ""
    assert result.stdout.count("\n") == 1
    return json.loads(result.stdout)


@pytest.fixture(scope="module")
def studies(numbers):
    return {study["cost_name"]: study for study in numbers["synthetic"]}


def test_demo_has_all_studies(studies):
    assert list(studies) == ["zero-one", "squared", "asymmetric", "absolute"]
    for study in studies.values():
        assert [level["n"] for level in study["levels"]] == [100, 1_000, 10_000, 100_000]
        for level in study["levels"]:
            assert list(level["fits"]) == SURROGATES
            assert level["lambda"] == pytest.approx(0.02 / level["n"] ** 0.5)


def test_demo_fits_are_certified(numbers, studies):
    for study in studies.values():
        for level in study["levels"]:
            for fit in level["fits"].values():
                assert fit["converged"] and 0 <= fit["relative_gap"] <= 1e-3
    for fit in numbers["iris"]["fits"].values():
        assert fit["converged"] and fit["relative_gap"] <= 1e-3


@pytest.mark.parametrize("cost", ["zero-one", "squared", "asymmetric"])
def test_demo_m3n_stays_above_the_bayes_risk(studies, cost):
    assert studies[cost]["levels"][-1]["fits"]["m3n"]["excess_risk"] > 0.02


@pytest.mark.parametrize("cost", ["squared", "asymmetric"])
def test_demo_m3n_learns_the_median(studies, cost):
    """The excess risk of the median of each region, from the table of probabilities."""
    table = [(60, 5, 15, 10, 10), (5, 10, 10, 15, 60), (60, 20, 5, 5, 10), (35, 30, 15, 10, 10), (10, 20, 35, 25, 10),
             (5, 15, 40, 25, 15), (10, 15, 15, 20, 40), (25, 40, 20, 10, 5)]  # fmt: skip
    matrix = studies[cost]["cost"]
    excess = 0
    for percent in table:
        risk = [sum(p / 100 * matrix[t][a] for t, p in enumerate(percent)) for a in range(5)]
        median = next(a for a in range(5) if sum(percent[: a + 1]) > 50)
        excess += (risk[median] - min(risk)) / len(table)
    assert studies[cost]["levels"][-1]["fits"]["m3n"]["excess_risk"] == pytest.approx(excess)


def test_demo_m3n_is_consistent_for_absolute_costs(studies):
    assert studies["absolute"]["levels"][-1]["fits"]["m3n"]["excess_risk"] == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("cost", ["zero-one", "squared", "asymmetric", "absolute"])
@pytest.mark.parametrize("surrogate", ["m4n", "crf", "qs"])
def test_demo_others_reach_the_bayes_risk(studies, cost, surrogate):
    excess = [level["fits"][surrogate]["excess_risk"] for level in studies[cost]["levels"]]
    assert excess[0] > 0.02 and excess[-1] < 0.005


def test_demo_bayes_risks(studies):
    assert studies["zero-one"]["bayes_risk"] == pytest.approx(BAYES_RISK["multiclass"])
    assert studies["absolute"]["bayes_risk"] == pytest.approx(BAYES_RISK["ordinal"])
    for study in studies.values():
        for level in study["levels"]:
            for fit in level["fits"].values():
                assert fit["excess_risk"] >= 0


def test_demo_asymmetric_cost_is_that(studies):
    cost = studies["asymmetric"]["cost"]
    assert cost[4][0] == 12 and cost[0][4] == 4 and cost[2][1] == 3 and cost[1][2] == 1


def test_demo_iris(numbers):
    iris = numbers["iris"]
    assert iris["train_size"] == 100 and iris["test_size"] == 50
    assert list(iris["fits"]) == SURROGATES
    for name in ("m3n", "m4n", "crf"):
        assert iris["fits"][name]["test_error"] <= 0.1


def test_demo_does_not_depend_on_the_threads(m4n, numbers):
    def without_times(value):
        if isinstance(value, dict):
            return {key: without_times(v) for key, v in value.items() if key != "seconds"}
        return [without_times(v) for v in value] if isinstance(value, list) else value

    alone = json.loads(run_demo(m4n, "--json", "--threads", "1").stdout)
    assert without_times(alone) == without_times(numbers)


def test_demo_text(m4n, tmp_path):
    result = run_demo(m4n, cwd=tmp_path)
    assert result.returncode == DONE and result.stderr == ""
    lines = result.stdout.splitlines()
    assert len(lines) <= 48 and max(map(len, lines)) <= 100
    assert "\x1b" not in result.stdout
    assert not any(line.endswith(" ") for line in lines)
    assert list(tmp_path.iterdir()) == []
    # What it proposes to try next works, in that order.
    commands = [line.split("#")[0].split() for line in lines if line.startswith("  m4n ")]
    assert [words[1] for words in commands] == ["generate", "train", "eval"]
    for words in commands:
        m4n(*words[1:], expect=DONE, cwd=tmp_path)


def test_demo_page(numbers, page_path):
    written = page_path.read_text()
    page = Page(written)
    assert page.headings[:2] == ["Excess risk against the number of examples", "150 iris flowers"]
    assert written.count("<svg ") == 4 and written.count("<polyline ") == 16
    for study in numbers["synthetic"]:
        assert study["title"] in page.text and f"costs {study['bayes_risk']:.5g} in the mean" in page.text
        for level in study["levels"]:
            for fit in level["fits"].values():
                assert f"{fit['excess_risk']:.4g}" in page.text
    for fit in numbers["iris"]["fits"].values():
        assert f"{fit['test_error']:.3f}" in page.text
    assert "m4n demo --json --out demo.html" in page.text and str(page_path.parent) not in written


def test_demo_page_is_refused_before_any_work(m4n, tmp_path):
    result = m4n("demo", "--out", tmp_path / "no" / "demo.html", expect=FAILED)
    assert "--out" in result.stderr and str(tmp_path / "no") in result.stderr and result.stdout == ""
    assert "is a directory" in m4n("demo", "--out", tmp_path, expect=FAILED).stderr


def test_demo_wrong_usage(m4n):
    assert "--quick" in m4n("demo", "--quick", expect=WRONG_USAGE).stderr
    assert "iris.csv" in m4n("demo", "iris.csv", expect=WRONG_USAGE).stderr


# ---- the embedded flowers


def test_embedded_iris_is_the_file():
    source = (ROOT / "src" / "demo" / "iris_data.cc").read_text()
    embedded = re.search(r'R"\((.*?)\)"', source, re.DOTALL).group(1)
    assert embedded == (ROOT / "data" / "iris.csv").read_text()


def test_iris_file_can_be_learnt(m4n, tmp_path):
    report = m4n.train(ROOT / "data" / "iris.csv", tmp_path / "iris.m4n")
    assert report["n"] == 150 and report["d"] == 4 and report["k"] == 3
    assert report["task"] == "multiclass" and report["train_loss"] < 0.05
    assert "sepal_length" in m4n("dump", tmp_path / "iris.m4n", expect=DONE).stdout
