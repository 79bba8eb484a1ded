"""Bad sequences and options that are not theirs: refused with the reason, file and line; nothing half-written."""

import pytest
from conftest import DONE, FAILED, WRONG_USAGE
from sequence_files import WORD_TEMPLATE, letters_text, random_words

GOOD = "the D\nfish N\n\na D\nrun V\n"
ROW = "{}\t{}\t{}\t{}\t{}\t0\t1\t0\n"  # id, letter, next_id, word_id, position


def rows(*letters):
    return "".join(ROW.format(*letter) for letter in letters)


@pytest.fixture
def complaint(m4n, tmp_path):
    """What is said about a bad file, after checking that nothing was left behind."""

    def run(text, *options, code=FAILED, names_the_file=True):
        data, template, model = tmp_path / "bad.txt", tmp_path / "words.tpl", tmp_path / "m.m4n"
        data.write_bytes(text if isinstance(text, bytes) else text.encode())
        template.write_text(WORD_TEMPLATE)
        model.write_text("precious")
        before = sorted(tmp_path.iterdir())
        if "--template" not in options and "--format" not in options:
            options = ["--template", template, *options]
        result = m4n("train", data, "--task", "sequence", "--model", model, *options, expect=code)
        assert result.stdout == "" and model.read_text() == "precious" and sorted(tmp_path.iterdir()) == before
        assert not names_the_file or str(data) in result.stderr
        return result.stderr

    return run


def test_the_good_files_are_good(m4n, tmp_path):
    (tmp_path / "good.txt").write_text(GOOD)
    (tmp_path / "words.tpl").write_text(WORD_TEMPLATE)
    m4n("train", tmp_path / "good.txt", "--template", tmp_path / "words.tpl", expect=DONE)
    (tmp_path / "good.data").write_text(rows((1, "a", 2, 1, 1), (2, "b", -1, 1, 2), (3, "a", -1, 2, 1)))
    m4n("train", tmp_path / "good.data", expect=DONE)
    (tmp_path / "good.crfsuite").write_text("X\ta:1\tb\nY\tc\\:d\n\nY\tb:2e-3\n")
    m4n("train", tmp_path / "good.crfsuite", expect=DONE)


@pytest.mark.parametrize(
    "text, words",
    [
        ("", ["no tokens"]),
        ("\n \n\t\n", ["no tokens"]),
        ("the D\nfish\n", ["line 2", "found 1 column", "expected 2"]),
        ("the D\n\n\nfish N N\n", ["line 4", "found 3 columns", "expected 2 as on line 1"]),
        ("the D\nfish _\n", ["line 2", "'_'"]),
        ("the D\r\nfish _\r\n", ["line 2", "'_'"]),
        ("the D\na D\n", ["only one label", "'D'"]),
        (b"the D\n\xff\xfe _\n", ["line 2"]),
        ("D\nN\n\nV\n", ["line 1", "column"]),
        ("x" * 10_000_000 + " D\nfish\n", ["line 2", "found 1 column"]),
    ],
    ids=lambda value: None if len(value) > 50 else repr(value),
)
def test_bad_columns(complaint, text, words):
    message = complaint(text)
    assert all(word in message for word in words), message[:500]
    assert len(message) < 2000


@pytest.mark.parametrize(
    "text, words",
    [
        ("U:%x[0,1]\nB\n", ["line 1", "%x[0,1]", "column 1"]),
        ("B\nU1:%x[0,0]\nU2:%p[-1,7,2]\n", ["line 3", "%p[-1,7,2]", "column 7"]),
        ("U:%x[0,0]\n", ["no line B"]),
        ("", ["no template"]),
        ("B\n", ["no line U"]),
        ("U:%x[0,0]\nB:%x[0,0]\n", ["line 2"]),
        ("U:%t[0,0,\"x\"]\nB\n", ["line 1", "%t"]),
        ("U:%x[0,0\nB\n", ["line 1"]),
        ("U:%x[a,0]\nB\n", ["line 1"]),
        ("*:%x[0,0]\nB\n", ["line 1"]),
        ("hello\nB\n", ["line 1", "hello"]),
    ],
)  # fmt: skip
def test_bad_templates(complaint, tmp_path, text, words):
    template = tmp_path / "own.tpl"
    template.write_text(text)
    message = complaint(GOOD, "--template", template, names_the_file=False)
    assert str(template) in message and all(word in message for word in words), message


def test_absent_template(complaint, tmp_path):
    assert "none.tpl" in complaint(GOOD, "--template", tmp_path / "none.tpl", names_the_file=False)
    message = complaint(GOOD, "--format", "conll", code=WRONG_USAGE)
    assert "--template" in message and "chunking" in message
    assert "column 1" in complaint(GOOD, "--template", "chunking")


@pytest.mark.parametrize(
    "text, words",
    [
        ("X\ta:two\nY\tb\n", ["line 1", "two"]),
        ("X\ta\nY\tb:1e400\n", ["line 2", "1e400"]),
        ("X\ta\nY\tb:nan\n", ["line 2", "nan"]),
        ("X\ta\nY\tb:1:2\n", ["line 2", "b:1:2"]),
        ("X\ta\n\n@weight:2\nY\tb\n", ["line 3", "@weight"]),
        ("X\ta\n_\tb\n", ["line 2", "'_'"]),
        ("X\ta\n\tb\n", ["line 2", "label"]),
        ("X\ta\nX\tb\n", ["only one label"]),
        ("", ["no labels"]),
    ],
)
def test_bad_attributes(complaint, text, words):
    message = complaint(text, "--format", "crfsuite")
    assert all(word in message for word in words), message


@pytest.mark.parametrize(
    "text, words",
    [
        (rows((1, "a", 3, 1, 1), (2, "b", -1, 1, 2)), ["line 2", "3"]),
        (rows((1, "a", 2, 1, 1), (2, "b", -1, 2, 2)), ["line 2", "word"]),
        (rows((1, "a", 2, 1, 2), (2, "b", -1, 1, 1)), ["line 2", "position"]),
        (rows((1, "a", -1, 1, 1), (2, "b", -1, 1, 2)), ["line 2", "next_id"]),
        (rows((1, "a", -1, 1, 1), (2, "b", 3, 2, 1)), ["ends within a word", "line 2"]),
        (rows((1, "a", -1, 1, 1), (2, "_", -1, 2, 1)), ["line 2", "'_'"]),
        (rows((1, "a", -1, 1, 1), (2, "a", -1, 2, 1)), ["only one label"]),
        (rows((1, "a", -1, 1, 1), ("two", "b", -1, 2, 1)), ["line 2", "'two'"]),
        (rows((1, "a", -1, 1, 1)) + "2\tb\t-1\t2\t1\t0\t1\n", ["line 2"]),
        (rows((1, "a", -1, 1, 1)) + "2\tb\t-1\t2\t1\t0\t1\tdark\n", ["line 2", "'dark'"]),
        (rows((1, "a", -1, 1, 1)) + "2\tb\t-1\t2\t1\t0\t1\tinf\n", ["line 2", "'inf'"]),
        ("", ["no letters"]),
    ],
)
def test_bad_letters(complaint, text, words):
    message = complaint(text, "--format", "ocr")
    assert all(word in message for word in words), message


@pytest.mark.parametrize(
    "options, words",
    [
        (["--bins", "3"], "--bins"),
        (["--weights", "w"], "--weights"),
        (["--id", "w"], "--id"),
        (["--target", "w"], "--target"),
        (["--class-weight", "balanced"], "--class-weight"),
        (["--features", "rbf"], "--features"),
        (["--gamma", "1"], "--gamma"),
        (["--surrogate", "qs"], "too many"),
        (["--smoothing", "1"], "--smoothing"),
        (["--loss", "zero-one"], "hamming"),
        (["--standardize", "yes"], "--standardize"),
        (["--decode", "expected"], "--surrogate crf"),
        (["--surrogate", "m3n", "--decode", "expected"], "m3n"),
        (["--surrogate", "m3n", "--decode", "adversary"], "m3n"),
        (["--surrogate", "crf", "--decode", "adversary"], "crf"),
        (["--solver", "prox"], "atoms"),
        (["--solver", "lbfgs"], "atoms"),
        (["--solver", "gbcfw"], "spmp"),
        (["--surrogate", "crf", "--solver", "atoms"], "prox or lbfgs"),
        (["--surrogate", "m3n", "--oracle", "spmp"], "spmp"),
        (["--oracle-iterations", "5x"], "spmp"),
        (["--oracle", "spmp", "--oracle-iterations", "0x"], "from 1"),
        (["--hash", "31"], "1 to 30"),
        (["--hash", "8", "--min-count", "2"], "leave one of them out"),
        (["--min-count", "0"], "--min-count"),
        (["--pixel-products", "2x2"], "--pixel-products"),
        (["--format", "csv", "--template", "pos"], "--format csv"),
        (["--format", "ocr", "--template", "pos"], "--template"),
        (["--format", "ocr", "--min-count", "2"], "--min-count"),
        (["--format", "ocr", "--hash", "4"], "--hash"),
        (["--format", "crfsuite", "--template", "pos"], "--template"),
    ],
    ids=" ".join,
)
def test_options_that_mean_nothing(complaint, options, words):
    if "--format" not in options:
        assert words in complaint(GOOD, *options, code=WRONG_USAGE, names_the_file=False)
    else:
        assert words in complaint(letters_text(random_words(5, 4)), *options, code=WRONG_USAGE, names_the_file=False)


def test_pixels_that_do_not_fit(m4n, complaint, tmp_path):
    letters = letters_text(random_words(9, 6))
    assert "6" in complaint(letters, "--format", "ocr", "--pixel-products", "2x2")
    complaint(letters, "--format", "ocr", "--pixel-products", "2", code=WRONG_USAGE, names_the_file=False)
    data, model = tmp_path / "letters.data", tmp_path / "o.m4n"
    data.write_text(letters)
    m4n("train", data, "--pixel-products", "2x3", "--model", model, expect=DONE)
    narrow = tmp_path / "narrow.data"
    narrow.write_text(letters_text(random_words(9, 5)))
    for command in ("predict", "eval"):
        message = m4n(command, model, narrow, expect=FAILED).stderr
        assert str(narrow) in message and "line 1" in message and "6" in message


@pytest.mark.parametrize("option", [["--decode", "viterbi"], ["--solver", "atoms"], ["--loss", "hamming"], ["--template", "pos"],
                                    ["--min-count", "2"], ["--hash", "4"], ["--pixel-products", "2x2"]], ids=" ".join)  # fmt: skip
def test_options_of_sequences_for_classes(m4n, small, option):
    message = m4n("train", small, "--task", "multiclass", *option, expect=WRONG_USAGE).stderr
    assert option[0] in message and "belongs to --task" in message and "sequence" in message


def test_text_for_classes(m4n, tmp_path):
    data = tmp_path / "text.txt"
    data.write_text(GOOD)
    message = m4n("train", data, "--task", "multiclass", expect=FAILED).stderr
    assert str(data) in message and "line 1" in message


def test_a_damaged_model_is_refused(m4n, tmp_path):
    data, model = tmp_path / "letters.data", tmp_path / "o.m4n"
    data.write_text(letters_text(random_words(9, 6)))
    m4n("train", data, "--model", model, expect=DONE)
    bytes_ = model.read_bytes()
    for damaged in (bytes_[:-9], bytes_[:200], bytes_.replace(b"sequence", b"sequencf"), bytes_ + b"\0"):
        model.write_bytes(damaged)
        for command in (["predict", model, data], ["eval", model, data], ["info", model], ["dump", model]):
            assert str(model) in m4n(*command, expect=FAILED).stderr
