"""Bars, histograms, forests and small multiples."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

from probative.report.plots.plot import BLUE, GREEN, GREY, INK, MUTED, ORANGE, PURPLE, Plot, compose, draw, unit

Rows = Sequence[Mapping[str, Any]]
HATCH = ("", "////", "....", "xxxx")
LABEL = 26
"""Letters of a criterion's id that fit beside an axis."""


def short(name: str) -> str:
    """A name that fits beside an axis; matplotlib's mathematics is switched off."""
    cut = name if len(name) <= LABEL else f"{name[: LABEL - 1]}…"
    return "".join(char if char.isprintable() else "�" for char in cut).replace("$", r"\$")


def prevalence(criteria: Rows, rates: Sequence[float | None]) -> Plot:
    """How often each criterion has evidence."""

    def make(axes: Any) -> None:
        for place, (row, rate) in enumerate(zip(criteria, rates, strict=True)):
            small = row["small"]
            colour, hatch = (GREY, "////") if small else (BLUE, "")
            axes.barh(place, rate or 0, color="none" if small else colour, edgecolor=colour, hatch=hatch, height=0.7)
            axes.annotate(
                f"{row['n_positive']:,}", (rate or 0, place), xytext=(3, 0), textcoords="offset points",
                va="center", fontsize=6.5,
            )  # fmt: skip
        _names(axes, [short(row["criterion_id"]) for row in criteria])
        axes.set_xlabel("share of queries with evidence", loc="right")
        axes.set_xlim(0, 1.18 * max([rate or 0 for rate in rates] + [0.01]))

    return draw("prevalence", make, height=_tall(len(criteria)))


def forest(name: str, label: str, rows: Rows, pooled: float | None) -> Plot:
    """One metric by criterion: bars, intervals and n; small criteria are hollow and grey."""
    ground = 0.5 if name.startswith("forest_auroc") else 0.0

    def make(axes: Any) -> None:
        if pooled is not None:
            axes.axvline(pooled, color=MUTED, linestyle="--", linewidth=0.8)
        for place, row in enumerate(rows):
            if row["value"] is None:
                continue
            colour = GREY if row["small"] else BLUE
            axes.barh(place, row["value"] - ground, left=ground, height=0.56, color=colour, alpha=0.18)
            if row["low"] is not None:
                axes.plot([row["low"], row["high"]], [place, place], color=colour, linewidth=1.1)
            face = "none" if row["small"] else colour
            axes.plot([row["value"]], [place], marker="o", color=colour, markerfacecolor=face, linestyle="none")
        _names(axes, [f"{short(r['criterion_id'])}{' †' * bool(r['excluded'])} ({r['n_positive']:,})" for r in rows])
        axes.set_xlim(-0.02, 1.02)
        axes.set_xlabel(label, loc="right")

    return draw(name, make, height=_tall(len(rows)))


def _names(axes: Any, names: Sequence[str]) -> None:
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.grid(visible=False, axis="y")


def _tall(n: float) -> float:
    return 0.75 + 0.165 * max(n, 4)


def flow(steps: Sequence[tuple[str, float, float]]) -> Plot:
    """How much gold is left after each step."""

    def make(axes: Any) -> None:
        for place, (_, gold, share) in enumerate(steps):
            axes.barh(place, share, color=BLUE, height=0.66)
            inside = share > 0.6
            axes.annotate(
                f"{gold:,.0f} · {100 * share:.1f} %", (share, place), xytext=(-4 if inside else 4, 0),
                textcoords="offset points", va="center", ha="right" if inside else "left", fontsize=6.5,
                color="white" if inside else INK,
            )  # fmt: skip
        axes.set_yticks(range(len(steps)), [step for step, _, _ in steps])
        axes.set_ylim(len(steps) - 0.4, -0.6)
        axes.set(xlim=(0, 1.02), xlabel="share of gold sentences")
        axes.grid(visible=False, axis="y")

    return draw("gold_flow", make, height=_tall(len(steps)))


def lengths(rows: Rows) -> Plot:
    """How many sentences documents have."""

    def make(axes: Any) -> None:
        sizes = [row["n_sentences"] for row in rows]
        step = (max(sizes) - min(sizes)) // 30 + 1
        edges = [place - 0.5 for place in range(min(sizes), max(sizes) + step + 1, step)]
        axes.hist(sizes, weights=[row["n_documents"] for row in rows], bins=edges, color=BLUE)
        axes.set(xlabel="sentences in a document", ylabel="documents")
        axes.set_xlim(min(edges) - 0.5, max(edges) + 0.5)
        axes.xaxis.get_major_locator().set_params(integer=True)

    return draw("document_length", make)


def splits(folds: Sequence[Any], roles: Mapping[str, Sequence[int]]) -> Plot:
    """How many documents each fold gives to each role."""
    colours = {"train": BLUE, "stop": GREEN, "tune": ORANGE, "eval": PURPLE}

    def make(axes: Any) -> None:
        left = [0] * len(folds)
        for place, (role, counts) in enumerate(roles.items()):
            face = colours.get(role, GREY)
            axes.barh(
                range(len(folds)), counts, left=left, height=0.7, label=role.upper(),
                facecolor=face, edgecolor="white", hatch=HATCH[place % 4], linewidth=0.4,
            )  # fmt: skip
            left = [a + b for a, b in zip(left, counts, strict=True)]
        axes.set_yticks(range(len(folds)), [f"fold {fold}" for fold in folds])
        axes.set_ylim(len(folds) - 0.4, -0.6)
        axes.grid(visible=False, axis="y")
        axes.set_xlabel("documents")
        axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=4, handlelength=1.4, columnspacing=1)

    return draw("splits", make, height=max(1.9, 0.9 + 0.24 * len(folds)))


def reliability(rows: Rows) -> Plot:
    """Frequency against probability with intervals, over a histogram."""

    def make(figure: Any) -> None:
        upper, lower = figure.subplots(2, 1, sharex=True, height_ratios=(3, 1))
        _diagonal(upper, rows, markers=True)
        unit(upper, "", "frequency of evidence")
        width = [row["high"] - row["low"] for row in rows]
        lower.bar([row["low"] for row in rows], [row["n"] for row in rows], width, align="edge", color=BLUE, alpha=0.75)
        lower.set(xlabel="probability of evidence", ylabel="queries", yscale="log", ylim=(0.7, None))

    return compose("reliability", make, height=3.4)


def _diagonal(axes: Any, rows: Rows, *, markers: bool) -> None:
    axes.plot([0, 1], [0, 1], color=MUTED, linestyle=(0, (1, 2)), linewidth=0.8)
    kept = [row for row in rows if row["frequency"] is not None]
    for row in kept:
        if row["ci_low"] is not None:
            axes.plot([row["mean_p"]] * 2, [row["ci_low"], row["ci_high"]], color=BLUE, linewidth=0.9)
    x, y = [row["mean_p"] for row in kept], [row["frequency"] for row in kept]
    axes.plot(x, y, color=BLUE, marker="o", markersize=3.5 if markers else 2.2, linewidth=1)


def reliabilities(found: Mapping[str, Rows], positives: Mapping[str, int]) -> Plot:
    """The same by criterion, as small panels with the number of positives."""
    columns = 3
    lines = -(-len(found) // columns)

    def make(figure: Any) -> None:
        grid = figure.subplots(lines, columns, sharex=True, sharey=True, squeeze=False)
        for place, (name, rows) in enumerate(found.items()):
            axes = grid[place // columns][place % columns]
            _diagonal(axes, rows, markers=False)
            axes.set_title(f"{short(name)[:18]} ({positives[name]:,})", fontsize=6.5)
            axes.tick_params(labelbottom=place + columns >= len(found))
            axes.set(xlim=(0, 1), ylim=(0, 1.02), xticks=[0, 0.5, 1], yticks=[0, 0.5, 1])
        for place in range(len(found), lines * columns):
            grid[place // columns][place % columns].set_visible(False)
        figure.supxlabel("probability of evidence", fontsize=8)
        figure.supylabel("frequency of evidence", fontsize=8)

    return compose("reliability_by_criterion", make, height=0.6 + 1.05 * lines)


def sizes(name: str, found: Mapping[str, Rows]) -> Plot:
    """Histograms of selection sizes, one panel a group."""

    def make(figure: Any) -> None:
        panels = figure.subplots(len(found), 1, sharex=True, squeeze=False)
        for place, (group, rows) in enumerate(found.items()):
            axes = panels[place][0]
            axes.bar([row["k"] for row in rows], [row["n"] for row in rows], color=BLUE, width=0.8)
            axes.annotate(group, (1, 1), xycoords="axes fraction", ha="right", va="bottom", fontsize=7)
            axes.set_ylabel("queries", fontsize=7)
        panels[-1][0].set_xlabel("sentences shown (K)")

    return compose(name, make, height=0.5 + 1.0 * len(found))


def work(rows: Sequence[tuple[str, float, float]]) -> Plot:
    """Of 1,000 queries: how many land in each state, with and without evidence."""

    def make(axes: Any) -> None:
        places = range(len(rows))
        without, having = [row[2] for row in rows], [row[1] for row in rows]
        axes.barh(places, without, color="none", edgecolor=GREY, hatch="////", label="no evidence", height=0.66)
        axes.barh(places, having, left=without, color=BLUE, label="evidence", height=0.66)
        for place, row in enumerate(rows):
            axes.annotate(
                f"{row[1]:.1f} of {row[1] + row[2]:.0f}", (row[1] + row[2], place), xytext=(3, 0),
                textcoords="offset points", va="center", fontsize=6.5,
            )  # fmt: skip
        axes.set_yticks(places, [row[0] for row in rows])
        axes.set_ylim(len(rows) - 0.4, -0.6)
        axes.set(xlabel="queries per 1,000", xlim=(0, 1.25 * max(row[1] + row[2] for row in rows)))
        axes.grid(visible=False, axis="y")
        axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2)

    return draw("work_per_1000", make, height=2.1)


def tau_grid(rows: Rows) -> Plot:
    """Sentences shown for every pair of thresholds, beside what each threshold gives."""
    down = {row["tau_neg"]: row["screening_sensitivity"] for row in rows}
    across = {row["tau_pos"]: row["alert_precision"] for row in rows}
    most = max((row["sentences_shown"] or 0 for row in rows), default=0) or 1
    lines, columns = list(down), list(across)

    def make(axes: Any) -> None:
        for row in rows:
            place = (columns.index(row["tau_pos"]), lines.index(row["tau_neg"]))
            shown = row["sentences_shown"] or 0
            axes.barh(place[1], 1, left=place[0] - 0.5, height=1, color=BLUE, alpha=0.05 + 0.4 * shown / most)
            axes.annotate(_thousands(shown), place, ha="center", va="center", fontsize=6)
        axes.set_xticks(range(len(columns)), [f"{tau}\n{_two(across[tau])}" for tau in columns], fontsize=6.5)
        axes.set_yticks(range(len(lines)), [f"{tau}  →  {_two(down[tau])}" for tau in lines], fontsize=6.5)
        axes.set(xlim=(-0.5, len(columns) - 0.5), ylim=(len(lines) - 0.5, -0.5))
        axes.set(xlabel="τ_pos, below it alert_precision", ylabel="τ_neg  →  screening_sensitivity")
        axes.grid(visible=False)
        axes.tick_params(length=0)

    return draw("tau_grid", make, height=1.0 + 0.24 * max(len(lines), 4))


def _two(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"


def _thousands(value: float) -> str:
    return f"{value:.0f}" if value < 1000 else f"{value / 1000:.1f}k" if value < 100_000 else f"{value / 1000:.0f}k"


def ablation(rows: Rows, label: str) -> Plot:
    """The same metric for every configuration, with its interval."""

    def make(axes: Any) -> None:
        _dots(axes, [(row["value"], row.get("low"), row.get("high")) for row in rows])
        _names(axes, [wrapped(str(row["name"])) for row in rows])
        axes.set_xlabel(label, loc="right")

    return draw("ablation", make, height=_tall(1.5 * len(rows)))


def gains(rows: Rows, label: str) -> Plot:
    """Paired differences with intervals, beside the line of no difference."""

    def make(axes: Any) -> None:
        axes.axvline(0, color=MUTED, linestyle="--", linewidth=0.8)
        _dots(axes, [(row["difference"], row["ci_low"], row["ci_high"]) for row in rows])
        _names(axes, [wrapped(str(row["other"])) for row in rows])
        axes.set_xlabel(label, loc="right")

    return draw("ablation_gains", make, height=_tall(1.5 * len(rows)))


def _dots(axes: Any, found: Sequence[tuple[float, float | None, float | None]]) -> None:
    for place, (value, low, high) in enumerate(found):
        if low is not None:
            axes.plot([low, high], [place, place], color=BLUE)
        axes.plot([value], [place], marker="o", color=BLUE, linestyle="none")


def wrapped(name: str) -> str:
    """A long name in two lines; matplotlib's mathematics is switched off."""
    lines = textwrap.wrap(name, 28) or [""]
    cut = [*lines[:1], f"{lines[1]}…"] if len(lines) > 2 else lines
    return "\n".join("".join(c if c.isprintable() else "�" for c in line).replace("$", r"\$") for line in cut)
