"""Importers: small files in each official shape become the corpus that a reader of the format expects."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from probative.data.corpus import Corpus
from probative.data.importers import READERS, detect
from probative.data.importing import read_source
from probative.data.problems import Problem
from probative.data.validate import check
from probative.errors import DataError


def imported(kind: str, path: Path) -> Corpus:
    checked = check(READERS[kind](path))
    assert checked.problems == []
    return checked.corpus()


def problems(kind: str, path: Path) -> list[Problem]:
    return check(READERS[kind](path)).problems


def texts(corpus: Corpus, table: str = "gold") -> list[tuple[str, str, str]]:
    """(document, criterion, text of the sentence) of every mark."""
    frame = corpus.tables[table].join(corpus.sentences, on=["doc_id", "sent_uid"])
    return sorted(frame.select("doc_id", "criterion_id", "text").rows())


def positives(corpus: Corpus) -> dict[tuple[str, str], int]:
    return {(doc_id, criterion_id): has for doc_id, criterion_id, has in corpus.pairs.rows()}


# ReDSM5

POSTS = 'post_id,text\ns_1,"I cannot sleep. Work is fine, really."\ns_2,"My sister cries.\nI had lunch."\n'
ANNOTATIONS = (
    "post_id,sentence_id,sentence_text,DSM5_symptom,status,explanation\n"
    's_1,s_1_0,I cannot sleep.,SLEEP_ISSUES,1,"says so, plainly"\n'
    "s_2,s_2_0,My sister cries.,DEPRESSED_MOOD,0,somebody else\n"
)


def redsm5(folder: Path, posts: str = POSTS, annotations: str = ANNOTATIONS) -> Path:
    (folder / "redsm5_posts.csv").write_text(posts)
    (folder / "redsm5_annotations.csv").write_text(annotations)
    return folder


def test_redsm5_status_one_is_gold_and_status_zero_is_rejected(tmp_path):
    corpus = imported("redsm5", redsm5(tmp_path))
    assert texts(corpus) == [("s_1", "A.4", "I cannot sleep.")]
    assert texts(corpus, "rejected") == [("s_2", "A.1", "My sister cries.")]


def test_redsm5_asks_all_ten_criteria_of_every_post_and_trains_on_nine(tmp_path):
    corpus = imported("redsm5", redsm5(tmp_path))
    assert corpus.pairs.height == 20
    assert corpus.pairs["has_evidence"].sum() == 1
    assert corpus.criteria.filter(corpus.criteria["criterion_id"] == "A.10")["name"].to_list() == ["SPECIAL_CASE"]
    assert corpus.meta.exclude_from_training == ("A.10",)


def test_redsm5_lists_unknown_symptoms_and_statuses_with_their_rows(tmp_path):
    bad = ANNOTATIONS.replace("SLEEP_ISSUES,1", "SLEEPING,1").replace("DEPRESSED_MOOD,0", "DEPRESSED_MOOD,maybe")
    found = problems("redsm5", redsm5(tmp_path, annotations=bad))
    assert [(p.code, p.file, p.row) for p in found] == [
        ("unknown-criterion", "redsm5_annotations.csv", 2),
        ("wrong-type", "redsm5_annotations.csv", 3),
    ]


def test_redsm5_lists_a_sentence_that_is_not_in_its_post(tmp_path):
    bad = ANNOTATIONS.replace("I cannot sleep.,", "I can not sleep well.,")
    [problem] = problems("redsm5", redsm5(tmp_path, annotations=bad))
    assert ("redsm5_annotations.csv", 2) == (problem.file, problem.row)


def test_redsm5_names_a_missing_column(tmp_path):
    found = problems("redsm5", redsm5(tmp_path, annotations=ANNOTATIONS.replace("DSM5_symptom", "symptom")))
    assert "column 'DSM5_symptom' is missing" in str(found[0])


def test_redsm5_without_its_two_files_says_which(tmp_path):
    with pytest.raises(DataError, match=r"no file named \*posts\*\.csv"):
        READERS["redsm5"](tmp_path)


# ContractNLI

TEXT = "The Recipient keeps secrets.\n\nIt may keep one copy."
NLI: dict[str, Any] = {
    "documents": [
        {
            "id": 34,
            "file_name": "agreement.pdf",
            "text": TEXT,
            "spans": [[0, 28], [28, 30], [30, 51]],
            "annotation_sets": [
                {
                    "annotations": {
                        "nda-1": {"choice": "Entailment", "spans": [0]},
                        "nda-2": {"choice": "Contradiction", "spans": [2]},
                        "nda-3": {"choice": "NotMentioned", "spans": []},
                    }
                }
            ],
            "document_type": "search-pdf",
            "url": "https://example.org/agreement.pdf",
        }
    ],
    "labels": {
        f"nda-{i}": {"short_description": f"Rule {i}", "hypothesis": f"The agreement says rule {i}."} for i in (1, 2, 3)
    },
}


def write(path: Path, value: Any) -> Path:
    path.write_text(json.dumps(value))
    return path


def test_contractnli_entailment_and_contradiction_are_evidence_and_not_mentioned_is_none(tmp_path):
    corpus = imported("contractnli", write(tmp_path / "train.json", NLI))
    assert positives(corpus) == {("34", "nda-1"): 1, ("34", "nda-2"): 1, ("34", "nda-3"): 0}
    assert texts(corpus) == [
        ("34", "nda-1", "The Recipient keeps secrets."),
        ("34", "nda-2", "It may keep one copy."),
    ]


def test_contractnli_hypotheses_are_criteria_and_blank_spans_no_sentences(tmp_path):
    corpus = imported("contractnli", write(tmp_path / "train.json", NLI))
    assert corpus.criteria.row(0) == ("nda-1", "The agreement says rule 1.", "Rule 1")
    assert corpus.sentences.select("sent_idx", "sent_uid", "start", "end").rows() == [
        (0, "34_0", 0, 28),
        (1, "34_2", 30, 51),
    ]


def test_contractnli_reads_a_folder_and_keeps_the_split(tmp_path):
    write(tmp_path / "train.json", NLI)
    write(tmp_path / "dev.json", {**NLI, "documents": [{**NLI["documents"][0], "id": 35}]})
    corpus = imported("contractnli", tmp_path)
    assert corpus.documents.select("doc_id", "split").rows() == [("34", "train"), ("35", "dev")]


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"text": None}, "document 1: 'text' is missing"),
        ({"spans": [[0, 28], [28, 30], [30, 9999]]}, "span 2 is [30, 9999]"),
        ({"annotation_sets": []}, "has 0 annotation sets"),
        ({"annotation_sets": [{"annotations": {"nda-1": {"choice": "Maybe", "spans": []}}}]}, "choice is 'Maybe'"),
        ({"annotation_sets": [{"annotations": {"nda-1": {"choice": "Entailment", "spans": [7]}}}]}, "no span 7"),
        ({"annotation_sets": [{"annotations": {"nda-9": {"choice": "NotMentioned", "spans": []}}}]}, "'nda-9'"),
        ({"annotation_sets": [{"annotations": {"nda-1": {"choice": "Entailment", "spans": [[0]]}}}]}, "no span [0]"),
        ({"annotation_sets": [{"annotations": {"nda-1": {"choice": "Entailment", "spans": 0}}}]}, "'spans' is a int"),
        ({"id": None}, "'id' is missing"),
    ],
)
def test_contractnli_lists_what_is_not_as_it_should_be(tmp_path, change, what):
    found = problems(
        "contractnli", write(tmp_path / "x.json", {**NLI, "documents": [{**NLI["documents"][0], **change}]})
    )
    assert what in str(found[0])
    assert found[0].file.startswith("x.json")


# CUAD

CONTEXT = "This Agreement is made in May. It is governed by the laws of Ohio. Either party may leave."
CUAD: dict[str, Any] = {
    "version": "aok_v1.0",
    "data": [
        {
            "title": "ACME_DISTRIBUTION",
            "paragraphs": [
                {
                    "context": CONTEXT,
                    "qas": [
                        {
                            "id": "ACME_DISTRIBUTION__Governing Law",
                            "question": 'Highlight the parts (if any) of this contract related to "Governing Law" that '
                            "should be reviewed by a lawyer. Details: Which state's law governs?",
                            "answers": [{"text": "governed by the laws of Ohio", "answer_start": 37}],
                            "is_impossible": False,
                        },
                        {
                            "id": "ACME_DISTRIBUTION__Exclusivity",
                            "question": 'Highlight the parts (if any) of this contract related to "Exclusivity" that '
                            "should be reviewed by a lawyer. Details: Is there an exclusive dealing?",
                            "answers": [],
                            "is_impossible": True,
                        },
                    ],
                }
            ],
        }
    ],
}


def changed_cuad(**change: Any) -> dict[str, Any]:
    copy = json.loads(json.dumps(CUAD))
    copy["data"][0]["paragraphs"][0]["qas"][0] |= change
    return copy


def test_cuad_answers_become_the_sentences_they_touch(tmp_path):
    corpus = imported("cuad", write(tmp_path / "CUADv1.json", CUAD))
    assert texts(corpus) == [("ACME_DISTRIBUTION", "Governing Law", "It is governed by the laws of Ohio.")]
    assert corpus.documents.columns == ["doc_id"]
    assert positives(corpus) == {
        ("ACME_DISTRIBUTION", "Exclusivity"): 0,
        ("ACME_DISTRIBUTION", "Governing Law"): 1,
    }


def test_cuad_criteria_are_what_is_asked_without_the_common_words(tmp_path):
    corpus = imported("cuad", write(tmp_path / "CUADv1.json", CUAD))
    assert corpus.criteria["text"].to_list() == [
        "Exclusivity: Is there an exclusive dealing?",
        "Governing Law: Which state's law governs?",
    ]


def test_cuad_an_answer_across_two_sentences_is_both(tmp_path):
    answer = {"text": "Ohio. Either party", "answer_start": 61}
    corpus = imported("cuad", write(tmp_path / "x.json", changed_cuad(answers=[answer])))
    assert len(texts(corpus)) == 2


def test_cuad_an_answer_given_twice_is_kept_once_and_told(tmp_path):
    answer = CUAD["data"][0]["paragraphs"][0]["qas"][0]["answers"][0]
    path = write(tmp_path / "x.json", changed_cuad(answers=[answer, answer]))
    assert READERS["cuad"](path).notes == ("x.json: 1 answers stood there twice and are kept once",)
    assert imported("cuad", path).gold.height == 1


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"answers": [{"text": "governed by", "answer_start": 3}]}, "span-mismatch"),
        ({"answers": [{"text": "governed by", "answer_start": 9999}]}, "span-outside"),
        ({"is_impossible": True}, "contradiction"),
        ({"answers": [{"text": "governed by", "answer_start": "37"}]}, "wrong-type"),
        ({"question": None}, "wrong-type"),
        ({"is_impossible": "false"}, "wrong-type"),
    ],
)
def test_cuad_lists_what_is_not_as_it_should_be(tmp_path, change, code):
    assert code in [p.code for p in problems("cuad", write(tmp_path / "x.json", changed_cuad(**change)))]


def test_squad_paragraphs_are_documents_of_one_title(tmp_path):
    twice = {"data": [{"title": "T", "paragraphs": CUAD["data"][0]["paragraphs"] * 2}]}
    corpus = imported("cuad", write(tmp_path / "squad.json", twice))
    assert corpus.documents.rows() == [("T_0", "T"), ("T_1", "T")]


def test_json_that_is_none_names_file_and_line(tmp_path):
    (tmp_path / "x.json").write_text('{"data": [\n}')
    with pytest.raises(DataError, match=r"x\.json, line 2: is not valid JSON"):
        READERS["cuad"](tmp_path / "x.json")


# JSONL

CRITERIA = [{"criterion_id": "C1", "text": "Is it late?"}, {"criterion_id": "C2", "text": "Is it paid?"}]


def jsonl(path: Path, *records: Any) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def test_jsonl_with_spans_and_quotes_in_whole_texts(tmp_path):
    text = "It came late. Nobody paid. We wait."
    evidence = [
        {"criterion_id": "C1", "start": 0, "end": 12},
        {"criterion_id": "C2", "quote": "Nobody paid."},
        {"criterion_id": "C2", "quote": "We wait.", "rejected": True},
    ]
    path = jsonl(tmp_path / "a.jsonl", *CRITERIA, {"doc_id": "d1", "text": text, "client": 7, "evidence": evidence})
    corpus = imported("jsonl", path)
    assert texts(corpus) == [("d1", "C1", "It came late."), ("d1", "C2", "Nobody paid.")]
    assert texts(corpus, "rejected") == [("d1", "C2", "We wait.")]
    assert corpus.documents.rows() == [("d1", "7")]


def test_jsonl_with_sentences_counted_or_named(tmp_path):
    records = [
        {"doc_id": "d1", "sentences": ["One.", "Two."], "evidence": [{"criterion_id": "C1", "sentence": 1}]},
        {
            "doc_id": "d2",
            "sentences": [{"sent_uid": "x", "text": "Three."}],
            "evidence": [{"criterion_id": "C2", "sent_uid": "x"}],
        },
    ]
    corpus = imported("jsonl", jsonl(tmp_path / "a.jsonl", *CRITERIA, *records))
    assert texts(corpus) == [("d1", "C1", "Two."), ("d2", "C2", "Three.")]
    assert corpus.pairs.height == 4


def test_jsonl_pairs_leave_the_others_unlabelled(tmp_path):
    record = {"doc_id": "d1", "sentences": ["One."], "pairs": {"C2": 0}}
    assert positives(imported("jsonl", jsonl(tmp_path / "a.jsonl", *CRITERIA, record))) == {("d1", "C2"): 0}


def test_jsonl_reads_doccano_labels(tmp_path):
    record = {"id": 3, "text": "It came late. We wait.", "label": [[0, 12, "C1"]]}
    assert texts(imported("jsonl", jsonl(tmp_path / "a.jsonl", *CRITERIA, record))) == [("3", "C1", "It came late.")]


@pytest.mark.parametrize(
    ("record", "what"),
    [
        ("just text", "a.jsonl, row 3: is no JSON object."),
        ({"text": "No id."}, "a.jsonl, row 3: has no doc_id."),
        ({"doc_id": "d1"}, "must have either 'text' or 'sentences'"),
        ({"doc_id": "d1", "text": "A.", "sentences": ["A."]}, "must have either 'text' or 'sentences'"),
        ({"doc_id": "d1", "sentences": ["A.", 5]}, "sentence 1: 'text' is a int"),
        ({"doc_id": "d1", "text": "A.", "evidence": [{"start": 0, "end": 1}]}, "'criterion_id' is missing"),
        (
            {"doc_id": "d1", "sentences": ["A."], "evidence": [{"criterion_id": "C1", "sentence": 1}]},
            "there is no sentence 1; the document has 1 sentences",
        ),
        (
            {"doc_id": "d1", "text": "A.", "evidence": [{"criterion_id": "C1", "start": "0", "end": 1}]},
            "'start' is a str",
        ),
        ({"doc_id": "d1", "text": "A.", "pairs": {"C1": 2}}, "the pair 'C1' is 2"),
        ({"doc_id": "d1", "text": "A.", "pairs": ["C1"]}, "'pairs' is a list"),
        ({"doc_id": "d1", "text": "A.", "label": 3}, "'label' is a int"),
        ({"doc_id": "d1", "text": "A.", "evidence": 3}, "'evidence' is a int"),
        (
            {"doc_id": "d1", "text": "A.", "evidence": [{"criterion_id": "C1", "quote": "A.", "rejected": "no"}]},
            "'rejected' is a str",
        ),
        ({"doc_id": "d1", "text": " "}, "a.jsonl (documents), row 3: the text is empty"),
        ({"doc_id": "d1", "text": "A.", "evidence": [{"criterion_id": "C9", "quote": "A."}]}, "'C9' is not in"),
    ],
)
def test_jsonl_lists_what_is_not_as_it_should_be(tmp_path, record, what):
    found = problems("jsonl", jsonl(tmp_path / "a.jsonl", *CRITERIA, record))
    assert what in "\n".join(map(str, found))


def test_what_is_not_used_is_said(tmp_path):
    posts = (
        POSTS.replace("post_id,text", "post_id,text,age")
        .replace('really."', 'really.",7')
        .replace('lunch."', 'lunch.",8')
    )
    told = READERS["redsm5"](redsm5(tmp_path, posts.replace(",", ";").replace("fine;", "fine,"))).notes
    nested = {"doc_id": "d1", "text": "A.", "meta": {"ward": 3}}

    assert "redsm5_posts.csv: columns are taken to be separated by semicolon" in told
    assert "redsm5_posts.csv: columns not used: age" in told
    assert ("a.jsonl: keys not used: meta",) == READERS["jsonl"](jsonl(tmp_path / "a.jsonl", *CRITERIA, nested)).notes


def test_jsonl_without_criteria_shows_the_line_to_add(tmp_path):
    [problem] = problems("jsonl", jsonl(tmp_path / "a.jsonl", {"doc_id": "d1", "text": "A."}))
    assert 'Add a line for each: {"criterion_id": "C1"' in str(problem)


def test_jsonl_broken_lines_are_listed_with_their_number(tmp_path):
    path = jsonl(tmp_path / "a.jsonl", *CRITERIA, {"doc_id": "d1", "text": "A."})
    path.write_text(path.read_text() + "{oops\n")
    assert [(p.code, p.row) for p in problems("jsonl", path)] == [("bad-json", 4)]


def test_jsonl_lines_of_the_guide_are_read(tmp_path):
    guide = (Path(__file__).parents[3] / "docs" / "guide" / "importing.md").read_text()
    whole, cut = re.findall(r"```json\n(.+?)```", guide, re.DOTALL)
    (tmp_path / "whole.jsonl").write_text(whole)
    (tmp_path / "cut.jsonl").write_text("".join(whole.splitlines(keepends=True)[:2]) + cut)
    corpus = imported("jsonl", tmp_path / "whole.jsonl")
    assert texts(corpus) == [("d1", "late", "It came late.")]
    assert texts(corpus, "rejected") == [("d1", "paid", "We wait.")]
    assert texts(imported("jsonl", tmp_path / "cut.jsonl")) == [("d2", "paid", "I paid.")]


# which is which


def test_the_format_is_seen_where_it_can_be_nothing_else(tmp_path):
    for name in ("a", "b", "c", "d", "e"):
        (tmp_path / name).mkdir()
    assert detect(redsm5(tmp_path / "a")) == "redsm5"
    assert detect(write(tmp_path / "b" / "train.json", NLI)) == "contractnli"
    assert detect(tmp_path / "b") == "contractnli"
    assert detect(write(tmp_path / "c" / "CUADv1.json", CUAD)) == "cuad"
    assert detect(tmp_path / "c") == "cuad"
    assert detect(jsonl(tmp_path / "d" / "x.jsonl", *CRITERIA)) == "jsonl"
    assert detect(write(tmp_path / "e" / "x.json", {"rows": []})) is None
    assert detect(tmp_path / "e") is None


def test_importing_tells_the_format_it_saw(tmp_path):
    path = jsonl(tmp_path / "x.jsonl", *CRITERIA, {"doc_id": "d1", "text": "A."})
    assert read_source(path).notes[0] == "x.jsonl: read as jsonl, as it looks like it"


def test_posts_and_annotations_of_somebody_else_are_no_redsm5(tmp_path):
    assert detect(redsm5(tmp_path, annotations=ANNOTATIONS.replace("DSM5_symptom", "topic"))) is None


def test_a_folder_of_tables_is_no_other_format(tmp_path):
    (tmp_path / "sentences.csv").write_text("doc_id,sent_idx,sent_uid,text\n")
    assert detect(redsm5(tmp_path)) is None
