"""Files that are whole or absent: atomic writes, content hashes, locks, and the store that every cache uses."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from probative.errors import ProbativeError

try:
    import fcntl
except ImportError:  # Windows has no flock
    fcntl = None  # type: ignore[assignment]

CHUNK = 1 << 20


def sha256_bytes(data: bytes) -> str:
    """The SHA-256 of some bytes, in hex."""
    return hashlib.sha256(data).hexdigest()


def sha256_file(path: Path) -> str:
    """The SHA-256 of a file, read in pieces."""
    digest = hashlib.sha256()
    with path.open("rb") as stream:
        while piece := stream.read(CHUNK):
            digest.update(piece)
    return digest.hexdigest()


def canonical_json(value: Any) -> str:
    """JSON with sorted keys and no spaces: equal values give equal text."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def sha256_json(value: Any) -> str:
    """The hash of a value's canonical JSON."""
    return sha256_bytes(canonical_json(value).encode())


def _temporary_beside(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent)
    os.close(handle)
    return Path(name)


@contextmanager
def writing(path: Path) -> Iterator[Path]:
    """Give a temporary path beside `path`; rename it into place when the block ends well, remove it when not."""
    aside = path
    try:
        aside = _temporary_beside(path)
        yield aside
        umask = os.umask(0)
        os.umask(umask)
        aside.chmod(0o666 & ~umask)
        aside.replace(path)
    except OSError as error:
        raise _unwritable(path, error) from error
    finally:
        if aside != path:
            aside.unlink(missing_ok=True)


def _unwritable(path: Path, error: OSError) -> ProbativeError:
    return ProbativeError(f"{path}: cannot be written ({error.strerror or error}). Nothing was changed.")


def write_bytes(path: Path, data: bytes) -> None:
    """Write a file whole or not at all."""
    with writing(path) as aside:
        aside.write_bytes(data)


def write_text(path: Path, text: str) -> None:
    """Write UTF-8 text whole or not at all."""
    write_bytes(path, text.encode())


def write_json(path: Path, value: Any) -> None:
    """Write readable JSON whole or not at all; NaN is refused."""
    write_text(path, json.dumps(value, indent=1, ensure_ascii=False, allow_nan=False) + "\n")


@contextmanager
def writing_folder(folder: Path) -> Iterator[Path]:
    """Give a temporary folder beside `folder`; rename it into place when the block ends well, remove it when not.

    An existing folder of that name is replaced; until the rename it stays as it was.
    """
    aside: Path | None = None
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        aside = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", suffix=".part", dir=folder.parent))
        yield aside
        umask = os.umask(0)
        os.umask(umask)
        aside.chmod(0o777 & ~umask)
        _put_in_place(aside, folder)
    except OSError as error:
        raise _unwritable(folder, error) from error
    finally:
        if aside is not None:
            shutil.rmtree(aside, ignore_errors=True)


def _put_in_place(aside: Path, folder: Path) -> None:
    if not folder.exists():
        aside.rename(folder)
        return
    old = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", suffix=".old", dir=folder.parent))
    was = old / "was"
    try:
        folder.rename(was)
        aside.rename(folder)
    except OSError:
        if was.exists():
            was.rename(folder)
        old.rmdir()
        raise
    shutil.rmtree(old, ignore_errors=True)


def _take(stream: IO[str]) -> bool:
    if fcntl is None:
        import msvcrt

        try:
            msvcrt.locking(stream.fileno(), msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined,unused-ignore]
        except OSError:
            return False
        return True
    try:
        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _opened(path: Path) -> IO[str]:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        return path.open("a+")
    except OSError as error:
        raise ProbativeError(
            f"{path}: cannot be written ({error.strerror or error}). Free or change its folder."
        ) from error


@contextmanager
def lock(path: Path, *, wait: float = 3600.0) -> Iterator[None]:
    """Hold an exclusive lock between processes. The system frees it when its holder dies, even by kill -9."""
    deadline = time.monotonic() + wait
    with _opened(path) as stream:
        while not _take(stream):
            if time.monotonic() > deadline:
                raise ProbativeError(f"{path}: another process has held this lock for {wait:.0f} s. Stop it, or wait.")
            time.sleep(0.05)
        yield


class Store:
    """A content-addressed cache: a folder an entry, made once, checked when read, shared by processes.

    >>> store = Store(Path("cache"))                                                        # doctest: +SKIP
    >>> entry = store.get("ab12…", lambda folder: (folder / "x.txt").write_text("made"))    # doctest: +SKIP
    """

    def __init__(self, root: Path) -> None:
        self.root = root

    def path(self, key: str) -> Path:
        """Where the entry of this key lies, or would."""
        return self.root / key[:2] / key

    def has(self, key: str) -> bool:
        """Whether the entry is there and its files are as they were written."""
        try:
            seal = json.loads((self.path(key) / "seal.json").read_text())
            sealed = [(name, int(size), str(digest)) for name, (size, digest) in seal.items()]
        except (OSError, ValueError, TypeError, AttributeError):
            return False
        return all(_matches(self.path(key) / name, size, digest) for name, size, digest in sealed)

    def get(self, key: str, make: Callable[[Path], object]) -> Path:
        """The entry's folder; `make` fills it when it is not there. An altered entry is made again."""
        if self.has(key):
            return self.path(key)
        with lock(self.root / "locks" / key):
            if not self.has(key):
                with writing_folder(self.path(key)) as folder:
                    make(folder)
                    found = sorted(p for p in folder.rglob("*") if p.is_file())
                    seal = {p.relative_to(folder).as_posix(): [p.stat().st_size, sha256_file(p)] for p in found}
                    (folder / "seal.json").write_text(canonical_json(seal))
        return self.path(key)


def _matches(path: Path, size: int, digest: str) -> bool:
    return path.is_file() and path.stat().st_size == size and sha256_file(path) == digest


def cache_root() -> Path:
    """Where caches live: $PROBATIVE_CACHE, else the user's cache folder."""
    if chosen := os.environ.get("PROBATIVE_CACHE"):
        return Path(chosen)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "probative"
