"""What is installed, what loads, and how to get what is missing."""

from __future__ import annotations

import shutil
import sys
from dataclasses import asdict, dataclass
from importlib import metadata
from importlib.util import find_spec
from typing import Any

from probative import files
from probative.version import __version__

LIGHT = ("numpy", "scipy", "polars", "pydantic", "yaml", "typer", "rich", "jinja2", "matplotlib", "sentencex")
EXTRAS = {
    "models": ("torch", "onnxruntime", "transformers", "sentence_transformers", "lightgbm", "sklearn", "safetensors"),
    "tune": ("optuna",),
    "dedup": ("datasketch",),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One thing that was looked at."""

    name: str
    works: bool
    says: str
    needed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Health:
    """Everything that was looked at."""

    parts: tuple[Part, ...]

    @property
    def works(self) -> bool:
        """Whether evaluation, comparison, verification and reports work."""
        return all(part.works for part in self.parts if part.needed)

    def to_dict(self) -> dict[str, Any]:
        return {"probative": __version__, "works": self.works, "parts": [asdict(part) for part in self.parts]}

    def lines(self) -> list[str]:
        """For a person."""
        marks = {True: "ok     ", False: "missing"}
        return [f"probative {__version__}"] + [f"{marks[p.works]}  {p.name}: {p.says}" for p in self.parts]


def examine() -> Health:
    """Look at Python, packages, the embedded model and the caches."""
    version = ".".join(map(str, sys.version_info[:3]))
    parts = [Part(name="python", works=sys.version_info >= (3, 11), says=version, needed=True)]
    absent = [name for name in LIGHT if find_spec(name) is None]
    says = "all there" if not absent else f"without {', '.join(absent)}; pip install --force-reinstall probative"
    parts.append(Part(name="evaluate, compare, verify, report", works=not absent, says=says, needed=True))
    parts += [_extra(extra, names) for extra, names in EXTRAS.items()]
    parts.append(_embedded())
    parts.append(_cache())
    return Health(parts=tuple(parts))


def _extra(extra: str, names: tuple[str, ...]) -> Part:
    what = {"models": "run, fit, screen", "tune": "tune", "dedup": "near-duplicate documents"}[extra]
    absent = [name for name in names if find_spec(name) is None]
    if absent:
        return Part(name=what, works=False, says=f"without {', '.join(absent)}; pip install 'probative[{extra}]'")
    return Part(name=what, works=True, says=", ".join(f"{name} {_version(name)}" for name in names))


def _version(module: str) -> str:
    names = metadata.packages_distributions().get(module, [module])
    try:
        return metadata.version(names[0])
    except metadata.PackageNotFoundError:
        return "?"


def _embedded() -> Part:
    """Load the embedded model and encode one sentence."""
    from probative.errors import ProbativeError

    name = "embedded model"
    try:
        from probative.encode import EncodeSettings, encoder_for

        vector = encoder_for(EncodeSettings()).encode(["Does it load?"])
    except ProbativeError as error:
        return Part(name=name, works=False, says=str(error))
    except ImportError as error:
        return Part(name=name, works=False, says=f"{error}; pip install 'probative[models]'")
    return Part(
        name=name, works=True, says=f"loads, is unchanged, gives {vector.shape[1]} numbers a text; no network used"
    )


def _cache() -> Part:
    root = files.cache_root()
    size = sum(p.stat().st_size for p in root.rglob("*") if p.is_file()) if root.exists() else 0
    return Part(name="cache", works=True, says=f"{root}, {size / 1e6:,.0f} MB; empty it with --clear-cache")


def clear_cache() -> str:
    """Delete the caches; says what was freed."""
    root = files.cache_root()
    size = sum(p.stat().st_size for p in root.rglob("*") if p.is_file()) if root.exists() else 0
    for folder in ("vectors", "stages", "models", "onnx"):
        shutil.rmtree(root / folder, ignore_errors=True)
    return f"{root}: {size / 1e6:,.0f} MB freed."
