"""All that is wrong with some tables, found in one pass and told at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from probative.errors import DataError
from probative.segments import IntArray

SHOWN_OF_A_KIND = 5
SHOWN = 20


class Problems:
    """Collects problems by row; raises one error that lists the first of every kind and counts the rest."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._count = 0

    def add(self, origin: str, rows: IntArray | Sequence[int], say: Callable[[int], str]) -> None:
        """Note one problem for every row number; `say(i)` words the i-th of them."""
        numbers = np.asarray(rows, dtype=np.int64)
        if not len(numbers):
            return
        first = np.argsort(numbers, kind="stable")[:SHOWN_OF_A_KIND]
        self._count += len(numbers)
        self._lines += [f"{origin}, row {numbers[i]}: {say(int(i))}" for i in first]
        if len(numbers) > SHOWN_OF_A_KIND:
            self._lines.append(f"{origin}: {len(numbers) - SHOWN_OF_A_KIND:,} more rows like the one above.")

    def add_table(self, origin: str, text: str) -> None:
        """Note a problem of a whole table."""
        self._count += 1
        self._lines.append(f"{origin}: {text}")

    def stop(self) -> None:
        """Raise if anything was noted."""
        if not self._count:
            return
        if self._count == 1:
            raise DataError(self._lines[0])
        lines = self._lines[:SHOWN]
        if len(self._lines) > SHOWN:
            lines.append(f"… and {len(self._lines) - SHOWN} further lines.")
        raise DataError(f"{self._count:,} problems.\n  " + "\n  ".join(lines))
