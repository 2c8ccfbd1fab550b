from __future__ import annotations

import subprocess
import sys

import pytest

from probative.encode import EncodeSettings, encoder_for
from probative.errors import ConfigError
from probative.settings import Layer, resolve


@pytest.mark.parametrize("model", ["", "minilm", "hub:", "ftp://x"])
def test_an_unknown_back_end_is_refused_with_the_known_ones(model: str) -> None:
    with pytest.raises(ConfigError, match="hub:<model id or local path>"):
        resolve(EncodeSettings, [Layer(origin="test", values={"model": model})])


def test_each_prefix_has_its_back_end() -> None:
    models = ["embedded", "hub:org/model", "http:http://localhost:1"]
    assert [type(encoder_for(EncodeSettings(model=model))).__name__ for model in models] == ["Embedded", "Hub", "Http"]


@pytest.mark.parametrize("change", [{"precision": "fp32"}, {"max_tokens": 64}, {"criterion_prompt": "q: "}])
def test_what_changes_a_vector_changes_the_identity(change: dict[str, object]) -> None:
    pytest.importorskip("onnxruntime")
    plain = encoder_for(EncodeSettings()).identity
    assert plain == encoder_for(EncodeSettings(threads=1)).identity
    assert plain != encoder_for(EncodeSettings.model_validate(change)).identity


def test_importing_the_room_loads_no_model_library() -> None:
    heavy = {"torch", "transformers", "onnxruntime", "httpx", "scipy", "polars"}
    code = f"import sys, probative.encode, probative.retrieve; print(sorted({heavy} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
