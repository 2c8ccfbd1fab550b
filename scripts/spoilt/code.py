"""Faults in the evaluation itself: every number is made by broken code, and nothing is edited by hand."""

from __future__ import annotations

import importlib
import inspect
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from spoilt.run import Run, mutation

FAULTS = (
    # what happens, the checks, module:function, the line as it is, the line as it must not be
    ("ranks are counted from 0", "PV020", "metrics.ranking:_with_gold", "inside = rank <=", "inside = rank <"),
    ("nDCG discounts by log2(i + 2)", "PV020", "metrics.ranking:_with_gold", "rank[found] + 1.0", "rank[found] + 2.0"),
    ("the ideal of nDCG is not cut at K", "PV020", "metrics.ranking:_with_gold", "ideal[best]", "ideal[size]"),
    (
        "precision@K divides by K_eff",
        "PV020",
        "metrics.ranking:_with_gold",
        "divide(hits, cut)",
        "divide(hits, np.minimum(cut, n))",
    ),
    (
        "map@K divides by the size of gold",
        "PV020",
        "metrics.ranking:_with_gold",
        "divide(summed, best)",
        "summed / size",
    ),
    ("MRR is one rank late", "PV020", "metrics.ranking:_with_gold", "1.0 / first", "1.0 / (first + 1.0)"),
    (
        "gold outside the pool leaves the denominator of recall",
        "PV020",
        "evaluation.cut:Prepared.ranking",
        "return values | pooled",
        'return values | pooled | {k.replace("_inpool", ""): v for k, v in pooled.items() if "_inpool" in k}',
    ),
    (
        "ECE has fifteen bins",
        "PV020",
        "evaluation.of_calibration:_bins",
        'totals, "bin", prob, y, calibration.EDGES',
        'totals, "bin", prob, y, np.linspace(0, 1, 16)',
    ),
    (
        "brier_skill is taken against EVAL's own rate",
        "PV020",
        "evaluation.of_calibration:add",
        "cut.take(p.prior) - y",
        "y.mean() - y",
    ),
    (
        "an empty selection counts as a perfect one",
        "PV020",
        "metrics.extraction:precision",
        "divide(hits, size)",
        "np.where(np.asarray(size) == 0, 1.0, divide(hits, size))",
    ),
    (
        "the budget allows one false alarm more",
        "PV020",
        "metrics.detection:allowed",
        "return count",
        "return count + 1",
    ),
    (
        "the confusion table at 0.5 cuts off the highest tenth",
        "PV020",
        "evaluation.of_detection:decisions",
        "p.prob[cut.rows] >= 0.5",
        "p.prob[cut.rows] > np.quantile(p.prob, 0.9)",
    ),
    (
        "UNCERTAIN counts as skipped",
        "PV020",
        "evaluation.of_triage:add",
        "(state != triage.NEG) & y",
        "(state == triage.POS) & y",
    ),
    (
        "f1_macro is that of the first criterion",
        "PV020",
        "evaluation.of_documents:_per_criterion",
        "f1.mean(axis=0)",
        "f1[0]",
    ),
    (
        "short selections are no false alarms",
        "PV020",
        "evaluation.of_extraction:_deployment",
        "shown & ~y,",
        "shown & ~y & (selection.size[cut.rows] > 2),",
    ),
    (
        "a macro average takes undefined members as 0",
        "PV020",
        "evaluation.bootstrap:Mean.estimate",
        "defined = ~np.isnan(table)",
        "table = np.nan_to_num(table); defined = np.ones(table.shape, dtype=bool)",
    ),
    (
        "std_sample divides by k",
        "PV021",
        "evaluation.bootstrap:Mean.estimate",
        "square / (count - 1)",
        "square / count",
    ),
    (
        "std over queries divides by n − 1",
        "PV021",
        "evaluation.cut:spreads",
        "average**2) / total",
        "average**2) / max(total - 1, 1)",
    ),
    (
        "quartiles take the lower value",
        "PV021",
        "evaluation.cut:spreads",
        "below + (place - low) * (above - below)",
        "below",
    ),
    (
        "queries are resampled, and called documents",
        "PV022",
        "evaluation.resample:units",
        'if kind == "queries":',
        "if True:",
    ),
    (
        "intervals are those of 90 %",
        "PV022",
        "evaluation.intervals:percentile",
        "((1 - level) / 2, (1 + level) / 2)",
        "(0.05, 0.95)",
    ),
    (
        "every interval is a tenth narrower",
        "PV022",
        "evaluation.intervals:percentile",
        "low=bounds[0], high=bounds[1]",
        "low=bounds[0] + 0.05 * (bounds[1] - bounds[0]), high=bounds[1] - 0.05 * (bounds[1] - bounds[0])",
    ),
    (
        "exact bounds count queries as if each were a document",
        "PV022",
        "evaluation.intervals:clopper_pearson",
        "hits, tail = share * n",
        "n = 3 * n\n    hits, tail = share * n",
    ),
)


@contextmanager
def broken(place: str, line: str, instead: str) -> Iterator[None]:
    """The function at `module:name` with one piece of its source replaced."""
    module_name, _, path = place.partition(":")
    module = importlib.import_module(f"probative.{module_name}")
    *outer, name = path.split(".")
    owner: Any = getattr(module, outer[0]) if outer else module
    kept = inspect.getattr_static(owner, name)
    function = getattr(kept, "func", kept)
    source = textwrap.dedent(inspect.getsource(function))
    if line not in source:
        raise LookupError(f"{place} no longer has {line!r}; the fault must be written anew")
    scope: dict[str, Any] = {}
    exec(source.replace(line, instead), module.__dict__, scope)  # noqa: S102 - the source is this repository's own
    made = scope[name]
    if hasattr(made, "__set_name__"):
        made.__set_name__(owner, name)
    users = [m for n, m in inspect.sys.modules.items() if n.startswith("probative.") and getattr(m, name, None) is kept]
    for holder in (owner, *users):
        setattr(holder, name, made)
    try:
        yield
    finally:
        for holder in (owner, *users):
            setattr(holder, name, kept)


def _values(run: Run, code: str) -> list[Any]:
    names = ("ci_low", "ci_high") if code == "PV022" else ("value", "std", "median", "p25", "std_sample")
    return [r.get(name) for r in run.master()["metrics"] for name in names]


def _fault(what: str, code: str, place: str, line: str, instead: str) -> None:
    def change(run: Run) -> None:
        before = _values(run, code)
        with broken(place, line, instead):
            run.evaluate(intervals=code == "PV022")
        if _values(run, code) == before:
            raise StopIteration  # this run's numbers do not depend on the fault

    change.__name__ = "".join(c if c.isalnum() else "_" for c in what)
    mutation(what, code)(change)


for _one in FAULTS:
    _fault(*_one)
