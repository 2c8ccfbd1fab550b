"""One document of the demo: its sentences, and which of them are evidence or look like it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random

from probative.data.demo.grammar import Grammar, Theme, load, pick, say
from probative.data.demo.plan import BLOCK, author_of, criteria_of
from probative.data.demo.voice import Voice

LONGEST = 150
GOLD_COUNTS = (1,) * 74 + (2,) * 17 + (3,) * 6 + (4,) * 2 + (5,)
LOOKALIKES = (
    *("negated",) * 4,
    *("third",) * 4,
    *("past",) * 3,
    *("hypothetical",) * 3,
    *("figure",) * 2,
    *("you", "quote", "fine"),
)
MILD_EVIDENCE = 0.3
"""Share of evidence said so mildly that the same words are small talk elsewhere."""
OWN_WORDS = 0.4
"""Share of evidence said without a frame."""
TOPICS = 0.2
"""Chance that a document speaks of a criterion that it has no evidence for."""
HARD, MILD, FEELING, TRAILING = 0.17, 0.07, 0.2, 0.03
"""Shares of lookalikes, mild remarks, other feelings and trailing remarks among the other sentences."""
RUN_ON = 0.15
NOTED = 0.6
"""Share of lookalikes that an annotator wrote down as rejected."""


@dataclass(slots=True)
class Line:
    """A sentence, the criteria (by position) it is evidence for, and those it was rejected for."""

    text: str
    gold: tuple[int, ...] = ()
    rejected: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A generated document."""

    doc_id: str
    author: str
    lines: Sequence[Line]


def write(number: int, seed: int) -> Document:
    """Document `number` of the demo with this seed; it is the same in a corpus of any size."""
    rng = Random(f"probative demo {seed} document {number}")  # noqa: S311 - no secret
    block, place = divmod(number, BLOCK)
    answered = criteria_of(seed, block)[place]
    author = author_of(block, rng)
    draw = math.exp(rng.gauss(2.7, 0.77))
    length = min(LONGEST, max(len(answered), round(draw) if draw >= 2 else 1))
    writer = _Writer(rng, load())
    lines = [line for chunk in writer.chunks(answered, length) for line in chunk]
    voice = Voice.of(rng)
    for line in lines:
        line.text = voice.write(line.text, rng)
    return Document(doc_id=f"p{number + 1:06d}", author=author, lines=lines)


class _Writer:
    def __init__(self, rng: Random, grammar: Grammar) -> None:
        self.rng = rng
        self.grammar = grammar
        self.used: set[int] = set()

    def chunks(self, answered: Sequence[int], length: int) -> list[list[Line]]:
        """Lines that stay together, in the order of the document."""
        chunks = list(self._evidence(answered, length))
        topics = self._topics(answered)
        left = length - sum(map(len, chunks))
        opening = self._opening(left)
        left -= len(opening)
        while left > 0:
            chunk = self._other(topics)[:left]
            chunks.append(chunk)
            left -= len(chunk)
        for last in range(len(chunks) - 1, 0, -1):
            other = int(self.rng.random() * (last + 1))
            chunks[last], chunks[other] = chunks[other], chunks[last]
        return [opening, *chunks]

    def _opening(self, left: int) -> list[Line]:
        return [self._everyday("open")] if left > 1 and self.rng.random() < 0.4 else []

    def _topics(self, answered: Sequence[int]) -> list[int]:
        near = [c for c in range(len(self.grammar.themes)) if c not in answered and self.rng.random() < TOPICS]
        return [*answered, *near] or [int(self.rng.random() * len(self.grammar.themes))]

    def _evidence(self, answered: Sequence[int], length: int) -> Iterator[list[Line]]:
        spare = length - len(answered)
        if len(answered) > 1 and self.rng.random() < 0.12:
            one, other = answered[:2]
            yield [Line(f"{self._witness(one)} and {self._witness(other)}", gold=(one, other))]
            answered = answered[2:]
        for criterion in answered:
            count = min(pick(self.rng, GOLD_COUNTS), 1 + spare)
            spare -= count - 1
            chunk = [Line(self._run_on(self._witness(criterion)), gold=(criterion,))]
            for _ in range(count - 1):
                more = self.rng.random() < 0.35
                text = self._frame("context", "more") if more else self._witness(criterion)
                if not more and self.rng.random() < 0.5:
                    yield [Line(self._run_on(text), gold=(criterion,))]
                else:
                    chunk.append(Line(text, gold=(criterion,)))
            yield chunk

    def _witness(self, criterion: int) -> str:
        """Something said of the writer, here and now."""
        theme = self.grammar.themes[criterion]
        if self.rng.random() < MILD_EVIDENCE:
            return self._phrase(theme, "mild")
        if self.rng.random() < OWN_WORDS:
            return self._phrase(theme, "gold")
        return self._framed(theme, "first", "gold")

    def _other(self, topics: Sequence[int]) -> list[Line]:
        draw = self.rng.random()
        if draw < HARD:
            return self._lookalike(pick(self.rng, topics))
        if draw < HARD + MILD:
            criterion = pick(self.rng, topics)
            text = self._phrase(self.grammar.themes[criterion], "mild")
            return [Line(self._run_on(text), rejected=self._noted(criterion))]
        kind = "feeling" if draw < HARD + MILD + FEELING else "plain"
        lines = [self._everyday(kind)]
        if self.rng.random() < TRAILING:
            lines.append(Line(self._frame("context", "more")))
        return lines

    def _lookalike(self, criterion: int) -> list[Line]:
        """The criterion's words about somebody else, another time, an idea, a joke, or said to deny it."""
        theme = self.grammar.themes[criterion]
        kind = pick(self.rng, LOOKALIKES)
        noted = self._noted(criterion)
        if kind == "quote":
            return [Line(self._frame("context", "quote") + ":"), Line(f'"{self._witness(criterion)}"', rejected=noted)]
        text = self._phrase(theme, kind) if kind in theme.phrases else self._framed(theme, kind, "hard")
        return [Line(self._run_on(text), rejected=noted)]

    def _noted(self, criterion: int) -> tuple[int, ...]:
        return (criterion,) if self.rng.random() < NOTED else ()

    def _everyday(self, kind: str) -> Line:
        phrases = self.grammar.everyday[kind]
        phrase = pick(self.rng, phrases)
        for _ in range(4):
            if id(phrase) not in self.used:
                break
            phrase = pick(self.rng, phrases)
        self.used.add(id(phrase))
        return Line(say(phrase, self.grammar.slots, self.rng))

    def _run_on(self, text: str) -> str:
        if text.endswith("?") or self.rng.random() >= RUN_ON:
            return text
        clause = say(pick(self.rng, self.grammar.slots["clause"]), self.grammar.slots, self.rng)
        return f"{text} {pick(self.rng, ('and', 'and', 'also', 'plus', 'while', 'so'))} {clause}"

    def _frame(self, kind: str, name: str) -> str:
        return say(pick(self.rng, self.grammar.frames[kind][name]), self.grammar.slots, self.rng)

    def _phrase(self, theme: Theme, kind: str) -> str:
        return say(pick(self.rng, theme.phrases[kind]), self.grammar.slots, self.rng)

    def _framed(self, theme: Theme, kind: str, name: str) -> str:
        frame = pick(self.rng, self.grammar.frames[kind][name])
        cores = theme.phrases["cores"]
        lists = {**self.grammar.slots, "core": cores, "core2": cores}
        return say(frame, lists, self.rng, kind if kind in ("third", "you") else "first")
