"""Curves: recall by K, ROC, precision–recall, risk–coverage, and sweeps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from probative.report.plots.plot import BLUE, GREY, MUTED, ORANGE, STAGE, Plot, dotted, draw, unit

Rows = Sequence[Mapping[str, Any]]


def _line(rows: Rows, x: str, y: str) -> tuple[list[Any], list[Any]]:
    kept = [row for row in rows if row[x] is not None and row[y] is not None]
    return [row[x] for row in kept], [row[y] for row in kept]


def _band(axes: Any, rows: Rows, x: str, colour: str) -> None:
    kept = [row for row in rows if row.get("low") is not None]
    if kept:
        axes.fill_between(
            [row[x] for row in kept],
            [row["low"] for row in kept],
            [row["high"] for row in kept],
            color=colour,
            alpha=0.16,
            linewidth=0,
            step=None,
        )


def recall_by_k(found: Mapping[str, Rows]) -> Plot:
    """Recall at every K, each stage, with the oracle."""

    def make(axes: Any) -> None:
        oracle = found.get("final") or next(iter(found.values()))
        axes.plot(*_line(oracle, "k", "oracle"), color=MUTED, linestyle=(0, (1, 1)), label="oracle: the most K allows")
        for stage, rows in found.items():
            if stage == "final":
                _band(axes, rows, "k", BLUE)
            axes.plot(*_line(rows, "k", "recall"), label=stage, **dotted(len(rows) // 8, STAGE[stage]))
        axes.set(xlabel="K (sentences read)", ylabel="recall@K", ylim=(0, 1.02), xlim=(0.5, None))
        axes.legend(loc="lower right")

    return draw("recall_by_k", make, height=2.8)


def roc(found: Mapping[str, Rows], band: Rows) -> Plot:
    """ROC of every stage, with the band of the last one."""

    def make(axes: Any) -> None:
        axes.plot([0, 1], [0, 1], color=MUTED, linewidth=0.7, linestyle=(0, (1, 2)), label="chance")
        _band(axes, band, "fpr", BLUE)
        for stage, rows in found.items():
            label = "final, 95 % band" if stage == "final" and band else stage
            axes.plot(*_line(rows, "fpr", "tpr"), label=label, **dotted(len(rows) // 7, STAGE[stage]))
        unit(axes, "false positive rate", "true positive rate")
        axes.legend(loc="lower right")

    return draw("roc", make, height=3.1)


def precision_recall(found: Mapping[str, Rows], prevalence: float | None) -> Plot:
    """Precision–recall of every stage, with the prevalence."""

    def make(axes: Any) -> None:
        if prevalence is not None:
            axes.axhline(prevalence, color=MUTED, linewidth=0.9, linestyle=(0, (1, 2)), label="prevalence")
        for stage, rows in found.items():
            axes.plot(*_line(rows, "recall", "precision"), label=stage, **dotted(len(rows) // 7, STAGE[stage]))
        unit(axes, "recall", "precision")
        axes.legend(loc="best")

    return draw("precision_recall", make, height=3.1)


def risk_coverage(rows: Rows) -> Plot:
    """Error rate among the queries decided, by how many are decided."""

    def make(axes: Any) -> None:
        axes.plot(*_line(rows, "coverage", "risk"), color=BLUE)
        decided = [row for row in rows if row["abstaining"]]
        if decided and len(decided) < len(rows):
            last = decided[-1]
            axes.axvline(last["coverage"], color=ORANGE, linestyle="--", linewidth=1)
            axes.plot([last["coverage"]], [last["risk"]], color=ORANGE, marker="s", linestyle="none")
            left = last["coverage"] > 0.55
            axes.annotate(
                "without UNCERTAIN",
                (last["coverage"], 1),
                xycoords=("data", "axes fraction"),
                xytext=(-4 if left else 4, -9),
                textcoords="offset points",
                ha="right" if left else "left",
                fontsize=7,
            )
        axes.set(xlabel="coverage (share of queries decided)", ylabel="risk (share decided wrongly)", xlim=(0, 1))
        axes.set_ylim(bottom=0)

    return draw("risk_coverage", make)


def policies(named: Mapping[str, Rows], fixed: Rows) -> Plot:
    """Recall against mean K: every policy beside fixed K."""

    def make(axes: Any) -> None:
        ordered = sorted(fixed, key=lambda row: row["k_mean"])
        if ordered:
            axes.plot(
                *_line(ordered, "k_mean", "evidence_recall"), color=GREY, linestyle=":", marker="x", label="fixed K"
            )
        styles = [STAGE[name] for name in ("final", "rerank", "retrieve", "graph")]
        for place, (name, rows) in enumerate(named.items()):
            style = {**styles[place % len(styles)], "linestyle": "none", "markerfacecolor": "none", "markersize": 5}
            axes.plot(*_line(rows, "k_mean", "evidence_recall"), label=name, **style)
        axes.set(xlabel="mean K (sentences shown a query)", ylabel="evidence_recall")
        axes.legend(loc="best")

    return draw("policies", make)


def gamma(rows: Rows) -> Plot:
    """Recall and mean K by γ."""

    def make(axes: Any) -> None:
        axes.plot(*_line(rows, "gamma", "evidence_recall"), **STAGE["final"], label="evidence_recall (left)")
        axes.set(xlabel="γ (share of probability to cover)", ylabel="evidence_recall")
        other = axes.twinx()
        other.plot(*_line(rows, "gamma", "k_mean"), **STAGE["rerank"], label="mean K (right)")
        other.set_ylabel("mean K")
        other.grid(visible=False)
        lines = [*axes.get_lines(), *other.get_lines()]
        axes.legend(lines, [line.get_label() for line in lines], loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2)

    return draw("gamma_sweep", make)
