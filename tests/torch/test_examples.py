"""The examples of networks run, with sizes that take seconds, and learn."""

import importlib.util
import pathlib
import re
import sys

import pytest

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples"


@pytest.fixture
def run(monkeypatch, capsys):
    """The lines that an example prints, as {what comes before the first number: the percentages or costs}."""

    def of(name, *arguments):
        spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        monkeypatch.setattr(sys, "argv", [name, *map(str, arguments)])
        module.main()
        lines = capsys.readouterr().out.splitlines()
        return {line[: re.search(r"\d", line).start()].strip(): numbers(line) for line in lines}

    return of


def numbers(line):
    return [float(number) for number in re.findall(r"\d+\.\d+", line)]


def test_digits(run):
    found = run("torch_digits", "--epochs", 15, "--rows", 500)
    blind, *learned = (numbers[0] for numbers in found.values())
    assert len(learned) == 3 and max(learned) < 0.6 * blind


def test_matching(run):
    found = run("torch_matching", "--points", 6, "--steps", 100)
    learned, as_they_are, _ = (numbers[0] for numbers in found.values())
    assert learned < 0.7 * as_they_are


def test_tagger_on_a_text_of_its_own(run):
    ((wrong, usual),) = run("torch_tagger", "--epochs", 2, "--sentences", 200).values()
    assert wrong < 0.5 * usual


def test_tagger_reads_columns(run, tmp_path):
    text = "\n\n".join(["They PRP B-NP\ncan MD B-VP\nfish VB I-VP", "a DT B-NP\ncan NN I-NP"] * 20)
    (tmp_path / "text.txt").write_text(text)
    ((wrong, usual),) = run("torch_tagger", "--data", tmp_path / "text.txt", "--epochs", 15).values()
    assert wrong < usual
    (tmp_path / "short.txt").write_text("alone X\n")
    with pytest.raises(SystemExit):
        run("torch_tagger", "--data", tmp_path / "short.txt")
