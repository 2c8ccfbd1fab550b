"""One stage's queries with what recomputation asks of them, worked out once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from probative.audit import extraction, ranking
from probative.audit.queries import Query, Table


@dataclass
class Frame:
    """The queries of one stage, in the file's order; rows are named by position."""

    stage: str
    queries: list[Query]
    excluded: frozenset[str] = frozenset()
    _values: dict[tuple[str, str], list[float]] = field(default_factory=dict)
    _rows: dict[tuple[str, str], list[int]] = field(default_factory=dict)
    _sizes: dict[str, list[int]] = field(default_factory=dict)

    @cached_property
    def seen(self) -> list[ranking.Seen]:
        return [ranking.look(q) for q in self.queries]

    @cached_property
    def folds(self) -> list[str]:
        return Table.folds.func(self)  # type: ignore[attr-defined, no-any-return]

    def has(self, name: str) -> bool:
        """Whether every query says this."""
        return all(getattr(q, name) is not None for q in self.queries)

    def rows(self, scope: str, criteria: str) -> list[int] | None:
        """The positions of a scope's queries, None for a scope that the contract does not know."""
        key = (scope, criteria)
        if key not in self._rows:
            chosen = self._select(scope)
            if chosen is None:
                return None
            if criteria == "trained":
                chosen = [i for i in chosen if self.queries[i].criterion_id not in self.excluded]
            self._rows[key] = chosen
        return self._rows[key]

    def _select(self, scope: str) -> list[int] | None:
        kind, _, label = scope.partition(":")
        tests: dict[str, Callable[[Query], bool]] = {
            "pooled": lambda q: True,
            "fold": lambda q: q.fold == label,
            "criterion": lambda q: q.criterion_id == label,
            "state": lambda q: q.state == label,
        }
        test = tests.get(kind)
        return None if test is None else [i for i, q in enumerate(self.queries) if test(q)]

    def criteria(self, criteria: str) -> list[str]:
        """The criteria of a set, sorted."""
        return [name for name in self._criteria if criteria != "trained" or name not in self.excluded]

    @cached_property
    def _criteria(self) -> list[str]:
        return sorted({q.criterion_id for q in self.queries})

    def sizes(self, mode: str) -> list[int]:
        """The numbers of sentences that a mode shows, rising."""
        if mode not in self._sizes:
            self._sizes[mode] = sorted({extraction.size(q, mode) for q in self.queries})
        return self._sizes[mode]

    def ranked_values(self, metric: str) -> list[float] | None:
        """A ranking metric of every query; None for an unknown id."""
        return self._cached(metric, "", ranking.measure(metric), lambda: self.seen)

    def extracted_values(self, metric: str, mode: str) -> list[float]:
        function = extraction.PER_QUERY[metric][1]
        found = self._cached(metric, mode, lambda q: function(q, mode), lambda: self.queries)
        assert found is not None  # noqa: S101 - the function above is never None
        return found

    def _cached(
        self, metric: str, mode: str, function: Callable[..., float] | None, of: Callable[[], Sequence[object]]
    ) -> list[float] | None:
        if function is None:
            return None
        if (metric, mode) not in self._values:
            self._values[metric, mode] = [function(item) for item in of()]
        return self._values[metric, mode]


def prior_frame(queries: Iterable[Query], excluded: frozenset[str]) -> Frame:
    """The gate that knows only each criterion's rate: nothing but the prior as probability."""
    bare = [
        replace(
            q,
            prob=q.prior,
            prob_raw=None,
            threshold=None,
            predicted=None,
            state=None,
            budgets={},
            ranked=[],
            scores=None,
            pool=None,
            raw=None,
            gate=None,
            triage=None,
        )
        for q in queries
    ]
    return Frame("prior", bare, excluded)


def stage_frame(stage: str, queries: Iterable[Query], final: Table, excluded: frozenset[str]) -> Frame:
    """An earlier stage's ranking and gate, with what only the final table says about a query."""
    joined = []
    for query in queries:
        known = final.by_key.get(query.key)
        if known is None:
            joined.append(query)
            continue
        n = query.n if query.stated_n is not None else known.n
        joined.append(replace(query, n=n, positive=known.positive, fold=query.fold or known.fold))
    return Frame(stage, joined, excluded)
