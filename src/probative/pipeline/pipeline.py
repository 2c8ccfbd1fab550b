"""The fitted system: fit it on a labelled corpus, keep it in a folder, ask it about new documents."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from probative import files, segments
from probative.data import Corpus, folds
from probative.decide import Decider, Decisions, sigmoid
from probative.encode import Encoder, encoder_for, vectors_for
from probative.encode.encoder import Kind
from probative.errors import DataError, ModelError, NotInstalled, ProbativeError
from probative.pipeline import answer as answers
from probative.pipeline import card, drift, model_folder, threads, trust
from probative.pipeline.answer import STATES, Answer
from probative.pipeline.decision import Decision
from probative.pipeline.documents import NewDocument
from probative.pipeline.drift import Profile
from probative.pipeline.facts import facts_of
from probative.pipeline.fold import Scored
from probative.pipeline.learn import learn
from probative.pipeline.questions import ask
from probative.pipeline.ranking import rankings
from probative.pipeline.settings import PipelineSettings
from probative.pipeline.stage import Stage
from probative.pipeline.stages import load_stages
from probative.types import Inputs, Role, Vectors, View

Documents = Mapping[str, str] | Iterable[NewDocument]
STAGES = "stages"
KEPT_CRITERIA = 4096
"""Vectors of questions that are held in memory."""


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
        encoder: Encoder | None = None,
    ) -> None:
        self.settings = settings
        self.decider = decider
        self.facts = facts
        """What model.json says: corpus, criteria, profile of TUNE, decider."""
        self._stages = stages
        self._folders = folders
        self._encoder = encoder
        self._asked: dict[str, Vectors] = {}

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
        table = folds.make_deployment(corpus, settings.folds, settings.seed)
        report("encode")
        everything = corpus.view(corpus.doc_ids, Role.NEW, gold=False)
        vectors_for(everything, settings.encode, lambda n, of: report(f"encode {n:,} of {of:,}"))
        store = files.Store(files.cache_root() / "stages")
        with threads.at_most(settings.threads):
            _, scored = learn(corpus, table, 0, settings, store, report)
            report("decide")
            decider = fit_decider(scored, settings)
            stages = load_stages(settings, scored.models)
        facts = facts_of(corpus, settings, scored, decider)
        return cls(settings=settings, stages=stages, folders=scored.models, decider=decider, facts=facts)

    def save(self, folder: str | Path, *, evidence: card.Evidence = card.NOT_EVALUATED) -> Path:
        """Write the model folder, whole or not at all; `evidence` is what the card says of its quality."""
        folder = Path(folder)
        model_folder.free(folder)
        with files.writing_folder(folder) as made:
            for name, source in self._folders.items():
                shutil.copytree(source, made / STAGES / name, copy_function=shutil.copyfile)
            files.write_text(made / "README.md", card.write(self.facts, self.decider.triage_.words(), evidence))
            model_folder.seal(made, dict(self.facts))
        return folder

    @classmethod
    def load(cls, folder: str | Path, *, trust: bool = False) -> Pipeline:
        """Open a model folder after checking every file of it; nothing in it is executed.

        `trust` allows a model whose encoder runs code of its own or sends sentences to a server.
        """
        folder = Path(folder)
        facts = model_folder.check(folder)
        try:
            return cls._opened(folder, facts, trusted=trust)
        except NotInstalled:
            raise
        except ProbativeError as error:
            raise ModelError(f"{folder}: {error}") from error
        except Exception as error:  # whatever a well-formed but altered file can cause
            raise ModelError(
                f"{folder}: its parts do not fit together ({type(error).__name__}: {error}). Fit the model again."
            ) from error

    @classmethod
    def _opened(cls, folder: Path, facts: Mapping[str, Any], *, trusted: bool) -> Pipeline:
        settings = PipelineSettings.model_validate(facts["settings"])
        trust.require(settings, trusted=trusted)
        folders = {name: folder / STAGES / name for name in facts["stages"]}
        decider = Decider.from_dict(facts["decider"])
        stages = load_stages(settings, folders)
        pipeline = cls(settings=settings, stages=stages, folders=folders, decider=decider, facts=facts)
        pipeline.try_out()
        return pipeline

    def try_out(self) -> None:
        """Decide about two made-up sentences and compare TUNE with itself: parts that do not fit fail here."""
        drift.compare(self.profile, self.profile)
        card.write(self.facts, (), card.NOT_EVALUATED)
        if self.settings.rerank.kind == "cross":
            return  # its model lies elsewhere and takes long to load
        asked = self.criteria or [("question", "question")]
        sentences = (("0", "one"), ("1", "two"))
        questions = ask([NewDocument(doc_id="", sentences=sentences, criteria=tuple(asked))], (), "en")
        ones = np.full((len(asked) + 2, self.facts["width"]), self.facts["width"] ** -0.5, dtype=np.float32)
        inputs, decided = self._decided(
            Inputs(view=questions.view, sentence_vectors=ones[:2], criterion_vectors=ones[2:])
        )
        gate = np.asarray(inputs.gates["final"], dtype=np.float64)
        self.profile.like().add(gate, [STATES[s] for s in decided.state], questions.view.query_doc)

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
        documents = list(documents)
        if len({document.doc_id for document in documents}) < len(documents):
            raise DataError("Two documents have the same doc_id. Give each its own.")
        with threads.at_most(self.settings.threads):
            return list(self.answer(documents).decisions)

    def answer(self, documents: Sequence[NewDocument]) -> Answer:
        """Decisions and what drift needs, for one batch of documents."""
        questions = ask(documents, self.criteria, self.facts["corpus"]["language"] or "en")
        view = questions.view
        filled = np.flatnonzero(np.diff(view.doc_offsets) > 0)
        decisions = list(answers.nothing(questions, np.setdiff1d(np.arange(view.n_documents), filled)))
        if not len(filled):
            return Answer(decisions=decisions, gate=np.zeros(0), states=[], doc=np.zeros(0, dtype=np.int64))
        inputs, decided = self._decided(self._encoded(view.take(filled)))
        familiar = answers.familiar(inputs, self._trained)
        spans = [questions.spans[i] for i in segments.rows(view.doc_offsets, filled)]
        decisions += answers.made(inputs, decided, spans, familiar)
        place = {doc_id: n for n, doc_id in enumerate(view.doc_ids)}
        return Answer(
            decisions=sorted(decisions, key=lambda d: place[d.doc_id]),
            gate=np.asarray(inputs.gates["final"], dtype=np.float64)[familiar],
            states=[STATES[s] for s in decided.state[familiar]],
            doc=inputs.view.query_doc[familiar],
        )

    @property
    def _trained(self) -> set[str]:
        excluded = set(self.facts["corpus"]["exclude_from_training"])
        return {text for criterion_id, text in self.criteria if criterion_id not in excluded}

    def _decided(self, inputs: Inputs) -> tuple[Inputs, Decisions]:
        with np.errstate(over="ignore"):  # the logistic of very negative log-odds is 0, as it should be
            for stage in self._stages:
                inputs = stage.apply(inputs)
                # Rounded between stages as a run's cache rounds them, so that decisions are the run's to the bit.
                inputs = inputs.with_scores(**{n: v.astype(np.float32, copy=False) for n, v in inputs.scores.items()})
        node = sigmoid(inputs.scores["final_node"])
        order = rankings(inputs)["final"].order
        return inputs, self.decider.decide(inputs.gates["final"], order, node, inputs.pool, inputs.view.offsets)

    def _encoded(self, view: View) -> Inputs:
        """Vectors straight from the encoder: nothing of new documents is kept on disk."""
        if self.settings.encode.model.startswith("precomputed:"):
            sentences, criteria = vectors_for(view, self.settings.encode)
        else:
            sentences, criteria = self._vectors(view.texts, "sentence"), self._questions(view.criterion_texts)
        return Inputs(view=view, sentence_vectors=sentences, criterion_vectors=criteria)

    def _vectors(self, texts: Sequence[str], kind: Kind) -> Vectors:
        """Every distinct text once."""
        self._encoder = self._encoder or encoder_for(self.settings.encode)
        place = {text: n for n, text in enumerate(dict.fromkeys(texts))}
        return self._encoder.encode(list(place), kind)[[place[text] for text in texts]]

    def _questions(self, texts: Sequence[str]) -> Vectors:
        if len(self._asked) > KEPT_CRITERIA:
            self._asked.clear()
        if new := [text for text in texts if text not in self._asked]:
            self._asked |= zip(new, self._vectors(new, "criterion"), strict=True)
        return np.stack([self._asked[text] for text in texts])


def fit_decider(scored: Scored, settings: PipelineSettings) -> Decider:
    """Calibration, thresholds and triage from TUNE."""
    tune = scored.tune
    if tune.view.has_evidence is None:
        raise ValueError("TUNE must hold its gold")
    documents = np.asarray(tune.view.doc_ids)[tune.view.query_doc]
    crossfitted = settings.folds.scheme == "crossfit"
    return Decider(settings.decide).fit(tune.gates["final"], tune.view.has_evidence, documents, out_of_fold=crossfitted)
