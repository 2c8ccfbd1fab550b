"""Vectors are computed once, whatever dies or runs beside."""

from __future__ import annotations

import hashlib
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from probative.encode import cache as module
from probative.encode.cache import VectorCache
from probative.errors import ModelError
from probative.types import Vectors


class Fake:
    """Vectors from hashes; remembers what it was asked."""

    name = "fake"
    exact = True

    def __init__(self, identity: str = "i" * 64, dimensions: int = 4) -> None:
        self.identity = identity
        self.dimensions = dimensions
        self.asked: list[str] = []

    def encode(self, texts: Sequence[str], kind: str = "sentence") -> Vectors:
        self.asked.extend(texts)
        rows = [list(hashlib.sha256(f"{kind}{text}".encode()).digest()[: self.dimensions]) for text in texts]
        table = np.array(rows, dtype=np.float64).reshape(-1, self.dimensions) + 1
        return (table / np.linalg.norm(table, axis=1, keepdims=True)).astype(np.float32)


def texts(n: int, first: int = 0) -> list[str]:
    return [f"text {i}" for i in range(first, first + n)]


def segments_in(cache: VectorCache) -> list[Path]:
    return [path for path in cache.folder.iterdir() if not path.name.startswith(".")]


def test_only_new_texts_are_encoded(tmp_path: Path) -> None:
    fake = Fake()
    VectorCache(fake, tmp_path).vectors(["a", "b", "a"])
    found = VectorCache(fake, tmp_path).vectors(["c", "a", "b", "c"])
    assert fake.asked == ["a", "b", "c"]
    np.testing.assert_array_equal(Fake().encode(["c", "a", "b", "c"]), found)


def test_kinds_and_models_are_kept_apart(tmp_path: Path) -> None:
    first, second = Fake(), Fake("j" * 64)
    VectorCache(first, tmp_path).vectors(["a"], "sentence")
    VectorCache(first, tmp_path).vectors(["a"], "criterion")
    VectorCache(second, tmp_path).vectors(["a"])
    assert (first.asked, second.asked) == (["a", "a"], ["a"])


def test_many_small_calls_leave_few_segments(tmp_path: Path) -> None:
    cache = VectorCache(Fake(), tmp_path)
    for i in range(100):
        cache.vectors(texts(3, 3 * i))
    assert len(segments_in(cache)) < 20
    again = Fake()
    np.testing.assert_array_equal(Fake().encode(texts(300)), VectorCache(again, tmp_path).vectors(texts(300)))
    assert again.asked == []


def test_progress_counts_what_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "CHUNK", 4)
    cache, seen = VectorCache(Fake(), tmp_path), []
    cache.vectors(texts(2))
    cache.vectors(texts(12), progress=lambda done, total: seen.append((done, total)))
    assert seen == [(4, 10), (8, 10), (10, 10)]


@pytest.mark.parametrize("name", ["keys.npy", "rows.npy"])
@pytest.mark.parametrize("damage", ["cut", "gone", "zeros"])
def test_damaged_segments_are_computed_again(tmp_path: Path, name: str, damage: str) -> None:
    expected = VectorCache(Fake(), tmp_path).vectors(texts(50))
    path = next(tmp_path.rglob(name))
    content = path.read_bytes()
    if damage == "gone":
        path.unlink()
    else:
        path.write_bytes(content[:100] if damage == "cut" else content[:128] + bytes(len(content) - 128))
    for _ in range(2):
        assert expected.tobytes() == VectorCache(Fake(), tmp_path).vectors(texts(50)).tobytes()


def test_no_text_is_written(tmp_path: Path) -> None:
    VectorCache(Fake(), tmp_path).vectors(["a very private sentence"])
    for path in tmp_path.rglob("*"):
        assert "private" not in path.name
        assert path.is_dir() or b"private" not in path.read_bytes()


def test_a_model_that_changed_behind_its_name_is_refused(tmp_path: Path) -> None:
    VectorCache(Fake(dimensions=4), tmp_path).vectors(["a"])
    with pytest.raises(ModelError, match="delete that folder"):
        VectorCache(Fake(dimensions=6), tmp_path).vectors(["a", "b"])


def test_a_back_end_that_gives_no_number_is_refused(tmp_path: Path) -> None:
    broken = Fake()
    broken.encode = lambda texts, kind="sentence": np.full((len(texts), 4), np.nan)  # type: ignore[method-assign]
    with pytest.raises(ModelError, match="not finite"):
        VectorCache(broken, tmp_path).vectors(["a"])


WORKER = """
import sys, time
sys.path.insert(0, {here!r})
from pathlib import Path
from probative.encode import cache
from test_cache import Fake, texts
cache.CHUNK = 20
fake = Fake()
encode = fake.encode
def slow(batch, kind="sentence"):
    time.sleep(0.001)
    return encode(batch, kind)
fake.encode = slow
def say(done, total):
    print(done, flush=True)
cache.VectorCache(fake, Path({root!r})).vectors(texts(1000, {first}), progress=say)
"""


def worker(root: Path, first: int = 0) -> subprocess.Popen[str]:
    code = WORKER.format(here=str(Path(__file__).parent), root=str(root), first=first)
    return subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)


def test_a_killed_process_loses_at_most_the_chunk_in_progress(tmp_path: Path) -> None:
    killed, done = worker(tmp_path), 0
    assert killed.stdout is not None
    for line in killed.stdout:
        done = int(line)
        if done >= 300:
            killed.send_signal(signal.SIGKILL)
            break
    done = max([done, *(int(line) for line in killed.stdout)])
    killed.wait()
    killed.stdout.close()
    fake = Fake()
    np.testing.assert_array_equal(Fake().encode(texts(1000)), VectorCache(fake, tmp_path).vectors(texts(1000)))
    assert len(fake.asked) <= 1000 - done


def test_two_processes_and_a_reader_at_once_agree(tmp_path: Path) -> None:
    running = [worker(tmp_path, first) for first in (0, 500)]
    expected, until = Fake().encode(texts(1500)), time.monotonic() + 20
    while any(process.poll() is None for process in running) and time.monotonic() < until:
        assert expected[:100].tobytes() == VectorCache(Fake(), tmp_path).vectors(texts(100)).tobytes()
    for process in running:
        process.communicate()
        assert process.returncode == 0
    fake = Fake()
    assert expected.tobytes() == VectorCache(fake, tmp_path).vectors(texts(1500)).tobytes()
    assert fake.asked == []
