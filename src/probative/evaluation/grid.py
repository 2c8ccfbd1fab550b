"""A small table of text, written as Markdown or LaTeX."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

_LATEX = {
    **{"\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}"},
    **{"~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "–": "--", "↑": r"$\uparrow$", "×": r"$\times$"},
    **{"≥": r"$\geq$", "≤": r"$\leq$", "α": r"$\alpha$", "±": r"$\pm$", "−": "$-$", "<": r"$<$", ">": r"$>$"},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """Rows of cells under a head; the first column is text, the others are numbers."""

    caption: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    note: str = ""

    def markdown(self) -> str:
        """A pipe table."""
        head, *rows = ([_pipe_safe(cell) for cell in row] for row in (self.head, *self.rows))
        rule = ["---", *(["---:"] * (len(head) - 1))]
        lines = [f"| {' | '.join(row)} |" for row in (head, rule, *rows)]
        return "\n".join([*lines, *(["", self.note.replace("*", r"\*")] if self.note else [])]) + "\n"

    def latex(self) -> str:
        """A table environment for the booktabs package."""
        body = [f"{' & '.join(map(latex, row))} \\\\" for row in self.rows]
        return "\n".join(
            [
                r"\begin{table}",
                r"\centering",
                rf"\caption{{{latex(self.caption)}{latex('. ' + self.note) if self.note else ''}}}",
                rf"\begin{{tabular}}{{l{'r' * (len(self.head) - 1)}}}",
                r"\toprule",
                f"{' & '.join(map(latex, self.head))} \\\\",
                r"\midrule",
                *body,
                r"\bottomrule",
                r"\end{tabular}",
                r"\end{table}",
                "",
            ]
        )


def _visible(text: str) -> str:
    """Without control characters and marks that turn the direction of writing: identifiers may hold anything."""
    kinds = {"Cc": " ", "Cf": ""}
    return "".join(kinds.get(unicodedata.category(letter), letter) for letter in text)


def _pipe_safe(cell: str) -> str:
    return _visible(cell).replace("|", r"\|").replace("*", r"\*")


def latex(text: str) -> str:
    """Text with everything escaped that LaTeX would read as its own; [ at the start of a row would be an option."""
    escaped = re.sub(".", lambda found: _LATEX.get(found.group(), found.group()), _visible(text))
    return f"{{{escaped[0]}}}{escaped[1:]}" if escaped.startswith("[") else escaped
