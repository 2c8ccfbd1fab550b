"""A regularised logistic regression: weights shared by all questions, and a question's own where it is asked often."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Self

import numpy as np

from probative import files
from probative.errors import DataError, ModelError
from probative.rerank.grams import Lexicon
from probative.rerank.own import OwnWeights
from probative.rerank.settings import LinearSettings
from probative.rerank.shared import SharedWeights
from probative.types import Inputs, Scores, View

ARRAYS = "linear.safetensors"
FACTS = "linear.json"


class LinearReranker:
    """Log-odds that a sentence answers a criterion, comparable between queries.

    Every query gets the log-odds of one shared model on sentence × criterion features. A criterion that is asked of
    enough documents adds its own weights on sentence vectors, words and word pairs; they are shrunk towards zero, so
    that a criterion with few examples stays near the shared model.
    """

    def __init__(self, settings: LinearSettings | None = None, *, seed: int = 0) -> None:
        self.settings = settings or LinearSettings()
        self.seed = seed

    def fit(self, inputs: Inputs, stop: Inputs | None = None) -> Self:
        """Learn from every labelled row of the view, in the pool or not."""
        require_evidence(inputs.view)
        chosen = self.settings
        self.shared_ = SharedWeights.fit(inputs, examples=chosen.examples, iterations=chosen.iterations, seed=self.seed)
        self.own_ = OwnWeights.fit(inputs, self.shared_.score(inputs), chosen)
        return self

    def score(self, inputs: Inputs) -> Scores:
        """Score every row; `rank` and `node` are the same log-odds."""
        node = self.own_.score(inputs, self.shared_.score(inputs))
        return Scores(rank=node, node=node)

    def save(self, folder: Path) -> None:
        """Write the fitted model as safetensors and JSON."""
        from safetensors.numpy import save_file

        folder.mkdir(parents=True, exist_ok=True)
        shared, own = self.shared_, self.own_
        arrays = {
            "shared.mean": shared.mean,
            "shared.scale": shared.scale,
            "shared.theta": shared.theta,
            "own.trust": own.trust,
            "own.theta": own.theta,
            "own.terms": own.lexicon.terms,
            "own.idf": own.lexicon.idf,
        }
        save_file({name: np.ascontiguousarray(array) for name, array in arrays.items()}, folder / ARRAYS)
        facts = {"settings": self.settings.model_dump(mode="json"), "seed": self.seed}
        files.write_json(folder / FACTS, {**facts, "scores": list(shared.names), "criteria": list(own.texts)})

    @classmethod
    def load(cls, folder: Path) -> LinearReranker:
        """Read a fitted model."""
        from safetensors import SafetensorError
        from safetensors.numpy import load_file

        try:
            facts = json.loads((folder / FACTS).read_text(encoding="utf-8"))
            arrays = load_file(folder / ARRAYS)
        except (OSError, ValueError, SafetensorError) as error:
            raise ModelError(f"{folder}: the linear reranker cannot be read ({error}). Fit it again.") from error
        made = cls(LinearSettings.model_validate(facts["settings"]), seed=facts["seed"])
        made.shared_ = SharedWeights(
            names=tuple(facts["scores"]),
            mean=arrays["shared.mean"],
            scale=arrays["shared.scale"],
            theta=arrays["shared.theta"],
        )
        made.own_ = OwnWeights(
            texts=tuple(facts["criteria"]),
            lexicon=Lexicon(terms=arrays["own.terms"], idf=arrays["own.idf"]),
            vector_weight=made.settings.vector_weight,
            term_weight=made.settings.term_weight,
            trust=arrays["own.trust"],
            theta=arrays["own.theta"],
        )
        return made


def require_evidence(view: View) -> None:
    """Refuse to learn from a view in which nothing is marked as evidence."""
    if view.gold is None or not view.gold.any():
        raise DataError(
            "No sentence of the training documents is marked as evidence, so nothing can be learned. "
            "Check the gold table, or leave more documents for training."
        )
