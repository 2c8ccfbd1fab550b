"""Document text, which only enters a report where it is asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from probative.errors import ConfigError, DataError
from probative.report.folder import RunFolder

if TYPE_CHECKING:
    from probative.data import Corpus

LONGEST = 20_000
"""Characters of one sentence on the page."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Texts:
    """Sentences by document, and the words of every criterion."""

    by_document: Mapping[str, Sequence[tuple[str, str]]]
    criteria: Mapping[str, str]

    @staticmethod
    def read(run: RunFolder, corpus: Path | None) -> Texts:
        """The corpus of the run; refuses another one."""
        found = _used(run, _given(run, corpus))
        expected = run.corpus.get("fingerprint")
        if expected and found.fingerprint != expected:
            raise DataError(
                f"{corpus or found.meta.name}: is not the corpus of this run (its fingerprint begins "
                f"{found.fingerprint[:8]}, the run's {expected[:8]}). Give the folder that the run was made from."
            )
        kept: dict[str, list[tuple[str, str]]] = {}
        for doc_id, uid, text in found.sentences.select("doc_id", "sent_uid", "text").iter_rows():
            kept.setdefault(doc_id, []).append((uid, text))
        return Texts(by_document=kept, criteria=dict(found.criteria.select("criterion_id", "text").iter_rows()))

    def sentences(self, doc_id: str) -> Sequence[tuple[str, str]]:
        """(sent_uid, text) of a document."""
        return self.by_document.get(doc_id, ())

    def criterion(self, criterion_id: str) -> str:
        """What was asked."""
        return cut(self.criteria.get(criterion_id, ""))

    @staticmethod
    def cut(text: str) -> str:
        return cut(text)


def _given(run: RunFolder, corpus: Path | None) -> Corpus:
    from probative.data import Corpus

    named = corpus or (run.manifest.get("config") or {}).get("corpus")
    if str(named or run.corpus.get("name")) == "demo" and not Path("demo").exists():
        from probative.data.demo import demo_corpus

        return demo_corpus()
    if not named or not Path(named).exists():
        raise ConfigError(
            f"{named or 'the run'}: the corpus is not there. --show-text needs it: give its folder with --corpus."
        )
    return Corpus.read(Path(named))


def _used(run: RunFolder, corpus: Corpus) -> Corpus:
    """The documents of the run alone; `--quick` takes only some."""
    if run.folds is None:
        return corpus
    import polars as pl

    there = pl.col("doc_id").is_in(run.folds["doc_id"].unique().to_list())
    kept = {name: t.filter(there) if "doc_id" in t.columns else t for name, t in corpus.tables.items()}
    return type(corpus)(meta=corpus.meta, **kept)


def cut(text: str) -> str:
    """A sentence of bounded length; what is left out is said."""
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}… ({len(text) - LONGEST:,} more characters)"
