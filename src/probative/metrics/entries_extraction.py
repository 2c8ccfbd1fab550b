"""Contract §§5 and 6."""

from __future__ import annotations

from functools import partial

from probative.metrics.entry import Target
from probative.metrics.entry_of import entry

_K = ("all_queries", "positives_only", "negatives_only", "state:NEG", "state:UNCERTAIN", "state:POS")

_extraction = partial(entry, section="5 Dynamic-K extraction", inputs=("selected_*", "gold_uids"), by_mode=True)
_SHOWN = "Selected {a, b}, gold {b, d, e}"
_SIZES = "Selections of 0 2 4 sentences"
_SELECTED = (
    _extraction(
        "evidence_recall",
        "mean of |sel ∩ G| / |G|",
        "004",
        "The share of a query's evidence that the reader is shown.",
        f"{_SHOWN}: 1/3.",
        populations=("positives_only",),
        default=True,
        target=Target(at_least=0.70),
    ),
    _extraction(
        "evidence_recall_all",
        "the same over all queries; empty gold counts 1 when nothing is selected, else 0",
        "000",
        "Mostly the share of queries without evidence for which nothing is shown, where those are many.",
        "A query without gold and without selection: 1.",
    ),
    _extraction(
        "evidence_recall_micro",
        "Σ|sel ∩ G| / Σ|G|",
        "002",
        "The share of all evidence sentences shown; queries with much evidence weigh more.",
        "1 of 3 and 1 of 1 shown: 2/4.",
        populations=("positives_only",),
    ),
    _extraction(
        "evidence_recall_micro_passed",
        "Σ|sel ∩ G| / Σ|G| over positives that passed",
        "002",
        "The same where the gate let the query through: what the selection loses, without what the gate loses.",
        "1 of 3 shown of a passed query, a second query blocked: 1/3.",
        populations=("passed_positives",),
        conventions="Passed: predicted = 1 (raw, gate), state ≠ NEG (triage).",
        inputs=("selected_*", "gold_uids", "predicted or state"),
    ),
    _extraction(
        "evidence_precision",
        "mean of |sel ∩ G| / |sel|, 0 when nothing is selected",
        "004",
        "The share of the shown sentences that is evidence: the rest is the reader's burden.",
        f"{_SHOWN}: 1/2.",
        populations=("positives_only",),
        default=True,
    ),
    _extraction(
        "evidence_precision_all",
        "the same over all queries; an empty selection counts 1 when gold is empty, else 0",
        "000",
        "Mostly the share of queries without evidence for which nothing is shown, where those are many.",
        "A query without gold and without selection: 1.",
    ),
    _extraction(
        "evidence_f1",
        "mean of 2 |sel ∩ G| / (|sel| + |G|)",
        "–",
        "The balance of the two, query by query.",
        f"{_SHOWN}: 2/5.",
        populations=("positives_only",),
    ),
    _extraction(
        "k_mean",
        "mean of |sel|",
        "000 002 004",
        "How many sentences a query shows on average, blocked queries counting 0.",
        f"{_SIZES}: 2.",
        populations=_K,
        high=None,
        better="none",
    ),
    *(
        _extraction(
            name,
            formula,
            sources,
            reading,
            f"{_SIZES}: {value}.",
            populations=_K,
            high=None,
            better="none",
            conventions=conventions,
        )
        for name, formula, sources, reading, value, conventions in (
            ("k_median", "median of |sel|", "002 004", "What a typical query shows.", "2", "Linear quantiles."),
            (
                "k_std",
                "standard deviation of |sel|",
                "002",
                "How much the number shown varies.",
                "1.633",
                "Divides by n.",
            ),
            ("k_min", "smallest |sel|", "002 004", "The least that is shown.", "0", "No interval."),
            ("k_max", "largest |sel|", "002 004", "The most that is shown.", "4", "No interval."),
            (
                "k_p25",
                "first quartile of |sel|",
                "002",
                "A quarter of the queries show less.",
                "1",
                "Linear quantiles.",
            ),
            (
                "k_p75",
                "third quartile of |sel|",
                "002",
                "A quarter of the queries show more.",
                "3",
                "Linear quantiles.",
            ),
            ("k_p90", "90th percentile of |sel|", "004", "The workload to plan for.", "3.6", "Linear quantiles."),
        )
    ),
    _extraction(
        "k_mean_passed",
        "mean of |sel| over queries that passed",
        "002",
        "How many sentences a query shows once the gate let it through.",
        "Blocked 0, passed 2 and 4: 3.",
        populations=("passed_queries",),
        conventions="Passed: predicted = 1 (raw, gate), state ≠ NEG (triage).",
        inputs=("selected_*", "predicted or state"),
        high=None,
        better="none",
    ),
)
_DEPLOYED = tuple(
    entry(
        name,
        formula,
        "002",
        reading,
        f"Shown for 3 of 4 evidence queries and 1 of 6 others: {value}.",
        section="6 Deployment",
        inputs=("selected_*", "gold_uids"),
        by_mode=True,
        conventions="Positive = something was returned. A zero denominator gives 0 with a reason.",
        high=None if name[7:] in ("tp", "fp", "tn", "fn") else 1.0,
        better=better,
    )
    for name, formula, reading, value, better in (
        ("deploy_tp", "evidence and something shown", "Evidence queries that show something.", "3", "higher"),
        ("deploy_fp", "no evidence, yet something shown", "Queries that show something for nothing.", "1", "lower"),
        ("deploy_tn", "no evidence and nothing shown", "Queries that rightly show nothing.", "5", "higher"),
        ("deploy_fn", "evidence, yet nothing shown", "Evidence queries that show nothing.", "1", "lower"),
        ("deploy_fpr", "deploy_fp / (fp + tn)", "How often a query without evidence shows something.", "1/6", "lower"),
        ("deploy_fnr", "deploy_fn / (fn + tp)", "How often a query with evidence shows nothing.", "1/4", "lower"),
        ("deploy_precision", "deploy_tp / (tp + fp)", "How often what is shown belongs to evidence.", "3/4", "higher"),
        ("deploy_recall", "deploy_tp / (tp + fn)", "How often evidence shows something.", "3/4", "higher"),
        ("deploy_f1", "2 tp / (2 tp + fp + fn)", "The balance of the two.", "6/8", "higher"),
    )
)

ENTRIES = (*_SELECTED, *_DEPLOYED)
