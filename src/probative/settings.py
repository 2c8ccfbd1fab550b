"""Settings: YAML in layers, unknown names refused with the nearest valid one, and where each value came from."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, TypeVar

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError

from probative.errors import ConfigError

S = TypeVar("S", bound="Settings")


class Settings(BaseModel):
    """Base of every room's settings: frozen, and no name passes that is not a field."""

    model_config = ConfigDict(extra="forbid", frozen=True, validate_default=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Layer:
    """Some settings and where they were said."""

    origin: str
    values: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Resolved(Generic[S]):
    """Settings after all layers, with the origin of every leaf."""

    settings: S
    origins: Mapping[str, str] = field(default_factory=dict)

    def lines(self) -> list[tuple[str, Any, str]]:
        """(dotted name, value, origin) for every leaf, in the order of the fields."""
        flat = flatten(self.settings.model_dump(mode="json"))
        return [(name, value, self.origins.get(name, "default")) for name, value in flat.items()]


def flatten(values: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Nested settings as dotted names."""
    flat: dict[str, Any] = {}
    for name, value in values.items():
        if isinstance(value, Mapping) and value:
            flat.update(flatten(value, f"{prefix}{name}."))
        else:
            flat[f"{prefix}{name}"] = value
    return flat


def _merge(base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(base)
    for name, value in over.items():
        below = merged.get(name)
        merged[name] = _merge(below, value) if isinstance(below, Mapping) and isinstance(value, Mapping) else value
    return merged


def resolve(kind: type[S], layers: Sequence[Layer]) -> Resolved[S]:
    """Lay the layers over each other, later ones on top, and check the result."""
    values: dict[str, Any] = {}
    origins: dict[str, str] = {}
    for layer in layers:
        values = _merge(values, layer.values)
        origins.update(dict.fromkeys(flatten(layer.values), layer.origin))
    try:
        settings = kind.model_validate(values)
    except ValidationError as error:
        raise ConfigError("\n".join(_explain(kind, problem, origins) for problem in error.errors())) from None
    return Resolved(settings=settings, origins=origins)


def _explain(kind: type[Settings], problem: Any, origins: Mapping[str, str]) -> str:
    place = [str(part) for part in problem["loc"]]
    name = ".".join(place)
    origin = origins.get(name) or next((o for n, o in origins.items() if n.startswith(f"{name}.")), None)
    where = f" ({origin})" if origin else ""
    if problem["type"] == "extra_forbidden":
        valid = list(flatten_fields(kind))
        near = difflib.get_close_matches(name, valid, n=1, cutoff=0.5) or _same_leaf(place[-1], valid)
        hint = f"Did you mean {near[0]!r}?" if near else f"Valid names: {', '.join(sorted(kind.model_fields))}."
        return f"{name}{where}: unknown setting. {hint}"
    return f"{name}{where}: {problem['msg']}; got {problem['input']!r}."


def _same_leaf(leaf: str, valid: Iterable[str]) -> list[str]:
    leaves = {name.rsplit(".", 1)[-1]: name for name in valid}
    return [leaves[match] for match in difflib.get_close_matches(leaf, leaves, n=1, cutoff=0.6)]


def flatten_fields(kind: type[BaseModel], prefix: str = "") -> Iterable[str]:
    """Every dotted name that settings of this kind accept."""
    for name, info in kind.model_fields.items():
        yield f"{prefix}{name}"
        if isinstance(info.annotation, type) and issubclass(info.annotation, BaseModel):
            yield from flatten_fields(info.annotation, f"{prefix}{name}.")


def read_yaml(path: Path) -> Layer:
    """One YAML file as a layer."""
    try:
        values = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read ({error.strerror}).") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: is not valid YAML: {error}") from error
    if values is None:
        values = {}
    if not isinstance(values, dict):
        raise ConfigError(f"{path}: must hold settings as `name: value`, not a {type(values).__name__}.")
    return Layer(origin=str(path), values=values)


def parse_set(assignments: Iterable[str]) -> Layer:
    """`--set decide.fpr_budget=0.03` as a layer; values are read as YAML."""
    values: dict[str, Any] = {}
    for text in assignments:
        name, equals, raw = text.partition("=")
        if not equals or not name:
            raise ConfigError(f"--set {text}: must look like name=value, for example decide.fpr_budget=0.03")
        try:
            value: Any = yaml.safe_load(raw)
        except yaml.YAMLError as error:
            raise ConfigError(f"--set {text}: the value is not valid YAML: {error}") from error
        for part in reversed(name.split(".")):
            value = {part: value}
        values = _merge(values, value)
    return Layer(origin="--set", values=values)


def to_yaml(settings: Settings) -> str:
    """The resolved settings as YAML, in the order of the fields."""
    return str(yaml.safe_dump(settings.model_dump(mode="json"), sort_keys=False, allow_unicode=True))
