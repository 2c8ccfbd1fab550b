"""The corpus: six tables in canonical order, and the only door to them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import polars as pl

from probative.data import fingerprint, views
from probative.data.meta import CorpusMeta
from probative.errors import DataError
from probative.types import Role, View


@dataclass(frozen=True, kw_only=True, eq=False)
class Corpus:
    """Documents cut into sentences, criteria asked of them, and which sentences are evidence.

    Rows are sorted by document (plain string order), then by sentence number or criterion.

    >>> corpus = Corpus.read("corpus")                       # doctest: +SKIP
    >>> corpus.view(corpus.doc_ids[:10], Role.TRAIN, gold=True).n_queries    # doctest: +SKIP
    """

    meta: CorpusMeta
    documents: pl.DataFrame
    """doc_id and any grouping columns (text)."""
    sentences: pl.DataFrame
    """doc_id, sent_idx, sent_uid, text and, where known, start and end in the document's text."""
    criteria: pl.DataFrame
    """criterion_id, text, name."""
    gold: pl.DataFrame
    """doc_id, criterion_id, sent_uid."""
    rejected: pl.DataFrame
    """doc_id, criterion_id, sent_uid."""
    pairs: pl.DataFrame
    """doc_id, criterion_id, has_evidence (0 or 1): the labelled queries."""

    @staticmethod
    def read(
        path: str | Path,
        *,
        mapping: Mapping[str, str] | None = None,
        sep: str | None = None,
        encoding: str | None = None,
        labelled: bool = True,
    ) -> Corpus:
        """Read and check a corpus folder; raises DataError that lists what is wrong.

        `labelled=False` accepts documents alone, without criteria and gold.
        """
        from probative.data.folder import read_folder
        from probative.data.problems import refuse
        from probative.data.validate import check

        source = read_folder(Path(path), mapping=mapping, sep=sep, encoding=encoding)
        checked = check(source, labelled=labelled)
        refuse(checked.problems, str(path))
        return checked.corpus()

    def write(
        self,
        folder: str | Path,
        format: str = "parquet",  # noqa: A002 - the word users know
        *,
        beside: Mapping[str, str] | None = None,
    ) -> Path:
        """Write a folder of parquet, csv or jsonl tables, whole or not at all; `beside` are more files by name."""
        from probative.data.write import write_corpus

        return write_corpus(self, Path(folder), format, beside)

    @cached_property
    def fingerprint(self) -> str:
        """Names the content: equal for the same content in another format or row order."""
        return fingerprint.of(self.meta, self.tables)

    @property
    def tables(self) -> dict[str, pl.DataFrame]:
        """The six tables by name."""
        return {
            "documents": self.documents,
            "sentences": self.sentences,
            "criteria": self.criteria,
            "gold": self.gold,
            "rejected": self.rejected,
            "pairs": self.pairs,
        }

    @cached_property
    def doc_ids(self) -> tuple[str, ...]:
        """All documents, in order."""
        return tuple(self.documents["doc_id"].to_list())

    @cached_property
    def _places(self) -> dict[str, int]:
        return {doc_id: place for place, doc_id in enumerate(self.doc_ids)}

    @cached_property
    def _whole(self) -> View:
        return views.whole(**self.tables)

    def view(self, doc_ids: Iterable[str], role: Role, *, gold: bool, exclude: Collection[str] = ()) -> View:
        """The documents of one role, their queries, and their gold only where asked for.

        Queries of criteria in `exclude` are left out; so are criteria that have no query here.
        """
        known = self._places
        wanted = list(doc_ids)
        if unknown := [doc_id for doc_id in wanted if doc_id not in known]:
            raise DataError(
                f"{self.meta.name}: no document {unknown[0]!r} in the corpus ({len(unknown)} unknown in all)."
            )
        view = self._whole.take(np.array(sorted({known[doc_id] for doc_id in wanted}), dtype=np.int64), role)
        if barred := {place for place, cid in enumerate(view.criterion_ids) if cid in exclude}:
            view = view.take_queries(np.flatnonzero(~np.isin(view.query_criterion, list(barred))))
        return view if gold else view.blind()
