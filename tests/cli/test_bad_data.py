"""Bad data and bad files: exit code 1 and a message with the file, the line and the value."""

import gzip

import pytest
from conftest import DONE, FAILED, WRONG_USAGE, blobs, write_csv

GOOD = "x1,x2,label\n1,2,a\n2,1,b\n"


def complaint(m4n, tmp_path, text, *options, command="train"):
    path = tmp_path / "bad.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    result = m4n(command, path, *options, expect=FAILED)
    assert result.stdout == ""
    assert str(path) in result.stderr
    return result.stderr


def test_the_good_file_is_good(m4n, tmp_path):
    path = tmp_path / "good.csv"
    path.write_text(GOOD)
    m4n("train", path, expect=DONE)


@pytest.mark.parametrize(
    "text, words",
    [
        ("", ["empty"]),
        ("\n\n", ["blank"]),
        ("x1,x2,label\n", ["header", "no examples"]),
        ("x1,x2,label\n1,2,a\n1,2\n", ["line 3", "2 cells", "expected 3"]),
        ("x1,x2,label\n1,2,a\n1,2,3,b\n", ["line 3", "4 cells", "expected 3"]),
        ("x1,x2,label\n1,2,a\n1,two,b\n", ["line 3", "two", "number"]),
        ("x1,x2,label\n1,2,a\n1,2x,b\n", ["line 3", "2x"]),
        ("x1,x2,label\n1,nan,a\n1,2,b\n", ["line 2", "nan", "finite"]),
        ("x1,x2,label\n1,2,a\n-inf,2,b\n", ["line 3", "-inf", "finite"]),
        ("x1,x2,label\n1,2,a\n1e999,2,b\n", ["line 3", "1e999"]),
        ("x1,x2,label\n1,2,a\n,2,b\n", ["line 3", "missing"]),
        ("x1,x2,label\n1,2,a\n1,2,\n", ["line 3", "label"]),
        ("x1,x1,label\n1,2,a\n2,1,b\n", ["line 1", "x1"]),
        ("x1,x2,label\n1,2,a\n2,1,a\n", ["one class", "a"]),
        ("x1,x2,label\n1,2,a\n", ["one class"]),
        ("x1,x2,colour\n1,2,a\n2,1,b\n", ["colour", "label"]),
        ("1,2,0\n2,1,1\n", ["header"]),
        ("label\na\nb\n", ["line 1"]),
        (",x1,label\n0,1,a\n1,2,b\n", ["line 1", "pandas", "index=False"]),
        ("x1,x2,label\n1,True,a\n2,1,b\n", ["line 2", "'True'", "1 and 0"]),
        (b"x1,x2,label\n1,\x00\xff,a\n2,1,b\n", ["line 2"]),
    ],
)
def test_bad_csv(m4n, tmp_path, text, words):
    message = complaint(m4n, tmp_path, text)
    for word in words:
        assert word in message


@pytest.mark.parametrize(
    "text, words",
    [
        ("a 1:1 2:2\nb 2:1 1:3\n", ["line 2", "index 1 after 2"]),
        ("a 1:1\nb 0:1\n", ["line 2", "index 0"]),
        ("a 1:1\nb 1:x\n", ["line 2", "1:x"]),
        ("a 1:1\nb 1:nan\n", ["line 2", "1:nan"]),
        ("a 1:1\nb 200000000:1 \na 2:1\n", ["line 2", "index 200000000", "only 3 entries", "renumber"]),
    ],
)
def test_bad_libsvm(m4n, tmp_path, text, words):
    message = complaint(m4n, tmp_path, text, "--format", "libsvm")
    for word in words:
        assert word in message


def test_missing_file(m4n, tmp_path):
    path = tmp_path / "absent.csv"
    for arguments in (["train", path], ["info", path], ["dump", path], ["predict", path, path], ["eval", path, path]):
        message = m4n(*arguments, expect=FAILED).stderr
        assert str(path) in message and "No such file" in message


def test_a_directory_is_no_file(m4n, tmp_path):
    for command in ("train", "info"):
        assert str(tmp_path) in m4n(command, tmp_path, expect=FAILED).stderr


def test_truncated_gzip(m4n, tmp_path):
    assert "gzip" in complaint(m4n, tmp_path, gzip.compress(GOOD.encode() * 50)[:-9])


def test_constant_columns_are_fine(m4n, tmp_path):
    path = tmp_path / "constant.csv"
    path.write_text("x1,x2,label\n1,7,a\n2,7,b\n1.5,7,a\n2.5,7,b\n")
    report = m4n.train(path, tmp_path / "m.m4n")
    assert report["converged"] and report["train_loss"] == 0


def test_bad_weights_and_costs(m4n, tmp_path, small):
    costs = tmp_path / "costs.csv"
    costs.write_text("0,1\n1,0\n")
    message = m4n("train", small, "--loss", costs, expect=FAILED).stderr
    assert str(costs) in message
    for option in ("--loss", "--class-weight"):
        absent = tmp_path / "absent.csv"
        message = m4n("train", small, option, absent, expect=FAILED).stderr
        assert option in message and str(absent) in message and "No such file" in message
    message = complaint(m4n, tmp_path, "x1,w,label\n1,1,a\n2,-3,b\n", "--weights", "w")
    assert "line 3" in message and "-3" in message
    assert "'absent'" in m4n("train", small, "--weights", "absent", expect=FAILED).stderr


def test_one_column_in_two_roles(m4n, small):
    m4n("train", small, "--target", "x1", "--weights", "x1", expect=WRONG_USAGE)


def test_a_lone_label_is_said(m4n, tmp_path):
    """It may be a slip, and would be a class of its own; of many the first few are named."""
    path = tmp_path / "lone.svm"
    path.write_text("1 1:1\n2 1:2\n1 1:1.5\n2 1:3\nfoo 1:4\n1 1:0.5\n")
    said = m4n("train", path, expect=DONE).stderr
    assert "1 class has a single example" in said and "lone.svm: line 5: 'foo'" in said
    path = tmp_path / "lone.csv"
    rows = [f"{x},{label}" for x, label in enumerate(["a", "b"] * 3 + list("vwxyz"))]
    path.write_text("x,label\n" + "\n".join(rows) + "\n")
    said = m4n("train", path, expect=DONE).stderr
    assert "5 classes have a single example" in said and "lone.csv: line 8: 'v'" in said and "and 2 more" in said
    # Where it is so of all classes, nothing is odd about one.
    path.write_text("x,label\n1,a\n2,b\n3,c\n")
    assert "single example" not in m4n("train", path, expect=DONE).stderr


def test_unordered_grades(m4n, small):
    message = m4n("train", small, "--task", "ordinal", expect=FAILED).stderr
    assert "ant" in message and "--task multiclass" in message


@pytest.mark.parametrize("loss", ["absolute", "squared"])
def test_losses_of_grades_want_numbers(m4n, small, loss):
    message = m4n("train", small, "--loss", loss, expect=FAILED).stderr
    assert loss in message and "'ant'" in message and "order of words" in message


def test_costs_beyond_all_measure(m4n, small, tmp_path):
    costs = tmp_path / "costs.csv"
    costs.write_text("0,1,1\n1,0,1e31\n1,1,0\n")
    message = m4n("train", small, "--loss", costs, expect=FAILED).stderr
    assert str(costs) in message and "row 'bee'" in message and "column 'cat'" in message


def test_an_index_beyond_the_model(m4n, tmp_path):
    data, other = tmp_path / "data.svm", tmp_path / "other.svm"
    data.write_text("a 1:1 2:1\nb 1:-1\n")
    other.write_text("a 1:1\nb 3:1\n")
    m4n.train(data, tmp_path / "m.m4n")
    message = m4n("predict", tmp_path / "m.m4n", other, expect=FAILED).stderr
    assert (
        "line 2" in message and "index 3" in message and "2 features" in message and "leave such entries out" in message
    )


def test_scores_that_overflow(m4n, tmp_path):
    x, y = blobs(40, 2, 2, seed=4)
    data = write_csv(tmp_path / "data.csv", 1e-6 * x, y)  # standardised, so that 1e308 becomes 1e314
    m4n.train(data, tmp_path / "m.m4n")
    lines = data.read_text().splitlines()
    huge = tmp_path / "huge.csv"
    huge.write_text("\n".join([*lines[:3], "1e308,1,0", *lines[3:]]) + "\n")
    for command in ("predict", "eval"):
        result = m4n(command, tmp_path / "m.m4n", huge, expect=FAILED)
        assert (
            f"{huge}: line 4" in result.stderr
            and "beyond what can be computed with" in result.stderr
            and result.stdout == ""
        )


def test_feature_mismatch(m4n, model, tmp_path):
    x, y = blobs(5, 3, 2, seed=3)
    short = write_csv(tmp_path / "short.csv", x, y)
    message = m4n("predict", model, short, expect=FAILED).stderr
    assert str(short) in message and "x4" in message
    x, y = blobs(5, 5, 2, seed=3)
    long = write_csv(tmp_path / "long.csv", x, y)
    message = m4n("predict", model, long, expect=FAILED).stderr
    assert str(long) in message and "x5" in message


def test_truncated_model(m4n, model, tmp_path):
    whole = model.read_bytes()
    cut = tmp_path / "cut.m4n"
    for size in sorted({0, 1, 7, 16, 64, len(whole) // 2, len(whole) - 1}):
        cut.write_bytes(whole[:size])
        assert str(cut) in m4n("info", cut, expect=FAILED).stderr
    cut.write_bytes(whole + b"x")
    assert str(cut) in m4n("info", cut, expect=FAILED).stderr


def test_any_flipped_byte_is_noticed(m4n, model, tmp_path):
    whole = model.read_bytes()
    broken = tmp_path / "broken.m4n"
    for position in range(0, len(whole), max(1, len(whole) // 60)):
        flipped = bytearray(whole)
        flipped[position] ^= 0x10
        broken.write_bytes(flipped)
        result = m4n("info", broken, expect=FAILED)
        assert str(broken) in result.stderr and result.stdout == "", position


def test_data_is_no_model(m4n, small):
    assert str(small) in m4n("info", small, expect=FAILED).stderr
