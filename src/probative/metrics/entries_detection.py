"""Contract §3."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from probative.metrics.entry import Target
from probative.metrics.entry_of import entry

_TABLE = "tp 3, fp 1, tn 5, fn 1"

_entry = partial(entry, section="3 No-evidence detection", inputs=("prob", "gold_uids"))
_GOLD = ("gold_uids",)
_COUNTS = (
    _entry(
        "n_queries",
        "number of labelled queries",
        "004",
        "How many queries the numbers beside it stand on.",
        "Two documents × three criteria: 6.",
        high=None,
        better="none",
        inputs=_GOLD,
    ),
    _entry(
        "n_positive",
        "number of queries with evidence, unlocated ones included",
        "004",
        "How many queries have evidence: small numbers make every rate over positives uncertain.",
        "Evidence for 2 of 6 queries: 2.",
        high=None,
        better="none",
        inputs=_GOLD,
    ),
    _entry(
        "positive_rate",
        "n_positive / n_queries",
        "004",
        "How common evidence is: the AUPRC of a gate that knows nothing.",
        "2 of 6: .333.",
        better="none",
        inputs=_GOLD,
    ),
)
_ONE_CLASS = "One class only gives {} with a reason, which enters no mean, macro average or interval."
_CURVES = (
    _entry(
        "auroc",
        "P(p of a random positive > p of a random negative) + ½ P(equal)",
        "000 001 002 003 004",
        "The chance that a query with evidence gets the higher probability; .5 knows nothing.",
        "Positives .9 .4, negatives .6 .1: 3 of 4 pairs in order, .75.",
        conventions=_ONE_CLASS.format(".5"),
        default=True,
        target=Target(at_least=0.85),
        baseline=(0.55, 0.65),
        good=(0.70, 0.80),
    ),
    _entry(
        "auroc_raw",
        "auroc of the uncalibrated scores",
        "004",
        "Its mean over folds beside the pooled auroc shows whether calibration made folds comparable: a gap above .01 "
        "is flagged.",
        "Fold mean .90, pooled auroc .88: a gap of .02, flagged.",
        conventions=_ONE_CLASS.format(".5"),
        inputs=("prob_raw", "gold_uids"),
    ),
    _entry(
        "auprc",
        "Σ (R_i − R_{i−1}) · P_i over falling thresholds (average precision)",
        "000 001 002 003 004",
        "Precision averaged over all recalls; compare it with positive_rate, never with .5.",
        "Positives .9 .4, negatives .6 .1: ½ · 1 + ½ · 2/3 = .833.",
        conventions=_ONE_CLASS.format("the prevalence"),
        default=True,
        target=Target(at_least=0.55),
    ),
    _entry(
        "auroc_candidates",
        "auroc over all (query, sentence) rows by their ranking score",
        "001",
        "The chance that an evidence sentence of any query outscores a non-evidence sentence of any other: only fair "
        "for scores that are comparable between queries.",
        "Rows .9 (gold), .8, .3 (gold), .2: 3 of 4 pairs in order, .75.",
        conventions=_ONE_CLASS.format(".5") + " Rows are those of the rankings; gold outside them has no row.",
        populations=("candidates",),
        inputs=("ranked_uids", "gold_uids", "ranked_scores"),
    ),
    _entry(
        "auprc_candidates",
        "average precision over all (query, sentence) rows by their ranking score",
        "001",
        "Precision over all sentences of all queries sorted by one score; compare it with the share of gold rows.",
        "Rows .9 (gold), .8, .3 (gold), .2: ½ · 1 + ½ · 2/3 = .833.",
        conventions=_ONE_CLASS.format("the prevalence"),
        populations=("candidates",),
        inputs=("ranked_uids", "gold_uids", "ranked_scores"),
    ),
    _entry(
        "auroc_within",
        "mean auroc over criteria with at least 20 positives and 20 negatives",
        "–",
        "Discrimination inside a criterion: a gate that only knows which criteria are common scores .5 here.",
        "Criteria with .8 and .9 and one with 5 positives: .85.",
        conventions="No such criterion gives 0 with a reason.",
    ),
    _entry(
        "auprc_within",
        "mean auprc over criteria with at least 20 positives and 20 negatives",
        "–",
        "Average precision inside a criterion, every criterion weighing the same.",
        "Criteria with .6 and .8 and one with 5 positives: .7.",
        conventions="No such criterion gives 0 with a reason.",
    ),
)
_BUDGETS = (
    _entry(
        "tpr@fpr=α",
        "largest TPR of any threshold whose FPR on the same data is at most α",
        "000 001 004",
        "The share of evidence queries that could be caught while at most α of the others raise a false alarm, with "
        "the threshold chosen in hindsight.",
        "Positives .9 .4, negatives .6 .1: at α = .05 the threshold .9 catches ½.",
        conventions="Every distinct score is tried. No score qualifies: 0. One class only: 0 with a reason.",
        default=True,
        baseline=(0.08, 0.15),
        good=(0.20, 0.35),
    ),
    _entry(
        "curve_threshold@fpr=α",
        "the highest threshold that reaches tpr@fpr=α",
        "000",
        "The probability at which that happens; chosen in hindsight, so not a threshold to deploy.",
        "Positives .9 .4, negatives .6 .1: at α = .05 it is .9.",
        conventions="Null when no score qualifies. No interval.",
        better="none",
    ),
    _entry(
        "tpr_transfer@fpr=α",
        "TPR on EVAL at the threshold that TUNE gave for α",
        "002",
        "The share of evidence queries caught with a threshold chosen in advance: what one gets in use.",
        "Threshold .5 from TUNE, positives .9 .4: ½.",
        conventions="An empty threshold predicts nothing.",
        inputs=("prob", "gold_uids", "threshold@fpr=α"),
        default=True,
    ),
    _entry(
        "fpr_transfer@fpr=α",
        "FPR on EVAL at the threshold that TUNE gave for α",
        "002",
        "The false alarm rate that the budget α turned into on new documents: near α when the threshold transfers.",
        "Threshold .5 from TUNE, negatives .6 .1: ½.",
        conventions="An empty threshold predicts nothing.",
        inputs=("prob", "gold_uids", "threshold@fpr=α"),
        better="lower",
        default=True,
    ),
)
_CELLS = tuple(
    _entry(
        name,
        formula,
        "002 004",
        reading,
        f"{_TABLE}: {name} = {value}.",
        inputs=("predicted", "gold_uids"),
        high=None,
        better=better,
    )
    for name, formula, reading, value, better in (
        ("tp", "evidence and predicted", "Evidence queries that the gate lets through.", 3, "higher"),
        ("fp", "no evidence, yet predicted", "False alarms.", 1, "lower"),
        ("tn", "no evidence and not predicted", "Queries rightly set aside.", 5, "higher"),
        ("fn", "evidence, yet not predicted", "Misses.", 1, "lower"),
    )
)
_RATES = tuple(
    _entry(
        name,
        formula,
        sources,
        reading,
        f"{_TABLE}: {value}.",
        inputs=("predicted", "gold_uids"),
        conventions="A zero denominator gives 0 with a reason.",
        low=low,
        better=better,
    )
    for name, formula, sources, reading, value, low, better in (
        (
            "sensitivity",
            "tp / (tp + fn)",
            "002 004",
            "The share of evidence queries caught.",
            "3/4 = .75",
            0.0,
            "higher",
        ),
        ("specificity", "tn / (tn + fp)", "002 004", "The share of others set aside.", "5/6 = .833", 0.0, "higher"),
        (
            "fpr",
            "fp / (fp + tn)",
            "002 004",
            "The share of others that raise a false alarm.",
            "1/6 = .167",
            0.0,
            "lower",
        ),
        (
            "precision",
            "tp / (tp + fp)",
            "002 004",
            "How often a positive prediction is right.",
            "3/4 = .75",
            0.0,
            "higher",
        ),
        ("npv", "tn / (tn + fn)", "004", "How often a negative prediction is right.", "5/6 = .833", 0.0, "higher"),
        (
            "f1",
            "2 tp / (2 tp + fp + fn)",
            "002 004",
            "The balance of sensitivity and precision.",
            "6/8 = .75",
            0.0,
            "higher",
        ),
        (
            "mcc",
            "(tp·tn − fp·fn) / √((tp+fp)(tp+fn)(tn+fp)(tn+fn))",
            "002 004",
            "The correlation of prediction and truth: 0 knows nothing, 1 is perfect, −1 always wrong.",
            "(15 − 1) / √(4·4·6·6) = .583",
            -1.0,
            "higher",
        ),
        (
            "balanced_accuracy",
            "(sensitivity + specificity) / 2",
            "002 004",
            "Accuracy with both classes weighing the same; .5 knows nothing.",
            "(.75 + .833) / 2 = .792",
            0.0,
            "higher",
        ),
    )
)
_AT_HALF = tuple(
    replace(
        entry,
        id=f"{entry.id}@p=0.5",
        formula=f"{entry.formula}, with predicted = (p ≥ 0.5)",
        sources=("004",),
        inputs=("prob", "gold_uids"),
    )
    for entry in (*_CELLS, *_RATES)
)
ENTRIES = (*_COUNTS, *_CURVES, *_BUDGETS, *_CELLS, *_RATES, *_AT_HALF)
