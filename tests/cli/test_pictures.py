"""The pictures of the docs: whole, readable on both backgrounds, and what scripts/pictures draws."""

import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

import pytest
from conftest import ROOT

PICTURES = ROOT / "docs" / "pictures"
# Those that take no time and whose numbers every machine has alike; the others train models.
QUICK = ["max-min-game", "gap-over-time", "speed", "data-flow"]
SVG = "{http://www.w3.org/2000/svg}"


def draw(m4n, *arguments):
    environment = os.environ | {"M4N_BIN": m4n.binary}
    command = [sys.executable, ROOT / "scripts" / "pictures", *arguments]
    return subprocess.run(command, capture_output=True, text=True, env=environment, timeout=60)


def test_the_committed_ones_are_drawn_again(m4n, tmp_path):
    result = draw(m4n, "--out", tmp_path, *QUICK)
    assert result.returncode == 0, result.stderr
    for name in QUICK:
        drawn, committed = ((folder / f"{name}.svg").read_text() for folder in (tmp_path, PICTURES))
        assert drawn == committed, f"{name}: run make pictures"


def test_an_unknown_name_is_refused(m4n, tmp_path):
    result = draw(m4n, "--out", tmp_path, "sunset")
    assert result.returncode == 2 and "sunset" in result.stderr and "data-flow" in result.stderr


@pytest.mark.parametrize("name", [*QUICK, "excess-risk", "label-noise"])
def test_a_picture_is_sound(name):
    text = (PICTURES / f"{name}.svg").read_text()
    root = ElementTree.fromstring(text)
    assert root.get("role") == "img" and len(text) < 60_000
    title, description = root.find(f"{SVG}title"), root.find(f"{SVG}desc")
    assert title.text and description.text
    assert root.get("aria-labelledby").split() == [title.get("id"), description.get("id")]
    # Nothing from elsewhere; colours for light and for dark.
    assert not re.search(r"href|url\(|@import|<script|<image", text)
    assert "prefers-color-scheme:dark" in text and "var(" not in text and 'class="paper"' in text
    # No text leaves the picture, whatever the font: letters are taken to be wide.
    width, height = map(float, root.get("viewBox").split()[2:])
    for words in root.iter(f"{SVG}text"):
        if words.get("x") is None:  # turned
            continue
        x, y, wide = float(words.get("x")), float(words.get("y")), 6.6 * len(words.text)
        left = x - wide * {"start": 0, "middle": 0.5, "end": 1}[words.get("text-anchor")]
        assert 0 <= left and left + wide <= width and 10 <= y <= height - 2, words.text


def test_the_docs_show_every_picture():
    shown = set()
    for page in [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")]:
        shown |= set(re.findall(r"pictures/([\w-]+)\.svg", page.read_text()))
    assert shown == {path.stem for path in PICTURES.glob("*.svg")}
