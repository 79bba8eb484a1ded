"""What the tool says about itself, and what it answers to wrong usage."""

import pytest
from conftest import DONE, ROOT, WRONG_USAGE

COMMANDS = ["train", "predict", "eval", "info", "dump", "help"]


def test_alone_prints_usage_to_stderr(m4n):
    result = m4n(expect=WRONG_USAGE)
    assert result.stdout == ""
    assert "usage: m4n COMMAND" in result.stderr
    for command in COMMANDS:
        assert command in result.stderr


def test_help_goes_to_stdout(m4n):
    for arguments in (["--help"], ["help"], ["-h"]):
        result = m4n(*arguments, expect=DONE)
        assert result.stderr == "" and "usage: m4n COMMAND" in result.stdout


def test_every_command_has_help(m4n):
    listed = [line.split()[0] for line in m4n("help", expect=DONE).stdout.splitlines() if line.startswith("  ")]
    assert set(COMMANDS) <= set(listed)
    for command in listed:
        page = m4n("help", command, expect=DONE).stdout
        assert page.startswith(f"usage: m4n {command}")
        assert m4n(command, "--help", expect=DONE).stdout == page
        # Help wins over whatever else is wrong.
        assert m4n(command, "--nonsense", "--help", expect=DONE).stdout == page


def test_version(m4n):
    first, second = m4n("--version", expect=DONE).stdout.splitlines()
    name, version = first.split()
    assert name == "m4n" and version[0].isdigit() and second.startswith("instruction set ")


def test_reference_is_current(m4n):
    """docs/cli.md is the output of the tool; if this fails: m4n help --markdown > docs/cli.md"""
    assert (ROOT / "docs" / "cli.md").read_text() == m4n("help", "--markdown", expect=DONE).stdout


def refused(m4n, *arguments):
    result = m4n(*arguments, expect=WRONG_USAGE)
    assert result.stdout == ""
    return result.stderr


def test_unknown_command_lists_the_valid_ones(m4n):
    message = refused(m4n, "trian", "x.csv")
    assert (
        "'trian'" in message
        and "Did you mean 'train'?" in message
        and "predict, eval, cv, report, loss, info, dump" in message
    )
    assert "'zzzzz'" in refused(m4n, "help", "zzzzz")


def test_option_before_the_command(m4n):
    assert "after the command" in refused(m4n, "--json", "train")


def test_unknown_option_lists_the_valid_ones(m4n, small):
    message = refused(m4n, "train", small, "--lamda", "0.1")
    assert "'--lamda'" in message and "Did you mean '--lambda'?" in message and "--surrogate" in message
    assert "Did you mean '--lambda'?" in refused(m4n, "train", small, "--lam", "0.1")
    assert "'--modle'" in refused(m4n, "train", small, "--modle=x.m4n")
    assert "'-q'" in refused(m4n, "train", small, "-q")
    assert "'--marginal'" in refused(m4n, "predict", "m", "d", "--marginal")


@pytest.mark.parametrize(
    "option, value, valid",
    [
        ("--surrogate", "svm", "m4n, m3n, crf, qs"),
        ("--solver", "adam", "auto, prox, atoms, smooth, gbcfw, lbfgs"),
        ("--task", "ordnal", "Did you mean 'ordinal'?"),
        ("--loss", "hinge", "zero-one, absolute, squared"),
        ("--decode", "beam", "argmax, adversary, expected"),
        ("--format", "arff", "auto, csv, libsvm"),
        ("--standardize", "maybe", "yes or no"),
        ("--lambda", "0", "a positive number"),
        ("--lambda", "1e-31", "1e-30 to 1e30"),
        ("--smoothing", "1e-9", "1e-6 to 1e6"),
        ("--smoothing", "1e9", "1e-6 to 1e6"),
        ("--gamma", "0", "a positive number"),
        ("--gamma", "-1", "a positive number"),
        ("--features", "nystrm", "Did you mean 'nystrom'?"),
        ("--components", "0", "a whole number from 1"),
        ("--degree", "0", "a whole number from 1"),
        ("--lambda", "-1", "a positive number"),
        ("--lambda", "nan", "a positive number"),
        ("--lambda", "0.1abc", "a positive number"),
        ("--tol", "2", "between 0 and 1"),
        ("--epochs", "0", "a whole number from 1"),
        ("--epochs", "99999999999999999999", "a whole number from 1"),
        ("--threads", "0", "a whole number from 1"),
        ("--threads", "two", "a whole number from 1"),
        ("--seed", "-5", "a whole number from 0"),
        ("--bins", "1", "a whole number from 2"),
    ],
)
def test_bad_value_names_option_value_and_range(m4n, small, option, value, valid):
    message = refused(m4n, "train", small, option, value)
    assert option in message and f"'{value}'" in message and valid in message
    assert refused(m4n, "train", small, f"{option}={value}") == message


def test_missing_and_superfluous_values(m4n, small):
    assert "--epochs needs a value" in refused(m4n, "train", small, "--epochs")
    assert "--model needs a value" in refused(m4n, "train", small, "--model", "--json")
    assert "--model needs a value" in refused(m4n, "train", small, "--model=")
    assert "takes no value" in refused(m4n, "train", small, "--json=yes")
    for second in (["--tol", "1e-4"], ["--tol=1e-4"]):
        assert "--tol is given twice" in refused(m4n, "train", small, "--tol", "1e-3", *second)
    assert "--json is given twice" in refused(m4n, "train", small, "--json", "--json")


def test_missing_and_superfluous_arguments(m4n, small):
    assert "DATA is required" in refused(m4n, "train")
    assert "MODEL is required" in refused(m4n, "predict")
    assert "MODEL is required" in refused(m4n, "eval")
    assert "--seed requires --bootstrap" in refused(m4n, "eval", "x.m4n", small, "--seed", "1")
    assert "too many: 'other.csv'" in refused(m4n, "train", small, "other.csv")


@pytest.mark.parametrize(
    "options, reason",
    [
        (["--surrogate", "crf", "--smoothing", "1"], "--smoothing"),
        (["--surrogate", "m3n", "--decode", "adversary"], "adversary"),
        (["--decode", "expected"], "not unique"),
        (["--oracle", "spmp", "--solver", "prox"], "gbcfw"),
        (["--surrogate", "m3n", "--solver", "lbfgs"], "crf"),
        (["--surrogate", "qs", "--solver", "prox"], "closed form"),
        (["--step", "paper"], "--solver gbcfw"),
        (["--warm-start", "no"], "--oracle spmp"),
        (["--gamma", "0.1"], "--features rbf"),
        (["--features", "rbf", "--degree", "2"], "--features poly"),
        (["--features", "rbf", "--components", "9"], "nystrom"),
        (["--features", "rbf", "--landmarks", "uniform"], "nystrom"),
        (["--bins", "3", "--task", "multiclass"], "--bins"),
        (["--binning", "width"], "--bins"),
    ],
)
def test_meaningless_combinations(m4n, small, options, reason):
    # Refused before the data are read: the file does not even exist.
    assert reason in refused(m4n, "train", "nowhere.csv", *options)
