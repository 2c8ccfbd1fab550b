"""One step of the chain: it learns on TRAIN, then adds scores to anybody's inputs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from probative import files
from probative.types import Inputs, View

POOL = "pool"


class Stage(Protocol):
    """What the chain needs of a step. Every learned step hands on out-of-fold scores for its own TRAIN."""

    name: str

    def settings_key(self) -> Any:
        """All that changes this step's result besides its inputs, as JSON."""
        ...

    def fit(self, train: Inputs, stop: Inputs | None) -> Inputs:
        """Learn, and return TRAIN with this step's scores added."""
        ...

    def apply(self, inputs: Inputs) -> Inputs:
        """Add this step's scores; never looks at gold."""
        ...

    def save(self, folder: Path) -> None: ...

    def load(self, folder: Path) -> None: ...

    @property
    def epochs(self) -> float | None:
        """How many epochs STOP chose, where there are epochs."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Added:
    """The arrays that a step added to some inputs."""

    scores: Mapping[str, np.ndarray[Any, Any]]
    gates: Mapping[str, np.ndarray[Any, Any]]
    pool: np.ndarray[Any, Any] | None

    @classmethod
    def between(cls, before: Inputs, after: Inputs) -> Added:
        """What `after` has that `before` had not."""
        return cls(
            scores={k: v for k, v in after.scores.items() if before.scores.get(k) is not v},
            gates={k: v for k, v in after.gates.items() if before.gates.get(k) is not v},
            pool=None if after.pool is before.pool else after.pool,
        )

    def to(self, inputs: Inputs) -> Inputs:
        """The inputs with these arrays added."""
        return replace(
            inputs,
            scores={**inputs.scores, **self.scores},
            gates={**inputs.gates, **self.gates},
            pool=inputs.pool if self.pool is None else self.pool,
        )

    def save(self, path: Path) -> None:
        arrays = {f"score:{k}": v.astype(np.float32) for k, v in self.scores.items()}
        arrays |= {f"gate:{k}": v.astype(np.float64) for k, v in self.gates.items()}
        if self.pool is not None:
            arrays[POOL] = self.pool
        with path.open("wb") as stream:
            np.savez(stream, allow_pickle=False, **arrays)

    @classmethod
    def load(cls, path: Path) -> Added:
        with np.load(path, allow_pickle=False) as arrays:
            names = list(arrays)
            return cls(
                scores={k.removeprefix("score:"): arrays[k] for k in names if k.startswith("score:")},
                gates={k.removeprefix("gate:"): arrays[k] for k in names if k.startswith("gate:")},
                pool=arrays[POOL] if POOL in names else None,
            )


def view_digest(view: View, *, gold: bool) -> str:
    """A hash of what a view holds: documents, sentences and queries, and its gold where that matters."""
    parts = [
        files.canonical_json(
            [view.role, view.doc_ids, view.sent_uids, view.criterion_ids, view.criterion_texts]
        ).encode(),
        files.sha256_json(view.texts).encode(),
        *(np.ascontiguousarray(a).tobytes() for a in (view.doc_offsets, view.query_doc, view.query_criterion)),
    ]
    if gold:
        marks = (view.gold, view.rejected, view.has_evidence)
        parts += [b"-" if array is None else np.packbits(array).tobytes() for array in marks]
    return files.sha256_bytes(b"\0".join(parts))
