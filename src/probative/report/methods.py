"""A methods paragraph for a paper, and one LaTeX table of the headline metrics."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from probative import files
from probative.report import tables, words
from probative.report.folder import RunFolder
from probative.report.sections import head
from probative.report.signature import sign


def write_methods(folder: Path, *, out: Path | None = None) -> tuple[Path, Path]:
    """Write methods.md and methods.tex, a whole document with the same paragraph and one table."""
    run = RunFolder.read(Path(folder))
    said = paragraph(run)
    table = _narrow(next(part for part in head.section(run)["parts"] if part.get("name") == "headline"))
    target = out or run.path
    target.mkdir(parents=True, exist_ok=True)
    paths = target / "methods.md", target / "methods.tex"
    files.write_text(paths[0], "\n".join([*said, "", tables.markdown(table)]))
    files.write_text(paths[1], document(said, table))
    if out is None:
        sign(run.path, paths)
    return paths


def _narrow(table: tables.Table) -> tables.Table:
    """The table without empty columns and without its targets, which are this project's and not a paper's."""
    columns = zip(table["head"], *table["rows"], strict=True)
    kept = [c for c in columns if c[0]["text"] != head.TARGET and any(cell["text"] != words.NONE for cell in c[1:])]
    named, *rows = zip(*kept, strict=True)
    return {**table, "head": named, "rows": rows}


def document(said: list[str], table: tables.Table) -> str:
    """A LaTeX document that compiles as it stands."""
    return "\n".join(
        [
            r"\documentclass{article}",
            r"\usepackage[T1]{fontenc}",
            r"\usepackage{booktabs}",
            r"\usepackage[margin=2.5cm]{geometry}",
            r"\begin{document}",
            r"\section*{Methods}",
            *(words.latex(sentence) for sentence in said),
            "",
            tables.latex(table).replace(r"\centering", r"\centering\footnotesize"),
            r"\end{document}",
            "",
        ]
    )


def paragraph(run: RunFolder) -> list[str]:
    """What was done, in the past tense, from what the folder says; a sentence or two a line."""
    said = (_corpus(run), _splits(run), _pipeline(run), _decisions(run), _intervals(run), _end(run))
    return [line for line in said if line]


def _corpus(run: RunFolder) -> str:
    counts, corpus = run.meta.get("counts") or {}, run.corpus
    kind = " (synthetic)" if corpus.get("synthetic") else ""
    name = f" of the corpus {corpus['name']}{kind}" if corpus.get("name") else ""
    without = corpus.get("exclude_from_training")
    left_out = f" Criteria left out of training, but predicted: {', '.join(without)}." if without else ""
    return (
        f"We asked {words.count(counts.get('n_criteria'))} criteria of {words.count(counts.get('n_documents'))} "
        f"documents{name}: {words.count(counts.get('n_queries'))} queries, of which "
        f"{words.count(counts.get('n_positive'))} have evidence.{left_out}"
    )


def _splits(run: RunFolder) -> str:
    folds = (run.manifest.get("config") or {}).get("folds") or {}
    if not run.manifest.get("folds"):
        return "The predictions of an external system were evaluated as they were given."
    inside = (
        "thresholds and calibration were chosen on documents held out from training"
        if folds.get("scheme") == "holdout"
        else "thresholds and calibration were chosen on out-of-fold scores of the training documents"
    )
    n = len(run.manifest["folds"])
    kind = f"nested cross-validation with {n} document-disjoint folds" if n > 1 else "one document-disjoint split"
    return (
        f"We used {kind} (scheme {folds.get('scheme')}): models were fitted on TRAIN, epochs picked on STOP, {inside} "
        "(TUNE), and EVAL documents were only predicted."
    )


def _pipeline(run: RunFolder) -> str:
    config: dict[str, Any] = run.manifest.get("config") or {}
    if not config:
        return ""
    retrieve, rerank, graph = (config.get(room) or {} for room in ("retrieve", "rerank", "graph"))
    encoder = (config.get("encode") or {}).get("model")
    last = f"a graph network over pools of {graph.get('pool')} sentences" if graph.get("on") else "no graph network"
    return (
        f"Candidates were the sentences of the query's own document, ranked by retriever {retrieve.get('method')} "
        f"(encoder {encoder}, pool {retrieve.get('pool')}), reranker {rerank.get('kind')}, and {last}."
    )


def _decisions(run: RunFolder) -> str:
    decide = (run.manifest.get("config") or {}).get("decide") or {}
    if not decide:
        return ""
    triage = decide.get("triage") or {}
    return (
        f"The calibrator was selected among {', '.join(decide.get('calibration') or ())} by document-grouped log loss; "
        f"the operating threshold kept a false positive rate of {words.number(decide.get('fpr_budget'), 2)} on TUNE; "
        f"the two triage thresholds were chosen by method {triage.get('method')} with targets "
        f"{words.number(triage.get('screening_sensitivity'))} (screening) and "
        f"{words.number(triage.get('alert_precision'))} (alerts)."
    )


def _intervals(run: RunFolder) -> str:
    drawn = run.meta.get("bootstrap")
    if not drawn:
        return "No intervals were computed."
    within = " within folds" if drawn.get("within_folds") else ""
    return (
        f"Intervals are 95 % percentile intervals over {words.count(drawn['resamples'])} resamples of "
        f"{drawn['unit']}{within} (seed {drawn['seed']}), Clopper–Pearson on the effective number of documents near 0 "
        f"and 1. {drawn.get('note', '')}"
    )


def _end(run: RunFolder) -> str:
    version = run.meta.get("probative") or run.manifest.get("probative")
    return f"Metrics were computed with probative {version}." if version else ""
