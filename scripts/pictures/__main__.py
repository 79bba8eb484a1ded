"""Draws the pictures of docs/pictures, byte for byte the same each time.

    python3 scripts/pictures [--out FOLDER] [NAME ..]

What is computed comes from the tool (M4N_BIN, or build/release/m4n), what was measured from docs/pictures/data.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import computed
import diagram
import measured
import svg

ROOT = pathlib.Path(__file__).resolve().parents[2]


class Tool:
    """m4n on one thread."""

    def __init__(self, folder):
        self.binary = os.environ.get("M4N_BIN", str(ROOT / "build" / "release" / "m4n"))
        self.folder = folder
        if not pathlib.Path(self.binary).exists():
            sys.exit(f"pictures: {self.binary} is missing; run: make build")

    def __call__(self, *arguments):
        return subprocess.run([self.binary, *map(str, arguments)], check=True, text=True, stdout=subprocess.PIPE).stdout

    def json(self, command, *arguments):
        quiet = ("--quiet",) if command == "train" else ()
        return json.loads(self(command, *arguments, *quiet, "--json", "--threads", 1))

    def picture_of_a_loss(self):
        out = self.folder / "loss.svg"
        self("loss", "zero-one", "--k", 3, "--out", out)
        return out.read_text()


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--out", type=pathlib.Path, default=ROOT / "docs" / "pictures")
    arguments.add_argument("names", nargs="*", metavar="NAME", help="only these")
    asked = arguments.parse_args()
    data = ROOT / "docs" / "pictures" / "data"
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        m4n = Tool(folder)
        style = svg.style(m4n)
        rooms = sorted(path.name for path in (ROOT / "src" / "structures").iterdir() if path.is_dir())
        pictures = {
            "excess-risk": lambda: computed.excess_risk(m4n, style),
            "label-noise": lambda: computed.label_noise(m4n, style, folder),
            "max-min-game": lambda: computed.max_min_game(style),
            "zero-one": m4n.picture_of_a_loss,
            "gap-over-time": lambda: measured.gap_over_time(data, style),
            "speed": lambda: measured.speed_beside_peers(data, style),
            "data-flow": lambda: diagram.data_flow(style, rooms),
        }
        unknown = set(asked.names) - set(pictures)
        if unknown:
            arguments.error(f"no picture {', '.join(sorted(unknown))}; there are {', '.join(pictures)}")
        for name in asked.names or pictures:
            (asked.out / f"{name}.svg").write_text(pictures[name]())


if __name__ == "__main__":
    main()
