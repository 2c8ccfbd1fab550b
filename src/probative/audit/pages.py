"""PV064 and PV065: what the pages and the audit beside a run say, against manifest and records."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from probative.audit import statement
from probative.audit.check import Check, absent, judged
from probative.audit.numbers import Known, printed
from probative.audit.source import Source

PAGES = ("data_statement.md", "MANIFEST.md")
COUNTED = ("n_documents", "n_queries", "n_positive")
SYNTHETIC = "**The corpus is synthetic.**"
FIX = "Rebuild the pages from the run: probative report RUN."


def pages(source: Source) -> Check:
    """PV064."""
    title = "The pages beside the run say what the manifest says"
    there = [name for name in PAGES if source.has(name)]
    if source.manifest is None or not there:
        return absent("PV064", title, "there is no manifest.json with such a page")
    texts = {name: source.path(name).read_text(encoding="utf-8") for name in there}
    findings = [line for name, text in texts.items() for line in _page(name, text, source.manifest)]
    return judged("PV064", title, findings, good=f"{', '.join(there)} agree with manifest.json", fix=FIX)


def _page(name: str, text: str, manifest: Mapping[str, Any]) -> Iterator[str]:
    corpus = manifest.get("corpus") or {}
    if name == "data_statement.md":
        lines = {line.strip() for line in text.splitlines()}
        found = (line for line in statement.facts(corpus) if line not in lines)
        yield from (f"{name}: lacks the line {line!r}, which the manifest gives" for line in found)
        return
    if bool(corpus.get("synthetic")) != (SYNTHETIC in text):
        yield f"{name}: {'says' if SYNTHETIC in text else 'does not say'} that the corpus is synthetic"
    known = Known([*(float(corpus.get(part, 0)) for part in COUNTED), float(manifest.get("seed", 0))])
    for line in text.splitlines():
        if "queries, " in line:
            wrong = (number.text for number in printed(line) if not known.has(number))
            yield from (f"{name}: {number} is not what the manifest has" for number in wrong)


def quoted(source: Source) -> Check:
    """PV065."""
    title = "audit.json is an audit of these records"
    if not source.has("audit.json"):
        return absent("PV065", title, "there is no audit.json")
    return judged("PV065", title, _quoted(source), good="its counts and its verdict are those of its checks", fix=FIX)


def _quoted(source: Source) -> Iterator[str]:
    stated = source.json("audit.json")
    failed = [check["code"] for check in stated.get("checks", ()) if check.get("status") == "failed"]
    if list(stated.get("failed", ())) != failed or (stated.get("status") == "failed") != bool(failed):
        yield f"audit.json: says {stated.get('status')}, its own checks say {', '.join(failed) or 'passed'}"
    if source.master is None:
        return
    # A ranking averaged over ties is not worked out again, and not counted as if it were.
    parts = [("series", "series")]
    parts += [] if (source.master.get("meta") or {}).get("ties") == "expected" else [("records", "metrics")]
    for name, part in parts:
        if stated.get(name) != len(source.master.get(part, ())):
            yield f"audit.json: {name} is {stated.get(name)}, there are {len(source.master.get(part, ()))}"
