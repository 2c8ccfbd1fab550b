"""How far a run is: stages finished over all folds, and the time that is left at this pace."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

Show = Callable[[float, str], None]
"""(share done, label) → something a person sees."""


@dataclass(kw_only=True)
class FoldProgress:
    """Counts the stages that workers report and shows them as one bar."""

    n_folds: int
    stages_per_fold: int
    show: Show
    seen: dict[int, list[str]] = field(default_factory=dict)
    finished: int = 0

    def stage(self, fold: int, stage: str) -> None:
        """A fold has begun a stage."""
        self.seen.setdefault(fold, []).append(stage)
        self._show(f"fold {fold + 1}/{self.n_folds} · {stage}")

    def done(self, fold: int) -> None:
        """A fold is finished."""
        self.seen.pop(fold, None)
        self.finished += 1
        self._show(f"fold {fold + 1}/{self.n_folds} · done")

    def _show(self, label: str) -> None:
        begun = sum(min(len(stages) - 1, self.stages_per_fold) for stages in self.seen.values())
        total = self.n_folds * self.stages_per_fold
        self.show((self.finished * self.stages_per_fold + begun) / total, label)
