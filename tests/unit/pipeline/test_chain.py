"""The chain computes a stage once for the same inputs, and never lets EVAL's gold decide anything."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from probative import files
from probative.pipeline.chain import pass_through
from probative.pipeline.fold import crossfit, mean_epochs
from probative.types import Inputs, Role, View


def inputs(documents: int = 4, role: Role = Role.TRAIN, first: int = 0) -> Inputs:
    view = View(
        role=role,
        doc_ids=tuple(f"d{first + i}" for i in range(documents)),
        doc_offsets=np.arange(0, 2 * documents + 1, 2),
        sent_uids=tuple(f"d{first + i}_{j}" for i in range(documents) for j in range(2)),
        texts=tuple(f"text {first + i} {j}" for i in range(documents) for j in range(2)),
        criterion_ids=("c",),
        criterion_texts=("Why?",),
        query_doc=np.arange(documents),
        query_criterion=np.zeros(documents, dtype=np.int64),
        gold=np.tile([True, False], documents),
        has_evidence=np.ones(documents, dtype=bool),
    )
    vectors = np.eye(2, dtype=np.float32)[np.arange(2 * documents) % 2]
    return Inputs(view=view, sentence_vectors=vectors, criterion_vectors=np.eye(2, dtype=np.float32)[:1])


class Counting:
    """Scores every row with the number of TRAIN documents it was fitted on; counts its fits."""

    name = "counting"
    fits = 0

    def __init__(self, key: Any = 0, epochs: float | None = None) -> None:
        self.key, self.epochs = key, epochs

    def settings_key(self) -> Any:
        return self.key

    def fit(self, train: Inputs, stop: Inputs | None) -> Inputs:
        Counting.fits += 1
        self.learned = train.view.n_documents
        return self.apply(train)

    def apply(self, inputs: Inputs) -> Inputs:
        row = np.full(inputs.view.n_rows, float(self.learned))
        return inputs.with_scores(final=row).with_gates(final=np.full(inputs.view.n_queries, float(self.learned)))

    def save(self, folder: Path) -> None:
        (folder / "learned.json").write_text(str(self.learned))

    def load(self, folder: Path) -> None:
        self.learned = int((folder / "learned.json").read_text())


@pytest.fixture
def store(tmp_path: Path) -> files.Store:
    Counting.fits = 0
    return files.Store(tmp_path)


def through(store: files.Store, key: Any = 0, context: Any = 0, **given: Inputs) -> dict[str, Inputs]:
    return dict(pass_through([Counting(key)], given, store, context=context).inputs)


def test_the_same_inputs_are_computed_once(store: files.Store) -> None:
    first = through(store, train=inputs(), eval=inputs(2, Role.EVAL, 9))
    again = through(store, train=inputs(), eval=inputs(2, Role.EVAL, 9))
    assert Counting.fits == 1
    assert first["eval"].scores["final"].tolist() == again["eval"].scores["final"].tolist() == [4.0] * 4


@pytest.mark.parametrize(
    "change", [{"key": 1}, {"context": 1}, {"train": inputs(3)}, {"eval": inputs(3, Role.EVAL, 9)}]
)
def test_a_change_of_anything_that_decides_the_result_is_computed_anew(store: files.Store, change: Any) -> None:
    given = {"train": inputs(), "eval": inputs(2, Role.EVAL, 9)}
    through(store, **given)
    through(store, **{**given, **change})
    assert Counting.fits == 2


def test_gold_of_eval_is_no_part_of_the_key_and_gold_of_train_is(store: files.Store) -> None:
    known, held = inputs(), inputs(2, Role.EVAL, 9)
    through(store, train=known, eval=held)
    through(store, train=known, eval=Inputs(**{**vars(held), "view": held.view.blind()}))
    assert Counting.fits == 1
    other = View(**{**{n: getattr(known.view, n) for n in View.__dataclass_fields__}, "gold": ~known.view.gold})
    through(store, train=Inputs(**{**vars(known), "view": other}), eval=held)
    assert Counting.fits == 2


def test_an_altered_cache_entry_is_made_again(store: files.Store) -> None:
    through(store, train=inputs())
    entry = next(store.root.glob("*/*/train.npz"))
    entry.write_bytes(entry.read_bytes()[:-1])
    assert through(store, train=inputs())["train"].scores["final"].tolist() == [4.0] * 8
    assert Counting.fits == 2


def test_crossfit_scores_every_part_by_the_others_and_eval_by_all(store: files.Store) -> None:
    known = inputs(6)
    scored = crossfit(
        lambda epochs: [Counting(epochs)],
        known,
        np.array([0, 0, 0, 1, 1, 2]),
        lambda rest: np.array([0]),
        inputs(2, Role.EVAL, 9),
        store,
        context=0,
        report=lambda stage: None,
    )
    learned = [2.0, 2.0, 2.0, 3.0, 3.0, 4.0]  # the others, less the one document that STOP takes
    assert np.repeat(learned, 2).tolist() == scored.tune.scores["final"].tolist()
    assert learned == scored.tune.gates["final"].tolist()
    assert scored.eval is not None
    assert [6.0] * 4 == scored.eval.scores["final"].tolist()


def test_the_final_epochs_are_the_rounded_mean_and_at_least_one() -> None:
    assert {"graph": 4} == mean_epochs([{"graph": 3.0}, {"graph": 4.0}, {"graph": 4.4}])
    assert {"graph": 1} == mean_epochs([{"graph": 0.0}])
    assert {} == mean_epochs([{}, {}])
