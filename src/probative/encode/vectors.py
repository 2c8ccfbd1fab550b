"""The one way from a view to its vectors, whatever the back end."""

from __future__ import annotations

from pathlib import Path

from probative.encode.cache import VectorCache
from probative.encode.embedded import Embedded
from probative.encode.encoder import Encoder, Progress
from probative.encode.http import Http
from probative.encode.hub import Hub
from probative.encode.precomputed import Precomputed
from probative.encode.settings import EncodeSettings
from probative.errors import ConfigError
from probative.types import Vectors, View


def encoder_for(settings: EncodeSettings) -> Encoder:
    """The encoder that the settings name; nothing is loaded before it is used."""
    if settings.model.startswith("hub:"):
        return Hub(settings)
    if settings.model.startswith("http:"):
        return Http(settings)
    if settings.model.startswith("precomputed:"):
        raise ConfigError(f"encode.model: {settings.model} is a folder of vectors; it cannot encode new texts.")
    return Embedded(settings)


def vectors_for(
    view: View, settings: EncodeSettings, progress: Progress | None = None, *, encoder: Encoder | None = None
) -> tuple[Vectors, Vectors]:
    """The unit vectors of a view's sentences (S, d) and criteria (C, d), from the cache where it has them.

    An `encoder` that the caller keeps is loaded once for many calls.
    """
    if settings.model.startswith("precomputed:"):
        folder = Precomputed(Path(settings.model.removeprefix("precomputed:")))
        return folder.vectors(view.sent_uids, "sentence"), folder.vectors(view.criterion_ids, "criterion")
    cache = VectorCache(encoder or encoder_for(settings))
    return cache.vectors(view.texts, "sentence", progress), cache.vectors(view.criterion_texts, "criterion")
