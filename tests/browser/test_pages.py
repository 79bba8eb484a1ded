"""Pages in a real browser: nothing fails, nothing is fetched, nothing is wider than a telephone, axe finds nothing.

`make test-browser` runs them, and leaves pictures of every page in build/browser for people to look at.
"""

import os
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
from browser import Browser, axe_script  # noqa: E402
from conftest import DONE, ROOT, Tool  # noqa: E402
from test_report import ODD, TASKS, generated, odd_data  # noqa: E402

PICTURES = pathlib.Path(os.environ.get("M4N_PICTURES", ROOT / "build" / "browser"))


@pytest.fixture(scope="session")
def m4n():
    return Tool()


@pytest.fixture(scope="session")
def browser():
    one = Browser()
    yield one
    one.close()


def check(browser, page):
    """The page in both widths and both colours."""
    PICTURES.mkdir(parents=True, exist_ok=True)
    for width in (360, 1280):
        for dark in (False, True):
            browser.show(page, width, dark)
            assert browser.run("return document.documentElement.scrollWidth") <= width
            assert browser.requests() == [page.resolve().as_uri()]
            found = browser.run(axe_script() + "\nconst done = arguments[0];"
                                "axe.run().then(r => done(r.violations.map(v => [v.id, v.nodes.map(n => n.html).slice(0, 3)])))")  # fmt: skip
            assert found == []
            browser.picture(PICTURES / f"{page.stem}-{width}-{'dark' if dark else 'light'}.png")
            assert [entry["message"] for entry in browser.messages("browser")] == []


@pytest.mark.parametrize("task", TASKS)
def test_every_structure(m4n, browser, tmp_path, task):
    data, model = generated(m4n, task, tmp_path)
    page = tmp_path / f"{task}.html"
    m4n("report", model, data, "--log", tmp_path / "log.jsonl", "--out", page, expect=DONE)
    check(browser, page)
    bare = tmp_path / f"{task}-alone.html"
    m4n("report", model, "--out", bare, expect=DONE)
    check(browser, bare)


@pytest.mark.parametrize("k", [2, 8, 200])
def test_odd_names(m4n, browser, tmp_path, k):
    data, model, page = tmp_path / "odd.csv", tmp_path / "odd.m4n", tmp_path / f"odd-{k}.html"
    names = [f"{ODD[t % len(ODD)]} {t}" for t in range(max(k, 4))]
    odd_data(data, names, n=10 * len(names))
    if k == 2:
        lines = data.read_text().splitlines()
        kept = [line for line in lines[1:] if line.endswith((' 0"', ' 1"'))]
        data.write_text("\n".join([lines[0], *kept]) + "\n")
    m4n("train", data, "--id", "id", "--surrogate", "crf", "--tol", 0.05, "--model", model, expect=DONE)
    m4n("report", model, data, "--id", "id", "--out", page, expect=DONE)
    check(browser, page)
    assert browser.run("return document.querySelectorAll('main script').length") == 0


def test_cross_validation_and_loss(m4n, browser, tmp_path):
    page = tmp_path / "cv.html"
    m4n("cv", ROOT / "data" / "iris.csv", "--surrogates", "auto", "--splits", 4, "--report", page,
        "--model", tmp_path / "m.m4n", expect=DONE)  # fmt: skip
    check(browser, page)
    page = tmp_path / "loss.html"
    m4n("loss", "zero-one", "--k", 4, "--out", page, expect=DONE)
    check(browser, page)


def test_the_demo(m4n, browser, tmp_path):
    page = tmp_path / "demo.html"
    m4n("demo", "--out", page, expect=DONE)
    check(browser, page)


def test_tables_are_sorted_by_a_click(m4n, browser, tmp_path):
    data, model = generated(m4n, "multiclass", tmp_path, 200)
    page = tmp_path / "sorted.html"
    m4n("report", model, data, "--out", page, expect=DONE)
    browser.show(page)
    column = """const table = [...document.querySelectorAll('table')].find(t => t.tHead.textContent.includes('precision'));
                const button = [...table.querySelectorAll('th button')].find(b => b.textContent === 'recall');
                button.click(); %s
                return [...table.tBodies[0].rows].map(r => parseFloat(r.cells[5].textContent))"""
    once, twice = browser.run(column % ""), browser.run(column % "")
    assert once == sorted(once, reverse=True) and twice == sorted(once) and len(once) > 2
