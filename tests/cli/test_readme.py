"""Every command in the console blocks of these pages runs and prints what they show, numbers too.

`python tests/cli/test_readme.py` writes the present output into them instead.

M4N_SIMD=scalar gives the same digits on every processor, but for the last ones of exponentials and logarithms. Seconds
are not compared.
"""

import os
import pathlib
import re
import subprocess
import tempfile

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", ROOT / "docs" / "tour.md", ROOT / "docs" / "costs.md"]
TOOL = pathlib.Path(os.environ.get("M4N_BIN", ROOT / "build" / "release" / "m4n")).resolve()
BLOCK = re.compile(r"```console\n(.*?)```", re.DOTALL)
NUMBER = re.compile(r"-?(?<![\w.])\d+(?:\.\d+)?(?:e[+-]?\d+)?(?![\w])")
SECONDS = re.compile(r"[\d.e-]+ s\b|^seconds +[\d.e-]+", re.MULTILINE)


def run_block(block, folder):
    """The block with the output of each of its commands, as run now in `folder`."""
    lines = []
    for command in [line[2:] for line in block.splitlines() if line.startswith("$ ")]:
        lines.append("$ " + command)
        if command.startswith("export PATH"):
            continue
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=folder,
            env={**os.environ, "M4N_SIMD": "scalar", "PATH": f"{TOOL.parent}:{os.environ['PATH']}"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=True,
        )
        lines += done.stdout.splitlines()
    return "\n".join(lines) + "\n"


def rendered(page):
    with tempfile.TemporaryDirectory() as folder:
        os.symlink(ROOT / "data", pathlib.Path(folder) / "data")
        return BLOCK.sub(lambda m: "```console\n" + run_block(m.group(1), folder) + "```", page.read_text())


def words_and_numbers(text):
    """The text without seconds, with a mark for every number and one space for several; and the numbers."""
    text = SECONDS.sub("seconds", text)
    return re.sub(r" +", " ", NUMBER.sub("#", text)), [float(number) for number in NUMBER.findall(text)]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_shows_what_the_tool_prints(page):
    words, numbers = words_and_numbers(page.read_text())
    words_now, numbers_now = words_and_numbers(rendered(page))
    assert words_now == words
    assert numbers_now == pytest.approx(numbers, rel=2e-3, abs=1e-9)


def words_and_coordinates(picture):
    text, number = picture.read_text(), r"-?\d+(?:\.\d+)?"
    return re.sub(number, "#", text), [float(found) for found in re.findall(number, text)]


def test_the_picture_of_the_surrogates_is_what_the_tool_draws(tmp_path):
    run_block("$ m4n loss zero-one --k 3 --out zero-one.svg > log\n", tmp_path)
    words, numbers = words_and_coordinates(ROOT / "docs" / "pictures" / "zero-one.svg")
    words_now, numbers_now = words_and_coordinates(tmp_path / "zero-one.svg")
    assert words_now == words
    assert numbers_now == pytest.approx(numbers, rel=2e-3, abs=0.5)


def test_a_wrong_number_is_seen():
    words, numbers = words_and_numbers("loss 0.25, 12 epochs, 0.1 s")
    assert (words, numbers) == ("loss #, # epochs, seconds", [0.25, 12])


if __name__ == "__main__":
    for page in PAGES:
        page.write_text(rendered(page))
