"""Words of a text, for lexical matching."""

from __future__ import annotations

import re

WORD = re.compile(r"\w+")


def words(text: str) -> list[str]:
    """The words of a text in order, without case."""
    return WORD.findall(text.casefold())
