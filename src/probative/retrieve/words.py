"""Words of a text, for lexical matching."""

from __future__ import annotations

import re

WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]|[^\W\u3040-\u30ff\u3400-\u9fff]+")
"""Runs of letters and digits; of scripts that put no spaces between words, single characters."""


def words(text: str, prefix: int = 0) -> list[str]:
    """The words of a text in order, without case, cut to their first `prefix` letters (0: whole)."""
    found = WORD.findall(text.casefold())
    return [word[:prefix] for word in found] if prefix else found
