"""Contract §13: what each part of the system is worth, measured on the folds and candidates of one run."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from math import isclose
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from probative import files
from probative.data import Corpus
from probative.errors import ConfigError, DataError
from probative.evaluation.predictions import Predictions
from probative.evaluation.records import MetricsMaster, Record
from probative.experiment import ablate_sweeps, ablate_table
from probative.experiment.ablate_measure import Pair, compared, records
from probative.experiment.ablate_rows import Configuration, calibrator, gate_of, judge, steps, table, with_gate
from probative.experiment.ablate_scene import RESTORED, WHOLE, Scene, score, variants
from probative.experiment.progress import Show
from probative.experiment.run import reduced
from probative.experiment.run_tables import seal
from probative.experiment.settings import RunSettings, settle
from probative.settings import flatten

RANKING, GATE, SHOWN = ("ndcg@10", "recall@10"), ("auroc", "auprc"), ("evidence_recall", "evidence_precision")
TRIAGE = ("alert_precision", "screening_sensitivity")
OF_GATES = ("auroc", "auprc", "auroc_within", "brier")
NO_ALERT = "before triage there are no alerts"
Document = dict[str, Any]


def ablate(
    folder: Path, corpus: Corpus, settings: RunSettings, *, jobs: int, show: Show = lambda done, label: None
) -> Document:
    """Ablate the finished run in `folder`: writes ablation.json and its tables, and seals the folder again."""
    corpus = reduced(corpus, settings)
    stated = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))["corpus"]["fingerprint"]
    if corpus.fingerprint != stated:
        raise DataError(f"{folder}: was made from another corpus than {corpus.meta.name}. Name its own with --corpus.")
    table_of_folds = pl.read_parquet(folder / "folds.parquet")
    scenes = score(variants(settings, corpus), table_of_folds, jobs=jobs, show=show, within=folder.parent)
    whole = next(row for row in steps(settings, scenes) if row.name == "triage")
    system = table([judge(whole, scene, settings) for scene in scenes[WHOLE]])
    quick = settings.evaluate.model_copy(update={"bootstrap": 0})
    check_agrees(folder, records("final", system, ("ndcg@10", "auroc"), whole.mode, quick))
    show(1.0, "compare")
    found = document(scenes, corpus, settings)
    files.write_json(folder / "ablation.json", found)
    (folder / "tables").mkdir(exist_ok=True)
    for name, text in ablate_table.tables(found).items():
        files.write_text(folder / "tables" / name, text)
    seal(folder)
    return found


def check_agrees(folder: Path, computed: Sequence[Record]) -> None:
    """Refuse when the stages, computed again because they were not cached, do not give what the run has."""
    master = MetricsMaster.read(folder / "metrics_master.json")
    for record in computed:
        stated = master.get(record["id"], record["scope"], criteria=record["criteria"])
        if stated is not None and not isclose(stated["value"], record["value"], abs_tol=1e-9):
            raise DataError(
                f"{folder}: has {record['id']} {stated['value']:.6f}, but its stages now give {record['value']:.6f}: "
                "code, packages or machine have changed since. Make the run again in another folder, then ablate it."
            )


def settings_of(folder: Path, asked: RunSettings | None) -> RunSettings:
    """The settings of a finished run; refuses when others were asked for."""
    kept = settle(folder / "config.yaml").settings
    if asked is None:
        return kept
    before, now = (flatten(s.model_dump(mode="json")) for s in (kept, asked))
    changed = sorted(name for name in before | now if before.get(name) != now.get(name))
    if changed:
        name = changed[0]
        raise ConfigError(
            f"{folder}: holds a run with {name} = {before.get(name)!r}, not {now.get(name)!r}. "
            "Leave the settings out to ablate that run, or choose another folder with --out."
        )
    return kept


def document(scenes: Mapping[str, list[Scene]], corpus: Corpus, settings: RunSettings) -> Document:
    """Everything that ablation.json holds."""
    rows = steps(settings, scenes)
    excluded = corpus.meta.exclude_from_training
    systems = {
        row.name: table([judge(row, scene, settings) for scene in scenes[row.variant]], excluded=excluded)
        for row in rows
    }
    costs = _costs(scenes)
    measured = [_row(row, systems[row.name], settings, costs) for row in rows]
    pairs = _pairs(rows)
    if RESTORED in scenes:
        back = _back(rows, scenes, settings, excluded)
        systems |= back
        measured.append(_restored(systems, settings))
        pairs.append(Pair(base="triage_others", other="criterion_back", metrics=(*RANKING, *GATE), criteria="trained"))
    comparisons = compared(pairs, systems, settings.evaluate)
    policies, against = ablate_sweeps.against_fixed(scenes[WHOLE], settings)
    grid = ablate_sweeps.tau_grid(scenes[WHOLE], settings)
    found: Document = {
        "schema_version": 1,
        "meta": _meta(corpus, settings),
        "rows": measured,
        "comparisons": comparisons,
        "p3": _p3(systems, settings),
        "gates": _gates(scenes[WHOLE], systems["triage"], settings),
        "policies": policies,
        "policy_comparisons": against,
        "gamma_sweep": ablate_sweeps.gamma_sweep(policies),
        "tau_grid": grid,
        "costs": costs,
    }
    return {**found, "words": ablate_table.words(found)}


def _meta(corpus: Corpus, settings: RunSettings) -> Document:
    drawn = settings.evaluate
    return {
        "corpus": corpus.meta.name,
        "synthetic": corpus.meta.synthetic,
        "config_hash": files.sha256_json(settings.model_dump(mode="json")),
        "resamples": drawn.bootstrap,
        "seed": drawn.seed,
        "resample": drawn.resample,
        "adjustment": "Holm over each list of comparisons",
        "before_gate": "probability = the best candidate's score calibrated on TUNE",
        "before_policy": "the same number of sentences for every query, at the mean K of the policy",
    }


def _row(row: Configuration, system: Predictions, settings: RunSettings, costs: Sequence[Document]) -> Document:
    triaged = row.shows == "triage"
    ids = {*RANKING, *GATE, *SHOWN, "k_mean", *(TRIAGE if triaged else ())}
    found = records(row.name, system, ids, row.mode, settings.evaluate)
    if not triaged:
        found += [_null(found[0], name, NO_ALERT) for name in TRIAGE]
    return {
        "name": row.name,
        "label": row.label,
        "base": row.base,
        "variant": row.variant,
        "shows": row.shows,
        "seconds": _seconds(row, costs),
        "metrics": found,
    }


def _null(like: Record, name: str, reason: str) -> Record:
    empty = {"value": None, "reason": reason, "ci_low": None, "ci_high": None, "ci_method": None}
    kept = {field: like[field] for field in ("criteria", "stage")}
    return {"id": name, "scope": "pooled", "population": "all_queries", **kept, **empty, "n": 0, "n_docs": 0}


def _pairs(rows: Sequence[Configuration]) -> list[Pair]:
    """Each row against its base, on what can differ between them."""
    by_name = {row.name: row for row in rows}
    pairs = []
    for row in rows:
        if row.base is None:
            continue
        base = by_name[row.base]
        learned_again = row.variant != base.variant
        metrics = [
            *(RANKING if learned_again or row.order != base.order else ()),
            *(GATE if learned_again or row.gate != base.gate else ()),
            *(SHOWN if learned_again or (row.order, row.shows) != (base.order, base.shows) else ()),
        ]
        pairs.append(Pair(base=base.name, other=row.name, metrics=metrics))
    return pairs


def _back(
    rows: Sequence[Configuration], scenes: Mapping[str, list[Scene]], settings: RunSettings, excluded: Sequence[str]
) -> dict[str, Predictions]:
    """The whole system without and with the excluded criteria in training, on the other criteria."""
    whole = next(row for row in rows if row.name == "triage")
    return {
        name: table([judge(whole, scene, settings) for scene in scenes[variant]], drop=excluded)
        for name, variant in (("triage_others", WHOLE), ("criterion_back", RESTORED))
    }


def _restored(systems: Mapping[str, Predictions], settings: RunSettings) -> Document:
    ids = {*RANKING, *GATE, *SHOWN, "k_mean", *TRIAGE}
    found = records("criterion_back", systems["criterion_back"], ids, "triage", settings.evaluate)
    return {
        "name": "criterion_back",
        "label": "excluded criterion put back",
        "base": "triage_others",
        "variant": RESTORED,
        "shows": "triage",
        "seconds": None,
        "metrics": [{**record, "criteria": "trained"} for record in found],
    }


def _p3(systems: Mapping[str, Predictions], settings: RunSettings) -> Document:
    """The graph reranker's gain, claimed only over the best of its rivals."""
    rivals = [name for name in ("rerank", "linear", "graph_no_edges") if name in systems]
    if "graph" not in systems:
        return {"reason": "the graph reranker is switched off", "comparisons": []}
    pairs = [Pair(base=name, other="graph", metrics=("ndcg@10",)) for name in rivals]
    found = compared(pairs, systems, settings.evaluate) if pairs else []
    best = max(found, key=lambda row: row["base_value"] or 0.0, default=None)
    return {"best_rival": best["base"] if best else None, "comparisons": found}


def _gates(scenes: Sequence[Scene], final: Predictions, settings: RunSettings) -> Document:
    """Every gate on the same queries: the criterion's rate, the best sentence, each learned gate, and their mean."""
    names = {f"gate:{name}": name for name in ("rerank", "graph") if name in scenes[0].evaluation.gates}
    names["gate:final"] = "final"
    if final.prior is None:
        raise ValueError("every scene has a prior")
    systems = {"prior": with_gate(final, final.prior)}
    for label, gate in {"best_sentence": "best:final", **names}.items():
        parts = [calibrator(scene.tune, gate).predict(gate_of(scene.evaluation, gate)) for scene in scenes]
        systems[label] = with_gate(final, _aligned(scenes, parts))
    learned = list(names)
    pairs = [Pair(base=base, other=one, metrics=GATE) for one in learned for base in ("prior", "best_sentence")]
    pairs += [Pair(base=a, other=b, metrics=GATE) for i, a in enumerate(learned) for b in learned[i + 1 :]]
    rows = [
        {"name": name, "metrics": records(name, system, OF_GATES, "raw", settings.evaluate)}
        for name, system in systems.items()
    ]
    return {"rows": rows, "comparisons": compared(pairs, systems, settings.evaluate)}


def _aligned(scenes: Sequence[Scene], parts: Sequence[np.ndarray[Any, Any]]) -> np.ndarray[Any, Any]:
    """Per-fold arrays in the row order of `table`."""
    docs = np.concatenate([np.array(s.evaluation.view.doc_ids)[s.evaluation.view.query_doc] for s in scenes])
    asked = [np.array(s.evaluation.view.criterion_ids)[s.evaluation.view.query_criterion] for s in scenes]
    fold = np.concatenate([np.full(len(part), s.fold) for s, part in zip(scenes, parts, strict=True)])
    return np.concatenate(parts)[np.lexsort((fold, np.concatenate(asked), docs))]


def _costs(scenes: Mapping[str, list[Scene]]) -> list[Document]:
    """Seconds of every stage over all folds, as when it was computed; stages that variants share count once."""
    seconds: dict[tuple[str, str], float] = {}
    for variant, folds in scenes.items():
        for scene in folds:
            for timing in scene.timings:
                key = (variant, timing.stage)
                seconds[key] = seconds.get(key, 0.0) + timing.seconds
    return [{"variant": variant, "stage": stage, "seconds": round(s, 3)} for (variant, stage), s in seconds.items()]


NEEDS = {"retrieve": ("retrieve",), "linear": ("retrieve", "linear"), "rerank": ("retrieve", "linear", "rerank")}


def _seconds(row: Configuration, costs: Sequence[Document]) -> float:
    """What this configuration costs, its earlier stages included."""
    chosen = NEEDS.get(row.order)
    found = [c["seconds"] for c in costs if c["variant"] == row.variant and (chosen is None or c["stage"] in chosen)]
    return round(float(sum(found)), 3)
