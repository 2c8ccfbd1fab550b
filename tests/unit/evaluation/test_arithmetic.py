"""Every id in every scope, mode and stage, against plain arithmetic over lists, to 1e-9."""

from __future__ import annotations

import math
import random
import statistics
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from probative.evaluation.engine import evaluate
from probative.evaluation.predictions import Predictions, Selection
from probative.evaluation.settings import EvaluateSettings

KS = (1, 3, 5, 10, 20, "all")
ALPHAS = (0.01, 0.03, 0.05, 0.1)
STATES = ("NEG", "UNCERTAIN", "POS")
Row = dict[str, Any]


def made_up(seed: int, n_docs: int, criteria: tuple[str, ...]) -> list[Row]:
    """Queries with ties, empty golds, truncated rankings, short documents and everything optional."""
    rng = random.Random(seed)  # noqa: S311 - made-up data
    rows = []
    for doc in range(n_docs):
        n = rng.choice([1, 2, 3, 8, 25])
        for criterion in criteria:
            if rng.random() < 0.05:
                continue
            uids = [f"s{i}" for i in range(n)]
            rng.shuffle(uids)
            evidence = rng.random() < 0.4
            gold = set(rng.sample(uids, rng.randint(1, min(n, 4)))) if evidence and rng.random() > 0.1 else set()
            ranked = uids[: rng.randint(0, n)] if rng.random() < 0.3 else uids
            p = round(min(max(rng.gauss(0.6 if evidence else 0.3, 0.3), 0), 1), 1)
            predicted = p >= 0.4
            state = "NEG" if p < 0.2 else "UNCERTAIN" if p < 0.6 else "POS"
            raw = ranked[: rng.randint(0, 6)]
            rows.append(
                {
                    "doc": f"d{doc:03d}",
                    "criterion": criterion,
                    "fold": doc % 3,
                    "n": n,
                    "ranked": ranked,
                    "scores": sorted((round(rng.random(), 1) for _ in ranked), reverse=True),
                    "gold": gold,
                    "pool": set(ranked[:5]) | set(rng.sample(uids, min(n, 2))),
                    "y": evidence,
                    "p": p,
                    "raw_p": round(p * 0.9 + 0.05 * rng.random(), 2),
                    "prior": round(0.2 + 0.1 * criteria.index(criterion), 2),
                    "predicted": predicted,
                    "state": state,
                    "selected": {
                        "raw": raw,
                        "gate": raw if predicted else [],
                        "triage": [] if state == "NEG" else ranked[: rng.randint(0, 8)],
                    },
                    "budget": {"0.01": 0.9, "0.03": None, "0.05": 0.7, "0.1": 0.5},
                }
            )
    return rows


def table(rows: list[Row]) -> Predictions:
    """The same rows as the engine's table."""
    docs, criteria = sorted({r["doc"] for r in rows}), sorted({r["criterion"] for r in rows})
    ranks = [[r["ranked"].index(g) + 1 if g in r["ranked"] else 0 for g in sorted(r["gold"])] for r in rows]

    def offsets(sizes: list[int]) -> Any:
        return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)

    def column(name: str) -> Any:
        return np.array([r[name] for r in rows])

    return Predictions(
        doc_ids=tuple(docs),
        criterion_ids=tuple(criteria),
        doc=np.array([docs.index(r["doc"]) for r in rows]),
        criterion=np.array([criteria.index(r["criterion"]) for r in rows]),
        fold=column("fold"),
        n_candidates=column("n"),
        n_ranked=np.array([len(r["ranked"]) for r in rows]),
        gold_offsets=offsets([len(r) for r in ranks]),
        gold_rank=np.array([x for r in ranks for x in r], dtype=np.int64),
        gold_in_pool=np.array([g in r["pool"] for r in rows for g in sorted(r["gold"])], dtype=bool),
        positive=column("y"),
        located=np.array([bool(r["gold"]) for r in rows]),
        prob=column("p"),
        prob_raw=column("raw_p"),
        prior=column("prior"),
        threshold=np.full(len(rows), 0.4),
        tau_neg=np.full(len(rows), 0.2),
        tau_pos=np.full(len(rows), 0.6),
        predicted=column("predicted"),
        state=np.array([STATES.index(r["state"]) for r in rows]),
        selections={
            mode: Selection(
                size=np.array([len(r["selected"][mode]) for r in rows]),
                hits=np.array([len(set(r["selected"][mode]) & r["gold"]) for r in rows]),
            )
            for mode in ("raw", "gate", "triage")
        },
        budget_thresholds={
            alpha: np.array([np.nan if r["budget"][alpha] is None else r["budget"][alpha] for r in rows])
            for alpha in ("0.01", "0.03", "0.05", "0.1")
        },
        row_offsets=offsets([len(r["ranked"]) for r in rows]),
        row_score=np.array([s for r in rows for s in r["scores"]], dtype=np.float64),
        row_gold=np.array([u in r["gold"] for r in rows for u in r["ranked"]], dtype=bool),
        excluded=frozenset({"C.4"}),
    )


def mean(values: list[float]) -> float | None:
    return sum(values) / len(values) if values else None


def over(a: float, b: float) -> float | None:
    return a / b if b else None


def ranking(r: Row) -> dict[str, float]:
    gold, ranked, n = r["gold"], r["ranked"], r["n"]
    first = next((i for i, u in enumerate(ranked, 1) if u in gold), None)
    values = {"mrr": 1 / first if first else 0.0, "pool_coverage": over(len(gold & r["pool"]), len(gold)) or 0.0}
    for k in KS:
        cut = n if k == "all" else int(k)
        top = ranked[:cut]
        hits = [i for i, u in enumerate(top, 1) if u in gold]
        summed = sum(j / i for j, i in enumerate(hits, 1))
        dcg = sum(1 / math.log2(i + 1) for i in hits)
        ideal = sum(1 / math.log2(i + 1) for i in range(1, min(len(gold), cut) + 1))
        pooled = gold & r["pool"]
        values |= {
            f"recall@{k}": over(len(hits), len(gold)) or 0.0,
            f"recall_inpool@{k}": over(len(set(top) & pooled), len(pooled)) or 0.0,
            f"precision@{k}": len(hits) / cut,
            f"precision_keff@{k}": len(hits) / min(cut, n),
            f"hit@{k}": float(bool(hits)),
            f"mrr@{k}": 1 / hits[0] if hits else 0.0,
            f"map@{k}": over(summed, min(len(gold), cut)) or 0.0,
            f"map_found@{k}": over(summed, len(hits)) or 0.0,
            f"map_gold@{k}": over(summed, len(gold)) or 0.0,
            f"ndcg@{k}": over(dcg, ideal) or 0.0,
        }
    return values


def areas(pairs: list[tuple[float, bool]]) -> tuple[float | None, float | None]:
    pos, neg = [s for s, y in pairs if y], [s for s, y in pairs if not y]
    if not pos or not neg:
        return None, None
    roc = sum((a > b) + 0.5 * (a == b) for a in pos for b in neg) / (len(pos) * len(neg))
    ap = before = 0.0
    for t in sorted({s for s, _ in pairs}, reverse=True):
        tp, fp = sum(s >= t for s in pos), sum(s >= t for s in neg)
        ap += (tp / len(pos) - before) * tp / (tp + fp)
        before = tp / len(pos)
    return roc, ap


def budget(pairs: list[tuple[float, bool]], alpha: float) -> tuple[float | None, float | None]:
    pos, neg = [s for s, y in pairs if y], [s for s, y in pairs if not y]
    if not pos or not neg:
        return None, None
    best, cut = 0.0, None
    for t in sorted({s for s, _ in pairs}, reverse=True):
        if sum(s >= t for s in neg) / len(neg) <= alpha:
            tpr = sum(s >= t for s in pos) / len(pos)
            if cut is None or tpr > best:
                best, cut = tpr, t
    return best, cut


def confusion(rows: list[Row], guess: list[bool], suffix: str) -> dict[str, float | None]:
    y = [r["y"] for r in rows]
    tp, fp, tn, fn = (
        float(sum(g == a and t == b for g, t in zip(guess, y, strict=True)))
        for a, b in ((True, True), (True, False), (False, False), (False, True))
    )
    margin = (tp + fp) * (tp + fn) * (tn + fp) * (tn + fn)
    sens, spec = over(tp, tp + fn), over(tn, tn + fp)
    values = {
        "tp": tp,
        "fp": fp,
        "tn": tn,
        "fn": fn,
        "sensitivity": sens,
        "specificity": spec,
        "fpr": over(fp, fp + tn),
        "precision": over(tp, tp + fp),
        "npv": over(tn, tn + fn),
        "f1": over(2 * tp, 2 * tp + fp + fn),
        "mcc": (tp * tn - fp * fn) / math.sqrt(margin) if margin else None,
        "balanced_accuracy": None if sens is None or spec is None else (sens + spec) / 2,
    }
    return {name + suffix: value for name, value in values.items()}


def detection(rows: list[Row], p: str, *, curves_only: bool = False) -> dict[str, float | None]:
    pairs = [(r[p], r["y"]) for r in rows]
    values: dict[str, float | None] = dict(zip(("auroc", "auprc"), areas(pairs), strict=True))
    within = []
    for criterion in sorted({r["criterion"] for r in rows}):
        own = [(r[p], r["y"]) for r in rows if r["criterion"] == criterion]
        if sum(y for _, y in own) >= 20 and sum(not y for _, y in own) >= 20:
            within.append(areas(own))
    values["auroc_within"] = mean([a for a, _ in within])
    values["auprc_within"] = mean([b for _, b in within])
    for alpha in ALPHAS:
        tpr, cut = budget(pairs, alpha)
        values |= {f"tpr@fpr={alpha:g}": tpr, f"curve_threshold@fpr={alpha:g}": cut}
    values |= confusion(rows, [r[p] >= 0.5 for r in rows], "@p=0.5")
    if curves_only:
        return values
    values["auroc_raw"] = areas([(r["raw_p"], r["y"]) for r in rows])[0]
    for alpha in ("0.01", "0.03", "0.05", "0.1"):
        through = [r["budget"][alpha] is not None and r["p"] >= r["budget"][alpha] for r in rows]
        for name, label in (("tpr", True), ("fpr", False)):
            hits = [t for t, r in zip(through, rows, strict=True) if r["y"] == label]
            values[f"{name}_transfer@fpr={alpha}"] = over(sum(hits), len(hits))
    return values | confusion(rows, [r["predicted"] for r in rows], "")


def bins(rows: list[Row], p: str, *, drop_one: bool = False, edges: Any = None) -> list[tuple[int, float, float]]:
    edges = list(np.linspace(0, 1, 11)) if edges is None else edges
    found = []
    for i, (low, high) in enumerate(pairwise(edges)):
        last = i == len(edges) - 2 and not drop_one
        inside = [r for r in rows if low <= r[p] and (r[p] < high or (last and r[p] == high))]
        if inside:
            found.append((len(inside), mean([r[p] for r in inside]), mean([float(r["y"]) for r in inside])))
    return found


def calibration(rows: list[Row], p: str) -> dict[str, float | None]:
    n = len(rows)
    brier = mean([(r[p] - r["y"]) ** 2 for r in rows])
    prior = mean([(r["prior"] - r["y"]) ** 2 for r in rows])
    deciles = sorted(set(np.quantile([r[p] for r in rows], np.linspace(0, 1, 11))))
    deciles = deciles if len(deciles) > 1 else [deciles[0], deciles[0] + 1]

    def gap(found: list[tuple[int, float, float]]) -> float:
        return sum(m * abs(a - b) for m, a, b in found) / n

    return {
        "brier": brier,
        "brier_skill": 1 - brier / prior if prior else None,
        "ece": gap(bins(rows, p)),
        "ece_dropone": gap(bins(rows, p, drop_one=True)),
        "mce": max(abs(a - b) for _, a, b in bins(rows, p)),
        "ece_equalmass": gap(bins(rows, p, edges=deciles)),
    }


def quantile(values: list[float], q: float) -> float:
    ordered, place = sorted(values), q * (len(values) - 1)
    low = math.floor(place)
    high = min(low + 1, len(values) - 1)
    return ordered[low] + (place - low) * (ordered[high] - ordered[low])


def extraction(rows: list[Row], mode: str) -> dict[tuple[str, str], float | None]:
    known = [r for r in rows if r["gold"] or not r["y"]]
    with_gold = [r for r in known if r["gold"]]
    values: dict[tuple[str, str], float | None] = {}

    def parts(r: Row) -> tuple[int, int, int]:
        return len(set(r["selected"][mode]) & r["gold"]), len(r["selected"][mode]), len(r["gold"])

    pos = "positives_only"
    values["evidence_recall", pos] = mean([h / g for h, _, g in map(parts, with_gold)])
    values["evidence_precision", pos] = mean([h / s if s else 0.0 for h, s, _ in map(parts, with_gold)])
    f1 = []
    for h, s, g in map(parts, with_gold):
        a, b = h / g, h / s if s else 0.0
        f1.append(2 * a * b / (a + b) if a + b else 0.0)
    values["evidence_f1", pos] = mean(f1)
    values["evidence_recall_all", "all_queries"] = mean(
        [h / g if g else float(s == 0) for h, s, g in map(parts, known)]
    )
    values["evidence_precision_all", "all_queries"] = mean(
        [h / s if s else float(g == 0) for h, s, g in map(parts, known)]
    )
    passed = [r for r in known if (r["state"] != "NEG" if mode == "triage" else r["predicted"])]
    for name, place, chosen in (
        ("evidence_recall_micro", pos, with_gold),
        ("evidence_recall_micro_passed", "passed_positives", [r for r in passed if r["gold"]]),
    ):
        values[name, place] = over(sum(parts(r)[0] for r in chosen), sum(parts(r)[2] for r in chosen))
    values["k_mean_passed", "passed_queries"] = mean([float(parts(r)[1]) for r in passed])
    groups = {
        "all_queries": known,
        pos: with_gold,
        "negatives_only": [r for r in known if not r["y"]],
        **{f"state:{state}": [r for r in known if r["state"] == state] for state in STATES},
    }
    for place, chosen in groups.items():
        sizes = [float(parts(r)[1]) for r in chosen]
        values |= {
            ("k_mean", place): mean(sizes),
            ("k_std", place): statistics.pstdev(sizes) if sizes else None,
            ("k_min", place): min(sizes, default=None),
            ("k_max", place): max(sizes, default=None),
        }
        for name, q in (("k_median", 0.5), ("k_p25", 0.25), ("k_p75", 0.75), ("k_p90", 0.9)):
            values[name, place] = quantile(sizes, q) if sizes else None
    shown = [bool(r["selected"][mode]) for r in rows]
    cells = confusion(rows, shown, "")
    everyone = "all_queries"
    for name in ("tp", "fp", "tn", "fn", "fpr", "precision", "f1"):
        values[f"deploy_{name}", everyone] = cells[name]
    values["deploy_recall", everyone] = cells["sensitivity"]
    values["deploy_fnr", everyone] = None if cells["sensitivity"] is None else 1 - cells["sensitivity"]
    return values


def triage(rows: list[Row]) -> dict[str, float | None]:
    n, positives = len(rows), [r for r in rows if r["y"]]
    count = {state: sum(r["state"] == state for r in rows) for state in STATES}
    missed = sum(r["state"] == "NEG" for r in positives)
    alerts = sum(r["state"] == "POS" for r in positives)
    groups: dict[tuple[int, float], list[bool]] = {}
    for r in rows:
        answer = r["predicted"] if r["state"] == "UNCERTAIN" else r["state"] == "POS"
        groups.setdefault((r["state"] == "UNCERTAIN", -abs(r["p"] - 0.4)), []).append(answer != r["y"])
    risks, errors = [], 0.0
    for key in sorted(groups):
        for _ in groups[key]:
            errors += sum(groups[key]) / len(groups[key])
            risks.append(errors / (len(risks) + 1))
    return {
        "neg_rate": count["NEG"] / n,
        "uncertain_rate": count["UNCERTAIN"] / n,
        "pos_rate": count["POS"] / n,
        "alerts_per_1000": 1000 * count["POS"] / n,
        "screening_sensitivity": over(len(positives) - missed, len(positives)),
        "screening_fn_per_1000": 1000 * missed / n,
        "screening_fn_per_1000_positives": over(1000 * missed, len(positives)),
        "alert_precision": over(alerts, count["POS"]),
        "alert_recall": over(alerts, len(positives)),
        "aurc": mean(risks),
    }


def documents(rows: list[Row]) -> dict[str, float | None]:
    def f1(own: list[Row]) -> float:
        tp = sum(r["y"] and r["predicted"] for r in own)
        size = sum(r["y"] for r in own) + sum(r["predicted"] for r in own)
        return 2 * tp / size if size else 0.0

    by_doc = [[r for r in rows if r["doc"] == d] for d in sorted({r["doc"] for r in rows})]
    by_criterion = [[r for r in rows if r["criterion"] == c] for c in sorted({r["criterion"] for r in rows})]
    right = [[r["y"] == r["predicted"] for r in own] for own in by_doc]
    total = sum(r["y"] for r in rows)
    size = total + sum(r["predicted"] for r in rows)
    return {
        "exact_match": mean([float(all(own)) for own in right]),
        "hamming_score": mean([sum(own) / len(own) for own in right]),
        "hamming_loss": 1 - mean([sum(own) / len(own) for own in right]),
        "f1_macro": mean([f1(own) for own in by_criterion]),
        "f1_weighted": over(sum(f1(own) * sum(r["y"] for r in own) for own in by_criterion), total),
        "f1_micro": over(2 * sum(r["y"] and r["predicted"] for r in rows), size),
        "f1_macro_document": mean([f1(own) for own in by_doc]),
        "f1_weighted_document": over(sum(f1(own) * sum(r["y"] for r in own) for own in by_doc), total),
    }


def everything(rows: list[Row], stage: str) -> dict[tuple[str, str, str | None], float | None]:
    """(id, population, mode) → value, None where undefined."""
    found: dict[tuple[str, str, str | None], float | None] = {}
    everyone = "all_queries"
    p = "prior" if stage == "prior" else "p"
    for values in (detection(rows, p, curves_only=stage == "prior"), calibration(rows, p)):
        found |= {(name, everyone, None): value for name, value in values.items()}
    if stage == "prior":
        return found
    known = [r for r in rows if r["gold"] or not r["y"]]
    for population, chosen in (("positives_only", [r for r in known if r["gold"]]), (everyone, known)):
        each = [ranking(r) for r in chosen]
        for name in ranking(rows[0]):
            found[name, population, None] = mean([values[name] for values in each])
    found |= {
        ("n_queries", everyone, None): float(len(rows)),
        ("n_positive", everyone, None): float(sum(r["y"] for r in rows)),
        ("positive_rate", everyone, None): sum(r["y"] for r in rows) / len(rows),
    }
    pairs = [(s, u in r["gold"]) for r in rows for s, u in zip(r["scores"], r["ranked"], strict=True)]
    for name, value in zip(("auroc_candidates", "auprc_candidates"), areas(pairs), strict=True):
        found[name, "candidates", None] = value
    for mode in ("raw", "gate", "triage"):
        found |= {(*key, mode): value for key, value in extraction(rows, mode).items()}
    found |= {(name, everyone, None): value for name, value in triage(rows).items()}
    return found | {(name, "documents", None): value for name, value in documents(rows).items()}


def scopes(rows: list[Row], stage: str) -> dict[tuple[str, str], dict[Any, float | None]]:
    found = {}
    for criteria, inside in (("all", rows), ("trained", [r for r in rows if r["criterion"] != "C.4"])):
        parts = {"pooled": inside}
        parts |= {f"fold:{f}": [r for r in inside if r["fold"] == f] for f in sorted({r["fold"] for r in inside})}
        if stage != "prior":
            parts |= {f"state:{s}": [r for r in inside if r["state"] == s] for s in STATES}
        by_criterion = {c: [r for r in inside if r["criterion"] == c] for c in sorted({r["criterion"] for r in inside})}
        if criteria == "all":
            parts |= {f"criterion:{c}": own for c, own in by_criterion.items()}
        values = {scope: everything(own, stage) for scope, own in parts.items() if own}
        folds = [v for scope, v in values.items() if scope.startswith("fold:")]
        members = [everything(own, stage) for own in by_criterion.values()]
        for scope, several in (("fold_mean", folds), ("criterion_macro", members)):
            values[scope] = {
                key: mean([one[key] for one in several if one[key] is not None]) for key in values["pooled"]
            }
        found |= {(criteria, scope): one for scope, one in values.items()}
    return found


CONVENTION = {"auroc": 0.5, "auroc_raw": 0.5, "auroc_candidates": 0.5}
OWN = ("auprc", "balanced_accuracy", "curve_threshold", "k_min", "k_max")
"""One class gives the prevalence, half of the one rate, or nothing."""
FREE = {"calibration_slope", "calibration_intercept"}
"""Compared with scikit-learn in test_peers."""


@pytest.mark.parametrize(("seed", "n_docs"), [(0, 40), (1, 12), (2, 100)])
def test_every_record_agrees_with_plain_arithmetic(seed: int, n_docs: int) -> None:
    rows = made_up(seed, n_docs, ("C.1", "C.2", "C.3", "C.4"))
    master = evaluate(table(rows), EvaluateSettings(bootstrap=0))
    assert [] == master.meta["invariants"]
    assert [] == master.meta["not_computed"]
    for stage in ("final", "prior"):
        expected = {
            (criteria, scope, *key): value
            for (criteria, scope), values in scopes(rows, stage).items()
            for key, value in values.items()
        }
        seen = set()
        for record in master.metrics:
            if record["stage"] != stage or record["id"] in FREE:
                continue
            place = (record["criteria"], record["scope"], record["id"], record["population"], record.get("mode"))
            seen.add(place)
            want = expected[place]
            if want is None:
                assert record["reason"], place
                assert record["value"] == pytest.approx(CONVENTION.get(record["id"], 0.0)) or _own(record), place
            else:
                assert want == pytest.approx(record["value"], abs=1e-9), place
                assert record["reason"] is None, place
        assert set(expected) == seen


def _own(record: dict[str, Any]) -> bool:
    return record["id"].startswith(OWN) and (record["value"] is None or 0 <= record["value"] <= 1)
