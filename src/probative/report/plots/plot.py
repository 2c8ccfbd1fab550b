"""One figure as SVG for pages and papers, and as PNG."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

WIDTH = 3.35
"""Inches: 8.5 cm, one column of a paper."""
INK, MUTED, GRID = "#1b2430", "#5b6777", "#d5dbe3"
BLUE, ORANGE, GREEN, PURPLE, GREY = "#1f5fa8", "#c2570c", "#0b7a5b", "#8a3f8f", "#6b7788"
NAMES = {
    **{INK: "ink", MUTED: "muted", GRID: "grid"},
    "#ffffff": "paper",
    **{BLUE: "blue", ORANGE: "orange", GREEN: "green", PURPLE: "purple", GREY: "grey"},
}
STAGE: dict[str, dict[str, Any]] = {
    "final": {"color": BLUE, "linestyle": "-", "marker": "o"},
    "graph": {"color": PURPLE, "linestyle": (0, (6, 1.5)), "marker": "D"},
    "rerank": {"color": ORANGE, "linestyle": "--", "marker": "s"},
    "retrieve": {"color": GREEN, "linestyle": "-.", "marker": "^"},
    "prior": {"color": GREY, "linestyle": ":", "marker": "x"},
}
"""A colour, a dash and a marker each: any one of them tells the stages apart."""
_IDS = re.compile(r'(\bid="|url\(#|href="#)')
_NOISE = re.compile(r"<metadata>.*?</metadata>|<style[^>]*>.*?</style>|<!--.*?-->", re.DOTALL)
Draw = Callable[[Any], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Plot:
    """A drawn figure."""

    name: str
    svg: str
    png: bytes
    wide: bool = False

    @property
    def inline(self) -> str:
        """The drawing for inside a page, in the page's own colours."""
        return inline(self.svg, self.name)


def draw(name: str, make: Draw, *, height: float = 2.6, width: float = WIDTH, wide: bool = False) -> Plot:
    """Draw on the axes of a new figure in the one style."""
    return compose(name, lambda figure: make(figure.add_subplot()), height=height, width=width, wide=wide)


def compose(name: str, make: Draw, *, height: float, width: float = WIDTH, wide: bool = False) -> Plot:
    """The same for figures with several axes."""
    import matplotlib as mpl
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    with mpl.rc_context(fname=str(Path(__file__).with_name("style.mplstyle"))):
        figure = Figure(figsize=(width, height))
        FigureCanvasAgg(figure)
        make(figure)
        drawing, picture = io.StringIO(), io.BytesIO()
        figure.savefig(drawing, format="svg", metadata={"Date": None, "Creator": None})
        figure.set_layout_engine("none")  # the places stay; laying out twice would double the time
        figure.savefig(picture, format="png", facecolor="white", transparent=False)
    return Plot(name=name, svg=drawing.getvalue(), png=picture.getvalue(), wide=wide)


def inline(svg: str, name: str) -> str:
    """An SVG file as an element of a page: ids of its own, colours that follow the theme."""
    body = _NOISE.sub("", svg[svg.index("<svg") :])
    body = _IDS.sub(lambda found: f"{found.group(1)}{name}-", body)
    for colour, variable in NAMES.items():
        body = body.replace(colour, f"var(--{variable})")
    body = re.sub(r'(<svg[^>]*?) width="[^"]*"', r"\1", body, count=1)
    body = re.sub(r'(<svg[^>]*?) height="[^"]*"', r"\1", body, count=1)
    return body.replace("<svg ", '<svg aria-hidden="true" focusable="false" ', 1)


def unit(axes: Any, x: str, y: str) -> None:
    """A unit square."""
    axes.set(xlim=(0, 1), ylim=(0, 1.02), xlabel=x, ylabel=y)
    axes.set_xticks([0, 0.2, 0.4, 0.6, 0.8, 1])
    axes.set_yticks([0, 0.2, 0.4, 0.6, 0.8, 1])


def dotted(every: int, style: dict[str, Any]) -> dict[str, Any]:
    """A line style with a marker at every so many points."""
    return {**style, "markevery": max(1, every), "markerfacecolor": "none"}
