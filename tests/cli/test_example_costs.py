"""Costs that differ from example to example: cells of a cost file that name columns of the data."""

import pytest
from conftest import DONE, FAILED, WRONG_USAGE

COSTS = ",default,repaid\ndefault,0,amount\nrepaid,profit,0\n"
SURROGATES = {
    "m4n": ["--surrogate", "m4n"],
    "smoothed": ["--surrogate", "m4n", "--smoothing", "1"],
    "m3n": ["--surrogate", "m3n"],
    "crf": ["--surrogate", "crf"],
    "qs": ["--surrogate", "qs"],
}


@pytest.fixture
def loans(m4n, tmp_path):
    path = tmp_path / "loans.csv"
    report = m4n.json("generate", "--task", "multiclass", "--costs", "example", "--n", 400, "--seed", 1, "--out", path)
    assert report["costs"] == str(tmp_path / "loans_costs.csv") and report["k"] == 2
    assert report["bayes_risk"] == pytest.approx(4850 * 1.1825 / 8)
    assert (tmp_path / "loans_costs.csv").read_text() == COSTS
    return path


@pytest.fixture
def costs(loans):
    return loans.with_name("loans_costs.csv")


def rows(path):
    header, *lines = path.read_text().splitlines()
    return [dict(zip(header.split(","), line.split(","))) for line in lines]


def edited(path, line, column, value):
    lines = path.read_text().splitlines()
    cells = lines[line - 1].split(",")
    cells[lines[0].split(",").index(column)] = value
    lines[line - 1] = ",".join(cells)
    out = path.with_name("edited.csv")
    out.write_text("\n".join(lines) + "\n")
    return out


@pytest.mark.parametrize("options", SURROGATES.values(), ids=SURROGATES)
def test_eval_is_the_bill(m4n, loans, costs, tmp_path, options):
    report = m4n.train(loans, tmp_path / "m.m4n", "--loss", costs, *options)
    assert report["converged"] and report["loss"] == "matrix"
    predicted = [row["label"] for row in m4n.predict(tmp_path / "m.m4n", loans)]
    bill = 0.0
    for row, answer in zip(rows(loans), predicted):
        if answer != row["label"]:
            bill += float(row["amount"] if row["label"] == "default" else row["profit"])
    judged = m4n.json("eval", tmp_path / "m.m4n", loans, "--bootstrap", "50")
    assert judged["loss"] == pytest.approx(bill / 400)
    assert report["train_loss"] == pytest.approx(bill / 400)
    low, high = judged["bootstrap"]["loss"]["low"], judged["bootstrap"]["loss"]["high"]
    assert low <= judged["loss"] <= high
    info = m4n.json("info", tmp_path / "m.m4n")
    assert info["cost_columns"] == ["", "amount", "profit", ""] and info["ignored_columns"] == []


def test_ignored_columns_are_no_features(m4n, loans, costs, tmp_path):
    report = m4n.train(loans, tmp_path / "m.m4n", "--loss", costs, "--ignore", "amount,profit")
    assert report["d"] == 8
    info = m4n.json("info", tmp_path / "m.m4n")
    assert info["ignored_columns"] == ["amount", "profit"]
    # They are still there to predict by and to be judged by; other columns can be ignored when a model is used.
    assert m4n.json("eval", tmp_path / "m.m4n", loans)["loss"] > 0
    noisy = loans.with_name("noisy.csv")
    lines = loans.read_text().splitlines()
    noisy.write_text("\n".join([f"{lines[0]},note", *[f"{line},text" for line in lines[1:]]]) + "\n")
    assert "--ignore" in m4n("predict", tmp_path / "m.m4n", noisy, expect=FAILED).stderr
    m4n("predict", tmp_path / "m.m4n", noisy, "--ignore", "note", expect=DONE)


def test_search_chooses_by_the_bill(m4n, loans, costs, tmp_path):
    report = m4n.json("cv", loans, "--loss", costs, "--surrogates", "auto", "--model", tmp_path / "m.m4n",
                      "--splits", "4")  # fmt: skip
    assert 500 < report["test_mean"] < 1200
    assert m4n.json("eval", tmp_path / "m.m4n", loans)["loss"] < 1000


def test_actions_and_weights(m4n, loans, tmp_path):
    three = tmp_path / "three.csv"
    three.write_text(",default,repaid,call\ndefault,0,amount,30\nrepaid,profit,0,30\n")
    m4n.train(loans, tmp_path / "m.m4n", "--loss", three, "--weights", "amount")
    judged = m4n.json("eval", tmp_path / "m.m4n", loans, "--weights", "amount")
    assert 0 < judged["metrics"]["rejected"] < 1
    rejecting = tmp_path / "r.m4n"
    m4n.train(loans, rejecting, "--loss", loans.with_name("loans_costs.csv"), "--reject", "30")
    assert m4n.json("info", rejecting)["predictions"] == ["default", "repaid", "reject"]


def test_argmax_predicts_without_costs(m4n, loans, costs, tmp_path):
    m4n.train(loans, tmp_path / "m.m4n", "--loss", costs, "--ignore", "amount,profit", "--decode", "argmax")
    bare = tmp_path / "bare.csv"
    bare.write_text("\n".join(",".join(line.split(",")[:8]) for line in loans.read_text().splitlines()) + "\n")
    assert len(m4n.predict(tmp_path / "m.m4n", bare)) == 400
    m4n.train(loans, tmp_path / "a.m4n", "--loss", costs, "--ignore", "amount,profit")
    assert "no column 'amount'" in m4n("predict", tmp_path / "a.m4n", bare, expect=FAILED).stderr


BAD_VALUES = [("amount", "-5", "-5 in column 'amount'"), ("amount", "", "missing value"), ("amount", "x", "found 'x'"),
              ("profit", "0", "no more than the right answer")]  # fmt: skip


@pytest.mark.parametrize("ignore", [[], ["--ignore", "amount,profit"]], ids=["features", "ignored"])
@pytest.mark.parametrize("column, value, message", BAD_VALUES)
def test_bad_costs_are_refused_with_their_line(m4n, loans, costs, tmp_path, column, value, message, ignore):
    bad = edited(loans, 7, column, value)
    result = m4n("train", bad, "--loss", costs, *ignore, "--model", tmp_path / "m.m4n", expect=FAILED)
    assert "line 7" in result.stderr and message in result.stderr
    assert not (tmp_path / "m.m4n").exists()
    m4n.train(loans, tmp_path / "m.m4n", "--loss", costs, *ignore)
    result = m4n("eval", tmp_path / "m.m4n", bad, expect=FAILED)
    assert "line 7" in result.stderr and message in result.stderr


def test_columns_that_are_not_there(m4n, loans, tmp_path):
    other = tmp_path / "other.csv"
    other.write_text(",default,repaid\ndefault,0,fee\nrepaid,profit,0\n")
    result = m4n("train", loans, "--loss", other, "--model", tmp_path / "m.m4n", expect=FAILED)
    assert "other.csv: line 2" in result.stderr and "'fee'" in result.stderr
    result = m4n("train", loans, "--ignore", "fee", "--model", tmp_path / "m.m4n", expect=FAILED)
    assert "no column 'fee'" in result.stderr and "--ignore" in result.stderr
    result = m4n("train", loans, "--ignore", "label", "--model", tmp_path / "m.m4n", expect=WRONG_USAGE)
    assert "target" in result.stderr
    result = m4n("train", loans, "--ignore", "a,,b", "--model", tmp_path / "m.m4n", expect=WRONG_USAGE)
    assert "--ignore" in result.stderr


def test_other_structures_and_formats_refuse_them(m4n, loans, costs, tmp_path):
    svm = tmp_path / "x.svm"
    svm.write_text("default 1:1\nrepaid 2:1\n" * 5)
    result = m4n("train", svm, "--loss", costs, "--model", tmp_path / "m.m4n", expect=FAILED)
    assert "no column of numbers in the data" in result.stderr
    result = m4n("train", svm, "--ignore", "amount", "--model", tmp_path / "m.m4n", expect=WRONG_USAGE)
    assert "LIBSVM" in result.stderr
    m4n.train(loans, tmp_path / "m.m4n", "--loss", costs)
    assert "LIBSVM" in m4n("eval", tmp_path / "m.m4n", svm, expect=WRONG_USAGE).stderr
    result = m4n("train", loans, "--loss", costs, "--oracle", "spmp", "--model", tmp_path / "m.m4n", expect=WRONG_USAGE)
    assert "--oracle" in result.stderr


def test_generate_refuses_what_it_cannot_make(m4n, tmp_path):
    arguments = ["generate", "--task", "ranking", "--n", 5, "--costs", "example", "--out", tmp_path / "x.csv"]
    assert "--costs" in m4n(*arguments, expect=WRONG_USAGE).stderr
    result = m4n("generate", "--task", "multiclass", "--n", 5, "--costs", "example", expect=WRONG_USAGE)
    assert "--out" in result.stderr
    assert not (tmp_path / "x.csv").exists()
