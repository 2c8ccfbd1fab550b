"""Cross-encoders by id, behind an address, or as scores made elsewhere: they read criterion and sentence together."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cached_property
from itertools import groupby
from pathlib import Path
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, field_validator

from probative import files, segments
from probative.encode.hub import identity_of, loaded
from probative.encode.server import Server, in_order
from probative.encode.settings import ServerSettings, base_url, check_model
from probative.encode.table import Table, keys_of, pair_keys
from probative.errors import ConfigError, DataError, ModelError
from probative.segments import IntArray
from probative.settings import Settings
from probative.types import Inputs, Scores

FACTS = "cross.json"
PATH = "/v1/rerank"
CHUNK = 1024
"""Pairs scored and kept at a time."""
EDGE = 1e-6
"""Probabilities are kept this far from 0 and 1 before they become log-odds."""
Pair = tuple[str, str]


class CrossSettings(Settings):
    """Which cross-encoder. `hub:<id or path>`, `http:<base url>` or `precomputed:<folder>`."""

    model: str = "none"
    max_tokens: int = Field(512, ge=8)
    """Of criterion and sentence together; hub models only."""
    criterion_prompt: str = ""
    batch_size: int = Field(1, ge=1)
    """Of a hub model; 1 keeps every score independent of its neighbours, to the bit. A GPU wants more."""
    probabilities: bool = True
    """A server's scores are probabilities, to be turned into log-odds."""
    revision: str | None = None
    trust_remote_code: bool = False
    server: ServerSettings = ServerSettings()

    @field_validator("model")
    @classmethod
    def _known(cls, model: str) -> str:
        return check_model(model, "none")


class PairScorer(Protocol):
    """Log-odds for (criterion, sentence) pairs."""

    @property
    def identity(self) -> str: ...

    def __call__(self, pairs: Sequence[Pair]) -> NDArray[np.float64]: ...


class HubCross:
    """A sentence-transformers cross-encoder."""

    def __init__(self, settings: CrossSettings) -> None:
        self.settings = settings

    @cached_property
    def identity(self) -> str:
        chosen = self.settings
        return files.sha256_json(
            [identity_of(chosen.model, chosen.revision), chosen.max_tokens, chosen.criterion_prompt]
        )

    def __call__(self, pairs: Sequence[Pair]) -> NDArray[np.float64]:
        import torch

        scores = self._model.predict(
            [(self.settings.criterion_prompt + criterion, sentence) for criterion, sentence in pairs],
            batch_size=self.settings.batch_size,
            activation_fn=torch.nn.Identity(),
            show_progress_bar=False,
        )
        return np.asarray(scores, dtype=np.float64)

    @cached_property
    def _model(self) -> Any:
        chosen = self.settings
        model = loaded("CrossEncoder", chosen.model, chosen.revision, chosen.trust_remote_code)
        if model.num_labels != 1:
            raise ModelError(f"{chosen.model}: has {model.num_labels} outputs; a reranker has one.")
        # sentence-transformers 6 renamed it, and warns about the older name.
        length = "max_seq_length" if hasattr(model, "max_seq_length") else "max_length"
        setattr(model, length, min(getattr(model, length) or chosen.max_tokens, chosen.max_tokens))
        return model


class HttpCross:
    """A `/v1/rerank` endpoint."""

    def __init__(self, settings: CrossSettings, server: Server | None = None) -> None:
        self.settings = settings
        self.server = server or Server(base_url(settings.model), settings.server)

    @cached_property
    def identity(self) -> str:
        chosen = self.settings
        known = [self.server.url, chosen.server.model, chosen.criterion_prompt, chosen.probabilities]
        return files.sha256_json(known)

    def __call__(self, pairs: Sequence[Pair]) -> NDArray[np.float64]:
        size = self.settings.server.batch_size
        scores: list[float] = []
        for criterion, group in groupby(pairs, key=lambda pair: pair[0]):
            texts = [sentence for _, sentence in group]
            for start in range(0, len(texts), size):
                scores += self._batch(criterion, texts[start : start + size])
        found = np.array(scores, dtype=np.float64)
        return self._log_odds(found) if self.settings.probabilities else found

    def _batch(self, criterion: str, texts: list[str]) -> list[float]:
        query = self.settings.criterion_prompt + criterion
        answer = self.server.post(PATH, {"query": query, "documents": texts, "top_n": len(texts)})
        rows = answer.get("results") if isinstance(answer, dict) else None
        return [float(score) for score in in_order(rows, len(texts), "relevance_score", self.settings.model)]

    def _log_odds(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        if ((scores < 0) | (scores > 1)).any():
            raise ModelError(f"{self.settings.model}: gives scores outside [0, 1]. Set `probabilities: false`.")
        inside = np.clip(scores, EDGE, 1 - EDGE)
        return np.log(inside / (1 - inside))


class CrossEncoderReranker:
    """Scores the pool by a model that reads both texts. Nothing is learned.

    >>> settings = CrossSettings(model="hub:BAAI/bge-reranker-v2-m3")       # doctest: +SKIP
    >>> CrossEncoderReranker(settings).fit(train).score(inputs).rank        # doctest: +SKIP
    """

    def __init__(self, settings: CrossSettings, scorer: PairScorer | None = None) -> None:
        if settings.model == "none":
            raise ConfigError("rerank.cross.model: name one: hub:<id>, http:<base url> or precomputed:<folder>.")
        self.settings = settings
        self._scorer = scorer

    def fit(self, inputs: Inputs, stop: Inputs | None = None) -> Self:
        """Nothing to learn."""
        return self

    def score(self, inputs: Inputs) -> Scores:
        """The model's log-odds in the pool; behind it the retriever's order, below every score of the query's pool."""
        view = inputs.view
        rows = np.arange(view.n_rows) if inputs.pool is None else np.flatnonzero(inputs.pool)
        node = np.full(view.n_rows, np.inf)
        node[rows] = self._of(inputs, rows)
        sizes = np.diff(view.offsets)
        lowest = np.repeat(segments.minimum(node, view.offsets), sizes)
        outside = np.isinf(node)
        node[outside] = np.where(np.isfinite(lowest), lowest, 0.0)[outside]
        before = inputs.scores.get("retrieve", np.zeros(view.n_rows))
        rank = node - np.where(outside, segments.rank(before, view.offsets), 0)
        return Scores(rank=rank.astype(np.float32), node=node.astype(np.float32))

    def save(self, folder: Path) -> None:
        """Write which model it is."""
        files.write_json(folder / FACTS, self.settings.model_dump(mode="json"))

    @classmethod
    def load(cls, folder: Path) -> CrossEncoderReranker:
        """Read which model it is."""
        try:
            return cls(CrossSettings.model_validate(json.loads((folder / FACTS).read_text(encoding="utf-8"))))
        except (OSError, ValueError) as error:
            raise ModelError(f"{folder / FACTS}: names no cross-encoder. Fit the model again.") from error

    def _of(self, inputs: Inputs, rows: IntArray) -> NDArray[np.float32]:
        view = inputs.view
        sentence, criterion = view.sentence[rows], view.query_criterion[view.query[rows]]
        if self.settings.model.startswith("precomputed:"):
            ids = [(view.criterion_ids[c], view.sent_uids[s]) for c, s in zip(criterion, sentence, strict=True)]
            return _precomputed(Path(self.settings.model.removeprefix("precomputed:")), ids)
        scorer = self._scorer = self._scorer or _scorer_for(self.settings)
        keys = pair_keys(
            keys_of(view.criterion_texts, "criterion")[criterion], keys_of(view.texts, "sentence")[sentence]
        )
        keys, first, place = np.unique(keys, axis=0, return_index=True, return_inverse=True)
        texts = [(view.criterion_texts[criterion[i]], view.texts[sentence[i]]) for i in first]
        return _cached(scorer, keys, texts)[place.reshape(-1)]


def _scorer_for(settings: CrossSettings) -> PairScorer:
    return HubCross(settings) if settings.model.startswith("hub:") else HttpCross(settings)


def _cached(scorer: PairScorer, keys: NDArray[np.uint64], pairs: list[Pair]) -> NDArray[np.float32]:
    table = Table(files.cache_root() / "scores" / scorer.identity[:32])
    stored, known = table.read(keys)
    out = np.zeros((len(keys), 1), dtype=np.float32) if stored is None else stored
    missing = sorted(np.flatnonzero(~known).tolist(), key=lambda i: pairs[i])
    for start in range(0, len(missing), CHUNK):
        rows = missing[start : start + CHUNK]
        fresh = np.asarray(scorer([pairs[i] for i in rows]), dtype=np.float32).reshape(-1, 1)
        if len(fresh) != len(rows) or not np.isfinite(fresh).all():
            raise ModelError(
                f"the cross-encoder gave {len(fresh)} scores for {len(rows)} pairs, or one that is no number."
            )
        out[rows] = fresh
        table.append(keys[rows], fresh)
    return out[:, 0]


def _precomputed(folder: Path, ids: list[Pair]) -> NDArray[np.float32]:
    import polars as pl

    path = folder / "scores.parquet"
    try:
        frame = pl.read_parquet(path, columns=["criterion_id", "sent_uid", "score"]).cast({"score": pl.Float32})
    except (OSError, pl.exceptions.PolarsError) as error:
        raise DataError(
            f"{path}: needs the columns criterion_id, sent_uid and score, log-odds or a raw score."
        ) from error
    wanted = pl.DataFrame(ids, schema={"criterion_id": pl.String, "sent_uid": pl.String}, orient="row")
    keys = ["criterion_id", "sent_uid"]
    if frame.select(keys).is_duplicated().any():
        raise DataError(f"{path}: a pair of criterion_id and sent_uid stands there more than once.")
    scores = wanted.join(frame, on=keys, how="left", maintain_order="left")["score"]
    if missing := scores.null_count():
        at = int(scores.is_null().arg_true()[0])
        raise DataError(f"{path}: lacks {missing} of {len(ids)} pairs of the pool, the first {ids[at]}.")
    return scores.to_numpy()
