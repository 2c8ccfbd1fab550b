"""Contract §2."""

from __future__ import annotations

from functools import partial

from probative.metrics.entry_of import entry

_BOTH = ("positives_only", "all_queries")
_LISTS = ("ranked_uids", "gold_uids")
_EDGES = (
    "An empty gold or ranking scores 0; gold outside the ranking stays in the denominator; K = all is n of the query."
)

_entry = partial(entry, section="2 Ranking", populations=_BOTH, inputs=_LISTS, conventions=_EDGES)
ENTRIES = (
    _entry(
        "recall@K",
        "|R_K ∩ G| / |G|",
        "000 001 002 004",
        "The share of a query's evidence sentences that a reader sees in the first K.",
        "Ranking a b c d, gold {b, d}: recall@3 = 1/2.",
        default=True,
        baseline=(0.75, 0.85),
        good=(0.90, 0.95),
    ),
    _entry(
        "recall_inpool@K",
        "|R_K ∩ G ∩ pool| / |G ∩ pool|",
        "003",
        "The same over the evidence that the retriever handed on: it hides what the pool lost, so pool_coverage "
        "stands beside it.",
        "Gold {b, d}, only b in the pool, ranking a b c d: recall_inpool@3 = 1.",
        conventions="003's wording. No gold in the pool scores 0.",
        inputs=(*_LISTS, "pool_uids"),
    ),
    _entry(
        "pool_coverage",
        "|pool ∩ G| / |G|",
        "–",
        "The share of a query's evidence that reached the pool at all: the ceiling of every later stage.",
        "Gold {b, d}, pool {a, b}: pool_coverage = 1/2.",
        inputs=(*_LISTS, "pool_uids"),
    ),
    _entry(
        "precision@K",
        "|R_K ∩ G| / K",
        "003 004",
        "The share of the first K sentences that is evidence; short documents cannot reach 1.",
        "Ranking a b c d, gold {b, d}: precision@3 = 1/3.",
        default=True,
    ),
    _entry(
        "precision_keff@K",
        "|R_K ∩ G| / min(K, n)",
        "001",
        "The same, without holding it against a document that it has fewer than K sentences.",
        "Two candidates, both gold: precision_keff@10 = 2/2 where precision@10 = 2/10.",
    ),
    _entry(
        "hit@K",
        "1 when R_K ∩ G is not empty, else 0",
        "002 003 004",
        "The share of queries for which the first K show at least one evidence sentence.",
        "Ranking a b c d, gold {b, d}: hit@1 = 0, hit@3 = 1.",
        default=True,
    ),
    _entry(
        "mrr",
        "1 / rank of the first gold in the whole ranking",
        "002 003 004",
        "How early the first evidence sentence comes: 1/mrr is roughly its typical rank.",
        "Ranking a b c d, gold {b, d}: mrr = 1/2.",
        conventions="0 when no gold is in the ranking.",
        default=True,
    ),
    _entry(
        "mrr@K",
        "1 / rank of the first gold in R_K",
        "000 001",
        "The same, giving up after K.",
        "Ranking a b c d, gold {d}: mrr@3 = 0, mrr@5 = 1/4.",
        baseline=(0.65, 0.75),
        good=(0.80, 0.90),
    ),
    _entry(
        "map@K",
        "Σ_{i≤K} rel_i · P@i / min(|G|, K)",
        "000 001",
        "How far the first K are filled with evidence from the top; 1 when nothing stands before it.",
        "Ranking a b c d, gold {b, d}: map@3 = (1/2) / 2 = 1/4.",
        default=True,
    ),
    _entry(
        "map_found@K",
        "Σ_{i≤K} rel_i · P@i / |R_K ∩ G|",
        "002",
        "The same over the gold that was found: what was missed does not count against it.",
        "Ranking a b c d, gold {b, d}: map_found@3 = (1/2) / 1 = 1/2.",
        conventions="0 when no gold is in R_K.",
    ),
    _entry(
        "map_gold@K",
        "Σ_{i≤K} rel_i · P@i / |G|",
        "004",
        "The same over all gold, found or not; trec_eval's map_cut.",
        "Ranking a b c d, gold {b, d}: map_gold@1 = 0 / 2, map_gold@5 = (1/2 + 2/4) / 2 = 1/2.",
    ),
    _entry(
        "ndcg@K",
        "Σ_{i≤K} rel_i / log2(i + 1) over its best possible value, Σ_{i≤min(|G|, K)} 1 / log2(i + 1)",
        "000 001 002 003 004",
        "The quality of the order: 1 when all evidence stands first, less the further down it stands.",
        "Ranking a b c d, gold {b}: ndcg@3 = (1 / log2 3) / 1 = .631.",
        default=True,
        baseline=(0.70, 0.80),
        good=(0.85, 0.90),
    ),
)
