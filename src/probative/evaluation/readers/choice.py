"""Which reader a choice of files on the command line means."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

from probative.errors import ConfigError

from .source import Source, read_flat_files, read_path, read_trec_files

WAYS = "a run folder or per_query file, --scores with --gold, --run with --qrels, or --example"
EXAMPLE = ("scores.csv", "gold.csv", "probs.csv")


def read_chosen(
    *,
    path: Path | None = None,
    scores: Path | None = None,
    gold: Path | None = None,
    probs: Path | None = None,
    pairs: Path | None = None,
    run: Path | None = None,
    qrels: Path | None = None,
    example: bool = False,
    ties: str = "listed",
) -> Source:
    """Read the one way in that was chosen."""
    ways = [path is not None, scores is not None, run is not None, example]
    if sum(ways) != 1:
        raise ConfigError(f"Say what to measure, in one way: {WAYS}. `probative evaluate --help` shows each.")
    if path is not None:
        _only({"--gold": gold, "--probs": probs, "--pairs": pairs, "--qrels": qrels}, "with a path")
        return read_path(path, ties=ties)
    if scores is not None:
        _only({"--qrels": qrels}, "with --scores")
        return read_flat_files(scores, _needed(gold, "--scores", "--gold"), probs, pairs, ties=ties)
    if run is not None:
        _only({"--gold": gold, "--pairs": pairs}, "with --run")
        return read_trec_files(run, _needed(qrels, "--run", "--qrels"), probs, ties=ties)
    folder = resources.files("probative.examples")
    with (
        resources.as_file(folder / EXAMPLE[0]) as one,
        resources.as_file(folder / EXAMPLE[1]) as two,
        resources.as_file(folder / EXAMPLE[2]) as three,
    ):
        return read_flat_files(one, two, three, ties=ties)


def _needed(value: Path | None, option: str, partner: str) -> Path:
    if value is None:
        raise ConfigError(f"{option} needs {partner}: what was found is measured against what should have been found.")
    return value


def _only(given: dict[str, Path | None], where: str) -> None:
    stray = [name for name, value in given.items() if value is not None]
    if stray:
        raise ConfigError(f"{', '.join(stray)} means nothing {where}. The ways in are {WAYS}.")
