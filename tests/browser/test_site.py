"""The site of the documentation in a real browser, at the widths of a telephone, a tablet and a screen.

`make docs` builds it; without it there is nothing to look at. Pictures of the pages go to build/browser.
"""

import pytest
from browser import Browser, axe_script
from test_pages import PICTURES, ROOT

SITE = ROOT / "build" / "docs" / "html"
PAGES = [
    "index",
    "tour",
    "math",
    "costs",
    "reproduce",
    "guide/sequences",
    "gallery/index",
    "gallery/plot_costs",
    "api/python",
    "api/cpp",
    "api/generated/m4n.MaxMinClassifier",
    "search",
]

pytestmark = pytest.mark.skipif(not SITE.exists(), reason="there is no site; make docs builds it")


@pytest.fixture(scope="module")
def browser():
    one = Browser()
    yield one
    one.close()


# Of the theme: its search button is called "Search" aloud and "Search Ctrl+K" in print; the arrows that unfold parts of
# its table of contents have no name (the link beside them has).
OF_THE_THEME = {"label-content-name-mismatch", "summary-name"}


@pytest.mark.parametrize("width, dark", [(360, False), (768, False), (1280, False), (1280, True)])
@pytest.mark.parametrize("name", PAGES)
def test_page(browser, name, width, dark):
    browser.show(SITE / f"{name}.html", width, dark)
    assert browser.run("return document.documentElement.scrollWidth") <= width
    assert [address for address in browser.requests() if not address.startswith(("file://", "data:"))] == []
    assert [entry["message"] for entry in browser.messages("browser") if entry["level"] == "SEVERE"] == []
    found = browser.run(axe_script() + """
        const done = arguments[0];
        document.getAnimations().forEach(one => one.finish());
        axe.run({preload: false}).then(r => done(
          r.violations.map(v => [v.id, v.impact, v.nodes.slice(0, 3).map(n => n.html + n.failureSummary)])))""")  # fmt: skip
    serious = [finding for finding in found if finding[1] in ("serious", "critical")]
    assert [finding for finding in serious if finding[0] not in OF_THE_THEME] == []
    PICTURES.mkdir(parents=True, exist_ok=True)
    browser.picture(PICTURES / f"site-{name.replace('/', '-')}-{width}-{'dark' if dark else 'light'}.png")
