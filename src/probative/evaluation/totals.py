"""Sums over queries that are linear in the weights, and the metrics that are functions of such sums."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from probative.segments import FloatArray, IntArray

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

Array = NDArray[np.floating[Any]]
DENSE = 0.04
"""Columns with more units than this share go through one matrix product; thinner ones through a sparse one."""


class Key(NamedTuple):
    """What a record is about, within a scope."""

    id: str
    population: str
    mode: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """How a per-query metric varies over its population."""

    std: float
    median: float
    p25: float
    p75: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Events:
    """A proportion's events and trials, and the units behind the trials; the value is scale · events / trials."""

    events: float
    trials: float
    units: int
    scale: float = 1.0

    @property
    def effective(self) -> float:
        """The number of independent trials that can be defended: one a unit."""
        return float(min(self.trials, self.units))


@dataclass(slots=True, kw_only=True)
class Fact:
    """What stands beside a value: its population, its spread, and what was odd about it."""

    n: int
    n_docs: int
    spread: Spread | None = None
    events: Events | None = None
    empty: str = ""
    """Why the value may be undefined."""
    fallback: float | None = 0.0
    """What is written when it is."""
    interval: bool = True
    note: str = ""
    biased: bool = False
    """Resampling pushes the interval upward."""
    exact: float | None = None
    """The value itself, where resamples use a coarser formula."""


Finish = Callable[[Mapping[str, Array]], Array]


@dataclass(kw_only=True)
class Totals:
    """Columns of per-query values summed by unit, and metrics made of the sums.

    Point values use weights of one in double precision; resamples use the same formulae on single-precision sums.
    """

    unit: IntArray
    """(q,) unit of every row of the scope."""
    n_units: int
    keys: list[Key] = field(default_factory=list)
    facts: list[Fact] = field(default_factory=list)
    _names: dict[str, int] = field(default_factory=dict)
    _columns: list[tuple[IntArray, NDArray[np.float32]]] = field(default_factory=list)
    _sums: list[float] = field(default_factory=list)
    _places: dict[tuple[bytes, bytes], int] = field(default_factory=dict)
    """Columns by content: equal ones are summed once."""
    _ratios: list[tuple[int, int, int, float]] = field(default_factory=list)
    _finishes: list[tuple[list[int], Finish]] = field(default_factory=list)

    def column(self, name: str, values: ArrayLike, rows: IntArray | None = None) -> str:
        """Add one value a query, for all rows of the scope or for some."""
        unit = self.unit if rows is None else self.unit[rows]
        if np.ndim(values) == 0:
            weights = np.full(len(unit), values, dtype=np.float64)
        else:
            weights = np.asarray(values, dtype=np.float64)
        summed = np.bincount(unit, weights=weights, minlength=self.n_units)
        some = np.flatnonzero(summed)
        content = (some.tobytes(), summed[some].tobytes())
        if content not in self._places:
            self._places[content] = len(self._columns)
            self._columns.append((some, summed[some].astype(np.float32)))
            self._sums.append(float(weights.sum()))
        self._names[name] = self._places[content]
        return name

    def sum(self, name: str) -> float:
        """The plain total of a column."""
        return self._sums[self._names[name]]

    def units_of(self, name: str) -> int:
        """How many units a column is not zero for."""
        return len(self._columns[self._names[name]][0])

    def ratio(self, key: Key, fact: Fact, over: tuple[str, str | None], *, scale: float = 1.0) -> None:
        """A metric that is one column over another, or a plain column."""
        top, bottom = over
        place = len(self.keys)
        self.keys.append(key)
        self.facts.append(fact)
        self._ratios.append((place, self._names[top], -1 if bottom is None else self._names[bottom], scale))

    def proportion(self, key: Key, fact: Fact, over: tuple[str, str], *, scale: float = 1.0) -> None:
        """A ratio of counts: near its ends the interval needs events and trials."""
        top, bottom = over
        fact.events = Events(events=self.sum(top), trials=self.sum(bottom), units=self.units_of(bottom), scale=scale)
        self.ratio(key, fact, over, scale=scale)

    def finish(self, keys: list[Key], facts: list[Fact], function: Finish) -> None:
        """Metrics (m, b) that are any function of the sums; NaN where undefined."""
        places = list(range(len(self.keys), len(self.keys) + len(keys)))
        self.keys.extend(keys)
        self.facts.extend(facts)
        self._finishes.append((places, function))

    def only(self, wanted: Collection[Key]) -> Totals:
        """Fewer metrics, over the columns that they need."""
        sums = _Named(self._names, np.array(self._sums, dtype=np.float64)[:, None])
        finishes = [(places, f) for places, f in self._finishes if any(self.keys[i] in wanted for i in places)]
        for _, function in finishes:
            function(sums)
        ratios = [ratio for ratio in self._ratios if self.keys[ratio[0]] in wanted]
        needed = {column for ratio in ratios for column in ratio[1:3] if column >= 0}
        names = [name for name, column in self._names.items() if column in needed or name in sums.seen]
        fewer = Totals(unit=self.unit, n_units=self.n_units)
        for name in names:
            column = self._names[name]
            fewer._names[name] = len(fewer._columns)
            fewer._columns.append(self._columns[column])
            fewer._sums.append(self._sums[column])
        label = {column: name for name, column in self._names.items()}
        for place, top, bottom, scale in ratios:
            over = (label[top], label[bottom] if bottom >= 0 else None)
            fewer.ratio(self.keys[place], self.facts[place], over, scale=scale)
        for places, function in finishes:
            fewer.finish([self.keys[i] for i in places], [self.facts[i] for i in places], function)
        return fewer

    def point(self) -> FloatArray:
        """(m,) the values; NaN where undefined."""
        values: FloatArray = self._values(np.array(self._sums, dtype=np.float64)[:, None])[:, 0].astype(np.float64)
        for place, fact in enumerate(self.facts):
            if fact.exact is not None:
                values[place] = fact.exact
        return values

    def resampled(self, weights: Array) -> Array:
        """(m, b) the values under b columns of weights."""
        return self._values(self._project(weights))

    def _values(self, sums: Array) -> Array:
        out = np.empty((len(self.keys), sums.shape[1]), dtype=sums.dtype)
        if self._ratios:
            place, top, bottom = (np.array(part) for part in list(zip(*self._ratios, strict=True))[:3])
            scale = np.array([r[3] for r in self._ratios], dtype=sums.dtype)[:, None]
            counted = bottom >= 0
            out[place] = sums[top]
            with np.errstate(divide="ignore", invalid="ignore"):
                quotient = sums[top[counted]] / sums[bottom[counted]]
            quotient[~np.isfinite(quotient)] = np.nan
            out[place[counted]] = quotient
            out[place] *= scale
        named = _Named(self._names, sums)
        for places, function in self._finishes:
            out[places] = function(named)
        return out

    def _project(self, weights: Array) -> Array:
        sums = np.empty((len(self._columns), weights.shape[1]), dtype=np.float32)
        dense_rows, dense, thin_rows, thin = self._matrices()
        if len(dense_rows):
            sums[dense_rows] = dense @ weights
        if len(thin_rows):
            sums[thin_rows] = thin @ weights
        return sums

    def _matrices(self) -> tuple[IntArray, Array, IntArray, csr_matrix]:
        if not hasattr(self, "_ready"):
            self._ready = self._build()
        return self._ready

    def _build(self) -> tuple[IntArray, Array, IntArray, csr_matrix]:
        from scipy.sparse import csr_matrix

        size = np.array([len(at) for at, _ in self._columns])
        is_dense = size > DENSE * self.n_units
        dense_rows, thin_rows = np.flatnonzero(is_dense), np.flatnonzero(~is_dense)
        dense = np.zeros((len(dense_rows), self.n_units), dtype=np.float32)
        for row, column in enumerate(dense_rows):
            at, values = self._columns[column]
            dense[row, at] = values
        parts = [self._columns[column] for column in thin_rows]
        offsets = np.concatenate([[0], np.cumsum(size[thin_rows])]).astype(np.int32)
        at = np.concatenate([p[0] for p in parts]) if parts else np.zeros(0, np.int64)
        values = np.concatenate([p[1] for p in parts]) if parts else np.zeros(0, np.float32)
        thin = csr_matrix((values, at.astype(np.int32), offsets), shape=(len(parts), self.n_units))
        return dense_rows, dense, thin_rows, thin


class _Named(Mapping[str, Array]):
    """The rows of a matrix under their names."""

    def __init__(self, names: Mapping[str, int], rows: Array) -> None:
        self.names, self.rows = names, rows
        self.seen: set[str] = set()

    def __getitem__(self, name: str) -> Array:
        self.seen.add(name)
        row: Array = self.rows[self.names[name]]
        return row

    def __iter__(self) -> Any:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)
