"""Vectors kept between runs: by model and text, in memory-mapped segments that are written whole or not at all.

A segment is a folder with `keys.npy` (2, n), sorted, and `vectors.npy` (n, d). Texts are known by their hash alone.
Equal-sized segments are merged, so their number grows with the logarithm of the texts.
"""

from __future__ import annotations

import contextlib
import hashlib
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from probative.encode.encoder import Encoder, Kind, Progress, unit
from probative.errors import ModelError
from probative.files import cache_root, lock, sha256_bytes, writing_folder
from probative.segments import BoolArray
from probative.types import Vectors

CHUNK = 4096
"""Texts encoded and written at a time: what kill -9 can lose."""
FANOUT = 8
"""This many segments of one size class become one."""
Keys = NDArray[np.uint64]


def key_of(text: str, kind: Kind) -> bytes:
    """128 bits of a text's hash."""
    return hashlib.blake2b(f"{kind}\0{text}".encode(), digest_size=16).digest()


def keys_of(texts: Sequence[str], kind: Kind) -> Keys:
    """(n, 2) the hashes of some texts."""
    return np.frombuffer(b"".join(key_of(text, kind) for text in texts), dtype=np.uint64).reshape(-1, 2)


class VectorCache:
    """The vectors of one encoder.

    >>> cache = VectorCache(encoder)                       # doctest: +SKIP
    >>> cache.vectors(["a text", "another"]).shape         # doctest: +SKIP
    (2, 384)
    """

    def __init__(self, encoder: Encoder, root: Path | None = None) -> None:
        self.encoder = encoder
        self.folder = (root or cache_root() / "vectors") / encoder.identity[:32]

    def vectors(self, texts: Sequence[str], kind: Kind = "sentence", progress: Progress | None = None) -> Vectors:
        """One row a text, in order; only texts never seen before are encoded."""
        keys, first, place = np.unique(keys_of(texts, kind), axis=0, return_index=True, return_inverse=True)
        out, known = self._read(keys)
        # In order of appearance, so that what a killed run leaves behind is a beginning of the work.
        missing = np.flatnonzero(~known)
        missing = missing[np.argsort(first[missing])]
        for start in range(0, len(missing), CHUNK):
            rows = missing[start : start + CHUNK]
            fresh = self._encode([texts[i] for i in first[rows]], kind)
            out = np.zeros((len(keys), fresh.shape[1]), dtype=np.float32) if out is None else out
            if fresh.shape[1] != out.shape[1]:
                raise ModelError(
                    f"{self.encoder.name}: vectors have {fresh.shape[1]} numbers; the cache {self.folder} "
                    f"holds {out.shape[1]}. The model behind this name has changed: delete that folder."
                )
            out[rows] = fresh
            self._append(keys[rows], fresh)
            if progress is not None:
                progress(start + len(rows), len(missing))
        return self.encoder.encode([], kind) if out is None else out[place.reshape(-1)]

    def _encode(self, texts: Sequence[str], kind: Kind) -> Vectors:
        vectors = unit(self.encoder.encode(texts, kind), self.encoder.name)
        if len(vectors) != len(texts):
            raise ModelError(f"{self.encoder.name}: gave {len(vectors)} vectors for {len(texts)} texts.")
        return vectors

    def _read(self, keys: Keys) -> tuple[Vectors | None, BoolArray]:
        out: Vectors | None = None
        known = np.zeros(len(keys), dtype=np.bool_)
        for have, vectors in self._segments():
            wanted = np.flatnonzero(~known)
            if not len(wanted):
                break
            at = np.searchsorted(have[0], keys[wanted, 0])
            at[at == have.shape[1]] = 0
            match = (have[0][at] == keys[wanted, 0]) & (have[1][at] == keys[wanted, 1])
            found = vectors[at[match]]
            whole = np.abs(np.einsum("ij,ij->i", found, found) - 1) < 1e-3
            rows = wanted[match][whole]
            out = np.zeros((len(keys), found.shape[1]), dtype=np.float32) if out is None else out
            if found.shape[1] == out.shape[1]:
                out[rows] = found[whole]
                known[rows] = True
        return out, known

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

    def _append(self, keys: Keys, vectors: Vectors) -> None:
        with lock(self.folder.with_suffix(".lock")):
            _write(self.folder, keys, vectors)
            while (crowd := self._crowd()) is not None:
                self._merge(crowd)

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
        vectors = np.concatenate([part[1] for part in parts])
        keys, first = np.unique(keys, axis=0, return_index=True)
        name = _write(self.folder, keys, vectors[first])
        for path in paths:
            if path.name != name:
                aside = path.with_name(f".{path.name}.old")
                path.rename(aside)
                shutil.rmtree(aside, ignore_errors=True)


def _write(folder: Path, keys: Keys, vectors: Vectors) -> str:
    order = np.lexsort((keys[:, 1], keys[:, 0]))
    keys = np.ascontiguousarray(keys[order].T)
    name = sha256_bytes(keys.tobytes())[:24]
    if _open(folder / name) is None:
        with writing_folder(folder / name) as aside:
            np.save(aside / "keys.npy", keys)
            np.save(aside / "vectors.npy", vectors[order])
    return name


def _open(path: Path) -> tuple[Any, Any] | None:
    with contextlib.suppress(OSError, ValueError, EOFError):
        keys = np.load(path / "keys.npy", mmap_mode="r", allow_pickle=False)
        vectors = np.load(path / "vectors.npy", mmap_mode="r", allow_pickle=False)
        if keys.shape == (2, len(vectors)) and keys.dtype == np.uint64 and vectors.dtype == np.float32:
            return keys, vectors
    return None
