"""Other people's data to a corpus folder, in one step; nothing is guessed or dropped in silence."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from probative.data.corpus import Corpus
from probative.data.drop import Dropped, drop_invalid
from probative.data.folder import read_folder
from probative.data.importers import READERS, detect
from probative.data.problems import refuse
from probative.data.source import Source
from probative.data.validate import check
from probative.data.write import DROPPED
from probative.errors import ConfigError, DataError

TABLES_FORMAT = "tables"
FORMATS = (TABLES_FORMAT, *READERS)


@dataclass(frozen=True, kw_only=True)
class Imported:
    """The corpus as it now lies in a folder, and everything worth telling about the way there."""

    corpus: Corpus
    folder: Path
    notes: list[str]
    dropped: list[Dropped] = field(default_factory=list)


def read_source(
    path: Path,
    kind: str | None = None,
    *,
    mapping: Mapping[str, str] | None = None,
    sep: str | None = None,
    encoding: str | None = None,
) -> Source:
    """Read unchecked tables in one of FORMATS; without one, what the files can only be is seen, and told."""
    if not path.exists():
        raise DataError(f"{path}: does not exist. Give a folder of tables, or a file of another format.")
    if kind not in (None, *FORMATS):
        raise ConfigError(f"--format {kind}: unknown. Formats: {', '.join(FORMATS)}.")
    seen = detect(path) if kind is None and not mapping and not sep else None
    if seen:
        source = READERS[seen](path, encoding=encoding)
        return replace(source, notes=(f"{path.name}: read as {seen}, as it looks like it", *source.notes))
    if kind is None or kind == TABLES_FORMAT:
        return read_folder(path, mapping=mapping, sep=sep, encoding=encoding)
    if mapping or sep:
        raise ConfigError(f"--map and --sep belong to --format {TABLES_FORMAT}; {kind} fixes its own columns.")
    return READERS[kind](path, encoding=encoding)


def import_corpus(
    path: Path,
    out: Path,
    kind: str | None = None,
    *,
    mapping: Mapping[str, str] | None = None,
    sep: str | None = None,
    encoding: str | None = None,
    drop: bool = False,
    to: str = "parquet",
) -> Imported:
    """Read, check and write a corpus; with `drop`, rows with problems are left out, told and listed in a file."""
    if out.resolve() == path.resolve():
        raise ConfigError(f"{out}: is the source itself. Choose another folder, so that the source stays as it is.")
    source = read_source(path, kind, mapping=mapping, sep=sep, encoding=encoding)
    checked, dropped = drop_invalid(source) if drop else (check(source), [])
    refuse(checked.problems, str(path))
    corpus = checked.corpus()
    aside = "".join(json.dumps(row.as_dict(), ensure_ascii=False) + "\n" for row in dropped)
    corpus.write(out, to, beside={DROPPED: aside} if dropped else {})
    notes = list(checked.notes)
    if dropped:
        counts = Counter(row.problem.code for row in dropped)
        kinds = ", ".join(f"{count} {code}" for code, count in sorted(counts.items()))
        notes.append(f"dropped {len(dropped)} rows ({kinds}); they are listed in {out / DROPPED}")
    return Imported(corpus=corpus, folder=out, notes=notes, dropped=dropped)
