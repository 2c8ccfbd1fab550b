"""Layers: preset, file, --quick, --set, flags; the last word wins and its origin is kept."""

from __future__ import annotations

from pathlib import Path

import pytest

from probative import ConfigError
from probative.experiment.settings import PRESETS, RunSettings, preset_layer, settle


def test_later_layers_win_and_origins_are_kept(tmp_path: Path) -> None:
    config = tmp_path / "mine.yaml"
    config.write_text("seed: 7\ndecide:\n  fpr_budget: 0.1\n")
    made = settle(config, quick=True, assignments=["decide.fpr_budget=0.02"], flags={"seed": 9})
    assert (9, 0.02, 3) == (made.settings.seed, made.settings.decide.fpr_budget, made.settings.folds.n_folds)
    origins = {name: origin for name, _, origin in made.lines()}
    assert ("--seed", "--set", "preset quick", "default") == tuple(
        origins[name] for name in ("seed", "decide.fpr_budget", "folds.n_folds", "threads")
    )


@pytest.mark.parametrize("name", PRESETS)
def test_every_preset_resolves(name: str) -> None:
    assert name == settle(None, assignments=[f"preset={name}"]).settings.preset
    assert preset_layer(name).values


def test_the_reference_preset_has_the_documents_values() -> None:
    made = settle(None, assignments=["preset=reference"]).settings
    assert (24, 60.0) == (made.retrieve.pool, made.retrieve.rrf_k)
    assert ("holdout", 5, 0.3, "contract", 42) == (
        made.folds.scheme, made.folds.n_folds, made.folds.tune_fraction, made.folds.method, made.seed,
    )  # fmt: skip
    assert (0.05, 10) == (made.decide.fpr_budget, made.decide.policy.hard_cap)


def test_an_unknown_preset_lists_the_known_ones() -> None:
    with pytest.raises(ConfigError, match=r"unknown\. Presets: default, reference"):
        settle(None, assignments=["preset=refrence"])


def test_the_resolved_settings_are_a_config_file(tmp_path: Path) -> None:
    from probative.settings import to_yaml

    config = tmp_path / "config.yaml"
    config.write_text(to_yaml(RunSettings()))
    assert RunSettings() == settle(config).settings
