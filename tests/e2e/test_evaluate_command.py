"""The commands evaluate, compare and metrics as a user runs them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from probative.cli.app import run

HEAD = "doc_id,criterion_id,ranked_uids,gold_uids"


def per_query(folder: Path, *rows: str, head: str = HEAD) -> Path:
    """A per_query.csv; a row reads `d1|A|a b c|b|0.7`."""
    path = folder / "per_query.csv"
    lists = [i for i, name in enumerate(head.split(",")) if name.endswith("_uids") or name.startswith("selected_")]
    lines = []
    for row in rows:
        cells = row.split("|")
        for i in lists:
            cells[i] = '"' + json.dumps(cells[i].split()).replace('"', '""') + '"'
        lines.append(",".join(cells))
    path.write_text("\n".join([head, *lines]) + "\n")
    return path


def measured(capsys: pytest.CaptureFixture[str], *arguments: object) -> dict[str, Any]:
    """The records of `evaluate --json`, pooled and final, by id (the headline population first)."""
    assert 0 == run(["evaluate", *map(str, arguments), "--json", "--bootstrap", "50"])
    master = json.loads(capsys.readouterr().out)
    found: dict[str, Any] = {}
    for record in master["metrics"]:
        if record["scope"] == "pooled" and record["stage"] == "final":
            found.setdefault(record["id"], record)
    return found


def refused(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    """The message of a command that stops with exit code 2 and prints nothing else."""
    assert 2 == run(list(map(str, arguments)))
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("error: ")
    return said.err


def fresh(*arguments: object, **variables: str) -> subprocess.CompletedProcess[str]:
    """The command in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "probative", *map(str, arguments)],
        capture_output=True,
        text=True,
        env={**os.environ, **variables},
        timeout=120,
    )


def test_the_bundled_example_prints_one_table_and_nothing_else() -> None:
    done = fresh("evaluate", "--example", NO_COLOR="1", COLUMNS="80")
    assert (0, "") == (done.returncode, done.stderr)
    assert " mrr " in done.stdout
    assert "\x1b" not in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80


def test_json_stands_alone_on_standard_output_and_no_heavy_library_is_loaded() -> None:
    script = (
        "import sys; from probative.cli.app import run; "
        "code = run(['evaluate', '--example', '--json', '--bootstrap', '20']); "
        "heavy = {'torch', 'transformers', 'sklearn', 'lightgbm', 'pandas', 'matplotlib'} & set(sys.modules); "
        "print(sorted(heavy), file=sys.stderr); sys.exit(code)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120)
    assert (0, "[]\n") == (done.returncode, done.stderr)
    assert json.loads(done.stdout)["schema_version"] == 1


def test_the_same_seed_gives_the_same_bytes() -> None:
    first, second = (fresh("evaluate", "--example", "--json", "--bootstrap", "100", "--seed", "3") for _ in range(2))
    assert first.stdout == second.stdout


def test_without_resamples_every_bound_is_null(capsys: pytest.CaptureFixture[str]) -> None:
    assert 0 == run(["evaluate", "--example", "--json", "--bootstrap", "0"])
    records = json.loads(capsys.readouterr().out)["metrics"]
    assert {None} == {record["ci_low"] for record in records} | {record["ci_high"] for record in records}


def test_queries_without_gold_score_nothing_in_all_queries(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = per_query(tmp_path, "d1|A|a b|a", "d2|A|c d|")
    assert 0 == run(["evaluate", str(path), "--json", "--bootstrap", "0"])
    values = {
        record["population"]: record["value"]
        for record in json.loads(capsys.readouterr().out)["metrics"]
        if record["id"] == "mrr" and record["scope"] == "pooled"
    }
    assert {"positives_only": 1.0, "all_queries": 0.5} == values


def test_a_query_without_candidates_scores_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = measured(capsys, per_query(tmp_path, "d1|A|a b|a", "d2|A||g"))
    assert found["recall@all"]["value"] == 0.5
    assert found["precision_keff@10"]["value"] == pytest.approx(0.25)


def test_one_class_gives_the_conventions_with_a_reason(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = measured(capsys, per_query(tmp_path, "d1|A|a|a|0.7", "d2|A|b|b|0.4", head=HEAD + ",prob"))
    assert found["auroc"]["value"] == 0.5
    assert found["auprc"]["value"] == 1.0
    assert "one class" in found["auroc"]["reason"]
    assert found["auroc"]["ci_low"] is None


def test_one_query_is_measured(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = measured(capsys, per_query(tmp_path, "d1|A|a b c|b c"))
    assert found["map@3"]["value"] == pytest.approx((1 / 2 + 2 / 3) / 2)


def test_a_cutoff_beyond_the_candidates_divides_by_k_and_by_keff(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = measured(capsys, per_query(tmp_path, "d1|A|a b|a b"))
    assert found["precision@10"]["value"] == pytest.approx(0.2)
    assert found["precision_keff@10"]["value"] == 1.0
    assert found["ndcg@20"]["value"] == 1.0


def test_tied_scores_keep_the_order_of_the_file_unless_told_otherwise(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "s.csv").write_text("doc_id,criterion_id,sent_uid,score\n" + "".join(f"d,A,{u},1\n" for u in "abcd"))
    (tmp_path / "g.csv").write_text("doc_id,criterion_id,sent_uid\nd,A,b\n")
    files = ("--scores", tmp_path / "s.csv", "--gold", tmp_path / "g.csv")
    assert measured(capsys, *files)["mrr"]["value"] == pytest.approx(1 / 2)
    assert measured(capsys, *files, "--ties", "trec")["mrr"]["value"] == pytest.approx(1 / 3)
    expected = (1 + 1 / 2 + 1 / 3 + 1 / 4) / 4
    assert measured(capsys, *files, "--ties", "expected")["mrr"]["value"] == pytest.approx(expected)


def test_gold_outside_the_ranking_stays_in_the_denominator(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = measured(capsys, per_query(tmp_path, "d1|A|a b|a x"))
    assert found["recall@all"]["value"] == 0.5
    assert found["map_gold@10"]["value"] == 0.5
    assert found["map_found@10"]["value"] == 1.0


def test_a_truncated_ranking_counts_its_candidates(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = measured(capsys, per_query(tmp_path, "d1|A|a b|a|8", head=HEAD + ",n_candidates"))
    assert found["precision@all"]["value"] == pytest.approx(1 / 8)


@pytest.mark.parametrize(
    ("row", "column", "message"),
    [
        ("d1|A|a b|a|nan", "prob", "row 1: prob is missing (NaN)"),
        ("d1|A|a b|a|3.1", "prob", "row 1: prob 3.1 is outside [0, 1]; put logits through a sigmoid first"),
        ("d1|A|a a|a|0.5", "prob", "row 1: ranked_uids names a sentence twice"),
        ("d1|A|a b|a|UNSURE", "state", "row 1: state 'UNSURE' is unknown"),
        ("d1|A|a b|a|0", "has_evidence", "row 1: has_evidence 0 contradicts the sentences in gold_uids"),
        ("d1|A|a b|a|1", "n_candidates", "row 1: n_candidates 1 is below the 2 sentences"),
        ("d1|A|a b|a|z", "selected_raw", "row 1: selected_raw names 1 sentences that are not candidates"),
    ],
)
def test_what_cannot_be_true_is_refused_by_row(
    row: str, column: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert message in refused(capsys, "evaluate", per_query(tmp_path, row, head=f"{HEAD},{column}"))


def test_a_decision_against_its_threshold_is_refused_by_row(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = per_query(tmp_path, "d1|A|a|a|0.5|0.6|1", head=HEAD + ",prob,threshold,predicted")
    assert "row 1: predicted 1 contradicts prob 0.5 against threshold 0.6" in refused(capsys, "evaluate", path)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "Say what to measure, in one way"),
        (["--scores", "s.csv"], "--scores needs --gold"),
        (["--run", "r.trec"], "--run needs --qrels"),
        (["--example", "x.csv"], "in one way"),
        (["nowhere.csv"], "there is no such file"),
        (["q.csv", "--gold", "g.csv"], "--gold means nothing with a path"),
    ],
)
def test_a_wrong_call_says_what_to_do(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert message in refused(capsys, "evaluate", *arguments)


def test_out_writes_the_document_that_json_prints(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "results"
    assert 0 == run(["evaluate", "--example", "--bootstrap", "20", "--json", "--out", str(out)])
    assert capsys.readouterr().out == (out / "metrics_master.json").read_text()


def test_a_finished_run_is_not_written_over(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "checksums.txt").touch()
    assert "is a finished run" in refused(capsys, "evaluate", "--example", "--out", str(tmp_path))
    assert ["checksums.txt"] == [path.name for path in tmp_path.iterdir()]


def test_unlabelled_queries_are_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "run.trec").write_text("d1::A Q0 a 1 2.0 t\nd2::A Q0 b 1 1.0 t\n")
    (tmp_path / "qrels.trec").write_text("d1::A 0 a 1\n")
    call = [
        "evaluate",
        "--run",
        str(tmp_path / "run.trec"),
        "--qrels",
        str(tmp_path / "qrels.trec"),
        "--bootstrap",
        "9",
    ]
    assert 0 == run(call)
    said = capsys.readouterr()
    assert "1 queries are not in" in said.err
    assert "1 unlabelled queries are not scored" in said.out


@pytest.mark.parametrize(
    ("option", "text"), [("--latex", r"\begin{table}"), ("--markdown", "| system |"), ("--json", '"p_holm"')]
)
def test_compare_prints_one_table_alone(
    option: str, text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    base, other = tmp_path / "base", tmp_path / "other"
    base.mkdir()
    other.mkdir()
    one, two = per_query(base, "d1|A|a b|b", "d2|A|c d|d"), per_query(other, "d1|A|b a|b", "d2|A|c d|d")
    assert 0 == run(["compare", str(one), str(two), "--metric", "mrr", "--bootstrap", "50", option])
    said = capsys.readouterr()
    assert text in said.out
    assert said.err == ""


def test_compare_refuses_other_queries_and_names_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "b").mkdir()
    one, two = per_query(tmp_path, "d1|A|a b|b", "d2|A|c|c"), per_query(tmp_path / "b", "d1|A|b a|b", "d3|A|c|c")
    message = refused(capsys, "compare", one, two)
    assert "d2 / A" in message
    assert "d3 / A" in message


def test_compare_takes_score_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, order in (("base", "ab"), ("mine", "ba")):
        rows = "".join(f"{doc},A,{uid},{2 - i}\n" for doc in ("d1", "d2") for i, uid in enumerate(order))
        (tmp_path / f"{name}.csv").write_text("doc_id,criterion_id,sent_uid,score\n" + rows)
    (tmp_path / "gold.csv").write_text("doc_id,criterion_id,sent_uid\nd1,A,b\nd2,A,b\n")
    files = [str(tmp_path / name) for name in ("base.csv", "mine.csv")]
    assert 0 == run(["compare", *files, "--gold", str(tmp_path / "gold.csv"), "--metric", "mrr", "--bootstrap", "50"])
    assert "mine against base" in capsys.readouterr().out


def test_metrics_list_and_explain_read_the_registry(capsys: pytest.CaptureFixture[str]) -> None:
    assert 0 == run(["metrics", "list"])
    assert "tpr_transfer@fpr=α" in capsys.readouterr().out
    assert 0 == run(["metrics", "explain", "map@10"])
    said = capsys.readouterr().out
    assert "min(|G|, K)" in said
    assert "000" in said
    assert 0 == run(["metrics", "explain", "map@10", "--json"])
    assert json.loads(capsys.readouterr().out)["id"] == "map@10"


def test_an_unknown_metric_is_refused_with_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    assert "Did you mean ndcg@10" in refused(capsys, "metrics", "explain", "ndgc@10")
