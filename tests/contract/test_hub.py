"""Models from a folder, as the hub keeps them."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from probative.encode import EncodeSettings
from probative.encode.hub import Hub
from probative.errors import ModelError


def test_one_text_at_a_time_is_exact_and_a_batch_is_not(tiny_encoder: Path) -> None:
    assert Hub(EncodeSettings(model=f"hub:{tiny_encoder}")).exact
    assert not Hub(EncodeSettings(model=f"hub:{tiny_encoder}", hub_batch_size=32)).exact


def test_a_folder_is_known_by_its_content(tiny_encoder: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(tiny_encoder, tmp_path / "copy")
    before = Hub(EncodeSettings(model=f"hub:{copy}")).identity
    assert Hub(EncodeSettings(model=f"hub:{tiny_encoder}")).identity == before
    weights = next(copy.rglob("model.safetensors"))
    weights.write_bytes(weights.read_bytes()[:-1] + b"!")
    assert Hub(EncodeSettings(model=f"hub:{copy}")).identity != before


def test_an_instruction_changes_criteria_and_not_sentences(tiny_encoder: Path) -> None:
    plain = Hub(EncodeSettings(model=f"hub:{tiny_encoder}"))
    instructed = Hub(EncodeSettings(model=f"hub:{tiny_encoder}", criterion_prompt="law of "))
    np.testing.assert_array_equal(plain.encode(["fee"]), instructed.encode(["fee"]))
    np.testing.assert_array_equal(plain.encode(["law of fee"], "criterion"), instructed.encode(["fee"], "criterion"))


def test_longer_texts_are_cut(tiny_encoder: Path) -> None:
    short = Hub(EncodeSettings(model=f"hub:{tiny_encoder}", max_tokens=8))
    np.testing.assert_array_equal(short.encode(["a b c d e f"]), short.encode(["a b c d e f g h i"]))


def test_a_model_that_cannot_be_loaded_is_named(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=rf"{tmp_path}: cannot be loaded"):
        Hub(EncodeSettings(model=f"hub:{tmp_path}")).encode(["x"])


def test_pickled_weights_are_refused(tiny_encoder: Path, tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    load_file = pytest.importorskip("safetensors.torch").load_file
    copy = shutil.copytree(tiny_encoder, tmp_path / "copy")
    weights = next(copy.rglob("model.safetensors"))
    torch.save(load_file(weights), weights.with_name("pytorch_model.bin"))
    weights.unlink()
    with pytest.raises(ModelError, match="safetensors"):
        Hub(EncodeSettings(model=f"hub:{copy}")).encode(["x"])
