"""Pages looked at without a browser: whether the HTML is whole, what it would load, how large it is."""

import html.parser
import re

VOID = {"meta", "link", "br", "hr", "img", "input", "rect", "line", "circle", "path", "polyline", "polygon"}
LARGEST = 300_000


class Page(html.parser.HTMLParser):
    """Fails on tags that do not match, names that occur twice, references that are not within the page."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.open, self.ids, self.references, self.words, self.headings = [], set(), [], [], []
        self.scripts = []
        assert text.startswith("<!DOCTYPE html>") and len(text.encode()) < LARGEST, len(text.encode())
        # Nothing that a terminal or a browser would take for a command.
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", text)
        self.feed(text)
        self.close()
        assert not self.open, self.open
        assert set(self.references) <= self.ids, set(self.references) - self.ids
        self.text = " ".join(self.words)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        assert not any(name.startswith("on") for name in attributes), attributes
        if "id" in attributes:
            assert attributes["id"] not in self.ids
            self.ids.add(attributes["id"])
        self.references += (attributes.get("aria-labelledby") or "").split()
        for name in ("href", "src", "xlink:href", "data", "action", "srcset"):
            value = attributes.get(name)
            if value is None:
                continue
            assert value.startswith("#") or value == "data:,", f"{tag} {name}={value}"
            if value.startswith("#"):
                self.references.append(value[1:])
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        assert self.open and self.open[-1] == tag, (tag, self.open)
        self.open.pop()

    def handle_data(self, data):
        if self.open and self.open[-1] == "script":
            self.scripts.append(data)
        elif self.open and self.open[-1] == "style":
            assert "url(" not in data and "@import" not in data
        else:
            self.words.append(data)
            if self.open and self.open[-1] == "h2":
                self.headings.append(data)
