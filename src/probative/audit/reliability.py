"""Contract §4's figures for people who publish, and the risk–coverage area of §7, once more."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from itertools import groupby

from probative.audit.calibrators import sigmoid
from probative.audit.queries import Query

CLIP = 1e-12
BINS = 10
Line = tuple[float, float]


def ece_equalmass(probs: Sequence[float], labels: Sequence[bool]) -> float:
    """Over bins between the deciles; equal deciles are one edge, so equal probabilities share a bin."""
    edges = deciles(probs)
    gaps = [0.0] * (len(edges) - 1)
    members: list[list[float]] = [[] for _ in gaps]
    for p, y in zip(probs, labels, strict=True):
        place = min(max(bisect_right(edges, p) - 1, 0), len(gaps) - 1)
        members[place].append(p - y)
    return math.fsum(abs(math.fsum(rows)) for rows in members) / len(probs)


def deciles(probs: Sequence[float]) -> list[float]:
    """Distinct edges of bins that hold equally many, rounded as NumPy rounds them.

    A decile may fall on a probability, and then its last bit decides to which bin that belongs.
    """
    rising, last = sorted(probs), len(probs) - 1
    edges = set()
    for i in range(BINS + 1):
        place = (1.0 if i == BINS else i * 0.1) * last
        low, high = rising[math.floor(place)], rising[min(math.floor(place) + 1, last)]
        part = place - math.floor(place)
        edges.add(high - (high - low) * (1 - part) if part >= 0.5 else low + (high - low) * part)
    return sorted(edges) if len(edges) > 1 else [*edges, max(edges) + 1.0]


def log_odds(p: float) -> float:
    inside = min(max(p, CLIP), 1 - CLIP)
    return math.log(inside) - math.log1p(-inside)


def line(probs: Sequence[float], labels: Sequence[bool]) -> Line | None:
    """(slope, intercept) of the logistic regression of the labels on the log-odds; None without a finite best."""
    x = [log_odds(p) for p in probs]
    inside = [v for v, y in zip(x, labels, strict=True) if y]
    outside = [v for v, y in zip(x, labels, strict=True) if not y]
    if not inside or not outside or min(inside) >= max(outside) or max(inside) <= min(outside):
        return None
    centre = math.fsum(x) / len(x)
    spread = math.sqrt(math.fsum((v - centre) ** 2 for v in x) / len(x))
    unit = [(v - centre) / spread for v in x]
    slope, shift = _climb(unit, labels)
    return slope / spread, shift - slope / spread * centre


def _climb(unit: Sequence[float], labels: Sequence[bool]) -> Line:
    slope = shift = 0.0
    for _ in range(200):
        ga = gb = haa = hab = hbb = 0.0
        for u, y in zip(unit, labels, strict=True):
            p = sigmoid(slope * u + shift)
            weight = p * (1.0 - p)
            ga += (y - p) * u
            gb += y - p
            haa += weight * u * u
            hab += weight * u
            hbb += weight
        determinant = haa * hbb - hab * hab
        da, db = (hbb * ga - hab * gb) / determinant, (haa * gb - hab * ga) / determinant
        # A step longer than one unit of log-odds may overshoot where the curve is flat.
        size = min(1.0, 2.0 / max(abs(da), abs(db), 1e-300))
        slope, shift = slope + size * da, shift + size * db
        if max(abs(da), abs(db)) < 1e-13:
            break
    return slope, shift


Confidence = tuple[bool, float]


def answer(q: Query) -> tuple[Confidence, bool]:
    """(confidence, wrong) of a query: decided states are surer than UNCERTAIN, then distance counts."""
    threshold = 0.5 if q.threshold is None else 1.0 if math.isnan(q.threshold) else q.threshold
    distance = abs((q.prob or 0.0) - threshold)
    unsure = q.state == "UNCERTAIN"
    said = bool(q.predicted) if unsure else q.state == "POS"
    return (not unsure, distance), said != q.positive


def answers(queries: Sequence[Query]) -> list[tuple[Confidence, bool]]:
    """The answers to all queries, the surest first."""
    return sorted(map(answer, queries), key=lambda pair: pair[0], reverse=True)


def risks(queries: Sequence[Query]) -> list[float]:
    """The share of wrong answers after 1, 2, … n answers; ties count as answered in random order, on average."""
    errors = 0.0
    done = 0
    out = []
    for _, group in groupby(answers(queries), key=lambda pair: pair[0]):
        members = [wrong for _, wrong in group]
        share = sum(members) / len(members)
        for _ in members:
            errors += share
            done += 1
            out.append(errors / done)
    return out


def aurc(queries: Sequence[Query]) -> float:
    found = risks(queries)
    return math.fsum(found) / len(found) if found else 0.0
