"""A run folder while it is being made: claimed by one process, resumable, and filled only when all is done."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import yaml

from probative import files
from probative.errors import ConfigError
from probative.settings import flatten

WORK = ".work"
CONFIG = "config.yaml"
DONE = "manifest.json"


@contextmanager
def claim(out: Path, config: str, *, resume: bool) -> Iterator[Path]:
    """Hold `out` for one run and give its work folder, which goes away once the run is whole."""
    work = out / WORK
    if out.exists() and not out.is_dir():
        raise ConfigError(f"{out}: is a file. Choose another folder with --out.")
    if not resume and out.exists() and any(out.iterdir()):
        state = "holds a finished run" if (out / DONE).exists() else "is not empty"
        if work.exists():
            state = "holds an interrupted run"
        raise ConfigError(f"{out}: {state}. Continue it with --resume, or choose another folder with --out.")
    work.mkdir(parents=True, exist_ok=True)
    with files.lock(work / "lock", wait=0.0):
        _same_config(out, work / CONFIG, config)
        files.write_text(work / CONFIG, config)
        yield work
    shutil.rmtree(work)


def _same_config(out: Path, kept: Path, config: str) -> None:
    for path in (kept, out / CONFIG):
        if not path.exists():
            continue
        before, now = (flatten(yaml.safe_load(text)) for text in (path.read_text(), config))
        changed = sorted(name for name in before | now if before.get(name) != now.get(name))
        if changed:
            name = changed[0]
            raise ConfigError(
                f"{out}: --resume continues a run with its own configuration, but {name} was {before.get(name)!r} "
                f"and is now {now.get(name)!r}. Choose another folder with --out; what is the same is not made again."
            )
        return


def publish(result: Path, out: Path) -> None:
    """Move a finished result into the run folder, the manifest last: a folder with a manifest is whole."""
    for old in out.iterdir():
        if old.name != WORK:
            shutil.rmtree(old) if old.is_dir() else old.unlink()
    for new in sorted(result.iterdir(), key=lambda p: p.name == DONE):
        new.rename(out / new.name)
