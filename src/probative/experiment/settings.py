"""The one configuration of a run, its presets, and how the layers of a command become settings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.resources import files as package_files
from pathlib import Path
from typing import Any

import yaml
from pydantic import Field

from probative.errors import ConfigError
from probative.evaluation.settings import EvaluateSettings
from probative.pipeline.settings import PipelineSettings
from probative.settings import Layer, Resolved, parse_set, read_yaml, resolve

PRESETS = ("default", "reference")
QUICK = "quick"


class RunSettings(PipelineSettings):
    """Everything that decides a run's numbers.

    >>> RunSettings().folds.n_folds
    5
    """

    preset: str = "default"
    corpus: str | None = None
    """A corpus folder; none means the embedded demo corpus."""
    documents: int | None = Field(default=None, ge=10)
    """Use only this many documents, a seeded choice; none means all."""
    evaluate: EvaluateSettings = EvaluateSettings()


def preset_layer(name: str) -> Layer:
    """A preset that ships with the package."""
    if name not in (*PRESETS, QUICK):
        raise ConfigError(f"preset {name!r}: unknown. Presets: {', '.join(PRESETS)}.")
    text = (package_files("probative.experiment") / "presets" / f"{name}.yaml").read_text(encoding="utf-8")
    return Layer(origin=f"preset {name}", values=yaml.safe_load(text) or {})


def settle(
    config: Path | None = None,
    *,
    quick: bool = False,
    assignments: Sequence[str] = (),
    flags: Mapping[str, Any] | None = None,
) -> Resolved[RunSettings]:
    """Lay preset, file, --quick, --set and flags over each other, later ones on top."""
    layers = [read_yaml(config)] if config else []
    if quick:
        layers.append(preset_layer(QUICK))
    if assignments:
        layers.append(parse_set(assignments))
    for name, value in (flags or {}).items():
        layers.append(Layer(origin=f"--{name.rsplit('.', 1)[-1]}", values=_nested(name, value)))
    chosen = next((str(layer.values["preset"]) for layer in reversed(layers) if "preset" in layer.values), "default")
    return resolve(RunSettings, [preset_layer(chosen), *layers])


def _nested(name: str, value: Any) -> dict[str, Any]:
    for part in reversed(name.split(".")):
        value = {part: value}
    return dict(value)
