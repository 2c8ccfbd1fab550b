"""Numbers and hostile text as a reader may see them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from typing import Any

NONE = "–"
MINUS = "−"
_NUMBER = re.compile(r"[-−+]?[\d.,]+(e[-+]?\d+)?( ?%)?", re.IGNORECASE)


def number(value: Any, digits: int = 3) -> str:
    """A measured value; – where there is none."""
    if value is None:
        return NONE
    if isinstance(value, int):
        return count(value)
    return _minus(f"{value:,.1f}" if abs(value) >= 10 else f"{value:.{digits}f}")


def _minus(said: str) -> str:
    """A minus sign as wide as a plus, and none before zero."""
    return said.replace("-", MINUS) if said.strip("-+0.,") else said.lstrip("-")


def value(record: Mapping[str, Any], of: float | None, digits: int = 3) -> str:
    """A number of a record with the digits that suit its metric: a median of 8 sentences is 8, not 8.000."""
    name = str(record.get("id") or "")
    if of is None or isinstance(of, int):
        return number(of, digits)
    if name in _WHOLE:
        return f"{of:,.1f}".removesuffix(".0")
    places = 1 if "per_1000" in name else 2 if name.startswith("k_") else None
    return number(of, digits) if places is None else _minus(f"{of:,.{places}f}")


_WHOLE = frozenset({"k_median", "k_min", "k_max", "k_p25", "k_p75", "k_p90"})


def chance(p: float | None) -> str:
    """A probability; what rounds to 0 or 1 without being it says so."""
    if p is None or p in (0, 1):
        return number(p, 0)
    return "< 0.01" if p < 0.005 else "> 0.99" if p >= 0.995 else f"{p:.2f}"


def count(value: Any) -> str:
    """A whole number with thousands set apart."""
    return NONE if value is None else f"{round(value):,}"


def percent(value: float | None, digits: int = 1) -> str:
    """A share in per cent."""
    return NONE if value is None else f"{100 * value:.{digits}f} %"


def signed(value: float | None, digits: int = 4) -> str:
    """A difference, with its sign."""
    return NONE if value is None else f"{value:+.{digits}f}".replace("-", MINUS)


def p_value(p: float | None) -> str:
    """The chance of a test: three places, four where three would hide it."""
    return number(p, 3 if p is None or p >= 0.001 else 4)


def bounds(record: Mapping[str, Any] | None, digits: int = 3) -> str:
    """The interval of a record; * marks Clopper–Pearson, empty when there is none."""
    if record is None or record.get("ci_low") is None:
        return ""
    mark = "*" if str(record.get("ci_method") or "").startswith("clopper_pearson") else ""
    low, high = (value(record, float(record[end]), digits) for end in ("ci_low", "ci_high"))
    return f"[{low}, {high}]{mark}"


def measured(record: Mapping[str, Any] | None, digits: int = 3) -> str:
    """Value and interval together."""
    if record is None or record["value"] is None:
        return NONE
    return f"{value(record, record['value'], digits)} {bounds(record, digits)}".rstrip()


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


_T1 = "ĂăĄąĆćČčĎďĐđĘęĚěĞğĹĺĽľŁłŃńŇňŊŋŐőŒœŔŕŘřŚśŞşŠšŢţŤťŮůŰűŸŹźŻżŽž"
"""Letters beyond Latin-1 that LaTeX prints with the T1 encoding alone."""


def latex(text: str) -> str:
    """Text that LaTeX prints as it stands; letters it has no sign for become a question mark."""
    plain = visible(text).replace("✓ ", "").replace("✗ ", "")
    said = "".join(_LATEX.get(char, char if _printed(char) else "?") for char in plain)
    return f"{{{said[0]}}}{said[1:]}" if said.startswith(("[", "*")) else said


def _printed(char: str) -> bool:
    return char.isascii() or char in _T1 or (ord(char) < 0x100 and char.isalpha())
