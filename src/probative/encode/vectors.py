"""The one way from a view to its vectors, whatever the back end."""

from __future__ import annotations

from probative.encode.cache import VectorCache
from probative.encode.encoder import Encoder, Progress
from probative.encode.settings import EncodeSettings
from probative.types import Vectors, View


def encoder_for(settings: EncodeSettings) -> Encoder:
    """The encoder that the settings name; `precomputed:` has none."""
    from probative.encode.embedded import Embedded

    return Embedded(settings)


def vectors_for(
    view: View, settings: EncodeSettings, progress: Progress | None = None, *, encoder: Encoder | None = None
) -> tuple[Vectors, Vectors]:
    """The unit vectors of a view's sentences (S, d) and criteria (C, d), from the cache where it has them."""
    cache = VectorCache(encoder or encoder_for(settings))
    return cache.vectors(view.texts, "sentence", progress), cache.vectors(view.criterion_texts, "criterion")
