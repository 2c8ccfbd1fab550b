"""docs/metrics.md, made from the registry."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path

from probative.files import write_text
from probative.metrics.entry import Entry
from probative.metrics.registry import ENTRIES

HEAD = """# Metrics

<!-- Made by `python -m probative.metrics.pages docs/metrics.md` from the registry; edit the registry. -->

Where definitions agree there is one metric; where they differ, every reading has its own id, and the one in **bold** is
the default that headline tables use. `probative metrics explain ID` prints the same entry.

p is the probability of evidence, G the gold sentences of a query, R its ranking, R_K the first K of it, n its number of
candidates. A zero denominator gives 0 with a reason; such a value enters no mean, macro average or interval. Quantiles
interpolate linearly; standard deviations over queries divide by n. K is 1, 3, 5, 10, 20 or `all` (= n); α is 0.01,
0.03, 0.05 or 0.1.

Populations: `positives_only` (queries with a gold sentence, in ranking and extraction), `all_queries`,
`negatives_only`, `candidates` (every row of the rankings), `documents`, `state:S`, `passed_positives` and
`passed_queries`. A query that is said to have evidence without a gold sentence is unlocated: in detection, calibration,
triage and deployment, out of ranking and extraction.

Scopes: `pooled`, `fold:i`, `fold_mean` (with std_sample and std_pop), `criterion:ID`, `criterion_macro`, `state:S`.

Intervals are 95 % percentiles over 10,000 resamples of documents within folds; all ids, scopes and stages share one
draw. A proportion with at most five events or five misses gets a Clopper–Pearson interval on the effective number of
documents: the number of documents that contribute to its denominator, at most the number of trials. For a mean of
proportions over m folds or criteria it is m² / Σ 1/nᵢ. Queries of one document are never counted as independent there,
so these intervals are on the wide side. `k_min`, `k_max` and thresholds have none. Four resample a close relative of
themselves: `aurc` and the two `_candidates` areas join neighbouring scores into at most 128 and 96 groups, the
calibration line takes one Newton step from its fit, and `ece_equalmass` keeps its bins. `auroc_within` and
`auprc_within` keep their criteria.
"""


def render() -> str:
    """The page."""
    parts = [HEAD]
    for section, entries in groupby(_shown(), key=lambda entry: entry.section):
        number, _, title = section.partition(" ")
        parts.append(f"\n## {title} (contract §{number})\n")
        parts.extend(_entry(entry) for entry in entries)
    return "".join(parts)


def _shown() -> list[Entry]:
    """The copies at p = 0.5 stand in one sentence."""
    return [entry for entry in ENTRIES if not entry.id.endswith("@p=0.5")]


def _entry(entry: Entry) -> str:
    name = f"**`{entry.id}`**" if entry.default else f"`{entry.id}`"
    copy = f"{entry.id}@p=0.5" if any(other.id == f"{entry.id}@p=0.5" for other in ENTRIES) else ""
    facts = [
        f"- Formula: {entry.formula}",
        f"- Population: {', '.join(entry.populations)}" + ("; modes raw, gate, triage" if entry.by_mode else ""),
        f"- Range: {entry.range}; better: {entry.better}",
        f"- Says so: {', '.join(entry.sources)}",
        f"- Needs: {', '.join(entry.inputs)}",
        f"- Conventions: {entry.conventions}" if entry.conventions else "",
        f"- The same with predicted = (p ≥ 0.5): `{copy}` (004)" if copy else "",
        f"- Target: {entry.target}" if entry.target else "",
        _ranges(entry),
        f"- Example: {entry.example}",
    ]
    return f"\n### {name}\n\n{entry.interpretation}\n\n" + "\n".join(fact for fact in facts if fact) + "\n"


def _ranges(entry: Entry) -> str:
    if not entry.baseline or not entry.good:
        return ""
    at = {"K": "10", "α": "0.05"}.get(entry.id[-1], "")
    where = f" for {entry.id[:-1]}{at}" if at else ""
    low, high = entry.baseline, entry.good
    return f"- Reference ranges{where}: baseline {low[0]:.2f}–{low[1]:.2f}, good {high[0]:.2f}–{high[1]:.2f} (000)"


def write(path: Path) -> None:
    """Write the page."""
    write_text(path, render())


if __name__ == "__main__":
    import sys

    write(Path(sys.argv[1]))
