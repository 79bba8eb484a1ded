"""Predictions that are no class: --reject, cost files with more columns, trees of classes."""

import json

import numpy as np
import pytest
from conftest import DONE, FAILED, WRONG_USAGE, blobs, write_csv

CLASSES = ["ant", "bee", "cat"]
TREE = "ant,insect\nbee,insect\ninsect,animal\ncat,animal,2\n"
SURROGATES = {
    "m4n": ["--surrogate", "m4n"],
    "smoothed": ["--surrogate", "m4n", "--smoothing", "1"],
    "crf": ["--surrogate", "crf"],
    "qs": ["--surrogate", "qs"],
}


@pytest.fixture
def rejecting(m4n, small, tmp_path):
    path = tmp_path / "r.m4n"
    m4n.train(small, path, "--reject", "0.4")
    return path


def truths(data):
    return [line.rsplit(",", 1)[1] for line in data.read_text().splitlines()[1:]]


def labels(m4n, model, data):
    return [row["label"] for row in m4n.predict(model, data)]


@pytest.mark.parametrize("options", SURROGATES.values(), ids=SURROGATES)
def test_eval_is_what_the_predictions_cost(m4n, small, tmp_path, options):
    report = m4n.train(small, tmp_path / "r.m4n", "--reject", "0.4", *options)
    assert report["converged"] and report["loss"] == "matrix" and report["k"] == 3
    predicted, truth = labels(m4n, tmp_path / "r.m4n", small), truths(small)
    assert set(predicted) <= {*CLASSES, "reject"} and "reject" in predicted
    judged = m4n.json("eval", tmp_path / "r.m4n", small)
    metrics = judged["metrics"]
    cost = np.mean([0.4 if p == "reject" else float(p != t) for p, t in zip(predicted, truth)])
    assert metrics["expected_cost"] == pytest.approx(cost) and report["train_loss"] == pytest.approx(cost)
    kept = [(p, t) for p, t in zip(predicted, truth) if p != "reject"]
    assert metrics["rejected"] == pytest.approx(1 - len(kept) / 60)
    assert metrics["error_of_rest"] == pytest.approx(np.mean([p != t for p, t in kept]))
    assert metrics["error"] == pytest.approx(np.mean([p != t for p, t in zip(predicted, truth)]))
    counts = [[sum(p == q and t == c for p, t in zip(predicted, truth)) for q in [*CLASSES, "reject"]] for c in CLASSES]
    assert metrics["confusion"] == counts
    assert judged["loss"] == metrics["expected_cost"] and judged["predictions"] == [*CLASSES, "reject"]


def test_eval_as_text_has_a_column_for_every_prediction(m4n, small, rejecting):
    text = m4n("eval", rejecting, small, expect=DONE).stdout
    table = text[text.index("true \\ predicted") :].splitlines()
    assert table[0].split()[3:] == [*CLASSES, "reject"]
    counts = [list(map(int, line.split()[1:])) for line in table[1:4]]
    assert counts == m4n.json("eval", rejecting, small)["metrics"]["confusion"]
    assert "rejected" in text and "error_of_rest" in text


def test_plain_models_say_nothing_of_it(m4n, small, model):
    judged = m4n.json("eval", model, small)
    assert "predictions" not in judged and not {"rejected", "error_of_rest"} & set(judged["metrics"])
    assert "predictions" not in m4n.json("info", model)


def test_bootstrap_has_intervals_of_both(m4n, small, rejecting):
    found = m4n.json("eval", rejecting, small, "--bootstrap", "200")
    for name in ("rejected", "error_of_rest", "expected_cost"):
        low, high = (found["bootstrap"]["metrics"][name][key] for key in ("low", "high"))
        assert low <= found["metrics"][name] <= high and low < high


def test_info_names_the_predictions(m4n, rejecting):
    info = m4n.json("info", rejecting)
    assert info["classes"] == CLASSES and info["predictions"] == [*CLASSES, "reject"]
    assert info["cost"] == [[0, 1, 1, 0.4], [1, 0, 1, 0.4], [1, 1, 0, 0.4]]
    assert info["decode"] == "adversary" and info["loss"] == "matrix"
    assert "reject" in m4n("info", rejecting, expect=DONE).stdout


def test_scores_are_those_of_classes_and_of_qs_those_of_predictions(m4n, small, rejecting, tmp_path):
    assert list(m4n.predict(rejecting, small, "--scores")[0]) == ["label", *(f"score_{c}" for c in CLASSES)]
    m4n.train(small, tmp_path / "q.m4n", "--reject", "0.4", "--surrogate", "qs")
    rows = m4n.predict(tmp_path / "q.m4n", small, "--scores")
    names = [*CLASSES, "reject"]
    assert list(rows[0]) == ["label", *(f"score_{c}" for c in names)]
    assert all(max(names, key=lambda c: float(row[f"score_{c}"])) == row["label"] for row in rows)
    m4n("dump", tmp_path / "q.m4n", expect=DONE)


def test_crf_follows_the_rule_of_chow(m4n, small, tmp_path):
    m4n.train(small, tmp_path / "c.m4n", "--reject", "0.4", "--surrogate", "crf")
    rows = m4n.predict(tmp_path / "c.m4n", small, "--marginals")
    for row in rows:
        p = {c: float(row[f"p_{c}"]) for c in CLASSES}
        best = max(p, key=p.get)
        assert row["label"] == (best if 1 - p[best] < 0.4 else "reject")


def test_dearer_rejection_is_rarer(m4n, small, tmp_path):
    shares = []
    for cost in ("-1", "0", "0.1", "0.3", "0.6", "5"):
        m4n.train(small, tmp_path / "m.m4n", f"--reject={cost}", "--surrogate", "crf")
        shares.append(m4n.json("eval", tmp_path / "m.m4n", small)["metrics"]["rejected"])
        said = m4n("train", small, f"--reject={cost}", expect=DONE).stderr
        assert ("no answer costs less, so everything is rejected; give a price above 0" in said) == (float(cost) <= 0)
        assert ("never costs more than 1, so nothing is ever rejected" in said) == (float(cost) > 1)
    assert shares == sorted(shares, reverse=True) and shares[0] == shares[1] == 1 and shares[-1] == 0


def test_a_price_beyond_all_others_is_refused(m4n, small, tmp_path):
    """Beside it the other costs vanish; up to there they do not."""
    said = m4n("train", small, "--reject", "1e12", expect=FAILED).stderr
    assert "1000000000000" in said and "nothing would ever be rejected" in said and "below 1" in said
    assert "--epochs" not in said
    plain, dear = m4n.train(small, tmp_path / "p.m4n"), m4n.train(small, tmp_path / "d.m4n", "--reject", "1e9")
    assert dear["converged"] and dear["primal"] == pytest.approx(plain["primal"], rel=2e-3)


def test_the_advice_on_rejection_knows_the_costs(m4n, small, tmp_path):
    """The answer `cat` never costs more than 2: a rejection for 2 may be made, one for more is not."""
    (tmp_path / "cost.csv").write_text("0,9,2\n9,0,1\n9,9,0\n")
    for price, never in (("2", False), ("2.5", True)):
        said = m4n("train", small, "--loss", tmp_path / "cost.csv", "--reject", price, expect=DONE).stderr
        assert ("never costs more than 2, so nothing is ever rejected; give a price below that" in said) == never


def test_a_price_nobody_pays_changes_nothing(m4n, small, tmp_path):
    for surrogate in ("m4n", "crf"):
        m4n.train(
            small,
            tmp_path / "plain.m4n",
            "--surrogate",
            surrogate,
            "--decode",
            "expected" if surrogate == "crf" else "adversary",
        )
        m4n.train(small, tmp_path / "dear.m4n", "--reject", "1000", "--surrogate", surrogate)
        plain, dear = (m4n.json("info", tmp_path / name) for name in ("plain.m4n", "dear.m4n"))
        assert plain["lambda"] == dear["lambda"]
        assert labels(m4n, tmp_path / "plain.m4n", small) == labels(m4n, tmp_path / "dear.m4n", small)


def test_a_model_read_elsewhere_decides_the_same(m4n, small, rejecting, tmp_path):
    (tmp_path / "copy.m4n").write_bytes(rejecting.read_bytes())
    assert labels(m4n, tmp_path / "copy.m4n", small) == labels(m4n, rejecting, small)
    m4n.train(small, tmp_path / "again.m4n", "--reject", "0.4")
    assert (tmp_path / "again.m4n").read_bytes() == rejecting.read_bytes()


def test_a_file_of_costs_says_the_same_as_reject(m4n, small, rejecting, tmp_path):
    for text in (
        "0,1,1,.4\n1,0,1,.4\n1,1,0,.4\n",
        "truth,reject,cat,bee,ant\nbee,.4,1,0,1\ncat,.4,0,1,1\nant,.4,1,1,0\n",
    ):
        (tmp_path / "cost.csv").write_text(text)
        m4n.train(small, tmp_path / "f.m4n", "--loss", tmp_path / "cost.csv")
        assert (tmp_path / "f.m4n").read_bytes() == rejecting.read_bytes()


def test_actions_alone(m4n, small, tmp_path):
    (tmp_path / "cost.csv").write_text("truth,spray,wait\nant,0,5\nbee,3,0\ncat,9,1\n")
    for options in SURROGATES.values():
        m4n.train(small, tmp_path / "a.m4n", "--loss", tmp_path / "cost.csv", *options)
        assert set(labels(m4n, tmp_path / "a.m4n", small)) == {"spray", "wait"}
        found = m4n.json("eval", tmp_path / "a.m4n", small)["metrics"]
        assert found["rejected"] == 1 and np.shape(found["confusion"]) == (3, 2)
        assert found["expected_cost"] < 3  # the better of the two alone: (5 + 0 + 1) / 3 = 2, (0 + 3 + 9) / 3 = 4


def test_trees(m4n, small, tmp_path):
    (tmp_path / "tree.csv").write_text(TREE)
    loss = f"tree:{tmp_path / 'tree.csv'}"
    m4n.train(small, tmp_path / "t.m4n", "--loss", loss)
    info = m4n.json("info", tmp_path / "t.m4n")
    assert info["cost"] == [[0, 2, 4], [2, 0, 4], [4, 4, 0]] and "predictions" not in info
    m4n.train(small, tmp_path / "i.m4n", "--loss", loss, "--inner", "yes")
    info = m4n.json("info", tmp_path / "i.m4n")
    assert info["predictions"] == [*CLASSES, "insect", "animal"]
    assert info["cost"] == [[0, 2, 4, 1, 2], [2, 0, 4, 1, 2], [4, 4, 0, 3, 2]]
    assert set(labels(m4n, tmp_path / "i.m4n", small)) <= {*CLASSES, "insect", "animal"}
    m4n.train(small, tmp_path / "r.m4n", "--loss", loss, "--inner", "yes", "--reject", "0.5")
    assert m4n.json("info", tmp_path / "r.m4n")["predictions"] == [*CLASSES, "insect", "animal", "reject"]


def test_grades_may_be_rejected(m4n, graded, tmp_path):
    m4n.train(graded, tmp_path / "g.m4n", "--task", "ordinal", "--bins", "4", "--reject", "0.3")
    found = m4n.json("eval", tmp_path / "g.m4n", graded)["metrics"]
    assert 0 < found["rejected"] < 1 and {"mae", "qwk", "error_of_rest"} <= set(found)
    assert np.shape(found["confusion"]) == (4, 5)
    assert found["mae"] >= found["error_of_rest"]


QUICK = ["--splits", "3", "--lambdas", "2^-2:2^-5", "--extend", "no"]


def test_cv_chooses_among_what_can_reject(m4n, small, tmp_path):
    report = m4n.json("cv", small, "--reject", "0.4", "--surrogates", "auto", *QUICK, "--model", tmp_path / "m.m4n")
    tried = [(r["surrogate"], r["decode"]) for r in report["results"]]
    assert tried == [("m4n", "adversary"), ("m4n", "expected"), ("crf", "expected")]
    assert m4n.json("info", tmp_path / "m.m4n")["predictions"] == [*CLASSES, "reject"]
    assert all(0 <= row["test"] <= 1 for row in report["chosen"])
    for options in SURROGATES.values():
        m4n("cv", small, "--reject", "0.4", *options, *QUICK, expect=DONE)
    plain = m4n.json("cv", small, "--reject", "0.4", *QUICK)
    assert plain["results"][0]["decode"] == "adversary"


def test_cv_refit_is_the_model_that_train_makes(m4n, small, tmp_path):
    report = m4n.json("cv", small, "--reject", "0.4", "--surrogate", "crf", *QUICK, "--model", tmp_path / "cv.m4n")
    m4n.train(small, tmp_path / "t.m4n", "--task", "multiclass", "--reject", "0.4", "--surrogate", "crf",
              "--lambda", repr(report["best_lambda"]))  # fmt: skip
    assert (tmp_path / "cv.m4n").read_bytes() == (tmp_path / "t.m4n").read_bytes()


def test_cv_in_a_directory_knows_the_cost_of_rejection(m4n, small, tmp_path):
    out = ["--out", tmp_path / "out"]
    m4n("cv", small, "--reject", "0.4", *QUICK, *out, expect=DONE)
    assert "cells found" in m4n("cv", small, "--reject", "0.4", *QUICK, *out, expect=DONE).stderr
    assert "other settings" in m4n("cv", small, "--reject", "0.3", *QUICK, *out, expect=FAILED).stderr
    assert "other settings" in m4n("cv", small, *QUICK, *out, expect=FAILED).stderr


@pytest.mark.parametrize(
    "options, message",
    [
        (["--reject", "nan"], "--reject: found 'nan', expected a number"),
        (["--reject", "inf"], "--reject: found 'inf', expected a number"),
        (["--reject=-inf"], "--reject: found '-inf', expected a number"),
        (["--reject", "cheap"], "--reject: found 'cheap', expected a number"),
        (["--reject", ""], "--reject"),
        (["--reject", "1e31"], "--reject: found '1e31'"),
        (["--reject", "0.4", "--surrogate", "m3n"], "--surrogate m3n scores classes against classes"),
        (["--reject", "0.4", "--decode", "argmax"], "--decode argmax predicts a class"),
        (["--reject", "0.4", "--surrogate", "crf", "--decode", "argmax"], "--decode argmax predicts a class"),
        (["--reject", "0.4", "--oracle", "spmp"], "--oracle spmp"),
        (["--inner", "yes"], "--inner is about the nodes of a tree"),
        (["--inner", "yes", "--loss", "zero-one"], "--inner is about the nodes of a tree"),
        (["--inner", "maybe"], "--inner"),
        (["--loss", "tree:"], "tree:"),
        (["--task", "ranking", "--reject", "0.4"], "--reject"),
        (["--task", "ranking", "--inner", "yes"], "--inner"),
    ],
)
def test_bad_options_are_refused_with_the_reason(m4n, small, tmp_path, options, message):
    result = m4n("train", small, "--model", tmp_path / "no.m4n", *options, expect=WRONG_USAGE)
    assert message in result.stderr and result.stdout == "" and not (tmp_path / "no.m4n").exists()


@pytest.mark.parametrize(
    "text, messages",
    [
        ("ant,bee,cta,refer\n0,1,1,2\n1,0,1,2\n1,1,0,2\n", ["line 1, column 3", "'cta'", "class 'cat' has no column"]),
        ("t,ant,bee,cat,x\nant,0,1,1,2\nbe,1,0,1,2\ncat,1,1,0,2\n", ["line 3, column 1", "'be'"]),
        ("t,ant,bee,cat,x\nant,0,1,1,2\ncat,1,1,0,2\n", ["no row for 'bee'"]),
        (",spray,wait\nant,0,1\ncat,1,0\n", ["no row for 'bee'"]),
        ("ant,bee,cat,x,x\n0,1,1,2,2\n1,0,1,2,2\n1,1,0,2,2\n", ["line 1, column 5", "second time"]),
        ("ant,bee,cat,\n0,1,1,2\n1,0,1,2\n1,1,0,2\n", ["line 1, column 4", "no name"]),
        ("ant,bee,cat,x\n0,1,1,2\n1,0,1,free\n1,1,0,2\n", ["line 3, column 4", "'free'"]),
        ("ant,bee,cat,x\n0,1,1,2\n1,1,1,0\n1,1,0,2\n", ["row 'bee'", "column 'ant'"]),
    ],
)
def test_bad_cost_files_are_refused_with_the_place(m4n, small, tmp_path, text, messages):
    (tmp_path / "cost.csv").write_text(text)
    result = m4n("train", small, "--loss", tmp_path / "cost.csv", expect=FAILED)
    assert all(part in result.stderr for part in ["cost.csv", *messages]), result.stderr


@pytest.mark.parametrize(
    "text, messages",
    [
        ("", ["empty"]),
        ("ant,bee\nbee,cat\ncat,ant\n", ["line 1", "circle"]),
        ("ant,x\nbee,x\ncat,y\n", ["'x'", "'y'", "no parent"]),
        (TREE + "ant,animal\n", ["line 5", "'ant'", "line 1"]),
        ("ant,x\nbee,x\n", ["class 'cat'", "no node"]),
        ("ant,x,0\nbee,x\ncat,x\n", ["line 1", "'0'", "positive"]),
        ("ant,x,-1\nbee,x\ncat,x\n", ["line 1", "'-1'", "positive"]),
        ("ant,x,\nbee,x\ncat,x\n", ["line 1", "positive"]),
        ("ant\n", ["line 1", "1 cell"]),
    ],
)
def test_bad_trees_are_refused_with_the_place(m4n, small, tmp_path, text, messages):
    (tmp_path / "tree.csv").write_text(text)
    result = m4n("train", small, "--loss", f"tree:{tmp_path / 'tree.csv'}", expect=FAILED)
    assert all(part in result.stderr for part in ["tree.csv", *messages]), result.stderr


def test_a_class_called_reject_is_in_the_way(m4n, tmp_path):
    x, y = blobs(30, 2, 2, seed=3)
    data = write_csv(tmp_path / "d.csv", x, np.array(["reject", "take"])[y])
    assert "'reject'" in m4n("train", data, "--reject", "0.4", expect=FAILED).stderr
    m4n("train", data, expect=DONE)


def test_damaged_models_are_refused(m4n, small, rejecting, tmp_path):
    whole = rejecting.read_bytes()
    for at in range(0, len(whole), 37):
        (tmp_path / "bad.m4n").write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        m4n("info", tmp_path / "bad.m4n", expect=FAILED)


def test_numbered_classes_and_a_file_without_names(m4n, tmp_path):
    x, y = blobs(60, 3, 2, seed=5)
    data = write_csv(tmp_path / "d.csv", x, y)
    m4n.train(data, tmp_path / "a.m4n", "--task", "multiclass", "--reject", "0.4")
    (tmp_path / "cost.csv").write_text("0,1,0.4\n1,0,0.4\n")
    m4n.train(data, tmp_path / "b.m4n", "--task", "multiclass", "--loss", tmp_path / "cost.csv")
    assert (tmp_path / "a.m4n").read_bytes() == (tmp_path / "b.m4n").read_bytes()
    report = json.loads(m4n("eval", tmp_path / "b.m4n", data, "--json", expect=DONE).stdout)
    assert report["predictions"] == ["0", "1", "reject"]


GENERATED = {
    "sequence": ["--task", "sequence", "--template", "pos"],
    "graph": ["--task", "graph"],
    "multilabel": ["--task", "multilabel"],
}


@pytest.mark.parametrize("task", GENERATED)
@pytest.mark.parametrize("surrogate", ["m4n", "crf"])
def test_parts_are_rejected_one_by_one(m4n, tmp_path, task, surrogate):
    data, model = tmp_path / "data", tmp_path / "r.m4n"
    m4n("generate", "--task", task, "--n", 120, "--seed", 1, "--out", data, expect=DONE)
    options = [*GENERATED[task], "--surrogate", surrogate, "--reject", "0.2"]
    report = m4n.train(data, model, *options)
    assert report["converged"]
    judged = m4n.json("eval", model, data)
    assert 0 < judged["metrics"]["rejected"] <= 1
    assert judged["loss"] == pytest.approx(report["train_loss"])
    found = m4n.json("predict", model, data)
    answers = [answer for row in found["marks" if task == "multilabel" else "label"] for answer in row]
    rejected = sum(answer in (None, "reject") for answer in answers)
    assert rejected == pytest.approx(judged["metrics"]["rejected"] * len(answers))
    text = m4n("predict", model, data, expect=DONE).stdout
    assert text.count("unsure" if task == "multilabel" else "reject") == rejected
    search = m4n.json("cv", data, *GENERATED[task], "--reject", "0.2", "--surrogate", "crf", "--folds", "3",
                      "--lambdas", "0.1,0.01")  # fmt: skip
    assert 0 < search["test_mean"] < 0.21
    refused = m4n("train", data, *GENERATED[task], "--surrogate", "m3n", "--reject", "0.2", "--model", model)
    assert refused.returncode == WRONG_USAGE and "m3n" in refused.stderr
