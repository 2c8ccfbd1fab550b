"""The fitted system: fit it on a labelled corpus, keep it in a folder, ask it about new documents."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from probative import files, segments
from probative.data import Corpus, folds
from probative.decide import Decider, Decisions, sigmoid
from probative.encode import Encoder, encoder_for, vectors_for
from probative.errors import DataError, ModelError
from probative.pipeline import model_folder
from probative.pipeline.decision import Decision, Evidence
from probative.pipeline.documents import NewDocument
from probative.pipeline.drift import Profile
from probative.pipeline.fold import Scored
from probative.pipeline.learn import learn
from probative.pipeline.questions import Questions, ask
from probative.pipeline.ranking import rankings
from probative.pipeline.settings import PipelineSettings
from probative.pipeline.stage import Stage
from probative.pipeline.stages import load_stages
from probative.segments import FloatArray
from probative.types import Inputs, Role, State

Documents = Mapping[str, str] | Iterable[NewDocument]
STAGES = "stages"


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """Decisions about some new documents, with what drift is measured on."""

    decisions: Sequence[Decision]
    gate: FloatArray
    states: Sequence[State]
    doc: segments.IntArray


class Pipeline:
    """A system that was fitted on a labelled corpus.

    >>> pipeline = Pipeline.load("model")                                        # doctest: +SKIP
    >>> for decision in pipeline.predict({"note": "I sleep badly. All is well."}):   # doctest: +SKIP
    ...     print(decision.criterion_id, decision.state, decision.probability)
    """

    def __init__(
        self,
        *,
        settings: PipelineSettings,
        stages: Sequence[Stage],
        folders: Mapping[str, Path],
        decider: Decider,
        facts: Mapping[str, Any],
    ) -> None:
        self.settings = settings
        self.decider = decider
        self.facts = facts
        """What model.json says: corpus, criteria, profile of TUNE, decider."""
        self._stages = stages
        self._folders = folders
        self._encoder: Encoder | None = None

    @classmethod
    def fit(
        cls,
        corpus: Corpus,
        settings: PipelineSettings | None = None,
        *,
        report: Callable[[str], None] = lambda stage: None,
    ) -> Pipeline:
        """Exactly the procedure that `run` evaluates, with EVAL empty: thresholds come from TUNE."""
        settings = settings or PipelineSettings()
        if corpus.gold.is_empty():
            raise DataError(f"{corpus.meta.name}: has no gold, so there is nothing to learn from.")
        report("encode")
        vectors_for(corpus.view(corpus.doc_ids, Role.NEW, gold=False), settings.encode)
        table = folds.make_deployment(corpus, settings.folds, settings.seed)
        store = files.Store(files.cache_root() / "stages")
        _, scored = learn(corpus, table, 0, settings, store, report)
        report("decide")
        decider = fit_decider(scored, settings)
        stages = load_stages(settings, scored.models)
        facts = _facts(corpus, settings, scored, decider)
        return cls(settings=settings, stages=stages, folders=scored.models, decider=decider, facts=facts)

    def save(self, folder: str | Path, *, card: str = "") -> Path:
        """Write the model folder, whole or not at all."""
        folder = Path(folder)
        with files.writing_folder(folder) as made:
            for name, source in self._folders.items():
                shutil.copytree(source, made / STAGES / name)
            if card:
                files.write_text(made / "README.md", card)
            model_folder.seal(made, dict(self.facts))
        return folder

    @classmethod
    def load(cls, folder: str | Path) -> Pipeline:
        """Open a model folder after checking every file of it; nothing in it is executed."""
        folder = Path(folder)
        facts = model_folder.check(folder)
        try:
            settings = PipelineSettings.model_validate(facts["settings"])
            folders = {name: folder / STAGES / name for name in facts["stages"]}
            decider = Decider.from_dict(facts["decider"])
            stages = load_stages(settings, folders)
        except (KeyError, ValueError) as error:
            raise ModelError(f"{folder}: {error}. Fit the model again.") from error
        return cls(settings=settings, stages=stages, folders=folders, decider=decider, facts=facts)

    @property
    def criteria(self) -> Sequence[tuple[str, str]]:
        """(criterion_id, text) of the questions that the model asks of every document; none if each had its own."""
        return [(c["criterion_id"], c["text"]) for c in self.facts["criteria"]]

    @property
    def profile(self) -> Profile:
        """What TUNE's decisions looked like."""
        return Profile.from_dict(self.facts["profile"])

    def predict(self, documents: Documents) -> list[Decision]:
        """One decision for every question to every document, given as texts by id or as documents."""
        if isinstance(documents, Mapping):
            documents = [NewDocument(doc_id=doc_id, text=text) for doc_id, text in documents.items()]
        return list(self.answer(list(documents)).decisions)

    def answer(self, documents: Sequence[NewDocument]) -> Answer:
        """Decisions and what drift needs, for one batch of documents."""
        questions = ask(documents, self.criteria, self.facts["corpus"]["language"] or "en")
        view = questions.view
        filled = np.flatnonzero(np.diff(view.doc_offsets) > 0)
        silent = np.setdiff1d(np.arange(view.n_documents), filled)
        decisions = [_nothing(view.doc_ids[d], view.criterion_ids[c]) for d, c in _queries_of(questions, silent)]
        if not len(filled):
            return Answer(decisions=decisions, gate=np.zeros(0), states=[], doc=np.zeros(0, dtype=np.int64))
        inputs = self._inputs(view.take(filled))
        for stage in self._stages:
            inputs = stage.apply(inputs)
        ranking = rankings(inputs)["final"]
        node = sigmoid(inputs.scores["final_node"])
        gate = np.asarray(inputs.gates["final"], dtype=np.float64)
        decided = self.decider.decide(gate, ranking.order, node, inputs.pool, inputs.view.offsets)
        kept = segments.rows(view.doc_offsets, filled)
        made = _decisions(inputs, decided, node, [questions.spans[i] for i in kept])
        place = {doc_id: n for n, doc_id in enumerate(view.doc_ids)}
        decisions = sorted([*decisions, *made], key=lambda d: place[d.doc_id])
        states = [list(State)[s] for s in decided.state]
        return Answer(decisions=decisions, gate=gate, states=states, doc=inputs.view.query_doc)

    def _inputs(self, view: Any) -> Inputs:
        if self.settings.encode.model.startswith("precomputed:"):
            sentences, criteria = vectors_for(view, self.settings.encode)
        else:
            self._encoder = self._encoder or encoder_for(self.settings.encode)
            sentences = self._encoder.encode(view.texts, "sentence")
            criteria = self._encoder.encode(view.criterion_texts, "criterion")
        return Inputs(view=view, sentence_vectors=sentences, criterion_vectors=criteria)


def fit_decider(scored: Scored, settings: PipelineSettings) -> Decider:
    """Calibration, thresholds and triage from TUNE."""
    tune = scored.tune
    if tune.view.has_evidence is None:
        raise ValueError("TUNE must hold its gold")
    documents = np.asarray(tune.view.doc_ids)[tune.view.query_doc]
    crossfitted = settings.folds.scheme == "crossfit"
    return Decider(settings.decide).fit(tune.gates["final"], tune.view.has_evidence, documents, out_of_fold=crossfitted)


def _facts(corpus: Corpus, settings: PipelineSettings, scored: Scored, decider: Decider) -> dict[str, Any]:
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
    """The criteria, where they are asked of more than one document; none where each document has its own."""
    asked = corpus.pairs.group_by("criterion_id").len()
    if corpus.documents.height > 1 and (asked["len"] > 1).sum() == 0:
        return []
    return corpus.criteria.select("criterion_id", "text").to_dicts()


def _queries_of(questions: Questions, documents: segments.IntArray) -> list[tuple[int, int]]:
    view = questions.view
    chosen = np.flatnonzero(np.isin(view.query_doc, documents))
    return [(int(view.query_doc[q]), int(view.query_criterion[q])) for q in chosen]


def _nothing(doc_id: str, criterion_id: str) -> Decision:
    note = "the document has no sentence"
    return Decision(
        doc_id=doc_id, criterion_id=criterion_id, probability=0.0, state=State.NEG, predicted=False, note=note
    )


def _decisions(
    inputs: Inputs, decided: Decisions, node: FloatArray, spans: Sequence[tuple[int, int] | None]
) -> list[Decision]:
    view = inputs.view
    states = list(State)
    starts, sizes = view.offsets[:-1], decided.size["triage"]
    made = []
    for query in range(view.n_queries):
        rows = decided.rank_order[starts[query] : starts[query] + sizes[query]]
        made.append(
            Decision(
                doc_id=view.doc_ids[view.query_doc[query]],
                criterion_id=view.criterion_ids[view.query_criterion[query]],
                probability=float(decided.prob[query]),
                state=states[decided.state[query]],
                predicted=bool(decided.predicted[query]),
                evidence=tuple(_evidence(inputs, int(row), float(node[row]), spans) for row in rows),
            )
        )
    return made


def _evidence(inputs: Inputs, row: int, probability: float, spans: Sequence[tuple[int, int] | None]) -> Evidence:
    view = inputs.view
    sentence = int(view.sentence[row])
    start, end = spans[sentence] or (None, None)
    return Evidence(
        sent_uid=view.sent_uids[sentence], start=start, end=end, probability=probability, text=view.texts[sentence]
    )
