"""Finding a quote in a document, white space apart; and saying what is nearest when it is not there."""

from __future__ import annotations

import difflib
import re
import unicodedata
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import accumulate

Span = tuple[int, int]
Place = tuple[str, ...]
"""The sentences that one occurrence touches."""

LONGEST = 400
"""Characters that are compared when a quote is not found; the search for the nearest is quadratic."""

_STRAIGHT = str.maketrans({"‘": "'", "’": "'", "“": '"', "”": '"', "–": "-", "—": "-", "…": "..."})
_FOLDS: tuple[tuple[str, Callable[[str], str]], ...] = (
    ("when capitals are ignored", str.casefold),
    ("when quotation marks and dashes are made plain", lambda text: text.translate(_STRAIGHT)),
    ("when look-alike characters are made equal (NFKC)", lambda text: unicodedata.normalize("NFKC", text)),
    (
        "when all white space and punctuation is ignored",
        lambda text: "".join(letter for letter in unicodedata.normalize("NFKC", text).casefold() if letter.isalnum()),
    ),
)


def snippet(quote: str) -> str:
    """The beginning of an annotator's quote, for a message."""
    words = " ".join(quote.split())
    return repr(words if len(words) <= 40 else words[:39] + "…")


class Page:
    """One document, ready to be searched for quotes."""

    def __init__(
        self, uids: Sequence[str], sentences: Sequence[str], text: str | None, spans: Sequence[Span] | None
    ) -> None:
        if text is None or spans is None:
            text = " ".join(sentences)
            ends = list(accumulate(len(sentence) + 1 for sentence in sentences))
            spans = [(end - 1 - len(sentence), end - 1) for end, sentence in zip(ends, sentences, strict=True)]
        self.uids = uids
        self.sentences = sentences
        self.spans = spans
        words = [(found.start(), found[0]) for found in re.finditer(r"\S+", text)]
        self.starts = [start for start, _ in words]
        self.flat_starts = [0, *accumulate(len(word) + 1 for _, word in words)]
        self.flat = " ".join(word for _, word in words)

    def _position(self, flat: int) -> int:
        word = bisect_right(self.flat_starts, flat) - 1
        return self.starts[word] + flat - self.flat_starts[word]

    def places(self, quote: str) -> list[Place]:
        """The different sets of sentences in which the quote stands as whole words."""
        flat = " ".join(quote.split())
        found: dict[Place, None] = {}
        at = self.flat.find(flat) if flat else -1
        while at >= 0:
            if _whole(self.flat, at, at + len(flat)):
                start, end = self._position(at), self._position(at + len(flat) - 1) + 1
                touched = (uid for uid, (a, b) in zip(self.uids, self.spans, strict=True) if a < end and b > start)
                found.setdefault(tuple(touched))
            at = self.flat.find(flat, at + 1)
        return [place for place in found if place]

    def advice(self, quote: str) -> str:
        """What to do about a quote that is not here."""
        flat = " ".join(quote.split())
        if flat in self.flat:
            return "It stands there only as a part of longer words: give the whole words, or the sent_uid."
        for when, fold in _FOLDS:
            if (folded := fold(flat)) and folded in fold(self.flat):
                return f"It would match {when}: copy the quote from the text as it is.{self._nearest(flat)}"
        near = self._nearest(flat)
        return f"{near.strip()} Correct the quote, or give that sent_uid." if near else "Is it from another document?"

    def _nearest(self, quote: str) -> str:
        wanted = Counter(quote.casefold().split())
        shared = [sum((wanted & Counter(sentence.casefold().split())).values()) for sentence in self.sentences]
        best, alike = "", 0.0
        for place in sorted(range(len(shared)), key=lambda i: -shared[i])[:3]:
            one, other = quote[:LONGEST].casefold(), self.sentences[place][:LONGEST].casefold()
            ratio = difflib.SequenceMatcher(None, one, other, autojunk=False).ratio()
            if ratio > alike:
                best, alike = self.uids[place], ratio
        return f" Closest match: {best} ({alike:.0%} alike)." if alike >= 0.4 else ""


def _whole(text: str, start: int, end: int) -> bool:
    """Whether the piece neither begins nor ends inside a word."""
    before = start > 0 and text[start - 1].isalnum() and text[start].isalnum()
    after = end < len(text) and text[end - 1].isalnum() and text[end].isalnum()
    return not before and not after
