"""Readers of other formats: each gives unchecked tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from probative.data.source import Source

READERS: Mapping[str, Callable[..., Source]] = {}
