"""The page's tables as files for papers: CSV, Markdown and LaTeX."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from probative import files
from probative.report import parts, words

Table = Mapping[str, Any]


def write(table: Table, folder: Path) -> Iterator[Path]:
    """One table in three forms; gives the files it wrote."""
    forms = {"csv": parts.as_csv(*_texts(table)), "md": markdown(table), "tex": latex(table)}
    for end, form in forms.items():
        path = folder / f"{table['name']}.{end}"
        files.write_text(path, form)
        yield path


def _texts(table: Table) -> tuple[list[str], list[list[str]]]:
    head = [words.visible(cell["text"]) for cell in table["head"]]
    return head, [[words.visible(cell["text"]) for cell in row] for row in table["rows"]]


def markdown(table: Table) -> str:
    """A pipe table under its caption."""
    head, rows = _texts(table)
    rule = ["---", *(["---:"] * (len(head) - 1))]
    lines = [f"| {' | '.join(map(_pipe_safe, row))} |" for row in (head, rule, *rows)]
    after = ["", table["note"]] if table["note"] else []
    return "\n".join([table["caption"], "", *lines, *after]) + "\n"


def _pipe_safe(cell: str) -> str:
    return cell.replace("\\", "\\\\").replace("|", r"\|").replace("\n", " ").replace("*", r"\*").replace("<", "&lt;")


def latex(table: Table) -> str:
    """A table environment for the booktabs package."""
    head, rows = _texts(table)
    note = f" {words.latex(table['note'].replace('`', ''))}" if table["note"] else ""
    end = "" if table["caption"].endswith(".") else "."
    return "\n".join(
        [
            r"\begin{table}[htbp]",
            r"\centering",
            rf"\caption{{{words.latex(table['caption'])}{end}{note}}}",
            rf"\begin{{tabular}}{{{''.join('r' if cell['num'] else 'l' for cell in table['head'])}}}",
            r"\toprule",
            rf"{' & '.join(map(words.latex, head))} \\",
            r"\midrule",
            *(rf"{' & '.join(map(words.latex, row))} \\" for row in rows),
            r"\bottomrule",
            r"\end{tabular}",
            r"\end{table}",
            "",
        ]
    )
