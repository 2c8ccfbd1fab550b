"""Near-duplicates: what is listed is certain, similarity is the exact overlap of word 5-grams."""

from __future__ import annotations

import json
import sys

import polars as pl
import pytest

from probative.cli.app import run
from probative.data.demo import write_demo
from probative.data.near import find_near_duplicates
from probative.errors import ConfigError, NotInstalled

STORY = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen"


def sentences(**texts: str) -> pl.DataFrame:
    return pl.DataFrame({"doc_id": list(texts), "sent_idx": [0] * len(texts), "text": list(texts.values())})


def test_the_similarity_is_the_share_of_common_word_five_grams():
    found = find_near_duplicates(sentences(a=STORY, b=f"{STORY} fifteen", c="nothing like it is written here at all"))
    assert found.pairs.rows() == [("a", "b", 10 / 11)]


def test_case_and_punctuation_do_not_tell_copies_apart():
    found = find_near_duplicates(sentences(a=STORY, b=STORY.upper().replace(" ", ", ")))
    assert found.pairs["similarity"].to_list() == [1.0]


def test_a_pair_below_the_threshold_is_not_listed():
    half = STORY.replace("seven", "other")
    assert find_near_duplicates(sentences(a=STORY, b=half), 0.8).pairs.is_empty()
    assert find_near_duplicates(sentences(a=STORY, b=half), 0.3).pairs.height == 1


def test_the_sentences_of_a_document_are_read_in_their_order():
    table = pl.DataFrame(
        {
            "doc_id": ["a", "a", "b"],
            "sent_idx": [1, 0, 0],
            "text": [
                "five six seven eight nine ten",
                "one two three four",
                "one two three four five six seven eight nine ten",
            ],
        }
    )
    assert find_near_duplicates(table).pairs.rows() == [("a", "b", 1.0)]


def test_pairs_that_share_a_document_form_one_cluster():
    words = [f"w{i}" for i in range(60)]
    texts = {f"d{i}": " ".join(words[i * 2 : i * 2 + 50]) for i in range(4)}
    found = find_near_duplicates(sentences(**texts), 0.85)
    assert found.clusters == [["d0", "d1", "d2", "d3"]]
    assert found.describe() == (
        "4 documents form 1 clusters of near-duplicates (similarity 0.85 or more); the largest has 4."
    )


def test_nothing_found_is_said():
    found = find_near_duplicates(sentences(a="", b="", c="short"))
    assert found.clusters == []
    assert found.describe() == "No near-duplicate documents at a similarity of 0.8 or more."


def test_without_the_package_the_message_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "datasketch", None)
    with pytest.raises(NotInstalled, match=r"probative\[dedup\]"):
        find_near_duplicates(sentences(a=STORY))


def test_an_impossible_similarity_is_refused():
    with pytest.raises(ConfigError, match="must be above 0"):
        find_near_duplicates(sentences(a=STORY), 80)


def test_the_command_lists_clusters(tmp_path, capsys):
    folder = write_demo(tmp_path / "demo", documents=3)
    rows = (folder / "sentences.csv").read_text()
    copied = [line.replace("p000001", "p900001") for line in rows.splitlines() if line.startswith("p000001")]
    (folder / "sentences.csv").write_text(rows + "\n".join(copied) + "\n")
    with (folder / "documents.csv").open("a") as stream:
        stream.write("p900001,u1\n")
    assert run(["data", "describe", str(folder), "--near-duplicates", "0.8", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["near_duplicates"]["clusters"] == [["p000001", "p900001"]]
    assert run(["data", "describe", str(folder), "--near-duplicates", "0.8"]) == 0
    assert capsys.readouterr().out.endswith("\n  p000001, p900001\n")
