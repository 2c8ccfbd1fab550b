"""`verify` on a run that nothing is wrong with, on a per_query file alone, and on a zip."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from probative.audit import audit, publication
from probative.errors import ConfigError, DataError


def digest(folder: Path) -> str:
    seen = hashlib.sha256()
    for path in sorted(p for p in folder.rglob("*") if p.is_file()):
        seen.update(path.relative_to(folder).as_posix().encode() + path.read_bytes())
    return seen.hexdigest()


@pytest.fixture(scope="module")
def verdict(clean_run: Path) -> dict[str, Any]:
    before = digest(clean_run)
    found = audit(clean_run)
    assert before == digest(clean_run), "verify wrote into the run"
    return found


def test_a_clean_run_passes(verdict: dict[str, Any]) -> None:
    assert [] == [c["why"] for c in verdict["checks"] if c["status"] == "failed"]


def test_every_record_is_recomputed(verdict: dict[str, Any]) -> None:
    assert verdict["records"] > 3000
    assert f"{verdict['records']:,} records" in verdict["summary"]


def test_every_interval_is_held_against_another_method(verdict: dict[str, Any]) -> None:
    why = next(c["why"] for c in verdict["checks"] if c["code"] == "PV022")
    covered, stated = (int(word.replace(",", "")) for word in why.split()[:3:2])
    assert covered > 0.8 * stated


def test_targets_are_shown_and_never_fail(verdict: dict[str, Any]) -> None:
    shown = next(c for c in verdict["checks"] if c["code"] == "PV070")
    assert "passed" == shown["status"]
    assert any("target ≥ 0.85" in line for line in shown["findings"])


def test_a_zip_of_a_run_is_audited_like_the_run(clean_run: Path, tmp_path: Path) -> None:
    archive = shutil.make_archive(str(tmp_path / "bundle"), "zip", clean_run.parent, clean_run.name)
    from probative.audit.source import opened
    from probative.audit.verify import Case, checks

    with opened(Path(archive)) as source:
        found = checks(Case(source), ("PV001", "PV020", "PV044"))
    assert {"passed"} == {c.status for c in found if c.code in {"PV001", "PV020", "PV044"}}


def test_a_zip_entry_that_points_outside_is_refused(tmp_path: Path) -> None:
    import zipfile

    path = tmp_path / "evil.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("../evil.txt", "x")
    with pytest.raises(DataError, match="points outside"):
        audit(path)


def test_a_per_query_file_alone_is_audited(clean_run: Path, tmp_path: Path) -> None:
    alone = tmp_path / "mine.csv"
    shutil.copy(clean_run / "per_query.csv", alone)
    assert "passed" == audit(alone)["status"]


Edit = Callable[[str], str]


def edited(clean_run: Path, tmp_path: Path, column: str, change: Edit) -> dict[str, Any]:
    import polars as pl

    frame = pl.read_csv(clean_run / "per_query.csv", infer_schema=False)
    values = frame[column].to_list()
    values[7] = change(values[7])
    alone = tmp_path / "mine.csv"
    frame.with_columns(pl.Series(column, values)).write_csv(alone)
    return audit(alone)


@pytest.mark.parametrize(
    ("column", "change", "code"),
    [
        ("state", lambda state: "NEG" if state == "POS" else "POS", "PV011"),
        ("predicted", lambda value: str(1 - int(value)), "PV011"),
        ("gold_uids", lambda value: '["nowhere"]', "PV010"),
        ("prob", lambda value: "1.5", "PV010"),
        ("n_candidates", lambda value: "0", "PV010"),
    ],
)
def test_an_edited_per_query_file_is_caught_with_its_row(
    clean_run: Path, tmp_path: Path, column: str, change: Edit, code: str
) -> None:
    found = edited(clean_run, tmp_path, column, change)
    assert code in found["failed"]
    assert any("row 8" in c["why"] for c in found["checks"] if c["code"] == code)


def test_a_metric_column_is_recomputed_never_trusted(clean_run: Path, tmp_path: Path) -> None:
    import polars as pl

    frame = pl.read_csv(clean_run / "per_query.csv", infer_schema=False)
    alone = tmp_path / "mine.csv"
    frame.with_columns(pl.lit("0.77").alias("recall@10")).write_csv(alone)
    assert "PV013" in audit(alone)["failed"]


def test_a_path_that_is_no_run_is_refused_with_a_remedy(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="Give a run folder"):
        audit(tmp_path)


def test_the_publication_gate_says_what_is_missing_and_writes_beside_the_run(clean_run: Path, tmp_path: Path) -> None:
    found = publication(clean_run, tmp_path / "paper")
    status = {c["code"]: c["status"] for c in found["checks"]}
    assert ("passed", "passed", "passed") == (status["PB001"], status["PB002"], status["PB007"])
    assert "A.10" in (tmp_path / "paper" / "data_statement.md").read_text()
    assert "The corpus is synthetic" in (tmp_path / "paper" / "checklist.md").read_text()


def test_the_publication_gate_writes_nothing_into_the_run(clean_run: Path) -> None:
    with pytest.raises(ConfigError, match="inside the run"):
        publication(clean_run, clean_run / "paper")


def test_the_audit_knows_nothing_of_how_the_numbers_were_made() -> None:
    script = (
        "import sys, probative.audit\n"
        "from probative.audit import verify\n"
        "rooms = ('metrics', 'evaluation', 'data', 'decide', 'pipeline', 'experiment')\n"
        "print([m for m in sys.modules if m.startswith(tuple(f'probative.{r}' for r in rooms))])\n"
        "print([m for m in ('torch', 'sklearn', 'scipy', 'pandas', 'matplotlib') if m in sys.modules])\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert ["[]", "[]"] == done.stdout.split("\n")[:2]


@pytest.mark.parametrize("ties", ["trec", "expected"])
def test_rankings_under_another_rule_for_ties_raise_no_alarm(clean_run: Path, tmp_path: Path, ties: str) -> None:
    from probative.evaluation.api import evaluate_source
    from probative.evaluation.readers import read_path
    from probative.evaluation.settings import EvaluateSettings

    shutil.copy(clean_run / "per_query.csv", tmp_path / "per_query.csv")
    chosen = EvaluateSettings(bootstrap=0, ties=ties)
    evaluate_source(read_path(tmp_path / "per_query.csv"), chosen).write(tmp_path)
    assert [] == [c["why"] for c in audit(tmp_path)["checks"] if c["status"] == "failed"]


@pytest.mark.parametrize("name", ["candidates.parquet", "folds.parquet", "manifest.json", "metrics_master.json"])
def test_a_truncated_file_is_named(run_copy: Path, name: str) -> None:
    path = run_copy / name
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    with pytest.raises(DataError, match=name):
        audit(run_copy)


@pytest.mark.parametrize(("name", "text"), [("manifest.json", "[1]"), ("metrics_master.json", '{"metrics": 3}')])
def test_a_file_of_another_shape_is_named(run_copy: Path, name: str, text: str) -> None:
    (run_copy / name).write_text(text)
    with pytest.raises(DataError, match=name):
        audit(run_copy)


def test_half_a_zip_is_called_half_a_zip(clean_run: Path, tmp_path: Path) -> None:
    archive = Path(shutil.make_archive(str(tmp_path / "bundle"), "zip", clean_run))
    archive.write_bytes(archive.read_bytes()[: archive.stat().st_size // 2])
    with pytest.raises(DataError, match="not a whole zip"):
        audit(archive)


def test_a_guaranteed_run_passes(guaranteed_run: Path) -> None:
    assert [] == audit(guaranteed_run)["failed"]
