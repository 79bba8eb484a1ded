"""What the library refuses, as a ValueError that can be looked into."""

from __future__ import annotations


class Error(ValueError):
    """Bad data, or parameters that do not exist or do not go together.

    ``option`` is the parameter that has a wrong ``value``, with what was ``expected`` and the ``remedy``; each is empty
    where there is nothing to say.
    """

    option: str = ""
    value: str = ""
    expected: str = ""
    remedy: str = ""
    # Of the message: whether it is the name of an option, its text, and whether it belongs to the remedy.
    pieces: list[tuple[bool, str, bool]] = []


class SearchWarning(UserWarning):
    """A search that chose among equals, at the end of its path, or a model that always predicts the same."""


Error.__module__ = SearchWarning.__module__ = "m4n"
