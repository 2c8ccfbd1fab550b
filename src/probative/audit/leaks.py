"""LK001 to LK007: does the corpus or the configuration let EVAL leak into what is learned?"""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import yaml

from probative.audit import detection, poisoning
from probative.audit.check import Check, absent, guarded, judged
from probative.audit.corpus import Annotated, read_corpus
from probative.errors import ConfigError, DataError

SHINGLE = 5
HASHES = 64
BANDS = 16
ALIKE = 0.8
TELLING = 0.995
WORDS = re.compile(r"\w+")
TELLING_TITLE = "No single feature gives the gold away"
TOGETHER = "Keep them on one side: set folds.near_duplicates to a similarity such as 0.8, or remove one of each."


def words(text: str) -> list[str]:
    return WORDS.findall(text.lower())


def overlap(annotated: Annotated, together: bool) -> Check:
    """LK001: the same document under two names."""
    title = "No document stands in the corpus twice"
    seen: dict[str, str] = {}
    found = []
    for doc, uids in sorted(annotated.sentences.items()):
        digest = hashlib.sha256(" ".join(words(" ".join(annotated.texts[u] for u in uids))).encode()).hexdigest()
        if digest in seen:
            found.append(f"documents {seen[digest]!r} and {doc!r} have the same text")
        seen.setdefault(digest, doc)
    good = f"{len(annotated.sentences):,} documents, all different"
    if found and together:
        good = f"{len(found)} documents repeat another; folds.near_duplicates keeps them on one side"
    return judged("LK001", title, () if together else found, good=good, fix=TOGETHER)


def near(annotated: Annotated, together: bool) -> Check:
    """LK002: documents that are almost the same."""
    title = "No two documents are near-duplicates"
    found = [
        f"documents {a!r} and {b!r} share {100 * share:.0f} % of their {SHINGLE}-word sequences"
        for a, b, share in near_duplicates(annotated)
    ]
    good = (
        f"no pair of {len(annotated.sentences):,} documents shares {100 * ALIKE:.0f} % of its {SHINGLE}-word sequences"
    )
    if found and together:
        good = f"{len(found)} pairs of near-duplicates; folds.near_duplicates keeps each on one side"
    return judged("LK002", title, () if together else found, good=good, fix=TOGETHER)


def near_duplicates(annotated: Annotated) -> Iterator[tuple[str, str, float]]:
    """Pairs of documents whose shingles have a Jaccard similarity of at least ALIKE, found by MinHash bands."""
    sets = {doc: shingles(" ".join(annotated.texts[u] for u in uids)) for doc, uids in annotated.sentences.items()}
    buckets: dict[tuple[int, tuple[int, ...]], list[str]] = defaultdict(list)
    rows = HASHES // BANDS
    for doc, members in sorted(sets.items()):
        signature = minhash(members) if members else ()
        for band in range(BANDS if members else 0):
            buckets[band, tuple(signature[band * rows : (band + 1) * rows])].append(doc)
    pairs = {(a, b) for docs in buckets.values() for i, a in enumerate(docs) for b in docs[i + 1 :]}
    for a, b in sorted(pairs):
        share = len(sets[a] & sets[b]) / len(sets[a] | sets[b])
        if share >= ALIKE:
            yield a, b, share


def shingles(text: str) -> set[int]:
    """Hashes of all sequences of five words."""
    tokens = words(text)
    if len(tokens) < SHINGLE:
        return set()
    pieces = (" ".join(tokens[i : i + SHINGLE]) for i in range(len(tokens) - SHINGLE + 1))
    return {int.from_bytes(hashlib.blake2b(piece.encode(), digest_size=8).digest()) for piece in pieces}


MASK = (1 << 64) - 1
MULTIPLIERS = [int.from_bytes(hashlib.blake2b(bytes([i]), digest_size=8).digest()) | 1 for i in range(HASHES)]


def minhash(members: set[int]) -> tuple[int, ...]:
    """The lowest of every hash function over a set."""
    return tuple(min((value * multiplier & MASK) for value in members) for multiplier in MULTIPLIERS)


def criteria(annotated: Annotated) -> Check:
    """LK003: what retrievers see must not quote the answers."""
    title = "No criterion quotes its own gold"
    if annotated.gold is None:
        return absent("LK003", title, "the gold names no sentences; import the corpus first")
    texts = {criterion: " ".join(words(text)) for criterion, text in annotated.criteria.items()}
    found = []
    for (doc, criterion), uids in sorted(annotated.gold.items()):
        for uid in sorted(uids):
            sentence = words(annotated.texts.get(uid, ""))
            if len(sentence) >= SHINGLE and " ".join(sentence) in texts.get(criterion, ""):
                found.append(f"criterion {criterion!r} contains the gold sentence {uid!r} of document {doc!r}")
    fix = "Describe the criterion in words that are not taken from annotated documents."
    return judged("LK003", title, found, good=f"{len(texts)} criteria, none holds a gold sentence", fix=fix)


Feature = Callable[[str, int, str], float]


def _features(annotated: Annotated) -> dict[str, Feature]:
    """Things that should tell nothing much about gold: (document, place, sentence) → number."""
    plain: dict[str, Feature] = {
        "place in the document": lambda doc, place, uid: float(place),
        "number in the sentence id": lambda doc, place, uid: float("".join(re.findall(r"\d+", uid)[-1:]) or 0),
        "length of the sentence id": lambda doc, place, uid: float(len(uid)),
        "length of the text": lambda doc, place, uid: float(len(annotated.texts[uid])),
        "capital letters": lambda doc, place, uid: float(sum(c.isupper() for c in annotated.texts[uid])),
        "white space at the ends": lambda doc, place, uid: float(
            len(annotated.texts[uid]) - len(annotated.texts[uid].strip())
        ),
        "characters outside letters, digits and spaces": lambda doc, place, uid: float(
            sum(not (c.isalnum() or c.isspace()) for c in annotated.texts[uid])
        ),
    }
    numeric = {
        name
        for row in annotated.columns.values()
        for name, value in row.items()
        if isinstance(value, int | float) and not isinstance(value, bool)
    }
    for column in sorted(numeric):
        plain[f"column {column}"] = lambda doc, place, uid, column=column: float(  # type: ignore[misc]
            annotated.columns[uid].get(column) or 0
        )
    return plain


def telling(annotated: Annotated, train: frozenset[str]) -> Check:
    """LK004: a single feature that all but knows the gold."""
    title = TELLING_TITLE
    if annotated.gold is None:
        return absent("LK004", title, "the gold names no sentences; import the corpus first")
    any_gold = {uid for uids in annotated.gold.values() for uid in uids}
    rows = [(doc, place, uid) for doc in sorted(train) for place, uid in enumerate(annotated.sentences[doc])]
    labels = [uid in any_gold for _, _, uid in rows]
    if not 0 < sum(labels) < len(labels):
        return absent("LK004", title, "TRAIN has one class only")
    found = []
    for name, feature in _features(annotated).items():
        area = detection.auroc(detection.steps([feature(*row) for row in rows], labels))
        if max(area, 1 - area) > TELLING:
            found.append(f"{name} alone parts gold from the rest with an AUROC of {max(area, 1 - area):.4f} on TRAIN")
    fix = "Find out how the annotation got into this feature, and remove it from the corpus."
    good = f"{len(_features(annotated))} simple features over {len(rows):,} sentences of TRAIN, none above {TELLING}"
    return judged("LK004", title, found, good=good, fix=fix)


def leakage(
    config: str | Path,
    corpus: str | Path | None = None,
    *,
    quick: bool = False,
    runner: poisoning.Runner = poisoning.run_command,
    prover: poisoning.Prover = poisoning.prove_command,
) -> dict[str, Any]:
    """Look for leaks in a configuration and its corpus; `quick` leaves out the runs on poisoned corpora.

    `runner` makes a run folder from a configuration and a corpus folder, `prover` fits each stage without EVAL; by
    default both start commands.
    """
    path = Path(config)
    try:
        settings = yaml.safe_load(path.read_text(encoding="utf-8")) or {}
    except (OSError, yaml.YAMLError) as error:
        raise ConfigError(f"{path}: is not readable YAML ({error}).") from error
    folder = Path(corpus or settings.get("corpus") or "")
    if not (corpus or settings.get("corpus")):
        raise ConfigError(f"{path}: names no corpus. Give one: probative verify --leakage {path} --corpus PATH")
    annotated = read_corpus(folder)
    if annotated is None:
        raise DataError(f"{folder}: is not a corpus folder with sentences. Import it first: probative data import.")
    together = bool((settings.get("folds") or {}).get("near_duplicates"))
    found = [
        guarded("LK001", "No document stands in the corpus twice", lambda: overlap(annotated, together)),
        guarded("LK002", "No two documents are near-duplicates", lambda: near(annotated, together)),
        guarded("LK003", "No criterion quotes its own gold", lambda: criteria(annotated)),
    ]
    if quick:
        found += _without_runs(annotated)
    else:
        with poisoning.Trial(path, folder, runner, prover) as trial:
            found += _with_runs(annotated, trial)
    return _result(found, len(annotated.sentences))


def _without_runs(annotated: Annotated) -> Sequence[Check]:
    titles = {"LK005": poisoning.POISONED, "LK006": poisoning.REPLACED, "LK007": poisoning.DELETED}
    skipped = [absent(code, title, "left out by --quick") for code, title in titles.items()]
    return [guarded("LK004", TELLING_TITLE, lambda: telling(annotated, frozenset(annotated.sentences))), *skipped]


def _with_runs(annotated: Annotated, trial: poisoning.Trial) -> Sequence[Check]:
    return [
        guarded("LK004", TELLING_TITLE, lambda: telling(annotated, trial.train)),
        guarded("LK005", poisoning.POISONED, trial.poisoned),
        guarded("LK006", poisoning.REPLACED, trial.replaced),
        guarded("LK007", poisoning.DELETED, trial.deleted),
    ]


def _result(found: Sequence[Check], documents: int) -> dict[str, Any]:
    failed = [check.code for check in found if check.failed]
    verdict = f"{len(failed)} leaks suspected" if failed else "no leak found"
    return {
        "schema_version": 1,
        "status": "failed" if failed else "passed",
        "summary": f"{documents:,} documents looked at; {verdict}.",
        "failed": failed,
        "checks": [check.as_dict() for check in found],
    }
