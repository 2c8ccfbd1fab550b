"""What holds for every corpus: fingerprints, round trips, and what a view may hold."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import polars as pl
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from probative.data import Corpus, CorpusMeta
from probative.data.folder import read_folder
from probative.data.sentences import split
from probative.data.source import Source, Table
from probative.data.validate import check
from probative.types import Role

TRICKY = " a,;\"'\n\r\té😀\u2028\ufeff[{1\\"
TEXT = st.text(TRICKY, max_size=8).map(lambda text: text + "b")
IDS = st.text(' a1,"é_:', max_size=4).map(lambda text: text + "x")
MARKS = ["doc_id", "criterion_id", "sent_uid"]
FEW = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@st.composite
def tables(draw: st.DrawFn) -> dict[str, pl.DataFrame]:
    """The tables of a valid corpus, in any row order."""
    doc_ids = draw(st.lists(IDS, min_size=1, max_size=4, unique=True))
    criterion_ids = draw(st.lists(IDS, min_size=1, max_size=3, unique=True))
    sentences = [
        (doc_id, place, f"{number}:{place}", draw(TEXT))
        for number, doc_id in enumerate(doc_ids)
        for place in range(draw(st.integers(1, 3)))
    ]
    pairs = [(d, c) for d in doc_ids for c in criterion_ids if draw(st.booleans())]
    gold, rejected, labels = [], [], []
    for doc_id, criterion_id in pairs:
        uids = [uid for owner, _, uid, _ in sentences if owner == doc_id]
        fate = [draw(st.sampled_from(["", "", "gold", "rejected"])) for _ in uids]
        gold += [(doc_id, criterion_id, uid) for uid, what in zip(uids, fate, strict=True) if what == "gold"]
        rejected += [(doc_id, criterion_id, uid) for uid, what in zip(uids, fate, strict=True) if what == "rejected"]
        labels.append(draw(st.sampled_from([1, None] if "gold" in fate else [0, 1, None])))
    group = [draw(st.none() | IDS) for _ in doc_ids]
    return {
        "documents": pl.DataFrame(
            {"doc_id": doc_ids, "group": group}, schema=dict.fromkeys(["doc_id", "group"], pl.String)
        ),
        "sentences": pl.DataFrame(sentences, schema=["doc_id", "sent_idx", "sent_uid", "text"], orient="row"),
        "criteria": pl.DataFrame({"criterion_id": criterion_ids, "text": [draw(TEXT) for _ in criterion_ids]}),
        "gold": pl.DataFrame(gold, schema=dict.fromkeys(MARKS, pl.String), orient="row"),
        "rejected": pl.DataFrame(rejected, schema=dict.fromkeys(MARKS, pl.String), orient="row"),
        "pairs": pl.DataFrame(
            [(*pair, label) for pair, label in zip(pairs, labels, strict=True)],
            schema={"doc_id": pl.String, "criterion_id": pl.String, "has_evidence": pl.Int64},
            orient="row",
        ),
    }


def corpus_of(frames: dict[str, pl.DataFrame]) -> Corpus:
    checked = check(
        Source(meta=CorpusMeta(name="any"), tables={name: Table.of(name, frame) for name, frame in frames.items()})
    )
    assert checked.problems == []
    return checked.corpus()


@FEW
@given(frames=tables(), kind=st.sampled_from(["parquet", "csv", "jsonl"]), other=st.sampled_from(["csv", "jsonl"]))
def test_writing_and_reading_is_the_identity(frames: dict[str, pl.DataFrame], kind: str, other: str) -> None:
    corpus = corpus_of(frames)
    with tempfile.TemporaryDirectory() as folder:
        again = Corpus.read(corpus.write(Path(folder) / "one", kind))
        third = Corpus.read(again.write(Path(folder) / "two", other))

    assert [corpus.fingerprint] * 2 == [again.fingerprint, third.fingerprint]
    for name, frame in corpus.tables.items():
        assert frame.equals(again.tables[name]), name
        assert frame.equals(third.tables[name]), name
    assert corpus.meta == third.meta


@FEW
@given(frames=tables(), seed=st.integers(0, 99))
def test_the_order_of_rows_does_not_matter(frames: dict[str, pl.DataFrame], seed: int) -> None:
    shuffled = {name: frame.sample(fraction=1.0, shuffle=True, seed=seed) for name, frame in frames.items()}

    assert corpus_of(frames).fingerprint == corpus_of(shuffled).fingerprint


@FEW
@given(frames=tables(), data=st.data())
def test_any_other_content_has_another_fingerprint(frames: dict[str, pl.DataFrame], data: st.DataObject) -> None:
    before = corpus_of(frames).fingerprint
    place = data.draw(st.integers(0, frames["sentences"].height - 1))
    texts = frames["sentences"]["text"].to_list()
    texts[place] += "x"

    changed = frames | {"sentences": frames["sentences"].with_columns(pl.Series("text", texts))}

    assert before != corpus_of(changed).fingerprint


@FEW
@given(frames=tables(), data=st.data())
def test_a_view_holds_only_its_documents_and_their_gold(frames: dict[str, pl.DataFrame], data: st.DataObject) -> None:
    corpus = corpus_of(frames)
    chosen = data.draw(st.lists(st.sampled_from(corpus.doc_ids), unique=True))

    view = corpus.view(chosen, Role.TRAIN, gold=True)

    assert view.doc_ids == tuple(sorted(chosen))
    own = corpus.sentences.filter(pl.col("doc_id").is_in(chosen))
    assert view.sent_uids == tuple(own["sent_uid"].to_list())
    assert view.n_queries == corpus.pairs.filter(pl.col("doc_id").is_in(chosen)).height
    assert view.gold is not None
    marked = {
        (view.doc_ids[view.query_doc[q]], view.criterion_ids[view.query_criterion[q]], view.sent_uids[s])
        for q, s in zip(view.query[view.gold], view.sentence[view.gold], strict=True)
    }
    assert marked == set(corpus.gold.filter(pl.col("doc_id").is_in(chosen)).rows())
    assert set(view.query_criterion.tolist()) == set(range(len(view.criterion_ids)))
    assert view.blind().gold is None


@FEW
@given(frames=tables())
def test_taking_documents_of_a_view_is_viewing_them(frames: dict[str, pl.DataFrame]) -> None:
    corpus = corpus_of(frames)

    taken = corpus.view(corpus.doc_ids, Role.TRAIN, gold=True).take(np.array([0]))
    direct = corpus.view(corpus.doc_ids[:1], Role.TRAIN, gold=True)

    assert (taken.doc_ids, taken.sent_uids, taken.criterion_ids) == (
        direct.doc_ids,
        direct.sent_uids,
        direct.criterion_ids,
    )
    assert np.array_equal(taken.gold, direct.gold)
    assert np.array_equal(taken.has_evidence, direct.has_evidence)


@given(
    text=st.text(st.characters(codec="utf-8"), max_size=60)
    | st.lists(st.sampled_from(["Dr. ", "a.", "?!", "\n\n", " ", "1.", "😀", ")", "("])).map("".join)
)
@settings(max_examples=250, deadline=None)
def test_sentences_cover_the_text_in_order_without_overlap(text: str) -> None:
    spans = split(text)

    covered = "".join(text[start:end] for start, end in spans)
    assert covered.split() and "".join(covered.split()) == "".join(text.split()) if text.strip() else spans == []
    assert all(a_end <= start < end for (_, a_end), (start, end) in zip([(0, 0), *spans], spans, strict=False))
    assert all(text[start:end] == text[start:end].strip() for start, end in spans)


GOOD = {
    "documents.csv": b'doc_id,text,ward\nd1,"One two. Three, four.",x\nd2,Five.,\n',
    "criteria.csv": b'criterion_id,text,name\nK,Why?,N\nL,"When, then?",\n',
    "gold.csv": b"doc_id,criterion_id,sent_uid,start,end,quote\nd1,K,,0,3,\nd2,L,,,,Five\nd1,L,d1_0,,,\n",
    "pairs.jsonl": b'{"doc_id":"d1","criterion_id":"K","has_evidence":1}\n{"doc_id":"d1","criterion_id":"L"}\n',
    "corpus.toml": b'name = "x"\nexclude_from_training = ["K"]\n',
}
PIECES = [
    b",",
    b'"',
    b"\n",
    b"\r",
    b";",
    b"\xff",
    b"d1",
    b"-1",
    b"NaN",
    b"null",
    b"[",
    b"{",
    b"\x00",
    b"=",
    b"text",
    b"1e400",
]


@given(
    file=st.sampled_from(sorted(GOOD)),
    at=st.floats(0, 1),
    cut=st.integers(0, 5),
    piece=st.sampled_from(PIECES),
)
@settings(max_examples=60, deadline=None)
def test_no_damage_to_a_file_ends_in_an_accident(file: str, at: float, cut: int, piece: bytes) -> None:
    whole = GOOD[file]
    place = int(at * len(whole))
    with tempfile.TemporaryDirectory() as name:
        for other, data in GOOD.items():
            (Path(name) / other).write_bytes(data)
        (Path(name) / file).write_bytes(whole[:place] + piece + whole[place + cut :])

        checked = check(read_folder(Path(name)))

    assert all(problem.what and problem.remedy for problem in checked.problems)
    assert checked.problems or checked.corpus().fingerprint
