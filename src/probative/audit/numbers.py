"""Numbers in printed text, and the records that they may come from."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from probative.audit.targets import AT_LEAST, AT_MOST, RANGES

FORMS = (
    (re.compile(r"[−-]?[\d.,]+ ?%? \[[−\d., %-]+\]"), (("value", "ci_low", "ci_high"),)),
    (re.compile(r"[−-]?[\d.,]+ ± [\d.,]+"), (("value", "std_sample"), ("value", "std_pop"), ("value", "std"))),
)
"""How a cell puts numbers of one record side by side, and from which of its fields."""
SPACES = "\u202f\u2009\u00a0,"
NUMBER = re.compile(
    rf"(?<![\w.#:@=-])[−-]?(\d{{1,3}}(?:[{SPACES}]\d{{3}})+(?!\d)|\d+)?(\.\d+)?(?:[eE]([+-]?\d+))?(?![\w])"
)
WORD = re.compile(r"[^\s(),|&]+")
STAGES = ("retrieve", "rerank", "graph", "prior")
WHOLE = ("pooled", "fold_mean", "criterion_macro")
MODES = ("raw", "gate", "triage")
Record = Mapping[str, Any]
CONTRACT = (*AT_LEAST.values(), *AT_MOST.values(), 0.01, 0.03, 0.05, 0.1, 0.5, 0.7, 0.8, 0.9, 0.95, 0.975, 0.025)
"""What the contract itself prints: budgets, γ, levels."""


@dataclass(frozen=True, slots=True)
class Printed:
    """A number as it stands in a text, and half a unit of its last digit."""

    value: float
    half: float
    text: str

    @property
    def is_whole(self) -> bool:
        return self.half >= 0.5


def printed(text: str) -> Iterator[Printed]:
    """Every number of a text, without its sign."""
    for match in NUMBER.finditer(text):
        whole, fraction, power = match.groups()
        if whole is None and fraction is None:
            continue
        digits = re.sub(r"\D", "", whole or "0")
        scale = 10.0 ** int(power or 0)
        places = len(fraction) - 1 if fraction else 0
        yield Printed(float(f"{digits}{fraction or ''}") * scale, 0.5 * 10.0**-places * scale, match.group(0).strip())


def leaves(value: Any) -> Iterator[float]:
    """Every number below a JSON value, those inside its short texts included."""
    if isinstance(value, bool):
        return
    if isinstance(value, int | float):
        yield abs(float(value))
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from leaves(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from leaves(inner)
    elif isinstance(value, str) and len(value) < 400:
        yield from (number.value for number in printed(value))


class Known:
    """Numbers, also as per cent and as what is missing to 1, found again to printed precision."""

    def __init__(self, numbers: Iterable[float]) -> None:
        found = set(numbers)
        shares = {v for v in found if v <= 1}
        found |= {1 - v for v in shares}
        self.sorted = sorted(found | {100 * v for v in found})

    def has(self, number: Printed) -> bool:
        slack = number.half * (1 + 1e-6) + 1e-12
        place = bisect_left(self.sorted, number.value - slack)
        return place < len(self.sorted) and self.sorted[place] <= number.value + slack


@dataclass
class Sources:
    """metrics_master.json, ablation.json and the manifest, as a reader of tables looks them up."""

    master: Mapping[str, Any]
    ablation: Any
    manifest: Mapping[str, Any]
    verdict: Any = None
    """audit.json, which a report quotes."""
    _cache: dict[frozenset[tuple[str, ...]], Known] = field(default_factory=dict)

    @cached_property
    def by_id(self) -> dict[str, list[Record]]:
        out: dict[str, list[Record]] = defaultdict(list)
        for record in self.master.get("metrics", ()):
            out[str(record["id"])].append(record)
        return dict(out)

    @cached_property
    def choices(self) -> dict[str, frozenset[str]]:
        """What a row may say about the record that it means."""
        populations = {str(r["population"]) for r in self.master.get("metrics", ())}
        return {"population": frozenset(populations), "mode": frozenset(MODES), "stage": frozenset(STAGES)}

    @cached_property
    def scopes(self) -> dict[str, str]:
        """What a table may call a scope → the scope."""
        found = {str(r["scope"]) for r in self.master.get("metrics", ())}
        short = {scope.partition(":")[2]: scope for scope in found if scope.startswith("criterion:")}
        return {**short, **{scope: scope for scope in found}}

    @cached_property
    def beside(self) -> tuple[float, ...]:
        """Numbers that are no records: ablation, manifest but for calibration curves, audit, the contract's own."""
        manifest = {k: v for k, v in self.manifest.items() if k not in {"files", "folds"}}
        folds = [{k: v for k, v in fold.items() if k != "calibrator"} for fold in self.manifest.get("folds", ())]
        return (
            *leaves(self.ablation),
            *leaves(manifest),
            *leaves(folds),
            *leaves(self.master.get("meta", {})),
            *CONTRACT,
            *leaves(self.verdict),
            float(len(self.master.get("metrics", ()))),
        )

    @cached_property
    def anything(self) -> Known:
        """For numbers in running text, where nothing says which record is meant."""
        records = [r for rs in self.by_id.values() for r in rs if r["scope"] in WHOLE]
        return Known([*leaves(records), *leaves(self.master.get("series", [])), *self.beside])

    def of_series(self, names: Sequence[str]) -> Known | None:
        """The numbers of the series whose columns stand here, None when there is none."""
        wanted = {name for name in names if name}
        key = frozenset({("series", *sorted(wanted))})
        if key not in self._cache:
            found = [
                s for s in self.master.get("series", ()) if len(s["columns"]) > 1 and wanted.issuperset(s["columns"])
            ]
            if not found:
                return None
            self._cache[key] = Known([*leaves([s["rows"] for s in found])])
        return self._cache[key]

    def chosen(self, ids: Iterable[str], words: frozenset[str]) -> list[Record]:
        """The records with these ids that the words of a row allow."""
        scopes = {self.scopes[word] for word in words if word in self.scopes} or set(WHOLE)
        named = {name: words & options for name, options in self.choices.items() if words & options}
        return [r for name in ids for r in self.by_id[name] if r["scope"] in scopes and _fits(r, named)]

    def together(self, ids: Set[str], words: frozenset[str], cell: str) -> bool:
        """Whether a cell of a value with its interval, or with its spread, has all its numbers from one record."""
        if not ids:
            return True
        for form, columns in FORMS:
            if form.fullmatch(cell.strip()):
                parts = list(printed(cell))
                records = self.chosen(ids, words)
                return any(_shows(r, parts, names) for r in records for names in columns) or len(parts) != len(
                    columns[0]
                )
        return True

    def of(self, ids: Iterable[str], words: frozenset[str]) -> Known:
        """The numbers of the records with these ids that the words of a row allow."""
        names = tuple(sorted(ids))
        scopes = {self.scopes[word] for word in words if word in self.scopes} or set(WHOLE)
        named = {name: words & options for name, options in self.choices.items() if words & options}
        chosen_words = sorted(word for options in named.values() for word in options)
        key = frozenset({("ids", *names), ("scopes", *sorted(scopes)), ("words", *chosen_words)})
        if key not in self._cache:
            chosen = self.chosen(names, words)
            asked = [v for name in names for v in of_contract(name)] + ([] if words else [*CONTRACT])
            self._cache[key] = Known([*leaves(chosen), *leaves(self.ablation), *asked])
        return self._cache[key]


def _shows(record: Record, parts: Sequence[Printed], names: Sequence[str]) -> bool:
    values = [record.get(name) for name in names]
    if any(not isinstance(v, int | float) for v in values) or len(values) != len(parts):
        return False
    return any(
        all(
            abs(abs(float(v)) * scale - part.value) <= part.half * (1 + 1e-6) + 1e-12
            for v, part in zip(values, parts, strict=True)
            if v is not None
        )
        for scale in (1.0, 100.0)
    )


def _fits(record: Record, named: Mapping[str, frozenset[str]]) -> bool:
    return all(record.get(name) in options for name, options in named.items())


def of_contract(metric: str) -> list[float]:
    """The target and the reference ranges of an id."""
    ends = [end for part in RANGES.get(metric, ())[1:] for end in part]
    return [float(v) for v in (AT_LEAST.get(metric), AT_MOST.get(metric), *ends) if isinstance(v, int | float)]


def words(text: str) -> frozenset[str]:
    """The words of a cell, as ids and scopes are written."""
    if not text.strip():
        return frozenset()
    plain = text.replace("\\_", "_").replace("\\%", "%").replace("{", "").replace("}", "").replace("*", "")
    return frozenset(word.strip("`:;.") if len(word) > 1 else word for word in WORD.findall(plain)) | {plain.strip()}
