"""Gradient-boosted trees over candidate features: LambdaRank for the order, pointwise trees for comparable log-odds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Self

import numpy as np

from probative import files, segments
from probative.errors import ConfigError, ModelError
from probative.rerank.boost import boost
from probative.rerank.features import EARLIER, Table, candidate_table
from probative.rerank.gate import QueryGate
from probative.rerank.linear import require_evidence
from probative.rerank.settings import LambdaRankSettings
from probative.rerank.shared import labels, trainable
from probative.segments import BoolArray, FloatArray
from probative.types import Inputs, Scores, View

FACTS = "lambdarank.json"


class LambdaRanker:
    """Reorders the best candidates of the linear model; needs its scores, out-of-fold where it learns.

    `rank` comes from LambdaRank, `node` from trees fitted to each candidate's label, `gate` from how a query's
    candidates score together. Candidates beyond `depth` keep the linear order, below the others.
    """

    def __init__(self, settings: LambdaRankSettings | None = None, *, seed: int = 0) -> None:
        self.settings = settings or LambdaRankSettings()
        self.seed = seed

    def fit(self, inputs: Inputs, stop: Inputs | None = None) -> Self:
        """Learn from the labelled candidates; `inputs.scores["linear"]` must be out-of-fold."""
        require_evidence(inputs.view)
        view = inputs.view
        self.earlier_ = tuple(name for name in EARLIER if name in inputs.scores)
        table = self._table(inputs)
        target = labels(view)[table.rows]
        known = np.isin(table.rows, trainable(view))
        found = segments.total(target, table.offsets) > 0
        ranked = np.repeat(found, np.diff(table.offsets))
        self.node_ = self._boost(table, target, known, {"objective": "binary"}, self.settings.node_trees)
        listwise = {"objective": "lambdarank", "lambdarank_truncation_level": 15}
        groups = np.diff(table.offsets)[found]
        self.gate_ = QueryGate.fit(inputs, self.earlier_, seed=self.seed)
        self.rank_ = self._boost(table, target, ranked, listwise, self.settings.rank_trees, groups)
        return self

    def score(self, inputs: Inputs) -> Scores:
        """Score every row."""
        table = self._table(inputs)
        linear = np.asarray(inputs.scores["linear"], dtype=np.float64)
        node = linear.copy() if self.node_ is None else self._laid(inputs.view, table, self.node_, linear)
        rank = linear.copy() if self.rank_ is None else self._laid(inputs.view, table, self.rank_, linear)
        gate = None if self.gate_ is None else self.gate_.score(inputs, self.earlier_)
        return Scores(rank=rank, node=node, gate=gate)

    def save(self, folder: Path) -> None:
        """Write the trees as LightGBM text and the rest as JSON."""
        folder.mkdir(parents=True, exist_ok=True)
        facts = {"settings": self.settings.model_dump(mode="json"), "seed": self.seed, "earlier": list(self.earlier_)}
        if self.gate_ is not None:
            facts["gate"] = self.gate_.facts()
        files.write_json(folder / FACTS, facts)
        gate_trees = None if self.gate_ is None else self.gate_.trees
        for name, trees in (("node", self.node_), ("rank", self.rank_), ("gate", gate_trees)):
            if trees is not None:
                files.write_text(folder / f"{name}.txt", trees.model_to_string())

    @classmethod
    def load(cls, folder: Path) -> LambdaRanker:
        """Read a fitted model."""
        import lightgbm

        try:
            facts = json.loads((folder / FACTS).read_text(encoding="utf-8"))
            texts = {p.stem: p.read_text(encoding="utf-8") for p in folder.glob("*.txt")}
            trees = {name: lightgbm.Booster(model_str=text) for name, text in texts.items()}
        except (OSError, ValueError, lightgbm.basic.LightGBMError) as error:
            raise ModelError(f"{folder}: the tree reranker cannot be read ({error}). Fit it again.") from error
        made = cls(LambdaRankSettings.model_validate(facts["settings"]), seed=facts["seed"])
        made.earlier_ = tuple(facts["earlier"])
        made.node_, made.rank_ = trees.get("node"), trees.get("rank")
        made.gate_ = QueryGate.of(facts["gate"], trees["gate"]) if "gate" in facts else None
        return made

    def _table(self, inputs: Inputs) -> Table:
        if "linear" not in inputs.scores:
            raise ConfigError("The tree reranker needs the score 'linear': put the linear reranker before it.")
        return candidate_table(inputs, self.settings.depth, self.earlier_)

    def _boost(
        self,
        table: Table,
        target: BoolArray,
        chosen: BoolArray,
        objective: dict[str, Any],
        trees: int,
        groups: Any = None,
    ) -> Any:
        """The fitted trees, or None where the chosen rows hold one class only."""
        if not target[chosen].any() or target[chosen].all():
            return None
        shape = {
            "learning_rate": self.settings.learning_rate,
            "num_leaves": self.settings.leaves,
            "min_data_in_leaf": self.settings.min_leaf,
        }
        labels = target[chosen].astype(np.float32)
        values = table.values[chosen]
        return boost(values, labels, shape | objective, trees=trees, seed=self.seed, groups=groups, names=table.names)

    def _laid(self, view: View, table: Table, trees: Any, linear: FloatArray) -> FloatArray:
        """The trees' raw scores on their candidates; the rest below them, in linear order."""
        values = np.full(view.n_rows, np.nan)
        values[table.rows] = trees.predict(table.values, raw_score=True, num_threads=1) if len(table.rows) else []
        rest = np.isnan(values)
        floor = segments.minimum(np.where(rest, np.inf, values), view.offsets)
        ceiling = segments.maximum(np.where(rest, linear, -np.inf), view.offsets)
        start = np.where(np.isfinite(floor), floor - 1e-3, ceiling)
        query = view.query[rest]
        values[rest] = start[query] + linear[rest] - ceiling[query]
        return values
