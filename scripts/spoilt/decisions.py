"""Calibration, thresholds and selections that do not follow from TUNE."""

from __future__ import annotations

import json
from typing import Any

import polars as pl

from spoilt.run import Row, Run, mutation


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


@mutation("the limits of K are off: everything is shown, and the manifest says so", "PV057", evaluated=True)
def limits_off(run: Run) -> None:
    def change(manifest: Any) -> None:
        for facts in manifest["folds"]:
            facts["policy"].update(kind="fixed", k=500, hard_cap=500, k_max_ratio=1.0)
            for state in facts["policy"]["states"].values():
                state.update(hard_cap=500, k_max_ratio=1.0)

    run.json("manifest.json", change)
    run.queries(
        lambda rows: [
            {
                **r,
                "selected_raw": r["ranked_uids"],
                "selected_gate": r["ranked_uids"] if r["predicted"] == "1" else [],
                "selected_triage": [] if r["state"] == "NEG" else r["ranked_uids"],
            }
            for r in rows
        ]
    )


@mutation("the target of screening is lowered, τ_neg following it", "PV057", evaluated=True)
def lowered_target(run: Run) -> None:
    _again(run, lambda settings: settings["triage"].update(screening_sensitivity=0.6))


@mutation("the operating budget is 10 % where 5 % was asked for", "PV057", evaluated=True)
def wider_budget(run: Run) -> None:
    _again(run, lambda settings: settings.update(fpr_budget=0.1))


def _again(run: Run, loosen: Any) -> None:
    """Decide again on TUNE under other settings than the configuration's."""
    from probative.decide import Decider, DecideSettings

    manifest = run.manifest()
    asked = json.loads(json.dumps(manifest["config"]["decide"]))
    loosen(asked)
    excluded = manifest["corpus"]["exclude_from_training"]
    tune = pl.read_parquet(run.folder / "tune_queries.parquet").filter(~pl.col("criterion_id").is_in(excluded))
    for facts in manifest["folds"]:
        mine = tune.filter(pl.col("fold") == facts["fold"])
        z = [_logit(p) for p in mine["prob_raw"]]
        made = Decider(DecideSettings.model_validate(asked)).fit(
            z, [bool(y) for y in mine["has_evidence"]], mine["doc_id"].to_list()
        )
        facts.update(made.to_dict())
    run.json("manifest.json", lambda m: m.update(folds=manifest["folds"]))
    _follow(run)


@mutation("calibrators keep half of the raw probability, everything following it", "PV057", evaluated=True)
def blended_calibrator(run: Run) -> None:
    run.json("manifest.json", lambda m: [f["calibrator"].update(delta=0.5) for f in m["folds"]] and None)
    _follow(run)


@mutation("what τ_neg reached on TUNE is said to be more", "PV058")
def better_reached(run: Run) -> None:
    run.json("manifest.json", lambda m: m["folds"][0]["triage"]["reached"].update(screening_sensitivity=0.9999))


@mutation("a target that TUNE missed is called met, or the other way round", "PV058")
def wrongly_met(run: Run) -> None:
    def change(manifest: Any) -> None:
        met = manifest["folds"][0]["triage"]["met"]
        met["alert_precision"] = not met["alert_precision"]

    run.json("manifest.json", change)


@mutation("the true alarms of a budget on TUNE are one more", "PV058")
def better_tune_rate(run: Run) -> None:
    def change(manifest: Any) -> None:
        entry = next(e for e in manifest["folds"][0]["thresholds"].values() if e)
        entry["tpr"] += 0.01

    run.json("manifest.json", change)


@mutation("a guarantee is called certified though documents are missing", "PV058")
def claimed_certificate(run: Run) -> None:
    def change(manifest: Any) -> None:
        promise = next(f["triage"]["guarantee"] for f in manifest["folds"] if f["triage"]["guarantee"])
        promise.update(certified=True, certified_target=promise["target"], documents_missing=0)

    run.json("manifest.json", change)


@mutation("the guaranteed threshold is one step of its grid too far", "PV054", "PV058", evaluated=True)
def one_step_too_far(run: Run) -> None:
    from probative.decide import Calibrator

    def change(manifest: Any) -> None:
        for facts in [next(f for f in manifest["folds"] if f["triage"]["guarantee"])]:
            triage = facts["triage"]
            triage["guarantee"]["raw"] = triage["raw_tau_neg"] = round(triage["guarantee"]["raw"] + 0.01, 2)
            triage["tau_neg"] = float(Calibrator.from_dict(facts["calibrator"]).predict([triage["raw_tau_neg"]])[0])

    run.json("manifest.json", change)
    _follow(run)


@mutation("the excluded criterion is said to have been learned from", "PV042", "PV056", "PV005", evaluated=True)
def no_exclusion(run: Run) -> None:
    run.json("manifest.json", lambda m: m["corpus"].update(exclude_from_training=[]))


@mutation("a probability of TUNE is moved, thresholds staying", "PV050", "PV051", "PV052")
def moved_tune_probability(run: Run) -> None:
    run.parquet("tune_queries.parquet", lambda rows: rows[0].update(prob=rows[0]["prob"] * 0.5))
