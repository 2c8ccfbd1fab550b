"""The glossary: what every metric on the page means, from the registry."""

from __future__ import annotations

from itertools import groupby

from probative.metrics import ENTRIES
from probative.report import parts


def section() -> parts.Part:
    """Every metric's definition and how to read it."""
    entries = [entry for entry in ENTRIES if not entry.id.endswith("@p=0.5")]
    groups = []
    for title, inside in groupby(entries, key=lambda entry: entry.section):
        terms = [
            {
                "anchor": parts.anchor(entry.id),
                "id": entry.id,
                "formula": entry.formula,
                "reading": entry.interpretation,
                "conventions": entry.conventions,
                "facts": f"{', '.join(entry.populations)}; range {entry.range}; better: {entry.better}; "
                f"defined so by {', '.join(entry.sources)}",
            }
            for entry in inside
        ]
        groups.append({"title": title.partition(" ")[2], "terms": terms})
    intro = "Where documents define one name in different ways, every reading has its own id."
    return parts.section("glossary", "Glossary", intro, {"kind": "glossary", "groups": groups})
