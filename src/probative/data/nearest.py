"""The known name that a misspelt one probably means."""

from __future__ import annotations

import difflib
import unicodedata
from collections.abc import Iterable

MOST = 2_000
LOOKUPS = 200


class Nearest:
    """Finds the closest of some names; gives up politely where the search would take long."""

    def __init__(self, names: Iterable[str]) -> None:
        self.names = list(names)
        self._plain = {_plain(name): name for name in self.names}
        self._asked: dict[str, str | None] = {}

    def __call__(self, name: str) -> str | None:
        """The closest name, None when none is close."""
        if name not in self._asked:
            self._asked[name] = self._plain.get(_plain(name)) or self._search(name)
        return self._asked[name]

    def _search(self, name: str) -> str | None:
        if len(self.names) > MOST or len(self._asked) > LOOKUPS:
            return None
        return next(iter(difflib.get_close_matches(name, self.names, n=1, cutoff=0.6)), None)

    def hint(self, name: str) -> str:
        """`Closest match: …` or nothing, ready to stand in a message."""
        near = self(name)
        if not near:
            return ""
        alike = unicodedata.normalize("NFC", name) == unicodedata.normalize("NFC", near)
        return f" Closest match: {near!r}{', which looks the same in another Unicode form' if alike else ''}."


def _plain(name: str) -> str:
    return unicodedata.normalize("NFC", name.strip().casefold())
