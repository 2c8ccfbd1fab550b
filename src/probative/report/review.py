"""review.html: what screening found, to read and to step through; it holds document text by its nature."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

from probative import files
from probative.report import page, words

SHOWN_STATES = ("POS", "UNCERTAIN")
MOST_QUERIES = 2_000
MOST_CHARACTERS = 20_000_000
CONTEXT = 600
"""Characters of a text shown before and after each marked sentence."""
LONGEST = 20_000
"""Characters of one marked sentence."""
Piece = dict[str, Any]


def write_review(out: Path, *, documents: Iterable[Any]) -> Path:
    """Write OUT/review.html from OUT/decisions.jsonl, OUT/summary.json and the documents in the order of the decisions.

    POS and UNCERTAIN queries are shown up to a stated limit; a document without decisions is passed over.
    """
    out = Path(out)
    summary = json.loads((out / "summary.json").read_text(encoding="utf-8"))
    cards = list(_bounded(_cards(out / "decisions.jsonl", documents)))
    states = summary.get("states") or {}
    found = sum(int(states.get(state, 0)) for state in SHOWN_STATES)
    values = {
        "summary": summary,
        "cards": cards,
        "found": words.count(found),
        "documents": words.count(summary["documents"]),
        "rejected": words.count(summary.get("rejected") or 0),
        "left_out": words.count(max(0, found - len(cards))),
        "criteria": sorted({card["criterion_id"] for card in cards}),
        "states": [state for state in SHOWN_STATES if any(card["state"] == state for card in cards)],
        "limit": words.count(MOST_QUERIES),
    }
    path = out / "review.html"
    files.write_text(path, page.render("review.html", **values))
    return path


def _bounded(cards: Iterator[Piece]) -> Iterator[Piece]:
    size = 0
    for card in islice(cards, MOST_QUERIES):
        size += sum(len(piece["text"]) for piece in card["pieces"])
        if size > MOST_CHARACTERS:
            return
        yield card


def _cards(decisions: Path, documents: Iterable[Any]) -> Iterator[Piece]:
    """One card a query that is shown, beside its document; both files are read once, in step."""
    rows = iter(documents)
    document: Any = None
    with decisions.open(encoding="utf-8") as stream:
        for line in stream:
            decision = json.loads(line)
            while document is None or document.doc_id != decision["doc_id"]:
                row = next(rows, None)
                if row is None:
                    return
                document = row if hasattr(row, "doc_id") else document
            if decision["state"] in SHOWN_STATES:
                yield _card(decision, document)


def _card(decision: Mapping[str, Any], document: Any) -> Piece:
    asked = dict(document.criteria or ())
    evidence = sorted(decision["evidence"], key=_place)
    spans = [e for e in evidence if e.get("start") is not None]
    if document.text is not None and spans:
        pieces = list(_of_text(document.text, spans))
    else:
        pieces = list(_of_sentences(document.sentences or (), {e["sent_uid"]: e for e in evidence}))
    return {
        "doc_id": decision["doc_id"],
        "criterion_id": decision["criterion_id"],
        "question": asked.get(decision["criterion_id"], ""),
        "state": decision["state"],
        "probability": words.chance(decision["probability"]),
        "note": decision.get("note") or "",
        "pieces": pieces,
        "n_marked": sum(piece["kind"] == "mark" for piece in pieces),
    }


def _place(evidence: Mapping[str, Any]) -> tuple[int, int]:
    start, end = evidence.get("start"), evidence.get("end")
    return (0 if start is None else start, 0 if end is None else end)


def _of_text(text: str, spans: list[Mapping[str, Any]]) -> Iterator[Piece]:
    """The text cut by the offsets, with what is far from any mark left out."""
    at = 0
    for item in spans:
        start, end = max(at, item["start"]), max(at, item["end"])
        yield from _between(text[at:start], first=at == 0)
        yield _mark(text[start:end], item)
        at = end
    yield from _between(text[at:], first=False, last=True)


def _between(text: str, *, first: bool, last: bool = False) -> Iterator[Piece]:
    head = "" if first else text[:CONTEXT]
    tail = "" if last else text[len(head) :][-CONTEXT:]
    left = len(text) - len(head) - len(tail)
    yield from _plain(head)
    if left:
        yield {"kind": "gap", "text": f"… {words.count(left)} characters …"}
    yield from _plain(tail)


def _plain(text: str) -> Iterator[Piece]:
    if text:
        yield {"kind": "text", "text": text}


def _mark(text: str, item: Mapping[str, Any]) -> Piece:
    return {"kind": "mark", "text": _cut(text), "probability": words.chance(item["probability"])}


def _cut(text: str) -> str:
    left = len(text) - LONGEST
    return text if left <= 0 else f"{text[:LONGEST]} … {words.count(left)} characters …"


def _of_sentences(sentences: Iterable[tuple[str, str]], marked: Mapping[str, Mapping[str, Any]]) -> Iterator[Piece]:
    """Marked sentences with two on either side."""
    rows = list(sentences)
    places = [place for place, (uid, _) in enumerate(rows) if uid in marked]
    near = sorted({place + step for place in places for step in range(-2, 3) if 0 <= place + step < len(rows)})
    before = -1
    for place in near:
        if place > before + 1:
            yield {"kind": "gap", "text": f"… {words.count(place - before - 1)} sentences …"}
        uid, text = rows[place]
        yield _mark(text, marked[uid]) if uid in marked else {"kind": "text", "text": f"{_cut(text)} "}
        before = place
    if before < len(rows) - 1:
        yield {"kind": "gap", "text": f"… {words.count(len(rows) - 1 - before)} sentences …"}
