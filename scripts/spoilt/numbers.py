"""Records and series that are not those of the tables."""

from __future__ import annotations

from typing import Any

from spoilt.run import Row, Run, mutation

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


@mutation("a reading that helps more is made the headline", "PV035")
def other_headline(run: Run) -> None:
    def change(records: list[Row]) -> None:
        for r in records:
            if r["id"] in {"map@10", "map_found@10"} and r["population"] == "positives_only":
                r["default"] = r["id"] == "map_found@10"

    run.records(change)


@mutation("a criterion with few positives is not marked", "PV035")
def unmarked_small(run: Run) -> None:
    def change(records: list[Row]) -> None:
        next(r for r in records if r.get("small")).pop("small")

    run.records(change)


@mutation("one left out of a macro average is not said", "PV035", "PV021")
def hidden_left_out(run: Run) -> None:
    def change(records: list[Row]) -> None:
        r = next(r for r in records if r.get("left_out"))
        r["left_out"] = 0

    run.records(change)


@mutation("an exact interval is called a percentile", "PV022")
def relabelled_method(run: Run) -> None:
    run.record(lambda r: r.update(ci_method="percentile"), ci_method="clopper_pearson_docs", stage="final")


@mutation("a convention has lost its reason", "PV020")
def lost_reason(run: Run) -> None:
    def change(records: list[Row]) -> None:
        next(r for r in records if r["reason"] and r["value"] is not None).update(reason=None)

    run.records(change)


@mutation("a record says another stage", "PV020", "PV024", "PV025")
def relabelled_stage(run: Run) -> None:
    run.record(lambda r: r.update(stage="retrieve"), id="brier", **HEAD)


@mutation("a record over all queries is called one over positives", "PV020", "PV024", "PV025")
def relabelled_population(run: Run) -> None:
    run.record(lambda r: r.update(population="positives_only"), id="ndcg@10", population="all_queries", **HEAD)


@mutation("rankings are said to be averaged over ties, so that nobody recomputes them", "PV005")
def hidden_behind_ties(run: Run) -> None:
    def change(master: Any) -> None:
        master["meta"]["ties"] = "expected"
        for r in master["metrics"]:
            if r["id"] == "ndcg@10" and r["population"] == "positives_only":
                r["value"] = min(1.0, r["value"] * 1.1)

    run.json("metrics_master.json", change)
    run.json("summary.json", lambda s: s["meta"].update(ties="expected"))


@mutation("intervals are said to resample queries, so that nobody recomputes them", "PV005", "PV035")
def hidden_behind_unit(run: Run) -> None:
    def change(master: Any) -> None:
        master["meta"]["bootstrap"]["unit"] = "queries"
        for r in master["metrics"]:
            if r["ci_low"] is not None and r["value"] is not None:
                r["ci_low"], r["ci_high"] = (r["ci_low"] + r["value"]) / 2, (r["ci_high"] + r["value"]) / 2

    run.json("metrics_master.json", change)


@mutation("ten times as many resamples are claimed", "PV005")
def claimed_resamples(run: Run) -> None:
    run.json("metrics_master.json", lambda m: m["meta"]["bootstrap"].update(resamples=100_000))


@mutation("the counts of the head are another table's", "PV005")
def changed_head(run: Run) -> None:
    run.json("metrics_master.json", lambda m: m["meta"]["counts"].update(n_documents=1477))


@mutation("the head calls a small criterion large", "PV005")
def changed_head_criterion(run: Run) -> None:
    run.json("metrics_master.json", lambda m: m["meta"]["criteria"][0].update(n_positive=400, small=False))


@mutation("every interval is 10 % narrower around its value", "PV022")
def slightly_narrower(run: Run) -> None:
    def change(records: list[Row]) -> None:
        for r in records:
            if r["ci_low"] is not None and r["value"] is not None:
                r["ci_low"] += 0.1 * (r["value"] - r["ci_low"])
                r["ci_high"] -= 0.1 * (r["ci_high"] - r["value"])

    run.records(change)


def _cell(name: str, column: str, by: float, code: str, what: str) -> None:
    """One cell in the middle of a series is another."""

    def change(run: Run) -> None:
        def inner(series: Row) -> None:
            place = series["columns"].index(column)
            row = next(r for r in series["rows"][len(series["rows"]) // 3 :] if isinstance(r[place], int | float))
            row[place] += by

        run.series(inner, name)

    change.__name__ = f"changed_{column}_of_{name}"
    mutation(what, code)(change)


for _one in (
    ("recall_by_k", "recall", 0.01, "PV023", "a point of recall over K is higher"),
    ("recall_by_k", "oracle", 0.01, "PV023", "the best possible recall is lower than it is"),
    ("recall_by_k", "low", 0.3, "PV022", "the band of recall over K is narrower"),
    ("pr", "precision", 0.05, "PV023", "a point of the precision–recall curve is higher"),
    ("roc_band", "high", -0.4, "PV022", "the band of the ROC curve is narrower"),
    ("reliability", "n", 1, "PV023", "a bin holds one query more"),
    ("document_length", "n_documents", 1, "PV023", "there is one document more of some length"),
    ("gold_flow", "gold", 1, "PV023", "one gold sentence more survives a step"),
    ("k_histogram", "n", 1, "PV023", "one query more shows some number of sentences"),
    ("errors", "n", -1, "PV023", "one error fewer is counted"),
    ("risk_coverage", "risk", -0.01, "PV023", "the risk at some coverage is lower"),
    ("criteria", "auroc", 0.02, "PV023", "a criterion's AUROC is higher in the table of criteria"),
    ("thresholds", "tau_neg", -0.01, "PV023", "a fold's τ_neg is lower in the table of thresholds"),
):
    _cell(*_one)
