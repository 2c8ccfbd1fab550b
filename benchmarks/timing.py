"""Timing, agreement, and the facts of the machine."""

from __future__ import annotations

import gc
import os
import platform
import time
from collections.abc import Callable, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")
TOLERANCE = 1e-9
PACKAGES = ("numpy", "scipy", "polars", "scikit-learn", "pytrec-eval-terrier", "ranx", "ir_measures")


class Disagreement(Exception):
    """Two libraries gave different values: no time is worth reading."""


SHORT = 0.02
"""Calls that take less than this many seconds are repeated for as long, and the mean counts as one run."""


def timed(call: Callable[[], T], repeat: int = 1) -> tuple[float, T]:
    """The best of some runs in seconds, and what the first returned."""
    best, result = _one(call)
    rounds = max(1, int(SHORT / max(best, 1e-9)))
    for _ in range(repeat - 1):
        gc.collect()
        start = time.perf_counter()
        for _ in range(rounds):
            call()
        best = min(best, (time.perf_counter() - start) / rounds)
    return best, result


def _one(call: Callable[[], T]) -> tuple[float, T]:
    gc.collect()
    start = time.perf_counter()
    result = call()
    return time.perf_counter() - start, result


def agree(peer: str, ours: Mapping[str, float], theirs: Mapping[str, float]) -> int:
    """Check every value that both give; the number of values checked."""
    shared = sorted(set(ours) & set(theirs))
    if not shared:
        raise Disagreement(f"{peer}: no value in common")
    for name in shared:
        if abs(ours[name] - theirs[name]) > TOLERANCE:
            raise Disagreement(f"{peer}, {name}: {theirs[name]!r}, ours {ours[name]!r}")
    return len(shared)


def machine() -> list[tuple[str, str]]:
    """Cores, processor and versions; no names."""
    facts = [
        ("cores", str(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count())),
        ("processor", _processor()),
        ("system", f"{platform.system()} {platform.machine()}"),
        ("Python", platform.python_version()),
    ]
    return facts + [(name, version(name)) for name in PACKAGES]


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or "unknown"


def seconds(value: float) -> str:
    """Three figures and the unit that suits."""
    if value < 1e-3:
        return f"{value * 1e6:.0f} µs"
    return f"{value * 1e3:.3g} ms" if value < 1 else f"{value:.3g} s"
