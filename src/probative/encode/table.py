"""Rows of numbers kept between runs under 128-bit keys, in memory-mapped segments written whole or not at all.

A segment is a folder with `keys.npy` (2, n), sorted, and `rows.npy` (n, d). Segments of one size class are merged, so
their number grows with the logarithm of the rows.
"""

from __future__ import annotations

import contextlib
import hashlib
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from probative.files import lock, sha256_bytes, writing_folder
from probative.segments import BoolArray

FANOUT = 8
"""This many segments of one size class become one."""
Keys = NDArray[np.uint64]
Rows = NDArray[np.float32]


def keys_of(texts: Sequence[str], salt: str) -> Keys:
    """(n, 2) the hashes of some texts."""
    digests = (hashlib.blake2b(f"{salt}\0{text}".encode(), digest_size=16).digest() for text in texts)
    return np.frombuffer(b"".join(digests), dtype=np.uint64).reshape(-1, 2)


def pair_keys(first: Keys, second: Keys) -> Keys:
    """(n, 2) the keys of pairs, from the keys of their parts; the order of the parts matters."""
    return _stirred(_stirred(first) + np.uint64(0x9E3779B97F4A7C15) ^ second[:, ::-1])


def _stirred(keys: Keys) -> Keys:
    """The finishing step of splitmix64: every bit of the input moves every bit of the output."""
    keys = (keys ^ (keys >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    keys = (keys ^ (keys >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return keys ^ (keys >> np.uint64(31))


def finite(rows: Rows) -> BoolArray:
    """Rows without NaN."""
    whole: BoolArray = np.asarray(np.isfinite(rows).all(axis=1))
    return whole


class Table:
    """A growing table that several processes may read and write at once."""

    def __init__(self, folder: Path, whole: Callable[[Rows], BoolArray] = finite) -> None:
        self.folder = folder
        self.whole = whole

    def read(self, keys: Keys) -> tuple[Rows | None, BoolArray]:
        """(n, d) the rows of some keys, and which of them are there; None when nothing is."""
        out: Rows | None = None
        known = np.zeros(len(keys), dtype=np.bool_)
        for have, stored in self._segments():
            wanted = np.flatnonzero(~known)
            if not len(wanted):
                break
            at = np.searchsorted(have[0], keys[wanted, 0])
            at[at == have.shape[1]] = 0
            match = (have[0][at] == keys[wanted, 0]) & (have[1][at] == keys[wanted, 1])
            found = stored[at[match]]
            out = np.zeros((len(keys), found.shape[1]), dtype=np.float32) if out is None else out
            if found.shape[1] == out.shape[1]:
                good = self.whole(found)
                out[wanted[match][good]] = found[good]
                known[wanted[match][good]] = True
        return out, known

    def append(self, keys: Keys, rows: Rows) -> None:
        """Add rows; a key that is there already keeps its row."""
        with lock(self.folder.with_suffix(".lock")):
            _write(self.folder, keys, rows)
            while (crowd := self._crowd()) is not None:
                self._merge(crowd)

    def _names(self) -> list[Path]:
        if not self.folder.is_dir():
            return []
        return sorted(p for p in self.folder.iterdir() if p.is_dir() and not p.name.startswith("."))

    def _segments(self) -> list[tuple[Any, Any]]:
        names = self._names()
        while True:
            opened = [_open(path) for path in names]
            # What another process merged away between listing and opening is in a newer segment.
            if None not in opened or (later := self._names()) == names:
                return [segment for segment in opened if segment is not None]
            names = later

    def _crowd(self) -> list[Path] | None:
        """Segments of one size class, when there are too many."""
        classes: dict[int, list[Path]] = {}
        for path in self._names():
            segment = _open(path)
            if segment is None:
                shutil.rmtree(path, ignore_errors=True)
            else:
                classes.setdefault(segment[0].shape[1].bit_length() // 3, []).append(path)
        return next((paths for paths in classes.values() if len(paths) >= FANOUT), None)

    def _merge(self, paths: list[Path]) -> None:
        parts = [part for path in paths if (part := _open(path)) is not None]
        keys = np.concatenate([part[0].T for part in parts])
        rows = np.concatenate([part[1] for part in parts])
        good = self.whole(rows)
        keys, first = np.unique(keys[good], axis=0, return_index=True)
        name = _write(self.folder, keys, rows[good][first])
        for path in paths:
            if path.name != name:
                aside = path.with_name(f".{path.name}.old")
                path.rename(aside)
                shutil.rmtree(aside, ignore_errors=True)


def _write(folder: Path, keys: Keys, rows: Rows) -> str:
    order = np.lexsort((keys[:, 1], keys[:, 0]))
    keys = np.ascontiguousarray(keys[order].T)
    name = sha256_bytes(keys.tobytes())[:24]
    with writing_folder(folder / name) as aside:
        np.save(aside / "keys.npy", keys)
        np.save(aside / "rows.npy", rows[order])
    return name


def _open(path: Path) -> tuple[Any, Any] | None:
    with contextlib.suppress(OSError, ValueError, EOFError):
        keys = np.load(path / "keys.npy", mmap_mode="r", allow_pickle=False)
        rows = np.load(path / "rows.npy", mmap_mode="r", allow_pickle=False)
        if keys.shape == (2, len(rows)) and keys.dtype == np.uint64 and rows.dtype == np.float32:
            return keys, rows
    return None
