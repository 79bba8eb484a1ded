"""The page of an estimator is that of the command line; what notebooks show of it."""

import re
import stat

import numpy as np
import pandas as pd
import pytest
import sklearn
from conftest import blobs, tagged
from test_command_line import crfsuite_text

import m4n

TABLES = {
    "multiclass": m4n.MaxMinClassifier,
    "ordinal": m4n.MaxMinOrdinalClassifier,
    "multilabel": m4n.MaxMinMultiLabelClassifier,
    "ranking": m4n.MaxMinRanker,
}
SCRIPT = '<script>alert("1")</script>'


def without_origin(page):
    """But for what was called, and the files: the rows of the section on where the page comes from."""
    ours = "(?:command|made by|data|model)"
    row = rf'<tr><th scope="row" dir="auto">{ours}</th>.*?</tr>'
    return re.sub(rf"(?m)^\| {ours} \|.*\n", "", re.sub(row, "", page))


def same_pages(cli, estimator, model, data, X, y, *options, **parameters):
    names = {"title": model.name, "data_name": data.name, **parameters}
    page = estimator.report(X, y, **names)
    printed = cli("report", model, data, *options)
    assert "Where this comes from" in page and without_origin(page) == without_origin(printed)
    (checksum,) = re.findall("CRC-64/XZ [0-9a-f]{16}", page)
    assert f"{model.name}, {checksum}" in printed
    text = estimator.report(X, y, markdown=True, **names)
    assert without_origin(text) == without_origin(cli("report", model, data, "--markdown", *options))
    alone = estimator.report(title=model.name)
    assert without_origin(alone) == without_origin(cli("report", model))
    assert page != text != alone


def target_of(frame, task):
    """The features and the outputs of a generated table."""
    if task in ("multiclass", "ordinal"):
        return frame.drop(columns="label"), frame["label"]
    outputs = [name for name in frame.columns if re.fullmatch("[yr][0-9]+", name)]
    return frame.drop(columns=outputs), frame[outputs]


@pytest.mark.parametrize("surrogate", ["m4n", "crf"])
@pytest.mark.parametrize("task", TABLES)
def test_tables(task, surrogate, cli, tmp_path):
    data, model = tmp_path / "rows.csv", tmp_path / "model.m4n"
    cli("generate", "--task", task, "--n", 90, "--seed", 1, "--out", data)
    frame = pd.read_csv(data)
    frame.assign(id=range(len(frame))).to_csv(data, index=False)
    cli("train", data, "--task", task, "--id", "id", "--surrogate", surrogate, "--model", model)
    X, y = target_of(frame, task)
    same_pages(cli, TABLES[task].load(model), model, data, X, y, "--id", "id")


@pytest.mark.parametrize("surrogate", ["m4n", "crf"])
def test_sequences(surrogate, cli, tmp_path):
    X, y = tagged(40)
    y[3][0] = "never seen"
    data, model = tmp_path / "words.crfsuite", tmp_path / "model.m4n"
    data.write_text(crfsuite_text(X[20:], y[20:]))
    cli("train", data, "--format", "crfsuite", "--surrogate", surrogate, "--model", model)
    data.write_text(crfsuite_text(X, y))
    estimator = m4n.MaxMinSequenceLabeler.load(model)
    same_pages(cli, estimator, model, data, X, y, "--format", "crfsuite", "--no-examples", examples=False)


def test_matchings(cli, tmp_path):
    rng = np.random.default_rng(0)
    y = [rng.permutation(4) for _ in range(30)]
    X = [(np.eye(4)[partners] + rng.normal(size=(4, 4)))[:, :, None] for partners in y]
    lines = []
    for pairs, partners in zip(X, y):
        lines.append(f"matching 4 {' '.join(str(p + 1) for p in partners)}")
        lines += [f"{i + 1} {j + 1} {float(pairs[i, j, 0])!r}" for i in range(4) for j in range(4)]
    data, model = tmp_path / "pairs.txt", tmp_path / "model.m4n"
    data.write_text("\n".join(lines) + "\n")
    cli("train", data, "--surrogate", "crf", "--model", model)
    same_pages(cli, m4n.MaxMinMatcher.load(model), model, data, X, y, "--no-examples", examples=False)


def test_graphs(cli, tmp_path):
    rng = np.random.default_rng(0)
    X = [(rng.normal(size=(4, 2)), [(0, 1), (1, 2), (2, 3)], rng.normal(size=(3, 1))) for _ in range(25)]
    y = [["hot" if v > 0 else "cold" for v in nodes[:, 0] + rng.normal(size=4)] for nodes, _, _ in X]
    lines = []
    for (nodes, edges, features), labels in zip(X, y):
        lines.append("graph")
        lines += [f"node n{i} {label} {a!r} {b!r}" for i, (label, (a, b)) in enumerate(zip(labels, nodes.tolist()))]
        lines += [f"edge n{u} n{v} {c!r}" for (u, v), (c,) in zip(edges, features.tolist())]
    data, model = tmp_path / "graphs.txt", tmp_path / "model.m4n"
    data.write_text("\n".join(lines) + "\n")
    cli("train", data, "--model", model)
    same_pages(cli, m4n.MaxMinGraphLabeler.load(model), model, data, X, y, "--no-examples", examples=False)


def loans(n=80, seed=0):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"income": rng.normal(size=n), "amount": rng.uniform(1, 10, size=n)})
    return X, np.where(X["income"] + rng.normal(size=n) > 0, "paid", "default")


def test_costs_by_example(cli, tmp_path):
    X, y = loans()
    data, model, costs = tmp_path / "loans.csv", tmp_path / "model.m4n", tmp_path / "costs.csv"
    X.assign(label=y, id=range(len(X))).to_csv(data, index=False)
    costs.write_text(",default,paid\ndefault,0,amount\npaid,2,0\n")
    cli("train", data, "--loss", costs, "--ignore", "amount", "--id", "id", "--model", model)
    estimator = m4n.MaxMinClassifier.load(model)
    same_pages(cli, estimator, model, data, X, y, "--id", "id")
    with pytest.raises(m4n.Error, match="column 'amount'"):
        estimator.report(X[["income"]], y)
    bills = np.zeros((len(X), 2, 2))
    bills[:, 0, 1], bills[:, 1, 0] = X["amount"], 2
    by_array = m4n.MaxMinClassifier().fit(X[["income"]], y, costs=bills)
    page = by_array.report(X[["income"]], y, costs=bills, markdown=True)
    assert f"costs {-by_array.score(X[['income']], y, costs=bills):.4g} in the mean" in page
    with pytest.raises(m4n.Error, match="Pass costs"):
        by_array.report(X[["income"]], y)
    ranker = m4n.MaxMinRanker().fit(X, [[1, 2], [2, 1]] * 40)
    with pytest.raises(m4n.Error, match="MaxMinRanker are the same for all examples"):
        ranker.report(X, [[1, 2], [2, 1]] * 40, costs=bills)


def test_labels_that_are_new_and_labels_that_are_not_known(cli, tmp_path):
    X, y = blobs(n=60)
    names = np.array(["a", "b", "c"])[y]
    data, model = tmp_path / "rows.csv", tmp_path / "model.m4n"
    frame = pd.DataFrame(X, columns=[f"x{j + 1}" for j in range(X.shape[1])])
    estimator = m4n.MaxMinClassifier().fit(frame, names)
    estimator.save(model)
    del estimator.log_
    names[[5, 7, 9]] = ["z", "d", "z"]
    frame.assign(label=names, id=frame.index).to_csv(data, index=False)
    same_pages(cli, estimator, model, data, frame, names, "--id", "id")
    unlabelled = estimator.report(frame, markdown=True)
    assert "X has 60 examples without labels" in unlabelled and "What it costs" not in unlabelled
    share = np.mean(estimator.predict(frame) == "a")
    assert f"| a | {share:.4g} |" in unlabelled


@pytest.mark.parametrize("task", TABLES)
def test_tables_without_labels(task, cli, tmp_path):
    data = tmp_path / "rows.csv"
    cli("generate", "--task", task, "--n", 40, "--seed", 1, "--out", data)
    X, y = target_of(pd.read_csv(data), task)
    page = TABLES[task]().fit(X, y).report(X, markdown=True)
    assert " 40 " in page.split("##")[0] and "without labels" in page and "What it costs" not in page


def test_weights():
    X, y = blobs(n=60)
    weight = np.arange(60) % 3 + 1.0
    model = m4n.MaxMinClassifier([[0, 1, 2], [3, 0, 1], [1, 5, 0]]).fit(X, y)
    cost = -model.score(X, y, weight)
    assert cost != -model.score(X, y)
    assert f"costs {cost:.4g} in the mean" in model.report(X, y, sample_weight=weight, markdown=True)
    with pytest.raises(m4n.Error, match="sample_weight"):
        model.report(X, y, sample_weight=-weight)


def test_weights_of_sequences_count_as_repeated_ones():
    X, y = tagged(30)
    model = m4n.MaxMinSequenceLabeler().fit(X[:10], y[:10])
    rows = [*range(30), *range(15)]

    def cost(page):
        return re.search("a prediction costs ([0-9.]+) in the mean", page)[1]

    weighted = cost(model.report(X, y, sample_weight=[2.0] * 15 + [1.0] * 15, markdown=True))
    assert weighted == cost(model.report([X[i] for i in rows], [y[i] for i in rows], markdown=True))
    assert weighted != cost(model.report(X, y, markdown=True))


def test_names_are_escaped():
    X, y = blobs(n=60)
    frame = pd.DataFrame(X[:, :2], columns=[SCRIPT, "x"], index=[f"<b>{i}" for i in range(60)])
    model = m4n.MaxMinClassifier(surrogate="crf").fit(frame, np.array([SCRIPT, "b", "c"])[y])
    labels = model.predict(frame)
    labels[0] = "<i>new"
    page = model.report(frame, labels, title=SCRIPT, data_name=SCRIPT)
    assert page.count("<script>") == 1 and "&lt;script&gt;alert" in page
    assert "<b>" not in page and "<i>" not in page and "&lt;b&gt;0" in page
    assert "<" not in model.report(frame, labels, title=SCRIPT, data_name=SCRIPT, markdown=True)
    assert "<h1>half ?" in model.report(title="half \ud800")


def test_examples_are_named_by_the_index_or_by_numbers_from_zero():
    X, y = blobs(n=60, spread=3)
    model = m4n.MaxMinClassifier().fit(X, y)
    wrong = np.flatnonzero(model.predict(X) != y)[:20].tolist()

    def shown(page):
        table = page.split("## The costliest")[1].split("\n## ")[0]
        return [row.split("|")[1].strip() for row in table.splitlines() if row.startswith("|")][2:]

    assert shown(model.report(X, y, markdown=True)) == [str(i) for i in wrong]
    named = pd.DataFrame(X, index=[f"row {i}" for i in range(60)])
    assert shown(model.report(named.to_numpy(), y, markdown=True)) == [str(i) for i in wrong]
    model.fit(named.set_axis(list("abcde"), axis=1), y)
    assert shown(model.report(named.set_axis(list("abcde"), axis=1), y, markdown=True)) == [f"row {i}" for i in wrong]
    assert "The costliest" not in model.report(X=named.set_axis(list("abcde"), axis=1), y=y, examples=False)


def test_the_file_is_there_whole_or_not_at_all(tmp_path):
    X, y = blobs(n=60)
    model = m4n.MaxMinClassifier().fit(X, y)
    path = tmp_path / "page.html"
    page = model.report(X, y, path=path)
    assert path.read_text() == page and page.startswith("<!DOCTYPE html>")
    with pytest.raises(ValueError):
        model.report(X, y[:-1], path=path)
    assert path.read_text() == page and [file.name for file in tmp_path.iterdir()] == ["page.html"]
    assert stat.S_ISREG(path.stat().st_mode)
    with pytest.raises(OSError, match="nowhere"):
        model.report(path=tmp_path / "nowhere" / "page.html")


def test_what_is_refused():
    X, y = blobs(n=60)
    model = m4n.MaxMinClassifier()
    with pytest.raises(sklearn.exceptions.NotFittedError):
        model.report(X, y)
    model.fit(X, y)
    with pytest.raises(m4n.Error, match="X is None"):
        model.report(y=y)
    with pytest.raises(TypeError, match="markdown must be True or False"):
        model.report(X, y, markdown="yes")
    with pytest.raises(m4n.Error, match="random_state"):
        model.report(X, y, random_state=-1)
    with pytest.raises(ValueError, match="5 features"):
        model.report(X[:, :3], y)
    labeler = m4n.MaxMinSequenceLabeler().fit([X[:30], X[30:]], [y[:30], y[30:]])
    with pytest.raises(m4n.Error, match="same lengths"):
        labeler.report([X[:30]], [y[:29]])
    with pytest.raises(m4n.Error, match="no tokens"):
        labeler.report([X[:30], []], [y[:30], []])
    outputs = m4n.MaxMinMultiLabelClassifier().fit(X, X[:, :2] > 0)
    with pytest.raises(m4n.Error, match=r"shape \(60, 3\); expected \(60, 2\)"):
        outputs.report(X, X[:, :3] > 0)


def test_intervals_depend_on_the_seed_and_nothing_on_threads():
    X, y = blobs(n=60)
    model = m4n.MaxMinClassifier().fit(X, y)
    page = model.report(X, y)
    assert model.report(X, y, random_state=0) == model.set_params(n_jobs=3).report(X, y) == page
    assert model.report(X, y, random_state=1) != page


# ---- the log of a fit


@pytest.mark.parametrize("surrogate", ["m4n", "m3n", "crf", "qs"])
def test_the_log_of_a_fit(surrogate, cli, tmp_path):
    """Is that of the command line, but for the seconds."""
    X, y = blobs(n=60)
    frame = pd.DataFrame(X, columns=[f"x{j + 1}" for j in range(5)])
    frame.assign(label=y).to_csv(tmp_path / "rows.csv", index=False)
    cli("train", tmp_path / "rows.csv", "--task", "multiclass", "--surrogate", surrogate,
        "--log", tmp_path / "log.jsonl", "--model", tmp_path / "m.m4n")  # fmt: skip
    model = m4n.MaxMinClassifier(surrogate=surrogate).fit(frame, y)
    written = pd.read_json(tmp_path / "log.jsonl", lines=True)
    own = pd.DataFrame(model.log_)
    assert list(own) == ["epoch", "seconds", "primal", "dual", "relative_gap"] and len(own) == len(written) > 0
    for name in ("epoch", "primal", "dual", "relative_gap"):
        assert np.allclose(own[name], written[name], rtol=1e-12), name
    last = own.iloc[-1]
    assert [last.primal, last.dual] == [model.certificate_.primal, model.certificate_.dual]
    assert "cannot be lower" in model.report(frame)
    assert "cannot be lower" not in m4n.MaxMinClassifier.from_bytes(model.to_bytes()).report(frame)


def test_the_log_of_a_search_is_that_of_the_fit_on_all_the_data():
    X, y = blobs(n=60)
    search = m4n.MaxMinClassifierCV(lams=[0.1], extend=False, cv=3).fit(X, y)
    plain = m4n.MaxMinClassifier(lam=0.1).fit(X, y)
    assert np.array_equal(search.log_["primal"], plain.log_["primal"])


# ---- in a notebook


def test_a_notebook_shows_what_was_learnt():
    X, y = blobs(n=60)
    model = m4n.MaxMinClassifier([[0, 1, 1], [1, 0, 1], [5, 5, 0]])
    assert model._repr_html_() and "certificate" not in model._repr_html_()
    model.fit(X, y)
    for shown in (model._repr_html_(), model._repr_mimebundle_()["text/html"]):
        summary = shown.split('<table class="m4n-summary">')[1]
        certificate, cost = model.certificate_, -model.score(X, y)
        assert f"{cost:.4g} in the mean on the training data (loss matrix)" in summary
        assert f"m4n, decoded by {model.decode_}" in summary and f"{model.lam_:.6g}" in summary
        assert f"lies between {certificate.dual:.6g} and {certificate.primal:.6g}" in summary
        assert "within tol" in summary and "docs/python.md" in summary and "held out" not in summary
    search = m4n.MaxMinClassifierCV(lams=[1.0, 0.1]).fit(X, y)
    assert f"{search.best_cost_:.4g} in the mean on parts" in search._repr_html_()
    assert f"lies between {certificate.dual:.6g}" in m4n.MaxMinClassifier.from_bytes(model.to_bytes())._repr_html_()
    with sklearn.config_context(display="text"):
        assert "text/html" not in model._repr_mimebundle_() and not hasattr(model, "_repr_html_")


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_notebook_says_that_training_ended_early_and_escapes_what_it_shows():
    X, y = blobs(n=60)
    model = m4n.MaxMinClassifier(tol=1e-9, max_iter=1).fit(X, y)
    model.decode_ = SCRIPT
    summary = model._repr_html_().split('<table class="m4n-summary">')[1]
    assert "training ended early" in summary and "<script>" not in summary and "&lt;script&gt;" in summary
