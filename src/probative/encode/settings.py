"""Which model turns text into vectors, and how it is asked."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, field_validator

from probative.errors import ConfigError
from probative.settings import Settings

PREFIXES = ("hub:", "http:", "precomputed:")


class ServerSettings(Settings):
    """How a model server is asked; its address stands in `model`."""

    model: str = ""
    """The model's name on the server; left out of the request when empty."""
    batch_size: int = Field(32, ge=1)
    timeout: float = Field(60.0, gt=0)
    retries: int = Field(4, ge=0)
    """Tries after the first, waiting 0.5, 1, 2, … seconds, on time-outs and on status 429 and 5xx."""
    api_key_env: str = "PROBATIVE_API_KEY"
    """The environment variable that holds the key, if the server wants one."""


class EncodeSettings(Settings):
    """The encoder. `embedded`, `hub:<id or path>`, `http:<base url>` or `precomputed:<folder>`."""

    model: str = "embedded"
    precision: Literal["int8", "fp32"] = "int8"
    """Of the embedded model."""
    max_tokens: int = Field(256, ge=8, le=32768)
    """Longer texts are cut; of the embedded model at most 512."""
    sentence_prompt: str = ""
    criterion_prompt: str = ""
    """Put before every criterion, for models that were trained with an instruction."""
    threads: int | None = Field(None, ge=1)
    """Of the embedded model; None takes every core. Vectors do not depend on it."""
    hub_batch_size: int = Field(1, ge=1)
    """1 keeps every vector independent of its neighbours, to the bit; a GPU wants more."""
    revision: str | None = None
    """The commit of a hub model."""
    trust_remote_code: bool = False
    server: ServerSettings = ServerSettings()

    @field_validator("model")
    @classmethod
    def _known(cls, model: str) -> str:
        return check_model(model, "embedded")

    @property
    def prompts(self) -> dict[str, str]:
        """What is put before the texts of each kind."""
        return {"sentence": self.sentence_prompt, "criterion": self.criterion_prompt}


def check_model(model: str, *plain: str) -> str:
    """The name of a back end, or an error that lists the possible ones."""
    if model in plain or any(model.startswith(prefix) and len(model) > len(prefix) for prefix in PREFIXES):
        return model
    forms = [*plain, "hub:<model id or local path>", "http:<base url>", "precomputed:<folder>"]
    raise ValueError(f"is none of {', '.join(forms)}")


def base_url(model: str) -> str:
    """The address behind `http:`, which may be given with or without its own scheme."""
    rest = model.removeprefix("http:")
    url = (
        rest
        if rest.startswith(("http://", "https://"))
        else f"http:{rest}"
        if rest.startswith("//")
        else f"http://{rest}"
    )
    if url.rstrip("/") in ("http:", "https:"):
        raise ConfigError(f"{model}: has no address. Write for example http:http://localhost:8000")
    return url.rstrip("/")
