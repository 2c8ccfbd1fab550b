"""PV001 to PV004: the files are the ones that were signed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any

import yaml

from probative import files
from probative.audit.check import Check, absent, judged
from probative.audit.source import Source

UNSEALED = frozenset({"manifest.json", "checksums.txt"})
ADDED_LATER = ("audit.json", "ablation.json")
EXPECTED = (
    "config.yaml",
    "folds.parquet",
    "candidates.parquet",
    "tune_queries.parquet",
    "per_query.csv",
    "metrics_master.json",
    "summary.json",
    "checksums.txt",
)
RESTORE = "Restore the files from where the run was made, or run again. Signing edited files anew does not help."


def _listed(source: Source) -> Iterator[tuple[str, str]]:
    for line in source.path("checksums.txt").read_text(encoding="utf-8").splitlines():
        digest, _, name = line.strip().partition(" ")
        if name:
            yield name.strip().removeprefix("*").removeprefix("./"), digest


def _compare(source: Source, listed: dict[str, str], where: str) -> Iterator[str]:
    for name, digest in listed.items():
        path = PurePosixPath(name)
        if path.is_absolute() or ".." in path.parts:
            yield f"{where} names {name}, which lies outside the folder"
        elif not source.has(name):
            yield f"{name}: listed in {where}, but missing"
        elif files.sha256_file(source.path(name)) != digest:
            yield f"{name}: its SHA-256 is not the one in {where}"


def checksums(source: Source) -> Check:
    """PV001."""
    title = "checksums.txt agrees with the files"
    if not source.has("checksums.txt"):
        return absent("PV001", title, "there is no checksums.txt")
    listed = dict(_listed(source))
    found = list(_compare(source, listed, "checksums.txt"))
    found += [
        f"{name}: is not in checksums.txt" for name in source.files if name not in listed and name != "checksums.txt"
    ]
    return judged("PV001", title, found, good=f"{len(listed)} files have the SHA-256 that is written down", fix=RESTORE)


def manifest(source: Source) -> Check:
    """PV002."""
    title = "manifest.json agrees with the files"
    if source.manifest is None:
        return absent("PV002", title, "there is no manifest.json")
    listed: dict[str, str] = source.manifest.get("files", {})
    found = list(_compare(source, listed, "manifest.json"))
    found += [
        f"{name}: is not in manifest.json" for name in source.files if name not in listed and name not in UNSEALED
    ]
    if source.manifest.get("schema_version") != 1:
        found.append(
            f"manifest.json: schema_version is {source.manifest.get('schema_version')!r}; this version reads 1"
        )
    return judged("PV002", title, found, good=f"{len(listed)} files have the SHA-256 of the manifest", fix=RESTORE)


def complete(source: Source) -> Check:
    """PV003."""
    title = "The run folder is complete"
    if source.manifest is None:
        return absent("PV003", title, "this is not a run folder: there is no manifest.json")
    found = [f"{name}: a run folder has one" for name in EXPECTED if not source.has(name)]
    return judged(
        "PV003", title, found, good="every file of a run folder is there", fix="Finish the run: probative run --resume."
    )


def config(source: Source) -> Check:
    """PV004."""
    title = "config.yaml is the configuration of the manifest"
    if source.manifest is None or not source.has("config.yaml"):
        return absent("PV004", title, "there is no manifest.json with a config.yaml")
    return judged(
        "PV004",
        title,
        _config(source, source.manifest),
        good="the written and the hashed configuration are one",
        fix=RESTORE,
    )


def _config(source: Source, stated: dict[str, Any]) -> Iterator[str]:
    written = yaml.safe_load(source.path("config.yaml").read_text(encoding="utf-8"))
    kept = stated.get("config")
    if written != kept:
        names = sorted(k for k in {*(written or {}), *(kept or {})} if (written or {}).get(k) != (kept or {}).get(k))
        yield f"config.yaml differs from the manifest's configuration in: {', '.join(names)}"
    if files.sha256_json(kept) != stated.get("config_hash"):
        yield "manifest.json: config_hash is not the hash of its configuration"
