"""Contract §§3 and 4 once more: scores against labels, in plain Python."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

Labels = Sequence[bool]
Scores = Sequence[float]
BINS = 10


def steps(scores: Scores, labels: Labels) -> list[tuple[float, int, int]]:
    """(score, positives, negatives) for every distinct score, from the highest."""
    rows = sorted(zip(scores, labels, strict=True), key=lambda row: -row[0])
    out = []
    for score, group in groupby(rows, key=lambda row: row[0]):
        members = [label for _, label in group]
        hits = sum(members)
        out.append((score, hits, len(members) - hits))
    return out


def auroc(found: Sequence[tuple[float, int, int]]) -> float:
    """The chance that a positive outscores a negative, a tie counting half."""
    wins = 0
    above = 0
    negatives = 0
    for _, hits, misses in found:
        wins += misses * (2 * above + hits)
        above += hits
        negatives += misses
    return wins / (2 * above * negatives)


def average_precision(found: Sequence[tuple[float, int, int]]) -> float:
    positives = sum(hits for _, hits, _ in found)
    parts = []
    hits_so_far = seen = 0
    for _, hits, misses in found:
        hits_so_far += hits
        seen += hits + misses
        parts.append(hits * (hits_so_far / seen))
    return math.fsum(parts) / positives


def at_budget(found: Sequence[tuple[float, int, int]], budget: float) -> tuple[float | None, float]:
    """The threshold of the largest TPR whose FPR is within the budget, and that TPR; the higher threshold on a tie."""
    positives = sum(hits for _, hits, _ in found)
    negatives = sum(misses for _, _, misses in found)
    best: tuple[float | None, float] = (None, 0.0)
    tp = fp = 0
    for score, hits, misses in found:
        tp += hits
        fp += misses
        if negatives and fp / negatives > budget:
            break
        if best[0] is None or tp / positives > best[1]:
            best = (score, tp / positives if positives else 0.0)
    return best


@dataclass(frozen=True, slots=True)
class Confusion:
    """The four counts of a yes-or-no decision; a ratio without a denominator is 0."""

    tp: int
    fp: int
    tn: int
    fn: int

    def ratio(self, name: str) -> tuple[float, bool]:
        """A derived figure, and whether its denominator was there."""
        tp, fp, tn, fn = self.tp, self.fp, self.tn, self.fn
        pairs = {
            "sensitivity": (tp, tp + fn),
            "specificity": (tn, tn + fp),
            "fpr": (fp, tn + fp),
            "fnr": (fn, tp + fn),
            "precision": (tp, tp + fp),
            "npv": (tn, tn + fn),
            "f1": (2 * tp, 2 * tp + fp + fn),
        }
        if name in pairs:
            part, whole = pairs[name]
            return (part / whole, True) if whole else (0.0, False)
        if name == "balanced_accuracy":
            left, there = self.ratio("sensitivity")
            right, too = self.ratio("specificity")
            return (left + right) / 2, there and too
        product = (tp + fp) * (tp + fn) * (tn + fp) * (tn + fn)
        return ((tp * tn - fp * fn) / math.sqrt(product), True) if product else (0.0, False)


RATIOS = frozenset({"sensitivity", "specificity", "fpr", "precision", "npv", "f1", "mcc", "balanced_accuracy"})
COUNTS = frozenset({"tp", "fp", "tn", "fn"})


def confusion(predicted: Labels, labels: Labels) -> Confusion:
    pairs = list(zip(predicted, labels, strict=True))
    tp = sum(1 for p, y in pairs if p and y)
    fp = sum(1 for p, y in pairs if p and not y)
    fn = sum(1 for p, y in pairs if not p and y)
    return Confusion(tp, fp, len(pairs) - tp - fp - fn, fn)


def brier(probs: Scores, labels: Labels) -> float:
    return math.fsum((p - y) ** 2 for p, y in zip(probs, labels, strict=True)) / len(probs)


def edges() -> list[float]:
    """The doubles of numpy.linspace(0, 1, 11): i times the double 1/10, the last one exactly 1."""
    return [i * (1 / BINS) for i in range(BINS)] + [1.0]


def bins(probs: Scores, labels: Labels) -> list[tuple[int, float, float]]:
    """(rows, mean probability, frequency) of every bin, [lo, hi), the last one closed at 1."""
    limits = edges()
    members: list[list[tuple[float, bool]]] = [[] for _ in range(BINS)]
    for p, y in zip(probs, labels, strict=True):
        place = next((i for i in range(BINS) if limits[i] <= p < limits[i + 1]), BINS - 1)
        members[place].append((p, y))
    return [_summary(rows) for rows in members]


def _summary(rows: Sequence[tuple[float, bool]]) -> tuple[int, float, float]:
    if not rows:
        return 0, 0.0, 0.0
    return len(rows), math.fsum(p for p, _ in rows) / len(rows), sum(y for _, y in rows) / len(rows)


def _weighted_gap(found: Sequence[tuple[int, float, float]], total: int) -> float:
    return math.fsum(n / total * abs(mean - frequency) for n, mean, frequency in found if n)


def ece(probs: Scores, labels: Labels) -> float:
    return _weighted_gap(bins(probs, labels), len(probs))


def ece_dropone(probs: Scores, labels: Labels) -> float:
    """As 000's code has it: a probability of exactly 1 falls in no bin, the weights stay over all rows."""
    kept = [(p, y) for p, y in zip(probs, labels, strict=True) if p < 1.0]
    return _weighted_gap(bins([p for p, _ in kept], [y for _, y in kept]), len(probs))


def mce(probs: Scores, labels: Labels) -> float:
    return max((abs(mean - frequency) for n, mean, frequency in bins(probs, labels) if n), default=0.0)
