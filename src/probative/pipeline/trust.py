"""What a model reaches beyond its own folder: code that comes with a hub model, servers that get the sentences."""

from __future__ import annotations

from probative.errors import ModelError
from probative.pipeline.settings import PipelineSettings


def beyond(settings: PipelineSettings) -> list[str]:
    """What would happen outside the folder, in words."""
    encode, cross = settings.encode, settings.rerank.cross
    said = [_reach(encode.model, encode.trust_remote_code)]
    if settings.rerank.kind == "cross":
        said.append(_reach(cross.model, cross.trust_remote_code))
    return [words for words in said if words]


def _reach(model: str, runs_code: bool) -> str:
    if model.startswith("http:"):
        return f"sends every sentence to {model.removeprefix('http:')}"
    return f"runs code that comes with {model}" if model.startswith("hub:") and runs_code else ""


def require(settings: PipelineSettings, *, trusted: bool) -> None:
    """Refuse a model that reaches beyond its folder, unless its user said that this is meant."""
    if (said := beyond(settings)) and not trusted:
        raise ModelError(
            f"this model {' and '.join(said)}. If you know who made it and want that, say --trust-model "
            "(in Python: Pipeline.load(folder, trust=True))."
        )
