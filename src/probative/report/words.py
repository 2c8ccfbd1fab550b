"""Numbers and hostile text as a reader may see them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from typing import Any

NONE = "–"
_NUMBER = re.compile(r"[-−+]?[\d.,]+(e[-+]?\d+)?( ?%)?", re.IGNORECASE)


def number(value: Any, digits: int = 3) -> str:
    """A measured value; – where there is none."""
    if value is None:
        return NONE
    if isinstance(value, int):
        return count(value)
    return f"{value:,.1f}" if abs(value) >= 10 else f"{value:.{digits}f}"


def count(value: Any) -> str:
    """A whole number with thousands set apart."""
    return NONE if value is None else f"{round(value):,}"


def percent(value: float | None, digits: int = 1) -> str:
    """A share in per cent."""
    return NONE if value is None else f"{100 * value:.{digits}f} %"


def signed(value: float | None, digits: int = 4) -> str:
    """A difference, with its sign."""
    return NONE if value is None else f"{value:+.{digits}f}"


def bounds(record: Mapping[str, Any] | None, digits: int = 3) -> str:
    """The interval of a record; * marks Clopper–Pearson, empty when there is none."""
    if record is None or record.get("ci_low") is None:
        return ""
    mark = "*" if str(record.get("ci_method") or "").startswith("clopper_pearson") else ""
    return f"[{number(float(record['ci_low']), digits)}, {number(float(record['ci_high']), digits)}]{mark}"


def measured(record: Mapping[str, Any] | None, digits: int = 3) -> str:
    """Value and interval together."""
    if record is None or record["value"] is None:
        return NONE
    return f"{number(record['value'], digits)} {bounds(record, digits)}".rstrip()


def visible(text: str) -> str:
    """The same text with control characters and direction overrides shown instead of obeyed."""
    return "".join(_shown(char) for char in text)


def _shown(char: str) -> str:
    if char in "\n\t" or unicodedata.category(char) not in ("Cc", "Cf", "Cs", "Co"):
        return char
    if char in "\u200c\u200d\u00ad":  # joiners of scripts and emoji, soft hyphen
        return char
    return f"⟨U+{ord(char):04X}⟩"


def harmless(cell: Any) -> str:
    """A cell that no spreadsheet takes for a formula; numbers stay numbers."""
    text = "" if cell is None else str(cell)
    if text[:1] in "=+-@\t\r" and text and not _NUMBER.fullmatch(text):
        return f"'{text}"
    return text


_LATEX = {
    **{"\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}"},
    **{"~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "–": "--", "×": r"$\times$", "±": r"$\pm$"},
    **{"≥": r"$\geq$", "≤": r"$\leq$", "α": r"$\alpha$", "γ": r"$\gamma$", "τ": r"$\tau$", "−": "$-$"},
    **{"<": r"$<$", ">": r"$>$", "’": "'", "…": r"\ldots{}", "→": r"$\rightarrow$", "·": r"$\cdot$"},
    **{"\n": " ", "\u202f": "~", "\u00a0": "~", "§": r"\S{}", "|": r"$|$"},
}


def latex(text: str) -> str:
    """Text that LaTeX prints as it stands; letters it has no sign for become a question mark."""
    said = "".join(_LATEX.get(char, char if char.isascii() or char.isalpha() else "?") for char in visible(text))
    return f"{{{said[0]}}}{said[1:]}" if said.startswith(("[", "*")) else said
