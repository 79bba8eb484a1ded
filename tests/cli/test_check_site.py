"""scripts/check-site finds links that lead nowhere and what pages would fetch from other hosts."""

import subprocess
import sys

import pytest
from conftest import ROOT

GOOD = '<h1 id="top">a</h1><a href="sub/b.html#part">b</a><a href="#top">up</a><a href="https://example.org">far</a>'


def check(folder, *markdown):
    command = [sys.executable, ROOT / "scripts" / "check-site", folder, *markdown]
    return subprocess.run(command, capture_output=True, text=True)


@pytest.fixture
def site(tmp_path):
    folder = tmp_path / "html"
    (folder / "sub").mkdir(parents=True)
    (folder / "a.html").write_text(GOOD)
    (folder / "sub" / "b.html").write_text('<p id="part">b</p><a href="../a.html?x=1#top">a</a>')
    return folder


def test_a_site_whose_links_are_right(site, tmp_path):
    page = tmp_path / "README.md"
    page.write_text("[a](docs/a.md#top), [this](README.md), [far](https://example.org/)")
    done = check(site, page)
    assert done.returncode == 0 and done.stderr == ""
    assert "2 pages, 5 links within the site; 1 to other hosts" in done.stdout
    assert "  https://example.org\n" in done.stdout


@pytest.mark.parametrize(
    "added, fault",
    [
        ('<a href="c.html">c</a>', "a.html: link c.html: there is no such file"),
        ('<a href="sub/b.html#no">b</a>', "a.html: link sub/b.html#no: the page has no such anchor"),
        ('<img src="c.png">', "a.html: link c.png: there is no such file"),
        ('<script src="https://example.org/x.js"></script>', "a.html: loads https://example.org/x.js, of another host"),
        ('<link rel="stylesheet" href="//example.org/x.css">', "a.html: loads //example.org/x.css, of another host"),
    ],
)
def test_what_is_wrong_with_a_page(site, added, fault):
    (site / "a.html").write_text(GOOD + added)
    done = check(site)
    assert done.returncode == 1 and done.stderr.startswith(fault) and done.stderr.count("\n") == 1


@pytest.mark.parametrize("link", ["docs/c.md", "docs/a.md#no", "LICENSE"])
def test_what_is_wrong_with_markdown(site, tmp_path, link):
    page = tmp_path / "README.md"
    page.write_text(f"[it]({link})")
    done = check(site, page)
    assert done.returncode == 1 and f"{page}: link {link}: " in done.stderr


def test_a_folder_without_pages_is_no_site(tmp_path):
    assert check(tmp_path).returncode == 1
