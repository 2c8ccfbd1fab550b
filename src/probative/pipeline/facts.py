"""What model.json says of a fitted model: its settings, the questions it asks, and what its thresholds stand on."""

from __future__ import annotations

from typing import Any

import numpy as np

from probative import files
from probative.data import Corpus
from probative.decide import Decider
from probative.pipeline.drift import Profile
from probative.pipeline.fold import Scored
from probative.pipeline.settings import PipelineSettings
from probative.types import State


def facts_of(corpus: Corpus, settings: PipelineSettings, scored: Scored, decider: Decider) -> dict[str, Any]:
    """Everything but the file hashes, as JSON."""
    tune = scored.tune
    gate = np.asarray(tune.gates["final"], dtype=np.float64)
    states = [list(State)[s] for s in decider.triage_.assign(decider.calibrator_.predict(gate))]
    config = settings.model_dump(mode="json")
    meta = corpus.meta
    positive = tune.view.has_evidence
    return {
        "settings": config,
        "settings_hash": files.sha256_json(config),
        "stages": list(scored.models),
        "width": int(tune.sentence_vectors.shape[1]),
        "criteria": _repeated(corpus),
        "decider": decider.to_dict(),
        "profile": Profile.of(gate, states, tune.view.query_doc).to_dict(),
        "tune": {
            "n_documents": tune.view.n_documents,
            "n_queries": tune.view.n_queries,
            "n_positive": int(positive.sum()) if positive is not None else 0,
        },
        "corpus": {
            "name": meta.name,
            "version": meta.version,
            "licence": meta.licence,
            "source": meta.source,
            "language": meta.language,
            "synthetic": meta.synthetic,
            "exclude_from_training": list(meta.exclude_from_training),
            "fingerprint": corpus.fingerprint,
            "n_documents": corpus.documents.height,
            "n_queries": corpus.pairs.height,
            "n_positive": int((corpus.pairs["has_evidence"] == 1).sum()),
        },
    }


def _repeated(corpus: Corpus) -> list[dict[str, str]]:
    """The criteria, where they are asked of two documents and more on average; none where each document has its own."""
    asked = corpus.pairs["criterion_id"].n_unique()
    if corpus.pairs.height < 2 * asked:
        return []
    return corpus.criteria.select("criterion_id", "text").to_dicts()
