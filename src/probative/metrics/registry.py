"""The contract as data: one entry a metric, found by its id."""

from __future__ import annotations

import difflib
from functools import lru_cache

from probative.errors import ConfigError
from probative.metrics import (
    entries_calibration,
    entries_detection,
    entries_extraction,
    entries_ranking,
    entries_triage,
)
from probative.metrics.entry import Entry

ENTRIES: tuple[Entry, ...] = (
    *entries_ranking.ENTRIES,
    *entries_detection.ENTRIES,
    *entries_calibration.ENTRIES,
    *entries_extraction.ENTRIES,
    *entries_triage.ENTRIES,
)
_BY_ID = {entry.id: entry for entry in ENTRIES}


@lru_cache(maxsize=1024)
def lookup(id: str) -> Entry:  # noqa: A002 - the contract's word
    """The entry of an id: `ndcg@10`, `recall@all`, `tpr@fpr=0.05`, or a pattern such as `ndcg@K`.

    >>> lookup("map@10").formula
    'Σ_{i≤K} rel_i · P@i / min(|G|, K)'
    """
    if id in _BY_ID:
        return _BY_ID[id]
    family, at, parameter = id.partition("@")
    if at and parameter.startswith("fpr="):
        entry, fits = _BY_ID.get(f"{family}@fpr=α"), _is_alpha(parameter[4:])
    else:
        entry, fits = _BY_ID.get(f"{family}@K"), _is_cutoff(parameter)
    if entry is None or not fits:
        raise ConfigError(f"{id!r} is not a metric. {_hint(id)} `probative metrics list` shows all of them.")
    return entry.named(id)


def _is_cutoff(text: str) -> bool:
    return text == "all" or (text.isascii() and text.isdigit() and not text.startswith("0"))


def _is_alpha(text: str) -> bool:
    try:
        value = float(text)
    except ValueError:
        return False
    return 0 < value < 1 and f"{value:g}" == text


def _hint(id: str) -> str:  # noqa: A002
    near = suggest(id)
    return f"Did you mean {near}?" if near else "Cutoffs look like @10 or @all, budgets like @fpr=0.05."


def suggest(id: str) -> str | None:  # noqa: A002 - the contract's word
    """The nearest known id, with the parameter kept where it fits."""
    family, at, parameter = id.strip().lower().partition("@")
    families = {entry.id.partition("@")[0]: entry for entry in reversed(ENTRIES) if "@p=" not in entry.id}
    near = difflib.get_close_matches(family, families, n=1, cutoff=0.5)
    if not near:
        return None
    pattern = families[near[0]].id
    if pattern.endswith("@K"):
        return f"{near[0]}@{parameter if at and _is_cutoff(parameter) else 10}"
    if pattern.endswith("=α"):
        given = parameter.removeprefix("fpr=")
        return f"{near[0]}@fpr={given if _is_alpha(given) else '0.05'}"
    return pattern
