"""Stage after stage, each cached by the hash of everything that can change its result."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

from probative import files
from probative.pipeline.stage import Added, Stage, view_digest
from probative.types import Inputs

ROOMS = ("encode", "retrieve", "rerank", "graph", "pipeline", "segments.py", "types.py")

Report = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """How long a stage took when it was computed, and whether this time it came from the cache."""

    stage: str
    seconds: float
    cached: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Passed:
    """Inputs after the whole chain, by name, and what the stages said on the way."""

    inputs: Mapping[str, Inputs]
    epochs: Mapping[str, float]
    timings: Sequence[Timing]
    models: Mapping[str, Path]
    """Stage → folder of its fitted model."""


@cache
def code_hash() -> str:
    """A hash of the code that makes scores: a change of it makes every cached stage stale."""
    root = Path(__file__).parents[1]
    found = [
        p for room in ROOMS for p in sorted((root / room).rglob("*.py") if (root / room).is_dir() else [root / room])
    ]
    return files.sha256_json([[p.relative_to(root).as_posix(), files.sha256_file(p)] for p in found])


def pass_through(
    stages: Sequence[Stage],
    inputs: Mapping[str, Inputs],
    store: files.Store,
    *,
    context: Any,
    report: Report = lambda stage: None,
) -> Passed:
    """Fit every stage on inputs["train"] (inputs["stop"] picks epochs) and add its scores to all inputs.

    `context` is whatever else decides the result: encoder, seed, threads.
    """
    digests = {name: view_digest(x.view, gold=name in ("train", "stop")) for name, x in inputs.items()}
    upstream = files.sha256_json([code_hash(), context, digests])
    current = dict(inputs)
    epochs: dict[str, float] = {}
    timings: list[Timing] = []
    models: dict[str, Path] = {}
    for stage in stages:
        report(stage.name)
        key = files.sha256_json([upstream, stage.name, stage.settings_key()])
        cached = store.has(key)
        entry = store.get(key, partial(_compute, stage, current))
        facts = json.loads((entry / "facts.json").read_text())
        current = {name: Added.load(entry / f"{name}.npz").to(x) for name, x in current.items()}
        if facts["epochs"] is not None:
            epochs[stage.name] = facts["epochs"]
        timings.append(Timing(stage=stage.name, seconds=facts["seconds"], cached=cached))
        models[stage.name] = entry / "model"
        upstream = key
    return Passed(inputs=current, epochs=epochs, timings=timings, models=models)


def _compute(stage: Stage, inputs: Mapping[str, Inputs], folder: Path) -> None:
    started = time.perf_counter()
    after = {"train": stage.fit(inputs["train"], inputs.get("stop"))}
    after |= {name: stage.apply(x) for name, x in inputs.items() if name != "train"}
    for name, x in after.items():
        Added.between(inputs[name], x).save(folder / f"{name}.npz")
    (folder / "model").mkdir()
    stage.save(folder / "model")
    facts = {"epochs": stage.epochs, "seconds": round(time.perf_counter() - started, 3)}
    (folder / "facts.json").write_text(files.canonical_json(facts))
