"""Every command in README's console blocks runs and prints what README shows (numbers aside).

`python tests/cli/test_readme.py` writes the present output into README.md instead.
"""

import os
import pathlib
import re
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
README = ROOT / "README.md"
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


def rendered():
    with tempfile.TemporaryDirectory() as folder:
        os.symlink(ROOT / "data", pathlib.Path(folder) / "data")
        return BLOCK.sub(lambda m: "```console\n" + run_block(m.group(1), folder) + "```", README.read_text())


def without_numbers(text):
    """The last digits of a sum depend on the processor, seconds on everything, and the width of columns on both."""
    return re.sub(r" +", " ", re.sub(r"-?\b\d[\d.]*(e-?\d+)?", "#", text))


def test_readme_shows_what_the_tool_prints():
    assert without_numbers(rendered()) == without_numbers(README.read_text())


if __name__ == "__main__":
    README.write_text(rendered())
