"""train, info, dump on sequences: formats, guesses, options, default lambda, determinism, signals."""

import json
from collections import Counter

import numpy as np
import pytest
from conftest import DONE, WRONG_USAGE
from sequence_files import WORD_TEMPLATE, as_crfsuite, attributes, letters_text, random_words, read_sentences

TRAIN_KEYS = set(
    "task surrogate loss features n d k lambda smoothing solver decode seed epochs seconds seconds_total primal dual gap "
    "relative_gap converged train_loss norm_squared oracle_calls interrupted tokens model".split()
)

VARIANTS = [
    [],
    ["--solver", "atoms", "--decode", "adversary"],
    ["--solver", "gbcfw", "--oracle", "spmp", "--oracle-iterations", "5x", "--epochs", "4"],
    ["--oracle", "spmp", "--oracle-iterations", "7", "--epochs", "4", "--warm-start", "no"],
    ["--surrogate", "m3n"],
    ["--surrogate", "m3n", "--decode", "viterbi", "--bias", "no"],
    ["--surrogate", "crf"],
    ["--surrogate", "crf", "--solver", "prox", "--decode", "viterbi"],
    ["--surrogate", "crf", "--solver", "lbfgs", "--decode", "expected"],
]


@pytest.fixture(scope="module")
def tagged(m4n, tmp_path_factory):
    """80 generated sentences: a word and its label per line."""
    path = tmp_path_factory.mktemp("tagged") / "tagged.txt"
    m4n("generate", "--task", "sequence", "--n", 80, "--seed", 3, "--out", path, expect=DONE)
    return path


@pytest.fixture(scope="module")
def template(tagged):
    path = tagged.parent / "words.tpl"
    path.write_text(WORD_TEMPLATE)
    return path


@pytest.fixture(scope="module")
def letters(tagged):
    path = tagged.parent / "letters.data"
    path.write_text(letters_text(random_words(60, 12)))
    return path


def test_generated_sentences(m4n, tagged):
    sentences = read_sentences(tagged.read_text())
    assert len(sentences) == 80 and {len(cells) for sentence in sentences for cells in sentence} == {2}
    assert all(3 <= len(sentence) <= 12 for sentence in sentences)
    assert {label for sentence in sentences for _, label in sentence} == {"D", "N", "V"}
    report = m4n.json("generate", "--task", "sequence", "--n", 80, "--seed", 3, "--out", tagged.parent / "again.txt")
    assert (report["n"], report["k"], report["seed"]) == (80, 3, 3) and report["tokens"] == sum(map(len, sentences))
    assert 0.1 < report["bayes_risk"] < 0.3
    assert (tagged.parent / "again.txt").read_bytes() == tagged.read_bytes()
    longer = m4n("generate", "--task", "sequence", "--n", 90, "--seed", 3, expect=DONE).stdout
    assert longer.startswith(tagged.read_text())


def test_json_keys_and_the_guess(m4n, tagged, template, tmp_path):
    result = m4n("train", tagged, "--template", template, "--model", tmp_path / "m.m4n", "--json", expect=DONE)
    assert result.stdout.count("\n") == 1
    report = json.loads(result.stdout)
    assert set(report) == TRAIN_KEYS
    sentences = read_sentences(tagged.read_text())
    names = {name for sentence in sentences for own in attributes([word for word, _ in sentence]) for name in own}
    tokens = sum(map(len, sentences))
    assert (report["n"], report["tokens"], report["d"], report["k"]) == (80, tokens, len(names), 3)
    assert (report["task"], report["surrogate"], report["loss"]) == ("sequence", "m4n", "hamming")
    assert (report["solver"], report["decode"], report["features"]) == ("atoms", "viterbi", "linear")
    assert report["converged"] and 0 <= report["relative_gap"] <= 1e-3
    assert report["lambda"] == pytest.approx(tokens / 80 / 80, rel=1e-15)
    assert "task sequence, guessed" in result.stderr and "80 sequences" in result.stderr and "(conll)" in result.stderr


@pytest.mark.parametrize("surrogate", ["m4n", "m3n", "crf"])
def test_default_lambda(m4n, tagged, template, tmp_path, surrogate):
    report = m4n.train(tagged, tmp_path / "m.m4n", "--template", template, "--surrogate", surrogate)
    mean_length = 1 if surrogate == "crf" else report["tokens"] / 80
    assert report["lambda"] == pytest.approx(mean_length / 80, rel=1e-15)


@pytest.mark.parametrize("options", VARIANTS, ids=" ".join)
def test_same_bytes_for_any_threads_and_a_model_that_predicts_as_it_said(m4n, tagged, template, tmp_path, options):
    reports = []
    for name, threads in (("a", 1), ("b", 3), ("c", 1)):
        reports.append(m4n.train(tagged, tmp_path / name, "--template", template, "--threads", threads, *options))
    assert len({(tmp_path / name).read_bytes() for name in "abc"}) == 1
    assert reports[0]["dual"] <= reports[0]["primal"]
    assert m4n.json("eval", tmp_path / "a", tagged)["loss"] == pytest.approx(reports[0]["train_loss"], rel=1e-13)
    info = m4n.json("info", tmp_path / "a")
    for key in TRAIN_KEYS - {"seconds", "seconds_total", "model"}:
        assert info[key] == reports[0][key], key
    assert info["bias"] == ("no" not in options or "--warm-start" in options)


def test_solvers_agree_on_the_optimum(m4n, tagged, template, tmp_path):
    def bracket(*options):
        report = m4n.train(tagged, tmp_path / "m.m4n", "--template", template, "--lambda", 0.1, *options)
        return report["dual"], report["primal"]

    eg, newton = (bracket("--surrogate", "crf", "--tol", "1e-7", "--solver", solver) for solver in ("prox", "lbfgs"))
    assert max(eg[0], newton[0]) <= min(eg[1], newton[1]) and eg[1] == pytest.approx(newton[1], rel=2e-7)
    exact = bracket("--tol", "1e-6")
    paper = bracket("--oracle", "spmp", "--oracle-iterations", "4x", "--epochs", "30")
    assert max(exact[0], paper[0]) <= min(exact[1], paper[1])
    assert paper[1] - paper[0] < 0.5 * paper[1]


def test_conll_columns_and_crfsuite_attributes_give_one_model(m4n, tagged, template, tmp_path):
    """The template's attributes, written out."""
    written = tmp_path / "written.txt"
    written.write_text(as_crfsuite(read_sentences(tagged.read_text())))
    first = m4n.train(tagged, tmp_path / "a.m4n", "--template", template, "--surrogate", "crf")
    result = m4n("train", written, "--model", tmp_path / "b.m4n", "--surrogate", "crf", "--json", expect=DONE)
    second = json.loads(result.stdout)
    assert "task sequence, guessed" in result.stderr and "(crfsuite)" in result.stderr
    for key in TRAIN_KEYS - {"seconds", "seconds_total", "model"}:
        assert first[key] == second[key], key
    assert m4n("dump", tmp_path / "a.m4n").stdout == m4n("dump", tmp_path / "b.m4n").stdout
    assert m4n.json("info", tmp_path / "b.m4n")["input"] == {"format": "crfsuite", "hash_bits": None}
    values = tmp_path / "values.txt"
    values.write_text("A\tx:2.5\ty\nB\ty:-1\n\nB\tz\n")
    m4n("train", values, "--format", "crfsuite", "--min-count", 2, "--model", tmp_path / "v.m4n", expect=DONE)
    features = {row["feature"] for row in m4n.json("dump", tmp_path / "v.m4n")["weights"]}
    assert {name for name in features if not name.startswith("(")} == {"y"}


def test_gzip_is_found_by_content(m4n, tagged, template, tmp_path):
    import gzip

    packed = tmp_path / "packed"
    packed.write_bytes(gzip.compress(tagged.read_bytes()))
    for name, data in (("a", tagged), ("b", packed)):
        m4n("train", data, "--template", template, "--model", tmp_path / name, expect=DONE)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_min_count_and_hash(m4n, tagged, template, tmp_path):
    sentences = read_sentences(tagged.read_text())
    count = Counter(name for s in sentences for own in attributes([word for word, _ in s]) for name in own)
    report = m4n.train(tagged, tmp_path / "m.m4n", "--template", template, "--min-count", 9)
    assert report["d"] == sum(c >= 9 for c in count.values()) < len(count)
    kept = {row["feature"] for row in m4n.json("dump", tmp_path / "m.m4n")["weights"] if row["feature"].startswith("U")}
    assert kept <= {name for name, c in count.items() if c >= 9}

    report = m4n.train(tagged, tmp_path / "h.m4n", "--template", template, "--hash", 14)
    assert report["d"] == 2**14 and m4n.json("info", tmp_path / "h.m4n")["input"]["hash_bits"] == 14
    # So many columns that hardly two names meet: nearly the objective of the dictionary.
    plain = m4n.train(tagged, tmp_path / "m.m4n", "--template", template)
    assert report["primal"] == pytest.approx(plain["primal"], rel=0.02)
    assert any(row["feature"].startswith("(hash ") for row in m4n.json("dump", tmp_path / "h.m4n")["weights"])


@pytest.mark.parametrize("name", ["ner", "pos", "chunking"])
def test_builtin_templates(m4n, tagged, tmp_path, name):
    data = tagged
    if name == "chunking":
        data = tmp_path / "three.txt"
        data.write_text("".join(f"{line.split()[0]} T{len(line.split()[0])} {line.split()[1]}\n" if line else "\n"
                                for line in tagged.read_text().splitlines()))  # fmt: skip
    report = m4n.train(data, tmp_path / "m.m4n", "--template", name, "--surrogate", "crf")
    assert report["converged"] and report["train_loss"] < 0.2
    info = m4n.json("info", tmp_path / "m.m4n")["input"]
    assert info["columns"] == (2 if name == "chunking" else 1) and "\nB" in info["template"]


def test_letters_are_guessed_and_their_products_are_features(m4n, letters, tmp_path):
    words = random_words(60, 12)
    result = m4n("train", letters, "--json", "--model", tmp_path / "a.m4n", "--tol", "1e-6", expect=DONE)
    plain = json.loads(result.stdout)
    assert "(ocr)" in result.stderr and (plain["n"], plain["d"], plain["k"]) == (60, 12, 3)
    assert plain["tokens"] == sum(len(w[1]) for w in words)
    assert m4n.json("info", tmp_path / "a.m4n")["input"] == {"format": "ocr"}
    products = m4n.train(letters, tmp_path / "b.m4n", "--pixel-products", "4x3", "--tol", "1e-6")
    assert products["d"] == 12 + 4 * 2 + 3 * 3 + 2 * 3 * 2

    def all_columns(row):
        x = np.reshape(row, (4, 3))
        diagonals = (x[:-1, :-1] * x[1:, 1:], x[:-1, 1:] * x[1:, :-1])
        return [*row, *(v for p in (x[:, :-1] * x[:, 1:], x[:-1] * x[1:], *diagonals) for v in p.ravel())]

    written = tmp_path / "written.data"
    written.write_text(letters_text([(fold, own, list(map(all_columns, rows))) for fold, own, rows in words]))
    by_hand = m4n.train(written, tmp_path / "c.m4n", "--tol", "1e-6")
    assert by_hand["d"] == products["d"] and by_hand["primal"] == pytest.approx(products["primal"], rel=2e-6)
    assert products["primal"] != pytest.approx(plain["primal"], rel=1e-3)


@pytest.mark.parametrize("bias", ["yes", "no"])
def test_standardised_letters(m4n, letters, tmp_path, bias):
    words = [(fold, own, [[3 * v + 10 * j for j, v in enumerate(row)] for row in rows])
             for fold, own, rows in random_words(60, 12)]  # fmt: skip
    raw, scaled = tmp_path / "raw.data", tmp_path / "scaled.data"
    raw.write_text(letters_text(words))
    x = np.array([row for _, _, rows in words for row in rows], dtype=float)
    mean, deviation = x.mean(axis=0), x.std(axis=0)
    scaled.write_text(
        letters_text([(f, own, [(np.array(row) - mean) / deviation for row in rows]) for f, own, rows in words])
    )
    options = ["--surrogate", "crf", "--tol", "1e-7", "--bias", bias]
    report = m4n.train(raw, tmp_path / "a.m4n", "--standardize", "yes", *options)
    by_hand = m4n.train(scaled, tmp_path / "b.m4n", *options)
    assert report["primal"] == pytest.approx(by_hand["primal"], rel=3e-7)
    assert m4n.json("eval", tmp_path / "a.m4n", raw)["loss"] == pytest.approx(report["train_loss"], rel=1e-12)
    assert m4n("predict", tmp_path / "a.m4n", raw).stdout == m4n("predict", tmp_path / "b.m4n", scaled).stdout


def test_costs_between_labels(m4n, tagged, template, tmp_path):
    cost = tmp_path / "cost.csv"
    cost.write_text(",D,N,V\nD,0,1,1\nN,1,0,5\nV,1,1,0\n")
    report = m4n.train(tagged, tmp_path / "m.m4n", "--template", template, "--loss", cost)
    # The costs are not symmetric, so the usual decoder is the min player's.
    assert (report["loss"], report["decode"]) == ("matrix", "adversary")
    lines = [line.split() for line in m4n("predict", tmp_path / "m.m4n", tagged, expect=DONE).stdout.splitlines()]
    price = {("N", "V"): 5}
    loss, sentence = [], []
    for cells in [*lines, []] if lines[-1] else lines:
        if cells:
            sentence.append(0 if cells[1] == cells[2] else price.get((cells[1], cells[2]), 1))
        elif sentence:
            loss.append(np.mean(sentence))
            sentence = []
    assert np.mean(loss) == pytest.approx(report["train_loss"], rel=1e-12)


def test_text_reports(m4n, tagged, template, tmp_path):
    result = m4n("train", tagged, "--template", template, "--model", tmp_path / "m.m4n", "--quiet", expect=DONE)
    assert result.stderr == "" and "converged" in result.stdout
    text = m4n("info", tmp_path / "m.m4n", expect=DONE).stdout
    assert "80 sequences" in text and "D, N, V" in text and "template" in text
    table = m4n("dump", tmp_path / "m.m4n", expect=DONE).stdout.splitlines()
    assert table[0] == "feature,class,weight"
    sizes = [abs(float(line.rsplit(",", 1)[1])) for line in table[1:]]
    assert sizes == sorted(sizes, reverse=True) and min(sizes) > 0
    names = {line.rsplit(",", 2)[0] for line in table[1:]}
    assert {"(start)", "(end)", "(bias)", "(after D)", "(after N)", "(after V)", "U0:the"} <= names


def test_the_template_is_an_input(m4n, tagged, tmp_path):
    template = tmp_path / "own.tpl"
    template.write_text(WORD_TEMPLATE)
    message = m4n("train", tagged, "--template", template, "--model", template, expect=WRONG_USAGE).stderr
    assert "is also an input" in message and template.read_text() == WORD_TEMPLATE
    m4n("cv", tagged, "--template", template, "--model", template, expect=WRONG_USAGE)
    assert template.read_text() == WORD_TEMPLATE


@pytest.mark.parametrize(
    "surrogate", [["--oracle", "spmp", "--oracle-iterations", "1x"], ["--surrogate", "crf"]], ids=" ".join
)
def test_a_signal_saves_and_exits_with_130(m4n, tmp_path, surrogate):
    data, model = tmp_path / "long.txt", tmp_path / "m.m4n"
    m4n("generate", "--task", "sequence", "--n", 3000, "--out", data, expect=DONE)
    m4n.interrupted_training(data, model, "--template", "pos", *surrogate, "--lambda", "1e-9")
    assert m4n("predict", model, input="the\nfish\n", expect=DONE).stdout.count("\n") == 2
