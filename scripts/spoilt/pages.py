"""Stages, tables, pages and files."""

from __future__ import annotations

from typing import Any

from probative import files
from spoilt.run import Row, Run, longest, mutation


@mutation("the first stage's ranking is made worse, so that later stages gain", "PV020")
def stage_made_worse(run: Run) -> None:
    def change(rows: list[Row]) -> None:
        for row in rows[::3]:
            row["ranked_uids"] = row["ranked_uids"][::-1]

    run.parquet("stages/retrieve.parquet", change)


@mutation("gold is moved in the table of a stage", "PV047")
def moved_stage_gold(run: Run) -> None:
    def change(rows: list[Row]) -> None:
        row = longest(rows)
        row["gold_uids"] = (
            row["ranked_uids"][:1] if row["gold_uids"] != row["ranked_uids"][:1] else row["ranked_uids"][1:2]
        )

    run.parquet("stages/retrieve.parquet", change)


@mutation("a number of a Markdown table is edited", "PV060")
def edited_table(run: Run) -> None:
    run.text("tables/ranking.md", lambda text: _edit(text, "ndcg@10"))


@mutation("a number of a LaTeX table is edited", "PV061")
def edited_latex(run: Run) -> None:
    run.text("tables/ranking.tex", lambda text: _edit(text, "ndcg@10"))


@mutation("a number of the fold table is edited", "PV060")
def edited_fold_table(run: Run) -> None:
    run.text("tables/folds.md", lambda text: _edit(text, "fold:1"))


def _edit(text: str, word: str) -> str:
    """Turn the first decimal digit of the first number of a row."""
    lines = text.splitlines(keepends=True)
    place = next(i for i, line in enumerate(lines) if word in line and "0." in line)
    head, dot, tail = lines[place].partition("0.")
    lines[place] = f"{head}{dot}{(int(tail[0]) + 3) % 10}{tail[1:]}"
    return "".join(lines)


@mutation("a cell of the full CSV table is edited", "PV060")
def edited_csv(run: Run) -> None:
    def change(text: str) -> str:
        lines = text.splitlines(keepends=True)
        place = next(i for i, line in enumerate(lines) if line.startswith("ndcg@10,pooled"))
        cells = lines[place].split(",")
        cells[6] = repr(float(cells[6]) + 1e-4)
        lines[place] = ",".join(cells)
        return "".join(lines)

    run.text("tables/metrics.csv", change)


@mutation("a figure of summary.json is edited", "PV063")
def edited_summary(run: Run) -> None:
    run.json("summary.json", lambda s: s["metrics"]["auroc"].update(value=s["metrics"]["auroc"]["value"] + 0.01))


@mutation("config.yaml says other things than what ran", "PV004")
def changed_config(run: Run) -> None:
    run.text("config.yaml", lambda text: text + "\nunheard_of: 1\n")


@mutation("the manifest's configuration is changed, its hash is not", "PV004")
def changed_manifest_config(run: Run) -> None:
    run.json("manifest.json", lambda m: m["config"].update(seed=99))


@mutation("a byte of a table is changed and nothing is signed", "PV001", signed=False)
def changed_byte(run: Run) -> None:
    run.text("per_query.csv", lambda text: text.replace("0.", "0.0", 1))


@mutation("a file is added and nothing is signed", "PV001", signed=False)
def added_file(run: Run) -> None:
    files.write_text(run.folder / "notes.txt", "later")


@mutation("tune_queries.parquet is missing", "PV003")
def missing_file(run: Run) -> None:
    (run.folder / "tune_queries.parquet").unlink()


@mutation("the first stage ranks worse than its scores, all numbers made anew", "PV048", evaluated=True)
def stage_against_its_scores(run: Run) -> None:
    def change(rows: list[Row]) -> None:
        for row in rows[::3]:
            row["ranked_uids"] = row["ranked_uids"][::-1]

    run.parquet("stages/retrieve.parquet", change)


@mutation("an earlier stage's probabilities are dealt out anew, all numbers made anew", "PV048", evaluated=True)
def stage_probabilities_shuffled(run: Run) -> None:
    def change(rows: list[Row]) -> None:
        values = [r["prob"] for r in rows]
        for row, value in zip(rows, [*values[7:], *values[:7]], strict=True):
            row["prob"] = value

    run.parquet("stages/retrieve.parquet", change)


@mutation("a fold's identifiers are another's in a stage's table", "PV047", "PV048")
def stage_of_another_fold(run: Run) -> None:
    run.parquet("stages/retrieve.parquet", lambda rows: rows[0].update(fold=1 - rows[0]["fold"]))


@mutation("the fingerprint of the corpus is another one", "PV005")
def changed_fingerprint(run: Run) -> None:
    run.json("manifest.json", lambda m: m["corpus"].update(fingerprint="f" * 64))


@mutation("a synthetic corpus is called real", "PV005", "PV064")
def called_real(run: Run) -> None:
    run.json("manifest.json", lambda m: m["corpus"].update(synthetic=False))


@mutation("versions are not recorded", "PV006")
def lost_versions(run: Run) -> None:
    run.json("manifest.json", lambda m: m["environment"].update(packages={}))


@mutation("the seed of the manifest is not that of its configuration", "PV006")
def changed_seed(run: Run) -> None:
    run.json("manifest.json", lambda m: m.update(seed=m["seed"] + 1))


@mutation("the corpus is said to hold more documents", "PV006")
def more_documents(run: Run) -> None:
    run.json("manifest.json", lambda m: m["corpus"].update(n_documents=1477))


@mutation("summary.json gives another n", "PV063")
def changed_summary_count(run: Run) -> None:
    run.json("summary.json", lambda s: s["metrics"]["auroc"].update(n=s["metrics"]["auroc"]["n"] + 7))


@mutation("summary.json says another origin than the records", "PV005")
def changed_summary_head(run: Run) -> None:
    run.json("summary.json", lambda s: s["meta"]["counts"].update(n_positive=9999))


@mutation("a bound in a Markdown table is edited", "PV060")
def edited_bound(run: Run) -> None:
    def change(text: str) -> str:
        lines = text.splitlines(keepends=True)
        place = next(i for i, line in enumerate(lines) if "ndcg@10" in line and "0." in line)
        head, dot, tail = lines[place].rpartition("0.")
        lines[place] = f"{head}{dot}{(int(tail[0]) + 3) % 10}{tail[1:]}"
        return "".join(lines)

    run.text("tables/ranking.md", change)


@mutation("a calibration figure of a Markdown table is edited", "PV060")
def edited_calibration(run: Run) -> None:
    run.text("tables/calibration.md", lambda text: _edit(text, "brier"))


@mutation("data_statement.md counts more documents", "PV064")
def edited_statement(run: Run) -> None:
    _replace(run, "data_statement.md", "| documents | ", "| documents | 9")


@mutation("data_statement.md says that no criterion was kept out of training", "PV064")
def edited_exclusion(run: Run) -> None:
    _replace(
        run, "data_statement.md", "| criteria kept out of training | ", "| criteria kept out of training | none, not "
    )


@mutation("MANIFEST.md no longer says that the corpus is synthetic", "PV064")
def edited_contents(run: Run) -> None:
    _replace(run, "MANIFEST.md", "**The corpus is synthetic.**", "**The corpus is real.**")


@mutation("MANIFEST.md counts another number of positives", "PV064")
def edited_contents_count(run: Run) -> None:
    _replace(run, "MANIFEST.md", " with evidence;", "9 with evidence;")


@mutation("a point of a figure's data is edited", "PV060")
def edited_figure(run: Run) -> None:
    path = _there(run, "plots/recall_by_k.csv")
    run.text(path, lambda text: _cell_of(text, row=3, column=1))


@mutation("a number of the report is edited", "PV062")
def edited_report(run: Run) -> None:
    import re

    number = re.compile(r"(<bdi>0\.)(\d)(\d+)")
    path = _there(run, "report.html")
    run.text(path, lambda text: number.sub(lambda m: f"{m[1]}{(int(m[2]) + 3) % 10}{m[3]}", text, count=1))


@mutation("audit.json claims more recomputed records", "PV065")
def edited_audit(run: Run) -> None:
    run.json(_there(run, "audit.json"), lambda found: found.update(records=found["records"] + 1000))


@mutation("audit.json hides a check that failed", "PV065")
def hidden_failure(run: Run) -> None:
    run.json(_there(run, "audit.json"), lambda found: found["checks"][10].update(status="failed"))


@mutation("a row of the ablation is better than the run", "PV080")
def edited_ablation(run: Run) -> None:
    def change(found: Any) -> None:
        record = next(r for r in found["rows"][1]["metrics"] if r["id"] == "ndcg@10")
        record["value"] += 0.02

    run.json(_there(run, "ablation.json"), change)


@mutation("a corrected p is the raw one", "PV080")
def uncorrected(run: Run) -> None:
    def change(found: Any) -> None:
        worst = next(c for c in found["comparisons"] if c["p"] is not None and c["p_holm"] != c["p"])
        worst["p_holm"] = worst["p"]

    run.json(_there(run, "ablation.json"), change)


@mutation("a difference is not that of its two values", "PV080")
def edited_difference(run: Run) -> None:
    run.json(_there(run, "ablation.json"), lambda found: found["comparisons"][0].update(difference=0.5))


def _there(run: Run, name: str) -> str:
    if not (run.folder / name).is_file():
        raise StopIteration
    return name


def _replace(run: Run, name: str, old: str, new: str) -> None:
    def change(text: str) -> str:
        if old not in text:
            raise StopIteration
        return text.replace(old, new, 1)

    run.text(_there(run, name), change)


def _cell_of(text: str, row: int, column: int) -> str:
    lines = text.splitlines()
    cells = lines[row].split(",")
    cells[column] = repr(float(cells[column]) + 0.0123)
    lines[row] = ",".join(cells)
    return "\n".join(lines) + "\n"
