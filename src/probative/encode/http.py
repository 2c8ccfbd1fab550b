"""Vectors from an OpenAI-compatible `/v1/embeddings`: vLLM, Infinity, text-embeddings-inference and others."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from probative.encode.encoder import Kind, unit
from probative.encode.server import Server, in_order
from probative.encode.settings import EncodeSettings, base_url
from probative.errors import ModelError
from probative.files import sha256_json
from probative.types import Vectors

PATH = "/v1/embeddings"


class Http:
    """An encoder behind an address. Whether a vector depends on its batch is the server's affair."""

    exact = False

    def __init__(self, settings: EncodeSettings, server: Server | None = None) -> None:
        self.settings = settings
        self.name = settings.model
        self.server = server or Server(base_url(settings.model), settings.server)

    @cached_property
    def identity(self) -> str:
        """The address, the model's name there, and the prompts: a server does not tell its weights."""
        return sha256_json({"url": self.server.url, "model": self.settings.server.model, **self.settings.prompts})

    def encode(self, texts: Sequence[str], kind: Kind = "sentence") -> Vectors:
        """One row a text, in order, asked for in batches."""
        prompt = self.settings.prompts[kind]
        size = self.settings.server.batch_size
        parts = [
            self._batch([prompt + text for text in texts[start : start + size]]) for start in range(0, len(texts), size)
        ]
        return np.concatenate(parts) if parts else np.empty((0, 0), dtype=np.float32)

    def _batch(self, texts: list[str]) -> Vectors:
        answer = self.server.post(PATH, {"input": texts, "encoding_format": "float"})
        rows = answer.get("data") if isinstance(answer, dict) else None
        try:
            table = np.array(in_order(rows, len(texts), "embedding", self.name), dtype=np.float64)
        except (TypeError, ValueError):
            raise ModelError(f"{self.name}: the vectors of one answer differ in length or are not numbers.") from None
        return unit(table, self.name)
