"""Short spelling of an entry over all queries."""

from __future__ import annotations

from probative.metrics.entry import Entry


def entry(id: str, formula: str, sources: str, interpretation: str, example: str, **more: object) -> Entry:  # noqa: A002
    values: dict[str, object] = {"populations": ("all_queries",), **more}
    return Entry(
        id=id,
        formula=formula,
        sources=tuple(sources.split()),
        interpretation=interpretation,
        example=example,
        **values,  # type: ignore[arg-type]
    )
