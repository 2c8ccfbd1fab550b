"""Phrases with slots and choices, and how one of their many wordings is drawn."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from random import Random
from typing import Any

PERSONS: Mapping[str, Mapping[str, str]] = {
    "first": {"I": "I", "my": "my", "me": "me", "myself": "myself"},
    "third": {"I": "they", "my": "their", "me": "them", "myself": "themselves"},
    "you": {"I": "you", "my": "your", "me": "you", "myself": "yourself"},
}
_TOKEN = re.compile(r"[\[\]|]|\{\w+\}|[^\[\]|{}]+")
_LOOSE = re.compile(r" +(?=[,.?!])")


@dataclass(frozen=True, slots=True)
class Slot:
    """Any wording of a named list."""

    name: str


@dataclass(frozen=True, slots=True)
class Choice:
    """One of several wordings."""

    options: tuple[Phrase, ...]


Phrase = tuple["str | Slot | Choice", ...]
Lists = Mapping[str, Sequence[Phrase]]


def parse(text: str) -> Phrase:
    """`feel [sad|down] {often}` as a phrase.

    >>> parse("so [sad|low]")
    ('so ', Choice(options=(('sad',), ('low',))))
    """
    tokens = _TOKEN.findall(text)
    phrase, end = _sequence(tokens, 0)
    if end != len(tokens):
        raise ValueError(f"unbalanced brackets: {text}")
    return phrase


def _sequence(tokens: Sequence[str], at: int) -> tuple[Phrase, int]:
    parts: list[str | Slot | Choice] = []
    while at < len(tokens) and tokens[at] not in "|]":
        if tokens[at] == "[":
            choice, at = _choice(tokens, at + 1)
            parts.append(choice)
        else:
            parts.append(Slot(tokens[at][1:-1]) if tokens[at][0] == "{" else tokens[at])
            at += 1
    return tuple(parts), at


def _choice(tokens: Sequence[str], at: int) -> tuple[Choice, int]:
    options: list[Phrase] = []
    while True:
        option, at = _sequence(tokens, at)
        options.append(option)
        if at == len(tokens):
            raise ValueError(f"unbalanced brackets: {''.join(tokens)}")
        if tokens[at] == "]":
            return Choice(tuple(options)), at + 1
        at += 1


def pick(rng: Random, options: Sequence[Any]) -> Any:
    """One of them; spelt out because `Random.choice` is slower and may change between versions."""
    return options[int(rng.random() * len(options))]


def say(phrase: Phrase, lists: Lists, rng: Random, person: str = "first") -> str:
    """One wording of a phrase."""
    pieces: list[str] = []
    _say(phrase, lists, rng, PERSONS[person], pieces)
    return " ".join(_LOOSE.sub("", "".join(pieces)).split())


def _say(phrase: Phrase, lists: Lists, rng: Random, person: Mapping[str, str], pieces: list[str]) -> None:
    for part in phrase:
        if isinstance(part, str):
            pieces.append(part)
        elif isinstance(part, Choice):
            _say(pick(rng, part.options), lists, rng, person, pieces)
        elif part.name in person:
            pieces.append(person[part.name])
        else:
            _say(pick(rng, lists[part.name]), lists, rng, person, pieces)


def wordings(phrase: Phrase, lists: Lists) -> int:
    """How many wordings a phrase has."""
    count = 1
    for part in phrase:
        if isinstance(part, Choice):
            count *= sum(wordings(option, lists) for option in part.options)
        elif isinstance(part, Slot) and part.name in lists:
            count *= sum(wordings(option, lists) for option in lists[part.name])
    return count


@dataclass(frozen=True, slots=True, kw_only=True)
class Theme:
    """A criterion and the ways of speaking about it."""

    criterion_id: str
    name: str
    text: str
    phrases: Lists


@dataclass(frozen=True, slots=True, kw_only=True)
class Grammar:
    """Everything the demo can say."""

    frames: Mapping[str, Lists]
    everyday: Lists
    slots: Lists
    themes: tuple[Theme, ...]


@cache
def load() -> Grammar:
    """The grammar that comes with the package."""
    frames, everyday, criteria = (_read(name) for name in ("frames", "everyday", "criteria"))
    slots = _lists({**frames.pop("slots"), **everyday.pop("slots")})
    return Grammar(
        slots=slots,
        frames={name: _lists(values) for name, values in frames.items()},
        everyday={name: _weighted(_lists(values)["lines"], slots) for name, values in everyday.items()},
        themes=tuple(_theme(values) for values in criteria.values()),
    )


def _theme(values: Mapping[str, Any]) -> Theme:
    phrases = _lists({name: lines for name, lines in values.items() if isinstance(lines, list)})
    return Theme(criterion_id=values["id"], name=values["name"], text=values["text"], phrases=phrases)


def _weighted(phrases: Sequence[Phrase], lists: Lists) -> Sequence[Phrase]:
    """Each phrase the more often the more wordings it has, so that set phrases do not wear thin."""
    return [phrase for phrase in phrases for _ in range(wordings(phrase, lists).bit_length())]


def _lists(values: Mapping[str, Sequence[str]]) -> Lists:
    return {name: tuple(parse(line) for line in lines) for name, lines in values.items()}


def _read(name: str) -> dict[str, Any]:
    return tomllib.loads((files("probative.data.demo") / f"{name}.toml").read_text(encoding="utf-8"))
