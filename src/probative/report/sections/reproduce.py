"""Reproduce: settings, versions, hashes, seeds and commands."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from probative.report import parts, words
from probative.report.folder import RunFolder

MADE = ("plots/", "tables/", "report.html", "methods.")
"""What the report itself writes."""


def section(run: RunFolder) -> parts.Part:
    """What a stranger needs to get the same numbers."""
    title, intro = "Reproduce", "The same seed, corpus, settings and versions on one machine give the same bytes."
    if not run.manifest:
        why = "there is no manifest.json: these numbers come from scores alone."
        return parts.section("reproduce", title, intro, parts.missing("Settings and versions", why), _commands(run))
    return parts.section(
        "reproduce",
        title,
        intro,
        _facts(run),
        _commands(run),
        parts.folded("Every setting", _settings(run)),
        parts.folded("Versions", _versions(run)),
        _costs(run),
        _files(run),
        _citation(run),
    )


def _facts(run: RunFolder) -> parts.Part:
    manifest, corpus = run.manifest, run.corpus
    environment = manifest.get("environment") or {}
    facts = {
        "corpus": f"{corpus.get('name')} {corpus.get('version') or ''}".strip(),
        "licence": corpus.get("licence"),
        "source": corpus.get("source"),
        "corpus fingerprint": corpus.get("fingerprint"),
        "settings hash": manifest.get("config_hash"),
        "preset": (manifest.get("config") or {}).get("preset"),
        "seed": manifest.get("seed"),
        "threads a fold": manifest.get("threads"),
        "folds at a time": manifest.get("jobs"),
        "probative": manifest.get("probative"),
        "Python": environment.get("python"),
        "platform": environment.get("platform"),
    }
    rows = [[name, str(value)] for name, value in facts.items() if value not in (None, "")]
    return parts.table("facts", "What was run", ["what", "value"], rows, keep=False)


def _commands(run: RunFolder) -> parts.Part:
    if not run.manifest:
        said = (
            "probative evaluate --scores scores.csv --gold gold.csv --probs probs.csv --out RUN\nprobative report RUN"
        )
    else:
        corpus = "" if run.corpus.get("synthetic") else " --corpus CORPUS"
        said = f"probative run config.yaml{corpus} --out RUN\nprobative verify RUN\nprobative report RUN"
    return parts.code(said, "Commands; config.yaml lies in the run folder")


def _settings(run: RunFolder) -> parts.Part:
    rows = [[name, value] for name, value in _flat(run.manifest.get("config") or {})]
    return parts.table("settings", "Every setting", ["setting", "value"], rows, keep=False)


def _flat(values: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    for name, value in values.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", "none" if value is None else str(value)


def _versions(run: RunFolder) -> parts.Part:
    packages = (run.manifest.get("environment") or {}).get("packages") or {}
    rows = [[name, str(version)] for name, version in packages.items()]
    return parts.table("versions", "Versions", ["package", "version"], rows, keep=False)


def _costs(run: RunFolder) -> parts.Part | None:
    title = "Seconds by stage and fold"
    timings = list(_timed(run))
    if not timings:
        return None
    stages = list(dict.fromkeys(stage for _, stage, _ in timings))
    folds = sorted({fold for fold, _, _ in timings}, key=lambda fold: (fold is not None, str(fold)))
    found = {(fold, stage): said for fold, stage, said in timings}
    rows = [[stage, *(found.get((fold, stage), words.NONE) for fold in folds)] for stage in stages]
    head = ["stage", *("all folds" if fold is None else f"fold {fold}" for fold in folds)]
    after = "(cached): read from the cache; the seconds are those of its making, for encode those of reading."
    return parts.folded(title, parts.table("timings", title, head, rows, after))


def _timed(run: RunFolder) -> Iterator[tuple[Any, str, str]]:
    for timing in run.manifest.get("timings") or ():
        cached = " (cached)" if timing.get("cached") else ""
        yield timing.get("fold"), str(timing["stage"]), f"{timing['seconds']:.1f}{cached}"


def _files(run: RunFolder) -> parts.Part | None:
    files = run.manifest.get("files") or {}
    kept = {name: digest for name, digest in files.items() if not name.startswith(MADE)}
    if not kept:
        return None
    rows = [[name, digest] for name, digest in kept.items()]
    title = "SHA-256 of the files behind this page"
    after = "`sha256sum -c checksums.txt` checks all of the folder."
    return parts.folded(title, parts.table("hashes", title, ["file", "SHA-256"], rows, after, keep=False))


def _citation(run: RunFolder) -> parts.Part:
    version = run.manifest.get("probative")
    said = (
        "@software{probative,\n  author = {The probative authors},\n"
        "  title = {probative: evidence retrieval with abstention},\n"
        f"  version = {{{version}}}\n}}"
    )
    corpus = run.corpus
    cite = f" Cite the corpus too: {corpus.get('name')}, {corpus.get('source')}." if corpus.get("source") else ""
    return parts.code(said, f"Citation.{words.visible(cite)}")
