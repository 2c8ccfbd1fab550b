"""The hashes of a run folder, kept true to what the report rewrites in it."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from probative import files

MANIFEST, SUMS = "manifest.json", "checksums.txt"


def sign(folder: Path, written: Iterable[Path]) -> None:
    """Take these files into manifest.json and checksums.txt; a change to any other file stays visible.

    A folder that was never sealed stays so, and a manifest that its checksum contradicts is left contradicted.
    """
    hashes = {path.relative_to(folder).as_posix(): files.sha256_file(path) for path in written}
    if not (folder / SUMS).is_file():
        return
    lines = (folder / SUMS).read_text(encoding="utf-8").splitlines()
    listed = {name: digest for digest, _, name in (line.partition("  ") for line in lines)}
    untouched = listed.get(MANIFEST) == files.sha256_file(folder / MANIFEST)
    facts = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    files.write_json(folder / MANIFEST, {**facts, "files": dict(sorted({**facts["files"], **hashes}.items()))})
    if untouched:
        hashes[MANIFEST] = files.sha256_file(folder / MANIFEST)
    lines = [f"{digest}  {name}" for name, digest in sorted({**listed, **hashes}.items())]
    files.write_text(folder / SUMS, "\n".join(lines) + "\n")
