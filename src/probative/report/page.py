"""Dictionaries to self-contained pages: autoescaped, without a single request."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from probative.report import parts, words
from probative.report.plots.plot import inline

if TYPE_CHECKING:
    from jinja2 import Environment

LONGEST = 400
"""Characters of one cell."""
FOLDER = Path(__file__).with_name("templates")


@lru_cache(maxsize=1)
def environment() -> Environment:
    """Jinja with escaping on; every string shows its control characters instead of obeying them."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape
    from markupsafe import Markup

    made = Environment(
        loader=FileSystemLoader(FOLDER),
        autoescape=select_autoescape(default=True, default_for_string=True),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=lambda value: (
            words.visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value
        ),
    )
    made.filters["ticks"] = ticks
    made.filters["breakable"] = breakable
    made.filters["short"] = short
    made.filters["drawing"] = lambda figure: Markup(inline(figure["svg"], figure["name"]))  # noqa: S704 - matplotlib's
    made.filters["as_data"] = as_data
    made.globals["asset"] = lambda name: Markup(asset(name))  # noqa: S704 - our own files
    return made


def asset(name: str) -> str:
    """A style sheet or script, for inside the page."""
    return (FOLDER / name).read_text(encoding="utf-8")


def as_data(text: str, kind: str) -> str:
    """A file as a link that needs no network."""
    if kind == "image/svg+xml":
        return f"data:{kind};base64,{base64.b64encode(text.encode()).decode()}"
    return f"data:{kind};charset=utf-8,{quote(text)}"


def ticks(text: str) -> Any:
    """`code` in running text, the name of a metric leading to the glossary, everything else escaped."""
    from markupsafe import Markup, escape

    escaped = str(escape(words.visible(text)))
    return Markup(re.sub(r"`([^`]+)`", _code, escaped))  # noqa: S704 - escaped one line above


def _code(found: re.Match[str]) -> str:
    said, anchor = f"<code>{found.group(1)}</code>", parts.anchor(found.group(1))
    return f'<a href="#{anchor}">{said}</a>' if anchor else said


def breakable(name: str) -> Any:
    """A long name that may break after its joints."""
    from markupsafe import Markup, escape

    return Markup(re.sub(r"([_@=])", r"\1<wbr>", str(escape(words.visible(name)))))  # noqa: S704 - escaped here


def short(text: str) -> str:
    """A cell that does not fill the page; the files beside it hold the whole of it."""
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"


def render(template: str, **values: Any) -> str:
    """A page."""
    return environment().get_template(template).render(**values)


def walk(found: Any) -> Iterator[Mapping[str, Any]]:
    """Every part, those inside others too."""
    for part in found:
        yield part
        yield from walk(part.get("parts", ()))
