"""Any sentence-transformers model, from a folder or from the hub."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from probative.encode.encoder import Kind, unit
from probative.encode.settings import EncodeSettings
from probative.errors import ModelError, NotInstalled
from probative.files import sha256_file, sha256_json
from probative.types import Vectors


def source_of(model: str, revision: str | None, trust_remote_code: bool) -> tuple[str, dict[str, Any]]:
    """Where a `hub:` model lies, and the arguments that load it: safetensors only, no network for a local folder."""
    where = model.removeprefix("hub:")
    local = Path(where).is_dir()
    return where, {
        "revision": None if local else revision,
        "trust_remote_code": trust_remote_code,
        "local_files_only": local,
        "model_kwargs": {"use_safetensors": True},
    }


def identity_of(model: str, revision: str | None) -> str:
    """A local folder by its content, a hub model by its name and commit."""
    folder = Path(model.removeprefix("hub:"))
    if not folder.is_dir():
        return sha256_json([model, revision])
    paths = sorted(path for path in folder.rglob("*") if path.suffix in (".safetensors", ".json", ".txt", ".model"))
    return sha256_json([[path.relative_to(folder).as_posix(), sha256_file(path)] for path in paths])


def loaded(kind: str, model: str, revision: str | None, trust_remote_code: bool, **more: Any) -> Any:
    """A sentence-transformers model of a kind, with one message for everything that can go wrong."""
    where, arguments = source_of(model, revision, trust_remote_code)
    try:
        import sentence_transformers
    except ImportError as error:
        raise NotInstalled(f"The model {where}", "models") from error
    try:
        return getattr(sentence_transformers, kind)(where, **arguments, **more)
    except (OSError, ValueError, RuntimeError, KeyError) as error:
        raise ModelError(
            f"{model}: cannot be loaded as a {kind} ({type(error).__name__}). Give the folder of a model with "
            "safetensors weights, or an id that this machine can download."
        ) from error


class Hub:
    """An encoder by id or folder."""

    def __init__(self, settings: EncodeSettings) -> None:
        self.settings = settings
        self.name = settings.model

    @property
    def exact(self) -> bool:
        """True one text at a time; in a batch the padding moves last bits."""
        return self.settings.hub_batch_size == 1

    @cached_property
    def identity(self) -> str:
        """The model, how much it reads, and the prompts."""
        model = identity_of(self.name, self.settings.revision)
        return sha256_json({"model": model, "max_tokens": self.settings.max_tokens, **self.settings.prompts})

    def encode(self, texts: Sequence[str], kind: Kind = "sentence") -> Vectors:
        """One row a text, in order."""
        if not texts:
            return np.empty((0, 0), dtype=np.float32)
        vectors = self._model.encode(
            list(texts),
            prompt=self.settings.prompts[kind] or None,
            batch_size=self.settings.hub_batch_size,
            show_progress_bar=False,
            convert_to_numpy=True,
        )
        return unit(vectors, self.name)

    @cached_property
    def _model(self) -> Any:
        model = loaded("SentenceTransformer", self.name, self.settings.revision, self.settings.trust_remote_code)
        longest = model.max_seq_length or self.settings.max_tokens
        model.max_seq_length = min(longest, self.settings.max_tokens)
        return model
