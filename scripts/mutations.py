"""Break a finished run on purpose, sign it anew, and see that the audit says what is wrong.

    python scripts/mutations.py RUN [--write docs/mutations.md]

Every mutation names the checks that must catch it. Runs that nothing is wrong with must pass.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import polars as pl

from probative import files
from probative.audit.check import Check
from probative.audit.source import opened
from probative.audit.verify import Case, checks

Row = dict[str, Any]
LISTS = ("ranked_uids", "gold_uids", "pool_uids", "selected_raw", "selected_gate", "selected_triage")


class Run:
    """A copy of a run folder that may be spoilt."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def json(self, name: str, change: Callable[[Any], Any]) -> None:
        path = self.folder / name
        value = json.loads(path.read_text(encoding="utf-8"))
        changed = change(value)
        files.write_text(path, json.dumps(value if changed is None else changed, ensure_ascii=False))

    def manifest(self) -> Any:
        return json.loads((self.folder / "manifest.json").read_text(encoding="utf-8"))

    def records(self, change: Callable[[list[Row]], Any]) -> None:
        def inner(master: Any) -> None:
            master["metrics"] = change(master["metrics"]) or master["metrics"]

        self.json("metrics_master.json", inner)

    def record(self, change: Callable[[Row], Any], **which: Any) -> None:
        """Change the first record that fits."""

        def inner(records: list[Row]) -> None:
            change(next(r for r in records if all(r.get(k) == v for k, v in which.items())))

        self.records(inner)

    def series(self, change: Callable[[Row], Any], name: str) -> None:
        self.json("metrics_master.json", lambda m: change(next(s for s in m["series"] if s["id"] == name)))

    def parquet(self, name: str, change: Callable[[list[Row]], list[Row] | None]) -> None:
        path = self.folder / name
        frame = pl.read_parquet(path)
        rows = frame.to_dicts()
        made = change(rows)
        pl.DataFrame(rows if made is None else made, schema=frame.schema).write_parquet(path)

    def queries(self, change: Callable[[list[Row]], list[Row] | None]) -> None:
        """Change per_query.csv; lists are lists, all else is text."""
        path = self.folder / "per_query.csv"
        frame = pl.read_csv(path, infer_schema=False)
        rows = frame.to_dicts()
        for row in rows:
            row.update({name: json.loads(row[name]) for name in LISTS})
        made = change(rows)
        made = rows if made is None else made
        for row in made:
            row.update({name: json.dumps(row[name]) for name in LISTS})
        pl.DataFrame(made, schema=dict.fromkeys([*made[0]], pl.String)).write_csv(path)

    def text(self, name: str, change: Callable[[str], str]) -> None:
        path = self.folder / name
        files.write_text(path, change(path.read_text(encoding="utf-8")))

    def sign(self) -> None:
        """Hash everything anew, as one would who wants to hide an edit."""
        manifest = self.manifest()
        found = sorted(p for p in self.folder.rglob("*") if p.is_file())
        found = [p for p in found if p.name not in {"manifest.json", "checksums.txt"}]
        manifest["files"] = {p.relative_to(self.folder).as_posix(): files.sha256_file(p) for p in found}
        files.write_json(self.folder / "manifest.json", manifest)
        sums = {
            p.relative_to(self.folder).as_posix(): files.sha256_file(p) for p in [*found, self.folder / "manifest.json"]
        }
        files.write_text(self.folder / "checksums.txt", "".join(f"{v}  {k}\n" for k, v in sorted(sums.items())))

    def evaluate(self) -> None:
        """Make metrics_master.json and its tables anew from the spoilt tables, as one would who hides an edit well."""
        from probative.evaluation.api import evaluate_source
        from probative.evaluation.readers import read_path
        from probative.evaluation.settings import EvaluateSettings

        self._carry_into_stages()
        resamples = json.loads((self.folder / "metrics_master.json").read_text())["meta"]["bootstrap"]["resamples"]
        evaluate_source(read_path(self.folder), EvaluateSettings(bootstrap=resamples)).write(self.folder)

    def _carry_into_stages(self) -> None:
        """The stages' tables get the queries, folds and gold that per_query.csv now has."""
        table = pl.read_csv(self.folder / "per_query.csv", infer_schema=False)
        known = {(r["doc_id"], r["criterion_id"]): r for r in table.to_dicts()}

        def change(rows: list[Row]) -> list[Row]:
            kept = [(r, known.get((r["doc_id"], r["criterion_id"]))) for r in rows]
            return [
                {
                    **r,
                    "fold": int(k["fold"]),
                    "gold_uids": json.loads(k["gold_uids"]),
                    "has_evidence": int(k["has_evidence"]),
                }
                for r, k in kept
                if k is not None
            ]

        for path in sorted((self.folder / "stages").glob("*.parquet")):
            self.parquet(f"stages/{path.name}", change)


@dataclass(frozen=True)
class Mutation:
    """One way to spoil a run, and the checks of which at least one must fail."""

    name: str
    what: str
    caught_by: tuple[str, ...]
    change: Callable[[Run], Any]
    evaluated: bool = False
    """The numbers are made anew from the spoilt tables, so that only their contradiction gives it away."""
    signed: bool = True

    @property
    def of_numbers(self) -> bool:
        """Whether the tables behind the numbers stay as they were."""
        return all(code.startswith(("PV02", "PV03", "PV06")) for code in self.caught_by) and not self.name.startswith(
            "stage"
        )


MUTATIONS: list[Mutation] = []


def mutation(what: str, *caught_by: str, evaluated: bool = False, signed: bool = True) -> Callable[..., Any]:
    def keep(change: Callable[[Run], Any]) -> Callable[[Run], Any]:
        name = change.__name__.replace("_", " ")
        MUTATIONS.append(Mutation(name, what, caught_by, change, evaluated, signed))
        return change

    return keep


def _longest(rows: Sequence[Row]) -> Row:
    """The first query with gold and several candidates."""
    return next(r for r in rows if r["gold_uids"] and len(r["ranked_uids"]) >= 4)


# Rankings, gold and rows ------------------------------------------------------------------------------------------


@mutation("the first two of a ranking change places", "PV044", evaluated=True)
def off_by_one_rank(run: Run) -> None:
    def change(rows: list[Row]) -> None:
        row = next(r for r in rows if len(r["ranked_uids"]) >= 4)
        old, new = row["ranked_uids"][:2], row["ranked_uids"][1::-1]
        swap = dict(zip(old, new, strict=True))
        for name in LISTS:
            if name != "gold_uids":
                row[name] = [swap.get(uid, uid) for uid in row[name]]

    run.queries(change)


@mutation("the gold of one query moves to its best-ranked other sentence", "PV045", evaluated=True)
def moved_gold(run: Run) -> None:
    def change(rows: list[Row]) -> None:
        row = _longest(rows)
        row["gold_uids"] = [next(uid for uid in row["ranked_uids"] if uid not in row["gold_uids"])]

    run.queries(change)


@mutation("a missed gold sentence is forgotten", "PV045", evaluated=True)
def forgotten_gold(run: Run) -> None:
    def change(rows: list[Row]) -> None:
        row = next(r for r in rows if len(r["gold_uids"]) >= 2)
        row["gold_uids"] = row["gold_uids"][:1]

    run.queries(change)


@mutation("a negative query gets gold", "PV045", evaluated=True)
def invented_gold(run: Run) -> None:
    def change(rows: list[Row]) -> None:
        row = next(r for r in rows if not r["gold_uids"] and r.get("has_evidence") in {"0", None})
        row["gold_uids"] = row["ranked_uids"][:1]
        row["has_evidence"] = "1"

    run.queries(change)


@mutation("the gold column of candidates.parquet is moved by one sentence", "PV045")
def moved_candidate_gold(run: Run) -> None:
    def change(rows: list[Row]) -> None:
        for row, following in pairwise(rows):
            same = all(row[k] == following[k] for k in ("fold", "doc_id", "criterion_id"))
            if row["gold"] and not following["gold"] and same:
                row["gold"], following["gold"] = following["gold"], row["gold"]
                return

    run.parquet("candidates.parquet", change)


@mutation("a query with a missed positive is deleted", "PV044", evaluated=True)
def deleted_row(run: Run) -> None:
    def change(rows: list[Row]) -> list[Row]:
        worst = next(r for r in rows if r["gold_uids"] and r["predicted"] == "0")
        return [r for r in rows if r is not worst]

    run.queries(change)


@mutation("a whole document is deleted", "PV041", evaluated=True)
def deleted_document(run: Run) -> None:
    run.queries(lambda rows: [r for r in rows if r["doc_id"] != rows[0]["doc_id"]])


@mutation("one query stands twice", "PV010")
def doubled_row(run: Run) -> None:
    run.queries(lambda rows: [*rows, dict(rows[-1])])


@mutation("n_candidates is one too many", "PV044", evaluated=True)
def wrong_candidate_count(run: Run) -> None:
    def change(rows: list[Row]) -> None:
        rows[0]["n_candidates"] = str(int(rows[0]["n_candidates"]) + 1)

    run.queries(change)


@mutation("the pool is said to have held the gold it lost", "PV044", evaluated=True)
def widened_pool(run: Run) -> None:
    def change(rows: list[Row]) -> None:
        row = next((r for r in rows if set(r["gold_uids"]) - set(r["pool_uids"])), None)
        row = row or next(r for r in rows if len(r["pool_uids"]) < len(r["ranked_uids"]))
        row["pool_uids"] = row["ranked_uids"][: len(row["pool_uids"]) + 1]

    run.queries(change)


@mutation("sentences behind the pool are put out of the retriever's order", "PV044")
def shuffled_rest(run: Run) -> None:
    def change(rows: list[Row]) -> None:
        for row, following in pairwise(rows):
            same = all(row[k] == following[k] for k in ("fold", "doc_id", "criterion_id"))
            if same and not row["in_pool"] and row["retriever_score"] > following["retriever_score"]:
                row["retriever_score"], following["retriever_score"] = (
                    following["retriever_score"],
                    row["retriever_score"],
                )
                return

    run.parquet("candidates.parquet", change)


@mutation("a sentence of another document is ranked", "PV044", "PV010", evaluated=True)
def foreign_sentence(run: Run) -> None:
    def change(rows: list[Row]) -> None:
        row = next(r for r in rows if len(r["ranked_uids"]) > len(r["pool_uids"]) and not r["gold_uids"])
        row["ranked_uids"] = [*row["ranked_uids"][:-1], "from-elsewhere"]

    run.queries(change)


# Splits -----------------------------------------------------------------------------------------------------------


@mutation("a document is EVAL and TRAIN in one fold", "PV040")
def document_on_two_sides(run: Run) -> None:
    def change(rows: list[Row]) -> list[Row]:
        held = next(r for r in rows if r["role"] == "eval")
        return [*rows, {**held, "role": "train"}]

    run.parquet("folds.parquet", change)


@mutation("TUNE and EVAL are swapped in one fold", "PV041", "PV042", "PV040")
def tune_and_eval_swapped(run: Run) -> None:
    def change(rows: list[Row]) -> None:
        for row in rows:
            if row["fold"] == rows[0]["fold"]:
                row["role"] = {"tune": "eval", "eval": "tune"}.get(row["role"], row["role"])

    run.parquet("folds.parquet", change)


@mutation("a document has lost its role in one fold", "PV040")
def lost_document(run: Run) -> None:
    run.parquet("folds.parquet", lambda rows: [r for i, r in enumerate(rows) if i != _first(rows, "train")])


def _first(rows: Sequence[Row], role: str) -> int:
    return next(i for i, r in enumerate(rows) if r["role"] == role)


@mutation("two documents exchange their folds", "PV041", evaluated=True)
def swapped_folds(run: Run) -> None:
    def change(rows: list[Row]) -> None:
        first = rows[0]
        other = next(r for r in rows if r["fold"] != first["fold"])
        swap = {first["doc_id"]: other["fold"], other["doc_id"]: first["fold"]}
        for row in rows:
            row["fold"] = swap.get(row["doc_id"], row["fold"])

    run.queries(change)


@mutation("EVAL's queries are among those that thresholds were chosen from", "PV042")
def eval_in_tune(run: Run) -> None:
    def change(rows: list[Row]) -> list[Row]:
        table = pl.read_csv(run.folder / "per_query.csv", infer_schema=False).filter(
            pl.col("fold") == str(rows[0]["fold"])
        )
        row = next(r for r in table.to_dicts() if r["criterion_id"] == rows[0]["criterion_id"])
        numbers = {"prob_raw": float(row["prob_raw"]), "prob": float(row["prob"])}
        return [*rows, {**rows[0], **numbers, "doc_id": row["doc_id"]}]

    run.parquet("tune_queries.parquet", change)


@mutation("a label of TUNE is turned round", "PV042")
def flipped_tune_label(run: Run) -> None:
    run.parquet("tune_queries.parquet", lambda rows: rows[0].update(has_evidence=1 - rows[0]["has_evidence"]))


@mutation("an inconvenient query of TUNE is left out", "PV042")
def dropped_tune_row(run: Run) -> None:
    run.parquet("tune_queries.parquet", lambda rows: rows[1:])


# Decisions --------------------------------------------------------------------------------------------------------


@mutation("a missed positive is called POS", "PV011")
def changed_state(run: Run) -> None:
    def change(rows: list[Row]) -> None:
        row = next(r for r in rows if r["gold_uids"] and r["state"] != "POS")
        row["state"] = "POS"

    run.queries(change)


@mutation("a false alarm is called negative", "PV011")
def flipped_prediction(run: Run) -> None:
    def change(rows: list[Row]) -> None:
        row = next(r for r in rows if r["predicted"] == "1")
        row["predicted"], row["selected_gate"] = "0", []

    run.queries(change)


@mutation("probabilities of one fold are dealt out anew, decisions following them", "PV051", evaluated=True)
def shuffled_probabilities(run: Run) -> None:
    def change(rows: list[Row]) -> None:
        fold = [r for r in rows if r["fold"] == rows[0]["fold"]]
        values = [r["prob"] for r in fold]
        for row, value in zip(fold, [*values[1:], values[0]], strict=True):
            row["prob"] = value
            _decide(row)

    run.queries(change)


def _decide(row: Row) -> None:
    p = float(row["prob"])
    row["predicted"] = str(int(bool(row["threshold"]) and p >= float(row["threshold"])))
    row["state"] = "NEG" if p < float(row["tau_neg"]) else "UNCERTAIN" if p < float(row["tau_pos"]) else "POS"
    row["selected_gate"] = row["selected_raw"] if row["predicted"] == "1" else []
    row["selected_triage"] = [] if row["state"] == "NEG" else row["selected_triage"] or row["ranked_uids"][:1]


@mutation("a positive's probability is raised above the threshold", "PV051", evaluated=True)
def raised_probability(run: Run) -> None:
    def change(rows: list[Row]) -> None:
        row = next(r for r in rows if r["gold_uids"] and r["predicted"] == "0" and r["threshold"])
        row["prob"] = repr(min(0.999, float(row["threshold"]) + 1e-3))
        _decide(row)

    run.queries(change)


@mutation("the calibrator of one fold is another one", "PV050", "PV051", evaluated=True)
def changed_calibrator(run: Run) -> None:
    run.json("manifest.json", lambda m: m["folds"][0].update(calibrator=_other(m["folds"][0]["calibrator"])))


def _other(entry: Row) -> Row:
    kept = {k: entry[k] for k in ("delta", "cv_log_loss", "reason") if k in entry}
    return {"kind": "temperature", "t": 1.7, **kept}


@mutation("calibration is fitted again on EVAL, everything following it", "PV050", evaluated=True)
def calibrated_on_eval(run: Run) -> None:
    from probative.decide import Decider

    manifest = run.manifest()
    table = pl.read_csv(run.folder / "per_query.csv", infer_schema=False)
    for facts in manifest["folds"]:
        mine = table.filter(pl.col("fold") == str(facts["fold"]))
        z = [_logit(float(p)) for p in mine["prob_raw"]]
        labels = [gold != "[]" for gold in mine["gold_uids"]]
        made = Decider().fit(z, labels, mine["doc_id"].to_list())
        facts.update(
            {k: v for k, v in made.to_dict().items() if k in {"calibrator", "thresholds", "operating", "triage"}}
        )
    run.json("manifest.json", lambda m: m.update(folds=manifest["folds"]))
    _follow(run)


def _logit(p: float) -> float:
    import math

    return math.log(p) - math.log1p(-p)


def _follow(run: Run) -> None:
    """Let rows carry what the manifest now says: probabilities, thresholds, decisions."""
    from probative.decide import Calibrator

    facts = {str(f["fold"]): f for f in run.manifest()["folds"]}

    def applied(row: Row) -> float:
        calibrator = Calibrator.from_dict(facts[str(row["fold"])]["calibrator"])
        return float(calibrator.predict([_logit(float(row["prob_raw"]))])[0])

    def change(rows: list[Row]) -> None:
        for row in rows:
            mine = facts[row["fold"]]
            row["prob"] = repr(applied(row))
            row["threshold"] = _cell(mine["operating"]["value"])
            row["tau_neg"], row["tau_pos"] = (repr(mine["triage"][name]) for name in ("tau_neg", "tau_pos"))
            for budget, entry in mine["thresholds"].items():
                row[f"threshold@fpr={budget}"] = _cell(entry and entry["value"])
            _decide(row)

    run.queries(change)
    run.parquet("tune_queries.parquet", lambda rows: [{**row, "prob": applied(row)} for row in rows])


def _cell(value: float | None) -> str | None:
    return None if value is None else repr(value)


@mutation("the operating threshold is the one that is best on EVAL", "PV052", evaluated=True)
def threshold_fitted_on_eval(run: Run) -> None:
    from probative.decide import choose_threshold

    table = pl.read_csv(run.folder / "per_query.csv", infer_schema=False)
    manifest = run.manifest()
    for facts in manifest["folds"]:
        mine = table.filter(pl.col("fold") == str(facts["fold"]))
        labels = [gold != "[]" for gold in mine["gold_uids"]]
        made = choose_threshold([float(p) for p in mine["prob"]], labels, 0.2)
        facts["operating"].update(value=made.value, raw=made.raw)
    run.json("manifest.json", lambda m: m.update(folds=manifest["folds"]))
    _follow(run)


@mutation("τ_neg is lowered until no positive of EVAL is skipped", "PV054", evaluated=True)
def lowered_tau(run: Run) -> None:
    def change(manifest: Any) -> None:
        for facts in manifest["folds"]:
            facts["triage"]["tau_neg"] = facts["triage"]["tau_neg"] / 2

    run.json("manifest.json", change)
    _follow(run)


@mutation("τ_pos is raised, so that alerts look precise", "PV054", evaluated=True)
def raised_tau(run: Run) -> None:
    def change(manifest: Any) -> None:
        for facts in manifest["folds"]:
            facts["triage"]["tau_pos"] = (1 + facts["triage"]["tau_pos"]) / 2

    run.json("manifest.json", change)
    _follow(run)


@mutation("the threshold column of one row is another's", "PV053", evaluated=True)
def foreign_threshold(run: Run) -> None:
    def change(rows: list[Row]) -> None:
        row = next(r for r in rows if r["threshold"])
        row["threshold"] = repr(float(row["threshold"]) * 0.9)
        _decide(row)

    run.queries(change)


@mutation("a budget's threshold is another one in the rows of a fold", "PV053", evaluated=True)
def changed_budget_threshold(run: Run) -> None:
    def change(rows: list[Row]) -> None:
        for row in rows:
            row["threshold@fpr=0.1"] = "0.2" if row["fold"] == rows[0]["fold"] else row["threshold@fpr=0.1"]

    run.queries(change)


@mutation("the prior is the rate on EVAL", "PV056", evaluated=True)
def prior_from_eval(run: Run) -> None:
    def change(rows: list[Row]) -> None:
        for row in rows:
            same = [r for r in rows if (r["fold"], r["criterion_id"]) == (row["fold"], row["criterion_id"])]
            row["prior"] = repr(sum(bool(r["gold_uids"]) for r in same) / len(same))

    run.queries(change)


@mutation("a prior is a hundredth too low", "PV056", evaluated=True)
def wrong_prior(run: Run) -> None:
    def change(rows: list[Row]) -> None:
        rows[0]["prior"] = repr(abs(float(rows[0]["prior"]) - 0.01))

    run.queries(change)


@mutation("one sentence fewer is shown than the policy says", "PV055", evaluated=True)
def shorter_selection(run: Run) -> None:
    def change(rows: list[Row]) -> None:
        row = next(r for r in rows if len(r["selected_raw"]) >= 2 and r["predicted"] == "0")
        row["selected_raw"] = row["selected_raw"][:-1]

    run.queries(change)


@mutation("a gold sentence from below the selection is shown", "PV012", "PV055", evaluated=True)
def helped_selection(run: Run) -> None:
    def change(rows: list[Row]) -> None:
        for row in rows:
            extra = [uid for uid in row["ranked_uids"] if uid in row["gold_uids"] and uid not in row["selected_triage"]]
            if extra and row["selected_triage"]:
                row["selected_triage"] = [*row["selected_triage"][:-1], extra[0]]
                return
        row = next(r for r in rows if r["selected_triage"] and len(r["selected_triage"]) < len(r["ranked_uids"]))
        row["selected_triage"] = [*row["selected_triage"][:-1], row["ranked_uids"][len(row["selected_triage"])]]

    run.queries(change)


@mutation("a NEG query shows sentences", "PV012")
def shown_though_negative(run: Run) -> None:
    def change(rows: list[Row]) -> None:
        row = next(r for r in rows if r["state"] == "NEG")
        row["selected_triage"] = row["ranked_uids"][:1]

    run.queries(change)


# Numbers ----------------------------------------------------------------------------------------------------------

HEAD = {"scope": "pooled", "criteria": "all", "stage": "final"}


@mutation("the headline nDCG@10 is a thousandth higher", "PV020")
def edited_value(run: Run) -> None:
    run.record(lambda r: r.update(value=r["value"] + 1e-3), id="ndcg@10", population="positives_only", **HEAD)


@mutation("a value differs in the eighth decimal", "PV020")
def edited_decimal(run: Run) -> None:
    run.record(lambda r: r.update(value=r["value"] + 1e-8), id="brier", **HEAD)


@mutation("recall@3 is divided by K instead of the number of gold sentences", "PV020")
def wrong_denominator(run: Run) -> None:
    def change(records: list[Row]) -> None:
        for r in records:
            if r["id"] == "recall@3" and r["value"] is not None:
                match = [o for o in records if o["id"] == "precision@3" and _same_place(o, r)]
                r["value"] = match[0]["value"]

    run.records(change)


def _same_place(a: Row, b: Row) -> bool:
    return all(a.get(k) == b.get(k) for k in ("scope", "population", "criteria", "stage", "mode"))


@mutation("MRR over all queries is called MRR over positives", "PV020")
def wrong_population(run: Run) -> None:
    def change(records: list[Row]) -> None:
        at = {r["population"]: r for r in records if r["id"] == "mrr" and all(r[k] == v for k, v in HEAD.items())}
        at["positives_only"]["value"] = at["all_queries"]["value"]

    run.records(change)


@mutation("map@5 is that of another document", "PV020")
def swapped_readings(run: Run) -> None:
    def change(records: list[Row]) -> None:
        at = {
            r["id"]: r
            for r in records
            if r["population"] == "positives_only" and all(r[k] == v for k, v in HEAD.items())
        }
        at["map@5"]["value"], at["map_found@5"]["value"] = at["map_found@5"]["value"], at["map@5"]["value"]

    run.records(change)


@mutation("a gate figure is reported under triage", "PV020")
def wrong_mode(run: Run) -> None:
    def change(records: list[Row]) -> None:
        at = {r["mode"]: r for r in records if r["id"] == "evidence_recall" and all(r[k] == v for k, v in HEAD.items())}
        at["triage"]["value"] = at["raw"]["value"]

    run.records(change)


@mutation("tpr@fpr=0.05 allows the first threshold above the budget", "PV020")
def beyond_budget(run: Run) -> None:
    def change(records: list[Row]) -> None:
        at = {r["id"]: r for r in records if all(r[k] == v for k, v in HEAD.items())}
        at["tpr@fpr=0.05"]["value"] = at["tpr@fpr=0.1"]["value"] + 1e-6

    run.records(change)


@mutation("a mean over folds is the pooled value", "PV020")
def pooled_as_mean(run: Run) -> None:
    def change(records: list[Row]) -> None:
        at = {r["scope"]: r for r in records if r["id"] == "auroc" and r["criteria"] == "all" and r["stage"] == "final"}
        at["fold_mean"]["value"] = at["pooled"]["value"]

    run.records(change)


@mutation("a criterion's AUROC is changed", "PV020")
def changed_criterion(run: Run) -> None:
    def change(records: list[Row]) -> None:
        r = next(r for r in records if r["id"] == "auroc" and r["scope"].startswith("criterion:"))
        r["value"] = 0.9 * r["value"]

    run.records(change)


@mutation("figures of the first stage are changed", "PV020")
def changed_stage_record(run: Run) -> None:
    run.record(lambda r: r.update(value=r["value"] * 0.9), id="ndcg@10", scope="pooled", stage="retrieve")


@mutation("the trained criteria's figure stands for all", "PV020")
def trained_as_all(run: Run) -> None:
    def change(records: list[Row]) -> None:
        same = {"id": "brier", "scope": "pooled", "stage": "final"}
        at = {r["criteria"]: r for r in records if all(r[k] == v for k, v in same.items())}
        at["all"]["value"] = at["trained"]["value"]

    run.records(change)


@mutation("an id that nobody defined", "PV020")
def unknown_id(run: Run) -> None:
    run.records(lambda records: [*records, {**records[0], "id": "super_recall@10"}])


@mutation("n is one less", "PV021")
def changed_n(run: Run) -> None:
    run.record(lambda r: r.update(n=r["n"] - 1), id="recall@10", population="positives_only", **HEAD)


@mutation("n counts queries where it should count documents", "PV021")
def changed_documents(run: Run) -> None:
    run.record(lambda r: r.update(n_docs=r["n"]), id="auroc", **HEAD)


@mutation("a standard deviation is smaller", "PV021")
def changed_std(run: Run) -> None:
    run.record(lambda r: r.update(std=r["std"] * 0.99), id="ndcg@10", population="positives_only", **HEAD)


@mutation("a median is the mean", "PV021")
def changed_median(run: Run) -> None:
    run.record(lambda r: r.update(median=r["value"]), id="ndcg@10", population="positives_only", **HEAD)


@mutation("std over folds divides by k and is called std_sample", "PV021")
def wrong_fold_deviation(run: Run) -> None:
    run.record(
        lambda r: r.update(std_sample=r["std_pop"]), id="auroc", scope="fold_mean", stage="final", criteria="all"
    )


@mutation("an interval is half as wide", "PV022")
def narrowed_interval(run: Run) -> None:
    def change(r: Row) -> None:
        r["ci_low"] = (r["ci_low"] + r["value"]) / 2
        r["ci_high"] = (r["ci_high"] + r["value"]) / 2

    run.record(change, id="ndcg@10", population="positives_only", **HEAD)


@mutation("the lower bound of the AUROC is moved up", "PV022")
def raised_bound(run: Run) -> None:
    run.record(lambda r: r.update(ci_low=(r["ci_low"] + r["value"]) / 2), id="auroc", **HEAD)


@mutation("an interval is left out", "PV022")
def dropped_interval(run: Run) -> None:
    run.record(lambda r: r.update(ci_low=None, ci_high=None, ci_method=None), id="brier", **HEAD)


@mutation("a bin of the reliability diagram is moved to the diagonal", "PV023")
def straightened_bin(run: Run) -> None:
    def change(series: Row) -> None:
        row = next(r for r in series["rows"] if r[2])
        row[4] = row[3]

    run.series(change, "reliability")


@mutation("a point of the ROC curve is moved up", "PV023")
def moved_curve(run: Run) -> None:
    run.series(lambda s: s["rows"][len(s["rows"]) // 2].__setitem__(2, 0.999), "roc")


@mutation("a count of the triage table is changed", "PV023")
def changed_state_count(run: Run) -> None:
    run.series(lambda s: s["rows"][0].__setitem__(2, s["rows"][0][2] + 1), "state_by_evidence")


@mutation("the reliability diagram is left out", "PV023")
def dropped_series(run: Run) -> None:
    def change(master: Any) -> None:
        master["series"] = [s for s in master["series"] if (s["id"], s["scope"]) != ("reliability", "pooled")]

    run.json("metrics_master.json", change)


@mutation("one record stands twice, with two values", "PV024")
def doubled_record(run: Run) -> None:
    run.records(lambda records: [*records, {**records[5], "value": 0.123}])


@mutation("the worst criterion's record is left out", "PV025")
def dropped_record(run: Run) -> None:
    def change(records: list[Row]) -> list[Row]:
        of = [
            r for r in records if r["id"] == "auroc" and r["scope"].startswith("criterion:") and r["stage"] == "final"
        ]
        worst = min(of, key=lambda r: r["value"])
        return [r for r in records if r is not worst]

    run.records(change)


@mutation("all records of one fold are left out", "PV025", "PV033")
def dropped_fold(run: Run) -> None:
    run.records(lambda records: [r for r in records if r["scope"] != "fold:1"])


@mutation("an AUROC is above 1", "PV030")
def out_of_range(run: Run) -> None:
    run.record(lambda r: r.update(value=1.2), id="auroc", **HEAD)


@mutation("false positives are one fewer", "PV031")
def changed_count(run: Run) -> None:
    run.record(lambda r: r.update(value=r["value"] - 1), id="fp@p=0.5", **HEAD)


@mutation("nDCG@1 is not precision@1", "PV032")
def impossible_first_place(run: Run) -> None:
    run.record(lambda r: r.update(value=r["value"] * 0.98), id="ndcg@1", population="positives_only", **HEAD)


@mutation("recall falls as K grows", "PV032")
def falling_recall(run: Run) -> None:
    run.record(lambda r: r.update(value=0.01), id="recall@20", population="positives_only", **HEAD)


@mutation("the queries of a fold do not add up", "PV033")
def changed_fold_count(run: Run) -> None:
    run.record(lambda r: r.update(value=r["value"] + 1), id="n_queries", scope="fold:0", criteria="all", stage="final")


@mutation("an all-queries ranking figure becomes a headline", "PV034")
def wrong_headline(run: Run) -> None:
    run.record(lambda r: r.update(default=True), id="ndcg@10", population="all_queries", **HEAD)


# Stages, tables and files -----------------------------------------------------------------------------------------


@mutation("the first stage's ranking is made worse, so that later stages gain", "PV020")
def stage_made_worse(run: Run) -> None:
    def change(rows: list[Row]) -> None:
        for row in rows[::3]:
            row["ranked_uids"] = row["ranked_uids"][::-1]

    run.parquet("stages/retrieve.parquet", change)


@mutation("gold is moved in the table of a stage", "PV047")
def moved_stage_gold(run: Run) -> None:
    def change(rows: list[Row]) -> None:
        row = _longest(rows)
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


def spoil(clean: Path, mutation: Mutation, place: Path, *, evaluate: bool = True) -> Path:
    """A spoilt and signed copy of a run."""
    run = Run(Path(shutil.copytree(clean, place)))
    mutation.change(run)
    if mutation.evaluated and evaluate:
        run.evaluate()
    if mutation.signed:
        run.sign()
    return run.folder


def verdict(folder: Path, only: Sequence[str] | None = None, like: Case | None = None) -> list[Check]:
    """The audit of a folder; `like` lends what was worked out from the same tables."""
    with opened(folder) as source:
        case = Case(source)
        if like is not None:
            vars(case).update({"frames": like.frames, "answers": like.answers, "table": like.table})
        return checks(case, only)


def attempt(clean: Path, case: Case, one: Mutation, *, thorough: bool) -> tuple[list[str], str]:
    """(the checks that failed, the first finding of the one that was expected)."""
    with tempfile.TemporaryDirectory() as place:
        folder = spoil(clean, one, Path(place) / "run")
        like = case if one.of_numbers else None
        found = verdict(folder, None if thorough else one.caught_by, like)
    failed = [check for check in found if check.failed]
    why = next((check.why for check in failed if check.code in one.caught_by), "")
    return [check.code for check in failed], why


def table(rows: Sequence[tuple[Mutation, list[str], str]]) -> str:
    lines = ["| # | what was done | numbers made anew | caught by | what the audit says |", "|---|---|---|---|---|"]
    for number, (one, failed, why) in enumerate(rows, start=1):
        said = why.replace("|", "\\|")
        caught = ", ".join(code for code in failed if code in one.caught_by) or "**not caught**"
        lines.append(f"| {number} | {one.what} | {'yes' if one.evaluated else ''} | {caught} | {said[:160]} |")
    return "\n".join(lines) + "\n"


HEADING = """# Mutations

Made by `scripts/mutations.py`: every row is a finished run that was spoilt on purpose, with its manifest and checksums
signed anew (except where the row says otherwise), and what `probative verify` then says. "Numbers made anew" means that
metrics_master.json and its tables were also computed again from the spoilt tables, so that nothing but a contradiction
between files gives the edit away.

"""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("runs", nargs="+", type=Path, help="finished runs; the first one is spoilt, all must pass")
    parser.add_argument("--write", type=Path, help="the page to write")
    parser.add_argument("--thorough", action="store_true", help="all checks on every mutation, not the expected ones")
    given = parser.parse_args()
    alarms = {run.name: [c.code for c in verdict(run) if c.failed] for run in given.runs}
    for name, codes in alarms.items():
        print(f"clean run {name}: {', '.join(codes) or 'no alarm'}", flush=True)
    with opened(given.runs[0]) as source:
        case = Case(source)
        rows = []
        for one in MUTATIONS:
            failed, why = attempt(given.runs[0], case, one, thorough=given.thorough)
            rows.append((one, failed, why))
            caught = set(failed) & set(one.caught_by)
            print(f"{'caught' if caught else 'MISSED':7} {one.name}: {', '.join(failed) or 'no alarm'}", flush=True)
    missed = [one.name for one, failed, _ in rows if not set(failed) & set(one.caught_by)]
    quiet = sum(not codes for codes in alarms.values())
    tail = f"\n{len(rows) - len(missed)} of {len(rows)} mutations caught; "
    tail += f"{quiet} of {len(alarms)} clean runs without an alarm.\n"
    print(tail)
    if given.write:
        files.write_text(given.write, HEADING + table(rows) + tail)
    return 1 if missed or quiet < len(alarms) else 0


if __name__ == "__main__":
    sys.exit(main())
