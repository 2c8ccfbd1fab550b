"""A run folder as one plain dictionary: everything the page shows, nothing of how it looks."""

from __future__ import annotations

from typing import Any

from probative.report.folder import RunFolder
from probative.report.sections import (
    calibration,
    criteria,
    data,
    detection,
    dynamic_k,
    errors,
    glossary,
    head,
    ranking,
    reproduce,
    stages,
    triage,
)
from probative.report.texts import Texts

BEFORE = (head, data, ranking, detection, calibration, dynamic_k, triage, criteria, stages)


def summarise(run: RunFolder, texts: Texts | None = None) -> dict[str, Any]:
    """Every section in order; numbers are looked up in metrics_master.json, never computed."""
    sections = [noun.section(run) for noun in BEFORE]
    sections += [errors.section(run, texts), reproduce.section(run), glossary.section()]
    return {
        "title": title(run),
        "synthetic": bool(run.corpus.get("synthetic")),
        "has_text": texts is not None,
        "version": run.meta.get("probative", ""),
        "sections": sections,
    }


def title(run: RunFolder) -> str:
    """The corpus, or the file the scores came from."""
    source = str(run.meta.get("source") or "scores")
    return str(run.corpus.get("name") or ("scores" if source.startswith(".") else source))
