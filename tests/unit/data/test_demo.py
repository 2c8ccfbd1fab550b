"""The demo: the shape of the reference corpus, the same bytes for the same seed, lookalikes, clean language."""

# ruff: noqa: S311 - no secrets are made here
from __future__ import annotations

import os
import re
import subprocess
import sys
from random import Random

import polars as pl
import pytest

from probative.cli.app import run
from probative.data.corpus import Corpus
from probative.data.demo import demo_corpus, write_demo
from probative.data.demo.document import write
from probative.data.demo.grammar import Choice, Slot, load, parse, say, wordings
from probative.data.demo.plan import BLOCK, POSITIVES, criteria_of
from probative.data.demo.voice import Voice, slip
from probative.errors import ConfigError

IDS = [f"A.{i}" for i in range(1, 11)]


@pytest.fixture(scope="module")
def reference() -> Corpus:
    return demo_corpus()


def by_criterion(corpus: Corpus) -> list[int]:
    positive = corpus.pairs.filter(pl.col("has_evidence") == 1)["criterion_id"]
    return [int((positive == criterion_id).sum()) for criterion_id in IDS]


def test_the_reference_shape_is_exact(reference):
    assert reference.documents.height == 1477
    assert reference.pairs.height == 14770
    assert by_criterion(reference) == [328, 124, 44, 102, 35, 124, 312, 59, 165, 86]
    assert reference.meta.exclude_from_training == ("A.10",)
    assert reference.meta.synthetic


def test_the_exact_counts_hold_for_any_seed():
    plan = criteria_of(7, 0)
    assert [sum(c in answered for answered in plan) for c in range(10)] == list(POSITIVES)


def test_documents_have_about_twenty_sentences_with_a_long_tail(reference):
    lengths = reference.sentences.group_by("doc_id").len()["len"]
    assert 18 <= lengths.mean() <= 22
    assert (lengths.min(), lengths.max()) == (1, 150)


def test_most_evidence_is_one_sentence_and_some_is_up_to_five(reference):
    sizes = reference.gold.group_by("doc_id", "criterion_id").len()["len"]
    assert (sizes == 1).mean() > 0.65
    assert sizes.max() == 5


def test_some_sentences_answer_two_criteria(reference):
    assert reference.gold["sent_uid"].is_duplicated().any()


def test_every_criterion_has_rejected_lookalikes_and_none_is_gold(reference):
    assert sorted(reference.rejected["criterion_id"].unique()) == sorted(IDS)
    marks = ["doc_id", "criterion_id", "sent_uid"]
    assert reference.rejected.join(reference.gold, on=marks, how="semi").is_empty()
    assert reference.rejected.height > reference.gold.height


def test_the_language_is_varied(reference):
    gold = reference.sentences.join(reference.gold, on="sent_uid", how="semi")["text"]
    assert gold.n_unique() / len(gold) > 0.93
    assert reference.sentences["text"].n_unique() / reference.sentences.height > 0.65


def test_no_criterion_can_be_answered_by_looking_for_one_word(reference):
    for criterion_id in IDS:
        gold = reference.gold.filter(pl.col("criterion_id") == criterion_id)
        texts = reference.sentences.join(gold, on="sent_uid", how="semi")["text"].str.to_lowercase()
        words = {word for text in texts for word in re.findall(r"[a-z]{4,}", text)}
        assert max(texts.str.contains(rf"\b{word}\b").mean() for word in words) < 0.35


def test_a_smaller_corpus_is_the_beginning_of_a_larger_one_with_the_same_proportions():
    small = demo_corpus(documents=300)
    assert [round(count * 300 / BLOCK) for count in POSITIVES] == pytest.approx(by_criterion(small), abs=1)
    assert small.sentences["text"].to_list() == [line.text for i in range(300) for line in write(i, 42).lines]


def test_a_document_does_not_depend_on_the_corpus_it_is_in():
    assert write(4321, 42) == write(4321, 42)
    assert write(4321, 42) != write(4321, 43)


def test_the_same_seed_gives_the_same_bytes_in_another_process(tmp_path):
    here = write_demo(tmp_path / "here", documents=40, seed=3)
    script = (
        f"from probative.data.demo import write_demo; write_demo({str(tmp_path / 'there')!r}, documents=40, seed=3)"
    )
    environment = {**os.environ, "PYTHONHASHSEED": "12345"}
    subprocess.run([sys.executable, "-c", script], check=True, env=environment)
    names = sorted(path.name for path in here.iterdir())
    assert names == ["corpus.toml", "criteria.csv", "documents.csv", "gold.csv", "rejected.csv", "sentences.csv"]
    assert [(here / n).read_bytes() for n in names] == [(tmp_path / "there" / n).read_bytes() for n in names]


def test_the_folder_holds_the_corpus_that_memory_holds(tmp_path):
    folder = write_demo(tmp_path / "demo", documents=60)
    assert Corpus.read(folder).fingerprint == demo_corpus(documents=60).fingerprint


def test_writing_tells_how_far_it_is(tmp_path, monkeypatch):
    monkeypatch.setattr("probative.data.demo.corpus.CHUNK", 20)
    told: list[int] = []
    write_demo(tmp_path / "demo", documents=50, progress=told.append)
    assert told == [20, 40, 50]
    assert pl.read_csv(tmp_path / "demo" / "documents.csv").height == 50


@pytest.mark.parametrize("documents", [0, -1, 1_000_000])
def test_an_impossible_number_of_documents_is_refused(tmp_path, documents):
    with pytest.raises(ConfigError, match="must be between 1 and 999,999"):
        write_demo(tmp_path / "demo", documents=documents)
    assert list(tmp_path.iterdir()) == []


def test_one_document_is_a_corpus():
    assert demo_corpus(documents=1).documents.height == 1


def test_some_authors_wrote_more_than_one_document(reference):
    authors = reference.documents["author"]
    assert 600 < authors.n_unique() < 900


def test_the_command_writes_a_corpus(tmp_path, capsys):
    assert run(["data", "demo", "-o", str(tmp_path / "demo"), "--documents", "20"]) == 0
    assert Corpus.read(tmp_path / "demo").documents.height == 20
    assert capsys.readouterr().err == ""


def test_the_demo_does_not_replace_other_files(tmp_path, capsys):
    (tmp_path / "thesis.txt").write_text("mine")
    assert run(["data", "demo", "-o", str(tmp_path)]) == 2
    assert (tmp_path / "thesis.txt").read_text() == "mine"


# the grammar


def test_a_phrase_is_parsed_into_words_slots_and_choices():
    assert parse("so [sad|{how} low] today") == (
        "so ",
        Choice((("sad",), (Slot("how"), " low"))),
        " today",
    )


def test_unbalanced_brackets_are_refused():
    for text in ("so [sad|low", "so sad|low]", "so [sad"):
        with pytest.raises(ValueError, match="unbalanced brackets"):
            parse(text)


def test_a_phrase_has_as_many_wordings_as_its_choices_allow():
    lists = {"how": (parse("very"), parse("so [damn|very]"))}
    assert wordings(parse("{how} [sad|low] today"), lists) == 6


def test_pronouns_follow_the_person_and_gaps_are_closed():
    phrase = parse("{I} hide {my} tears[ now|], {myself}")
    assert {say(phrase, {}, Random(seed), "third") for seed in range(9)} == {
        "they hide their tears now, themselves",
        "they hide their tears, themselves",
    }


def test_every_list_can_be_said_in_every_person():
    grammar = load()
    rng = Random(1)
    for theme in grammar.themes:
        cores = theme.phrases["cores"]
        lists = {**grammar.slots, "core": cores, "core2": cores}
        for phrases in theme.phrases.values():
            for phrase in phrases:
                assert not set("[]{}|") & set(say(phrase, lists, rng, "third"))
        for kind, frames in grammar.frames.items():
            for frame in (f for group in frames.values() for f in group):
                assert not set("[]{}|") & set(say(frame, lists, rng, kind if kind in ("third", "you") else "first"))
    for lines in grammar.everyday.values():
        for phrase in lines:
            assert not set("[]{}|") & set(say(phrase, grammar.slots, rng))


def test_cores_fit_behind_i_and_behind_they():
    """A core is a verb phrase in its base form: nothing that would need another verb after "I don't"."""
    auxiliaries = {"am", "can't", "cannot", "don't", "was", "is", "have been", "will"}
    for theme in load().themes:
        for core in theme.phrases["cores"]:
            first = say(core, {}, Random(0)).split()[0]
            assert first not in auxiliaries
            assert first.islower()


def test_themes_are_the_ten_criteria_in_order():
    assert [theme.criterion_id for theme in load().themes] == IDS


# the voice


def test_a_slip_changes_one_word_a_little():
    for seed in range(50):
        before, after = "nothing tastes right", slip("nothing tastes right", Random(seed))
        changed = [(a, b) for a, b in zip(before.split(), after.split(), strict=True) if a != b]
        assert len(changed) <= 1
        assert all(abs(len(a) - len(b)) <= 1 and a[0] == b[0] for a, b in changed)


def test_a_slip_leaves_short_words_alone():
    assert slip("i am ok", Random(1)) == "i am ok"


def test_a_plain_voice_only_adds_a_capital_and_a_stop():
    voice = Voice(lower=False, bare=False, slips=0, filler=0, chat=False, stop=".")
    assert "I don't know." in {voice.write("i don't know", Random(seed)).replace("..", ".") for seed in range(5)}
    assert voice.write("is it me?", Random(1)) == "Is it me?"


def test_a_careless_voice_drops_capitals_and_apostrophes():
    voice = Voice(lower=True, bare=True, slips=0, filler=0, chat=True, stop="")
    assert voice.write("I don't trust people", Random(0)).startswith("i dont trust people")
