"""PV043: the split drawn a second time from the seed."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from probative.audit.check import Check, absent, judged
from probative.audit.roles import FIX, Folds

TITLE = "The split is the one that the seed gives"
Pieces = list[list[str]]


def redrawn(manifest: Mapping[str, Any] | None, folds: Folds | None, groups: Mapping[str, str] | None = None) -> Check:
    """PV043."""
    config = (manifest or {}).get("config") or {}
    asked = config.get("folds") or {}
    if folds is None or manifest is None or "seed" not in config or "tune_fraction" not in asked:
        return absent("PV043", TITLE, "there is no folds.parquet with a configuration that says how to split")
    if groups:
        kept = (
            f"{len(set(groups.values())):,} groups of documents by {asked.get('group_by')}, each with one role a fold"
        )
        return judged("PV043", TITLE, _together(groups, folds), good=kept, fix=FIX)
    if asked.get("method") != "contract":
        return absent("PV043", TITLE, "labels were balanced between the sides, which is not drawn a second time")
    if asked.get("group_by") or asked.get("near_duplicates"):
        return absent("PV043", TITLE, "documents were kept together, and by what is not in the run folder")
    wanted = roles(folds.documents, asked, config["seed"])
    good = f"{len(folds.documents):,} documents lie where seed {config['seed']} puts them, in every fold"
    return judged("PV043", TITLE, _compare(wanted, folds), good=good, fix=FIX)


def _together(groups: Mapping[str, str], folds: Folds) -> Iterator[str]:
    for fold, its in folds.by_fold.items():
        seen: dict[str, tuple[str, str]] = {}
        for doc, role in its.items():
            if doc not in groups:
                continue
            other, known = seen.setdefault(groups[doc], (doc, role))
            if known != role:
                yield f"folds.parquet, fold {fold}: {doc!r} is {role}, {other!r} of the same group is {known}"


def _compare(wanted: Mapping[str, Mapping[str, str]], folds: Folds) -> Iterator[str]:
    if wanted.keys() != folds.by_fold.keys():
        yield f"folds.parquet: has {len(folds.by_fold)} folds, the configuration gives {len(wanted)}"
        return
    for fold, its in wanted.items():
        for doc, role in its.items():
            stated = folds.by_fold[fold].get(doc)
            if stated != role:
                yield f"folds.parquet, fold {fold}: document {doc!r} is {stated}, the seed makes it {role}"


def roles(documents: Iterable[str], asked: Mapping[str, Any], seed: int) -> dict[str, dict[str, str]]:
    """Document → role in every fold, as the configuration's seeded shuffle by hash has it."""
    everyone = sorted(documents)
    if asked.get("split"):
        shares = [float(share) for share in asked["split"]]
        rest, held = cut(everyone, [1 - shares[2], shares[2]], f"{seed}/outer")
        tune = shares[1] / (shares[0] + shares[1])
        return {"0": _fold(0, rest, held, {**asked, "tune_fraction": tune}, seed)}
    n, k = len(everyone), int(asked["n_folds"])
    ordered = shuffled(everyone, f"{seed}/outer")
    size = n // k
    outer = [ordered[i * size : (i + 1) * size] for i in range(k - 1)] + [ordered[(k - 1) * size :]]
    return {
        str(number): _fold(number, [doc for doc in everyone if doc not in set(held)], held, asked, seed)
        for number, held in enumerate(outer)
    }


def _fold(number: int, rest: Sequence[str], held: Sequence[str], asked: Mapping[str, Any], seed: int) -> dict[str, str]:
    out = dict.fromkeys(held, "eval")
    if asked.get("scheme") == "crossfit":
        return out | dict.fromkeys(rest, "train")
    salt = f"{seed}/fold {number}"
    share, stop_share = float(asked["tune_fraction"]), float(asked["stop_fraction"])
    train, tune = cut(rest, [1 - share, share], f"{salt}/tune")
    train, stop = cut(train, [1 - stop_share, stop_share], f"{salt}/stop")
    return out | dict.fromkeys(train, "train") | dict.fromkeys(tune, "tune") | dict.fromkeys(stop, "stop")


def cut(documents: Sequence[str], shares: Sequence[float], salt: str) -> Pieces:
    """Two pieces by shares; the first takes what rounding leaves, the second gets at least one."""
    n = len(documents)
    second = max(1, int(shares[1] * n + 0.5))
    ordered = shuffled(documents, salt)
    return [ordered[: n - second], ordered[n - second :]]


def shuffled(documents: Iterable[str], salt: str) -> list[str]:
    return sorted(documents, key=lambda doc: hashlib.sha256(f"{salt}\0{doc}".encode()).digest())
