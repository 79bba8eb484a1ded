"""Bad rankings and matchings: the message names the file, the line, what was found and what was expected."""

import pytest
from conftest import DONE, FAILED, WRONG_USAGE
from permutation_files import matching_text, matchings, rankings, write_rankings

MATCHING = "matching 2 2 1\n1 1 0.5\n1 2 1\n2 1 -1\n2 2 0\n"
RANKING = "x,r1,r2,r3\n1,1,2,3\n2,3,2,1\n-1,2,1,3\n"


@pytest.fixture
def complaint(m4n, tmp_path):
    """Trains on a text, which must fail, and leaves no model; the message."""

    def run(text, *options, code=FAILED, names_the_file=True):
        data, model = tmp_path / "bad.data", tmp_path / "bad.m4n"
        data.write_text(text)
        result = m4n("train", data, "--model", model, *options, expect=code)
        assert not model.exists() and result.stdout == ""
        assert not names_the_file or str(data) in result.stderr
        return result.stderr

    return run


@pytest.mark.parametrize(
    "text, words",
    [
        ("x,r1,r2,r3\n1,1,2,3\n1,1,2,2\n", ["line 3", "r2 and r3", "rank 2", "break the tie"]),
        ("x,r1,r2,r3\n1,1,2,3\n1,1,3,1\n", ["line 3", "r1 and r3", "rank 1"]),
        ("x,r1,r2,r3\n1,1,2,\n", ["line 2", "'r3'", "missing rank", "leave the example out"]),
        ("x,r1,r2,r3\n1,0,1,2\n", ["line 2", "'r1'", "found 0", "from 1 (the best) to 3"]),
        ("x,r1,r2,r3\n1,1,2,4\n", ["line 2", "'r3'", "found 4", "to 3"]),
        ("x,r1,r2,r3\n1,1,1.5,3\n", ["line 2", "'r2'", "found 1.5"]),
        ("x,r1,r2,r3\n1,1,-2,3\n", ["line 2", "'r2'", "found -2"]),
        ("x,r1,r2,r3\n1,1,two,3\n", ["line 2", "'r2'", "'two'", "number"]),
        ("x,r1,r2,r3\n1,1,nan,3\n", ["line 2", "'r2'", "'nan'", "number"]),
        ("x,r1,r2,r3\n1,1,1e300,3\n", ["line 2", "'r2'", "1e+300"]),
        ("x,r1,r2,r3\n1,1,2,3\n1,1,2\n", ["line 3", "3 cells", "expected 4"]),
        ("x,r1,r2,r3\n1,1,2,3,4\n", ["line 2", "5 cells", "expected 4"]),
        ("x,r1,r3\n1,1,2\n", ["line 1", "r2 is not among them"]),
        ("x,r2,r3\n1,1,2\n", ["line 1", "r1 is not among them"]),
        ("x,r1\n1,1\n", ["line 1", "only one output column", "at least two"]),
        ("x,y\n1,1\n", ["line 1", "no output columns", "'x', 'y'"]),
        ("r1,r2\n1,2\n", ["line 1", "no feature columns"]),
        ("x,r1,r2,r1\n1,1,2,1\n", ["line 1", "'r1'"]),
        ("x,r1,r2\nnan,1,2\n", ["line 2", "'x'", "'nan'"]),
        ("x,r1,r2\n,1,2\n", ["line 2", "'x'", "missing value"]),
        ("x,r1,r2\n", ["only a header"]),
        ("", ["empty"]),
        ("1 1:2\n2 1:3\n", ["no ranks", "r1, r2"]),
        (
            "x," + ",".join(f"r{j}" for j in range(1, 1002)) + "\n1," + ",".join(map(str, range(1, 1002))) + "\n",
            ["1001 items"],
        ),
    ],
    ids=lambda value: None if len(value) > 50 else repr(value),
)
def test_bad_rankings(complaint, text, words):
    message = complaint(text, "--task", "ranking", names_the_file="1001 items" not in words)
    assert all(word in message for word in words), message
    assert len(message) < 1000


@pytest.mark.parametrize(
    "text, words",
    [
        (MATCHING.replace("1 2 1\n", "1 2 nan\n"), ["line 3", "pair 1 2", "'nan'"]),
        (MATCHING.replace("1 2 1\n", "1 2 1e308\n"), ["line 3", "pair 1 2", "'1e308'", "1e+12"]),
        (MATCHING.replace("1 2 1\n", "1 2 x\n"), ["line 3", "pair 1 2", "'x'"]),
        (MATCHING.replace("1 2 1\n", "1 2 1 4\n"), ["line 3", "pair 1 2", "2 features", "expected 1"]),
        (MATCHING.replace("1 2 1\n", "1 2\n"), ["line 3", "pair 1 2", "0 features", "expected 1"]),
        (MATCHING.replace("1 2 1\n2 1 -1\n", "2 1 -1\n1 2 1\n"), ["line 3", "found '2 1'", "expected pair 1 2"]),
        (MATCHING[:-6], ["line 1", "3 of 4 pairs", "cut off"]),
        (MATCHING[:-6] + MATCHING, ["line 5", "found 'matching'", "expected pair 2 2"]),
        (MATCHING + "3 1 1\n", ["line 6", "found '3'", "all its 4 pairs"]),
        (MATCHING.replace("2 2 1", "2"), ["line 1", "no partners", "leave the example out"]),
        (MATCHING + MATCHING.replace("2 2 1", "2"), ["line 6", "no partners"]),
        (MATCHING.replace("2 2 1", "2 2 2"), ["line 1", "points 1 and 2", "same partner 2"]),
        (MATCHING.replace("2 2 1", "2 3 1"), ["line 1", "point 1", "'3'", "from 1 to 2"]),
        (MATCHING.replace("2 2 1", "2 0 1"), ["line 1", "point 1", "'0'", "from 1 to 2"]),
        (MATCHING.replace("2 2 1", "2 1.5 1"), ["line 1", "point 1", "'1.5'"]),
        (MATCHING.replace("2 2 1", "2 1"), ["line 1", "1 partner", "expected 2"]),
        ("matching 0\n", ["line 1", "'0'", "from 1 to 10000"]),
        ("matching 99999 1\n", ["line 1", "'99999'", "from 1 to 10000"]),
        ("matching -1\n", ["line 1", "'-1'"]),
        ("matching 1 1\n1 1\n", ["line 2", "no features"]),
        ("features a a\n" + MATCHING, ["line 1", "'a' occurs twice"]),
        ("features a b\n" + MATCHING, ["line 3", "1 feature", "expected 2"]),
        ("# nothing\n\n", ["no matchings"]),
        ("", ["no matchings"]),
        (RANKING, ["line 1", "'x,r1,r2,r3'", "matching M"]),
    ],
)
def test_bad_matchings(complaint, text, words):
    message = complaint(text, "--task", "matching")
    assert all(word in message for word in words), message


def test_sums_over_all_permutations_have_a_limit(m4n, complaint, tmp_path):
    x, positions = rankings(4, 2, 17)
    text = write_rankings(tmp_path / "many.csv", x, positions).read_text()
    for data in (text, matching_text(matchings([17], 2))):
        message = complaint(data, "--surrogate", "crf", code=WRONG_USAGE, names_the_file=False)
        assert "up to 16 items" in message and "17" in message and "m3n" in message
    small, large, model = tmp_path / "small.txt", tmp_path / "large.txt", tmp_path / "m.m4n"
    small.write_text(matching_text(matchings([3, 2], 2)))
    large.write_text(matching_text(matchings([2, 17], 2)))
    m4n("train", small, "--surrogate", "crf", "--model", model, expect=DONE)
    for command in (["predict", model, large], ["eval", model, large], ["predict", model, large, "--marginals"]):
        message = m4n(*command, expect=FAILED).stderr
        assert str(large) in message and "matching 2" in message and "17" in message and "16" in message
    # The best permutation has no such limit.
    m4n("train", small, "--surrogate", "crf", "--decode", "argmax", "--model", model, expect=DONE)
    assert len(m4n.predict(model, large)) == 19
    result = m4n(
        "cv",
        tmp_path / "many.csv",
        "--surrogates",
        "auto",
        "--splits",
        2,
        "--lambdas",
        "1",
        "--extend",
        "no",
        "--epochs",
        2,
    )
    assert result.returncode == DONE and "crf is left out" in result.stderr


@pytest.mark.parametrize(
    "options, words",
    [
        (["--loss", "kendall"], ["kendall", "NP-hard", "metrics of eval", "footrule or spearman"]),
        (["--loss", "precision@3"], ["precision@3", "precision@1 to precision@2"]),
        (["--loss", "precision@0"], ["precision@0", "precision@K"]),
        (["--loss", "precision@x"], ["precision@x", "precision@K"]),
        (["--loss", "nonsense"], ["nonsense", "hamming", "footrule", "spearman", "dcg", "precision@K"]),
        (["--loss", "zero-one"], ["hamming"]),
        (["--loss", "absolute"], ["footrule"]),
        (["--loss", "squared"], ["spearman"]),
        (["--smoothing", "1"], ["--smoothing"]),
        (["--bins", "3"], ["--bins"]),
        (["--target", "r1"], ["--target"]),
        (["--class-weight", "balanced"], ["--class-weight"]),
        (["--template", "pos"], ["--template"]),
        (["--decode", "expected"], ["--surrogate crf"]),
        (["--decode", "viterbi"], ["--task sequence"]),
        (["--surrogate", "m3n", "--decode", "adversary"], ["m3n"]),
        (["--surrogate", "qs", "--decode", "expected"], ["argmax"]),
        (["--surrogate", "qs", "--solver", "prox"], ["closed form"]),
        (["--surrogate", "crf", "--solver", "atoms"], ["lbfgs"]),
        (["--solver", "prox"], ["atoms"]),
        (["--solver", "lbfgs"], ["atoms"]),
        (["--solver", "gbcfw"], ["--oracle spmp"]),
        (["--surrogate", "m3n", "--oracle", "spmp"], ["spmp"]),
        (["--oracle", "spmp", "--warm-start", "no"], ["--warm-start"]),
        (["--oracle", "spmp", "--oracle-iterations", "5x"], ["--task sequence"]),
        (["--gamma", "1"], ["--gamma"]),
        (["--format", "matching"], ["--task matching"]),
        (["--format", "conll"], ["--task sequence"]),
    ],
    ids=lambda value: " ".join(value),
)
def test_options_that_mean_nothing_for_rankings(complaint, options, words):
    message = complaint(RANKING, "--task", "ranking", *options, code=WRONG_USAGE, names_the_file=False)
    assert all(word in message for word in words), message


@pytest.mark.parametrize(
    "options, word",
    [
        (["--loss", "footrule"], "--task ranking"),
        (["--loss", "precision@1"], "--task ranking"),
        (["--loss", "kendall"], "--task ranking"),
        (["--features", "rbf"], "--features"),
        (["--weights", "w"], "--weights"),
        (["--id", "w"], "--id"),
        (["--target", "w"], "--target"),
        (["--format", "csv"], "--format csv"),
        (["--smoothing", "1"], "--smoothing"),
        (["--surrogate", "m3n", "--decode", "expected"], "m3n"),
    ],
    ids=lambda value: value if isinstance(value, str) else " ".join(value),
)
def test_options_that_mean_nothing_for_matchings(complaint, options, word):
    assert word in complaint(MATCHING, "--task", "matching", *options, code=WRONG_USAGE, names_the_file=False)


@pytest.mark.parametrize(
    "text, words",
    [
        ("1,2\n", ["line 1", "2 cells", "3 items"]),
        ("1,2,3\n4,5,6\n", ["2 rows", "3 items"]),
        ("1,2,nan\n", ["line 1", "column 3", "'nan'"]),
        ("r1,r3,r2\n1,2,3\n", ["line 1", "'r1'"]),
        ("1,-2,3\n", ["-2", "0 or more"]),
        ("1,1e308,3\n", ["1e+308"]),
        ("0,1,1\n1,5,1\n1,1,0\n", ["wrong permutation", "diagonal"]),
        ("0,0,0\n", ["cost the same"]),
        ("0,0,0\n0,0,0\n0,0,0\n", ["cost the same"]),
        ("0,-1,-2\n1,0,-1\n2,1,0\n", ["cost the same"]),
        ("", ["0 rows"]),
    ],
)
def test_bad_numbers_of_a_loss(complaint, tmp_path, text, words):
    costs = tmp_path / "costs.csv"
    costs.write_text(text)
    message = complaint(RANKING, "--loss", costs, names_the_file=False)
    assert str(costs) in message and all(word in message for word in words), message


def test_a_loss_file_that_is_not_there_or_makes_no_sense_for_matchings(complaint, tmp_path):
    absent = tmp_path / "absent.csv"
    assert str(absent) in complaint(RANKING, "--loss", absent, names_the_file=False)
    absent.write_text("0,1\n1,0\n")
    assert "only hamming" in complaint(MATCHING, "--loss", absent, code=WRONG_USAGE, names_the_file=False)


def test_models_of_other_tasks_sizes_and_features(m4n, tmp_path, small):
    data = {
        "three": RANKING,
        "two": "x,r1,r2\n1,1,2\n2,2,1\n",
        "wide": "x,z,r1,r2,r3\n1,1,1,2,3\n2,2,3,2,1\n",
        "pairs": MATCHING,
        "named": "features a\n" + MATCHING,
        "two_features": matching_text(matchings([2, 3], 2)),
        "unknown": MATCHING.replace("2 2 1", "2"),
        "classes": small.read_text(),
    }
    paths, models = {}, {}
    for name, text in data.items():
        paths[name], models[name] = tmp_path / f"{name}.data", tmp_path / f"{name}.m4n"
        paths[name].write_text(text)
        if name != "unknown":
            m4n("train", paths[name], "--model", models[name], expect=DONE)

    def refused(command, model, name, *words):
        message = m4n(command, models[model], paths[name], expect=FAILED).stderr
        assert str(paths[name]) in message and "line 1" in message and all(word in message for word in words), message

    for command in ("predict", "eval"):
        for model, others in {
            "three": ["pairs", "classes"],
            "pairs": ["three", "classes"],
            "classes": ["three", "pairs"],
        }.items():
            for other in others:
                refused(command, model, other)
        refused(command, "three", "wide", "'z'")
        refused(command, "wide", "three", "'z'")
        message = m4n(command, models["pairs"], paths["two_features"], expect=FAILED).stderr
        assert str(paths["two_features"]) in message and "line 2" in message and "expected 1 as in training" in message
    refused("eval", "three", "two", "2 output columns", "the model has 3")
    refused("eval", "two", "three", "3 output columns", "the model has 2")
    refused("eval", "pairs", "unknown", "no partners")
    m4n("predict", models["two"], paths["three"], expect=DONE)  # its ranks are left alone
    m4n("predict", models["pairs"], paths["named"], expect=DONE)
    paths["named"].write_text("features b\n" + MATCHING)
    refused("predict", "named", "named", "no feature 'a'")


@pytest.mark.parametrize("kind", ["ranking", "matching"])
def test_options_of_predict_and_eval(m4n, tmp_path, kind):
    data, model = tmp_path / "data", tmp_path / "m.m4n"
    data.write_text(RANKING if kind == "ranking" else MATCHING)
    m4n("train", data, "--model", model, expect=DONE)
    refused = [["--marginals"], ["--k-best", 2], ["--target", "r1"], ["--format", "conll"]]
    refused += (
        [["--format", "matching"]] if kind == "ranking" else [["--id", "x"], ["--weights", "x"], ["--format", "csv"]]
    )
    for options in refused:
        message = m4n("predict", model, data, *options, expect=WRONG_USAGE).stderr
        assert options[0] in message
    for options in (
        [["--target", "r1"]] if kind == "ranking" else [["--target", "a"], ["--weights", "a"], ["--format", "libsvm"]]
    ):
        assert options[0] in m4n("eval", model, data, *options, expect=WRONG_USAGE).stderr
    huge = data.read_text().replace("\n2,", "\n1e308,").replace("1 2 1\n", "1 2 1e300\n")
    data.write_text(huge)
    for command in ("predict", "eval"):
        result = m4n(command, model, data)
        assert result.returncode in (DONE, FAILED) and "nan" not in result.stdout
    missing = tmp_path / "no" / "out.csv"
    assert str(missing) in m4n("predict", model, data, "--out", missing, expect=FAILED).stderr


def test_a_rank_is_nothing_else(m4n, complaint, tmp_path):
    for option in ("--id", "--weights"):
        assert "'r1' is one of the output columns" in complaint(RANKING, option, "r1", code=WRONG_USAGE)
        assert "two of" in complaint(RANKING, "--id", "x", "--weights", "x", code=WRONG_USAGE)
    data = tmp_path / "data"
    data.write_text(RANKING)
    assert "'r2' is one of the output columns" in m4n("cv", data, "--folds", "r2", expect=WRONG_USAGE).stderr
    # A label beside the ranks would give them away.
    data.write_text("label,x,r1,r2\na,1,1,2\nb,2,2,1\na,2,1,2\n")
    result = m4n("train", data, "--task", "ranking", "--model", tmp_path / "m.m4n", expect=DONE)
    assert "left out" in result.stderr and "'label'" in result.stderr and "''" not in result.stderr
    assert {row["feature"] for row in m4n.json("dump", tmp_path / "m.m4n")["weights"]} <= {"x", "(bias)"}


def test_folds_of_matchings_have_no_column(m4n, tmp_path):
    data = tmp_path / "data"
    data.write_text(MATCHING)
    assert "--folds" in m4n("cv", data, "--folds", "part", expect=WRONG_USAGE).stderr
    data.write_text(RANKING)
    assert "'part'" in m4n("cv", data, "--folds", "part", expect=FAILED).stderr


@pytest.mark.parametrize("text", [RANKING, MATCHING], ids=["ranking", "matching"])
def test_a_damaged_model_is_refused(m4n, tmp_path, text):
    data, model = tmp_path / "data", tmp_path / "m.m4n"
    data.write_text(text)
    m4n("train", data, "--model", model, expect=DONE)
    whole = model.read_bytes()
    for damaged in (whole[:-9], whole[:200], whole.replace(b"permutation", b"permutatiom"), whole + b"\0", b""):
        model.write_bytes(damaged)
        for command in (["predict", model, data], ["eval", model, data], ["info", model], ["dump", model]):
            assert str(model) in m4n(*command, expect=FAILED).stderr
