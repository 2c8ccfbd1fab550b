"""Dealing units onto sides so that sizes, and where asked positives, come out as planned."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """Documents that must stay together, and one label for every positive (document, criterion) of theirs."""

    doc_ids: tuple[str, ...]
    labels: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return self.doc_ids[0]

    @property
    def size(self) -> int:
        return len(self.doc_ids)


def deal(units: Sequence[Unit], targets: Sequence[int], *, balanced: bool = False) -> list[list[Unit]]:
    """The units, in the order given, on sides of about these numbers of documents; no side stays empty.

    Single documents fill the sides exactly. `balanced` spreads every label in proportion to the sides (iterative
    stratification after Sechidis, Tsoumakas and Vlahavas, 2011), the rarest label first.
    """
    sides = _Sides(targets)
    if balanced:
        units = sides.spread(units)
    for unit in sorted((u for u in units if u.size > 1), key=lambda u: -u.size):
        sides.put(unit, sides.roomiest())
    sides.fill([u for u in units if u.size == 1])
    sides.leave_none_empty()
    return sides.units


class _Sides:
    def __init__(self, targets: Sequence[int]) -> None:
        self.units: list[list[Unit]] = [[] for _ in targets]
        self.room = list(targets)
        self.share = [target / sum(targets) for target in targets]

    def put(self, unit: Unit, side: int) -> None:
        self.units[side].append(unit)
        self.room[side] -= unit.size

    def roomiest(self) -> int:
        return max(range(len(self.room)), key=lambda side: self.room[side])

    def fill(self, singles: Sequence[Unit]) -> None:
        """Cut single documents into the room that is left, side after side; the targets add up to all documents."""
        at = 0
        for side, room in enumerate(self.room):
            taken = singles[at : at + max(0, room)]
            self.units[side] += taken
            self.room[side] -= len(taken)
            at += len(taken)
        for unit in singles[at:]:
            self.put(unit, self.roomiest())

    def spread(self, units: Sequence[Unit]) -> list[Unit]:
        """Place every unit that has a label; the rest is returned."""
        wanted = {
            label: [count * share for share in self.share]
            for label, count in Counter(label for unit in units for label in unit.labels).items()
        }
        waiting = {unit.name: unit for unit in units if unit.labels}
        while waiting:
            left = Counter(label for unit in waiting.values() for label in set(unit.labels))
            rarest = min(left, key=lambda label: (left[label], label))
            for unit in [u for u in waiting.values() if rarest in u.labels]:
                side = self._neediest(wanted[rarest])
                self.put(waiting.pop(unit.name), side)
                for label in unit.labels:
                    wanted[label][side] -= 1
        return [unit for unit in units if not unit.labels]

    def _neediest(self, wanted: Sequence[float]) -> int:
        sides = [side for side, room in enumerate(self.room) if room > 0] or range(len(self.room))
        return max(sides, key=lambda side: (wanted[side], self.room[side]))

    def leave_none_empty(self) -> None:
        for side, units in enumerate(self.units):
            if not units:
                giver = max(range(len(self.units)), key=lambda other: len(self.units[other]))
                small = min(self.units[giver], key=lambda unit: unit.size)
                self.units[giver].remove(small)
                self.room[giver] += small.size
                self.put(small, side)
