"""How a writer types: capitals, apostrophes, slips, fillers, full stops."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from probative.data.demo.grammar import pick

BEFORE = ("tbh", "ngl", "idk", "like", "so", "also", "and", "ok", "ugh", "i mean", "well", "but yeah", "fyi")
AFTER = (
    "tbh",
    "ngl",
    "idk",
    "lol",
    "i guess",
    "you know",
    "or something",
    "kind of",
    "rn",
    "so yeah",
    "whatever",
    "smh",
)
SHORT = {"you": "u", "because": "cuz", "going to": "gonna", "want to": "wanna", "though": "tho", "people": "ppl"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Voice:
    """One writer's habits."""

    lower: bool
    bare: bool
    """Leaves out apostrophes."""
    slips: float
    filler: float
    chat: bool
    """Abbreviates as in a chat."""
    stop: str

    @staticmethod
    def of(rng: Random) -> Voice:
        """A writer drawn at random."""
        return Voice(
            lower=rng.random() < 0.35,
            bare=rng.random() < 0.4,
            slips=pick(rng, (0.0, 0.05, 0.1, 0.3)),
            filler=pick(rng, (0.0, 0.05, 0.15, 0.25)),
            chat=rng.random() < 0.2,
            stop=pick(rng, (".", ".", ".", ".", "", "...", "!")),
        )

    def write(self, text: str, rng: Random) -> str:
        """The sentence as this writer types it."""
        if rng.random() < self.filler:
            text = f"{pick(rng, BEFORE)} {text}" if rng.random() < 0.5 else f"{text} {pick(rng, AFTER)}"
        if self.chat:
            for long, short in SHORT.items():
                text = text.replace(f" {long} ", f" {short} ")
        if self.bare:
            text = text.replace("'", "")
        if rng.random() < self.slips:
            text = slip(text, rng)
        text = text.lower() if self.lower else text[:1].upper() + text[1:]
        if text[-1:] in '?!.:"':
            return text
        return text + (self.stop if rng.random() < 0.85 else pick(rng, ("", "!", "..", ".")))


def slip(text: str, rng: Random) -> str:
    """A letter swapped, dropped or doubled inside one of the longer words."""
    words = text.split(" ")
    long = [place for place, word in enumerate(words) if len(word) > 3 and word.isalpha()]
    if not long:
        return text
    place = pick(rng, long)
    word = words[place]
    at = 1 + int(rng.random() * (len(word) - 2))
    kind = int(rng.random() * 3)
    if kind == 0:
        word = word[:at] + word[at + 1] + word[at] + word[at + 2 :]
    elif kind == 1:
        word = word[:at] + word[at + 1 :]
    else:
        word = word[:at] + word[at] + word[at:]
    words[place] = word
    return " ".join(words)
