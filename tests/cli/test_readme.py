"""Every command in the console blocks of these pages runs and prints what they show (numbers aside).

`python tests/cli/test_readme.py` writes the present output into them instead.
"""

import os
import pathlib
import re
import subprocess
import tempfile

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", ROOT / "docs" / "costs.md"]
TOOL = pathlib.Path(os.environ.get("M4N_BIN", ROOT / "build" / "release" / "m4n")).resolve()
BLOCK = re.compile(r"```console\n(.*?)```", re.DOTALL)


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
            env={**os.environ, "PATH": f"{TOOL.parent}:{os.environ['PATH']}"},
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


def without_numbers(text):
    """The last digits of a sum depend on the processor, seconds on everything, and the width of columns on both."""
    return re.sub(r" +", " ", re.sub(r"-?\b\d[\d.]*(e-?\d+)?", "#", text))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_shows_what_the_tool_prints(page):
    assert without_numbers(rendered(page)) == without_numbers(page.read_text())


if __name__ == "__main__":
    for page in PAGES:
        page.write_text(rendered(page))
