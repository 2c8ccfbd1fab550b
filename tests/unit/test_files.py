"""Files are whole or absent; locks outlive nobody; a store makes each entry once."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from probative import files
from probative.errors import ProbativeError


def start(code: str, *arguments: object) -> subprocess.Popen[str]:
    """A fresh process with pipes that runs some Python."""
    command = [sys.executable, "-c", textwrap.dedent(code), *map(str, arguments)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_written_file_is_there_with_the_usual_permissions(tmp_path: Path) -> None:
    files.write_json(tmp_path / "deep" / "a.json", {"b": "é"})

    assert json.loads((tmp_path / "deep" / "a.json").read_text(encoding="utf-8")) == {"b": "é"}
    umask = os.umask(0)
    os.umask(umask)
    assert (tmp_path / "deep" / "a.json").stat().st_mode & 0o777 == 0o666 & ~umask


def test_an_error_while_writing_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    files.write_text(tmp_path / "a.txt", "old")

    def fail() -> None:
        with files.writing(tmp_path / "a.txt") as aside:
            aside.write_text("half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert names(tmp_path) == ["a.txt"]
    assert (tmp_path / "a.txt").read_text() == "old"


def test_json_refuses_nan_and_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="Out of range"):
        files.write_json(tmp_path / "a.json", float("nan"))
    assert names(tmp_path) == []


def test_a_folder_is_replaced_whole_or_not_at_all(tmp_path: Path) -> None:
    with files.writing_folder(tmp_path / "run") as aside:
        (aside / "one").write_text("1")

    def fail() -> None:
        with files.writing_folder(tmp_path / "run") as aside:
            (aside / "two").write_text("2")
            raise ValueError("inside")

    with pytest.raises(ValueError, match="inside"):
        fail()
    assert names(tmp_path) == ["run"]
    assert names(tmp_path / "run") == ["one"]
    with files.writing_folder(tmp_path / "run") as aside:
        (aside / "three").write_text("3")
    assert (names(tmp_path), names(tmp_path / "run")) == (["run"], ["three"])


def test_a_full_disk_is_told_and_leaves_the_old_file(tmp_path: Path) -> None:
    files.write_text(tmp_path / "a.txt", "old")
    process = start(
        """
        import resource, signal, sys
        from pathlib import Path
        from probative import files
        from probative.errors import ProbativeError
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
        try:
            files.write_bytes(Path(sys.argv[1]), bytes(5000))
        except ProbativeError as error:
            print(error)
        """,
        tmp_path / "a.txt",
    )

    told, trouble = process.communicate(timeout=60)

    assert trouble == ""
    assert told == f"{tmp_path / 'a.txt'}: cannot be written (File too large). Nothing was changed.\n"
    assert (names(tmp_path), (tmp_path / "a.txt").read_text()) == (["a.txt"], "old")


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    with pytest.raises(ProbativeError, match="cannot be written"):
        files.write_text(tmp_path / "file" / "a.txt", "x")
    with pytest.raises(ProbativeError, match="cannot be written"), files.writing_folder(tmp_path / "file" / "run"):
        pass


def test_a_failed_replacement_puts_the_old_folder_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with files.writing_folder(tmp_path / "run") as aside:
        (aside / "one").write_text("1")
    rename = os.rename

    def broken(source: Path, target: Path) -> None:
        if source.suffix == ".part":
            raise OSError(28, "No space left on device")
        rename(source, target)

    monkeypatch.setattr(os, "rename", broken)
    with pytest.raises(ProbativeError, match="No space left"), files.writing_folder(tmp_path / "run") as aside:
        (aside / "two").write_text("2")

    assert (names(tmp_path), names(tmp_path / "run")) == (["run"], ["one"])


def test_hashes_are_the_known_ones(tmp_path: Path) -> None:
    (tmp_path / "abc").write_bytes(b"abc")
    known = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"

    assert [files.sha256_bytes(b"abc"), files.sha256_file(tmp_path / "abc")] == [known, known]


def test_equal_values_have_one_json() -> None:
    assert files.canonical_json({"b": [1, 2], "a": "é"}) == '{"a":"é","b":[1,2]}'
    assert files.sha256_json({"b": 1, "a": 2}) == files.sha256_json({"a": 2, "b": 1})


HOLD = """
    import sys, time
    from pathlib import Path
    from probative import files
    with files.lock(Path(sys.argv[1])):
        print("held", flush=True)
        time.sleep(60)
"""


def test_a_held_lock_keeps_others_out_until_its_holder_is_killed(tmp_path: Path) -> None:
    holder = start(HOLD, tmp_path / "lock")
    try:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(ProbativeError, match="has held this lock"), files.lock(tmp_path / "lock", wait=0.1):
            pass
        holder.send_signal(signal.SIGKILL)
        holder.wait(timeout=10)
        with files.lock(tmp_path / "lock", wait=5):
            taken = True
    finally:
        holder.kill()
        holder.communicate()
    assert taken


def test_a_lock_is_free_again_after_an_error_inside(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="inside"), files.lock(tmp_path / "lock"):
        raise ValueError("inside")
    with files.lock(tmp_path / "lock", wait=0):
        pass


def filler(log: list[int]) -> Callable[[Path], object]:
    def make(folder: Path) -> None:
        log.append(1)
        (folder / "deep").mkdir()
        (folder / "deep" / "x.txt").write_text("made")

    return make


def test_an_entry_is_made_once(tmp_path: Path) -> None:
    store, log = files.Store(tmp_path), list[int]()

    first = store.get("abcd", filler(log))
    second = store.get("abcd", filler(log))

    assert (first, log) == (second, [1])
    assert (first / "deep" / "x.txt").read_text() == "made"
    assert (store.has("abcd"), store.has("other")) == (True, False)


@pytest.mark.parametrize(
    "alter",
    [
        lambda entry: (entry / "deep" / "x.txt").write_text("mad?"),
        lambda entry: (entry / "deep" / "x.txt").unlink(),
        lambda entry: (entry / "seal.json").write_text("{"),
        lambda entry: (entry / "seal.json").write_text('["x"]'),
        lambda entry: (entry / "seal.json").write_text('{"deep/x.txt": 4}'),
        lambda entry: (entry / "seal.json").unlink(),
    ],
    ids=["text", "missing", "seal cut", "seal a list", "seal without digest", "no seal"],
)
def test_an_altered_entry_is_made_again(tmp_path: Path, alter: Callable[[Path], object]) -> None:
    store, log = files.Store(tmp_path), list[int]()
    alter(store.get("abcd", filler(log)))

    entry = store.get("abcd", filler(log))

    assert log == [1, 1]
    assert (entry / "deep" / "x.txt").read_text() == "made"


def test_a_failed_entry_leaves_nothing_and_is_made_next_time(tmp_path: Path) -> None:
    store, log = files.Store(tmp_path), list[int]()

    def fail(folder: Path) -> None:
        (folder / "half").write_text("half")
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        store.get("abcd", fail)

    assert not store.has("abcd")
    assert names(store.get("abcd", filler(log))) == ["deep", "seal.json"]


MAKE = """
    import sys, time
    from pathlib import Path
    from probative import files

    def make(folder):
        with Path(sys.argv[2]).open("a") as log:
            log.write("made\\n")
        time.sleep(0.5)
        (folder / "x").write_text("x")

    print("ready", flush=True)
    sys.stdin.readline()
    files.Store(Path(sys.argv[1])).get("abcd", make)
"""


def test_two_processes_share_one_making(tmp_path: Path) -> None:
    both = [start(MAKE, tmp_path / "store", tmp_path / "log") for _ in range(2)]
    for process in both:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"

    for process in both:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()

    assert [process.communicate(timeout=60)[1] for process in both] == ["", ""]
    assert (tmp_path / "log").read_text() == "made\n"


def test_the_cache_lies_where_it_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PROBATIVE_CACHE", str(tmp_path / "own"))
    assert files.cache_root() == tmp_path / "own"
    monkeypatch.delenv("PROBATIVE_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert files.cache_root() == tmp_path / "probative"


def test_waiting_for_a_lock_does_not_outlast_its_limit(tmp_path: Path) -> None:
    with files.lock(tmp_path / "lock"):
        begin = time.monotonic()
        with pytest.raises(ProbativeError), files.lock(tmp_path / "lock", wait=0.2):
            pass
        assert 0.2 <= time.monotonic() - begin < 5
