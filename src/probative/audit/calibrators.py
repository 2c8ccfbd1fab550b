"""Calibration fitted a second time: Platt, temperature and isotonic in plain Python, chosen by grouped log loss."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from typing import Any

Map = Callable[[float], float]
KINDS = ("isotonic", "platt", "temperature")
FOLDS = 5
BELOW_ONE = math.nextafter(1.0, 0.0)
LIMIT = 709.0


def sigmoid(z: float) -> float:
    if z >= 0:
        return 1.0 / (1.0 + math.exp(-z))
    small = math.exp(z)
    return small / (1.0 + small)


def logit(p: float) -> float:
    """The log-odds of a stored probability, as far as a double still tells."""
    if p <= 0.0:
        return -LIMIT
    return LIMIT if p >= 1.0 else math.log(p) - math.log1p(-p)


def platt(a: float, b: float) -> Map:
    return lambda z: sigmoid(a * z + b)


def temperature(t: float) -> Map:
    return lambda z: sigmoid(z / t)


def isotonic(x: Sequence[float], y: Sequence[float]) -> Map:
    """Straight lines between the points, constant outside."""

    def value(z: float) -> float:
        if z <= x[0]:
            return y[0]
        if z >= x[-1]:
            return y[-1]
        right = bisect_right(x, z)
        low, high = right - 1, min(right, len(x) - 1)
        return y[low] + (z - x[low]) / (x[high] - x[low]) * (y[high] - y[low])

    return value


def written(entry: Mapping[str, Any]) -> Map:
    """The map that a manifest describes, blended as the contract of the run folder says."""
    kind = entry["kind"]
    if kind == "platt":
        plain = platt(entry["a"], entry["b"])
    elif kind == "temperature":
        plain = temperature(entry["t"])
    elif kind == "isotonic":
        plain = isotonic(entry["x"], entry["y"])
    else:
        raise ValueError(f"calibrator kind {kind!r} is unknown")
    return blended(plain, float(entry["delta"]))


def blended(plain: Map, delta: float) -> Map:
    return lambda z: min((1.0 - delta) * plain(z) + delta * sigmoid(z), BELOW_ONE)


def fit_isotonic(z: Sequence[float], labels: Sequence[bool]) -> Map:
    """Pool adjacent violators; equal scores are one point from the start."""
    points: dict[float, list[int]] = {}
    for score, label in sorted(zip(z, labels, strict=True)):
        cell = points.setdefault(score, [0, 0])
        cell[0] += label
        cell[1] += 1
    blocks: list[list[Any]] = []
    for score, (hits, size) in points.items():
        blocks.append([score, score, hits, size])
        while len(blocks) > 1 and blocks[-2][2] * blocks[-1][3] >= blocks[-1][2] * blocks[-2][3]:
            _, last, hits_above, size_above = blocks.pop()
            blocks[-1][1] = last
            blocks[-1][2] += hits_above
            blocks[-1][3] += size_above
    x: list[float] = []
    y: list[float] = []
    for first, last, hits, size in blocks:
        for place in (first, last) if last > first else (first,):
            x.append(place)
            y.append(hits / size)
    return isotonic(x, y)


def _separated(z: Sequence[float], labels: Sequence[bool]) -> bool:
    inside = [s for s, y in zip(z, labels, strict=True) if y]
    outside = [s for s, y in zip(z, labels, strict=True) if not y]
    if not inside or not outside:
        return True
    return min(inside) >= max(outside) or max(inside) <= min(outside)


def fit_platt(z: Sequence[float], labels: Sequence[bool]) -> Map | None:
    """Maximum likelihood by Newton's steps; None when no finite rising curve is the best."""
    if _separated(z, labels):
        return None
    centre = math.fsum(z) / len(z)
    spread = math.sqrt(math.fsum((s - centre) ** 2 for s in z) / len(z))
    unit = [(s - centre) / spread for s in z]
    a, b = _newton([(u, 1.0) for u in unit], labels)
    if a <= 0:
        return None
    return platt(a / spread, b - a / spread * centre)


def fit_temperature(z: Sequence[float], labels: Sequence[bool]) -> Map | None:
    toward = [s if y else -s for s, y in zip(z, labels, strict=True)]
    if not 0 < sum(labels) < len(labels) or math.fsum(toward) <= 0 or min(toward) >= 0:
        return None
    scale = max(abs(s) for s in z)
    inverse, _ = _newton([(s / scale, 0.0) for s in z], labels)
    return temperature(scale / inverse)


def _newton(design: Sequence[tuple[float, float]], labels: Sequence[bool]) -> tuple[float, float]:
    """Logistic regression on two columns; a column of zeros is left alone."""
    a = b = 0.0
    here = _loss(design, labels, a, b)
    for _ in range(100):
        ga = gb = haa = hab = hbb = 0.0
        for (u, v), y in zip(design, labels, strict=True):
            p = sigmoid(a * u + b * v)
            weight = p * (1.0 - p)
            ga += (p - y) * u
            gb += (p - y) * v
            haa += weight * u * u
            hab += weight * u * v
            hbb += weight * v * v
        determinant = haa * hbb - hab * hab
        if hbb == 0.0:
            step = (ga / haa, 0.0)
        else:
            step = ((hbb * ga - hab * gb) / determinant, (haa * gb - hab * ga) / determinant)
        if ga * step[0] + gb * step[1] < 1e-18 * len(design):
            break
        size = 1.0
        while size > 1e-9 and _loss(design, labels, a - size * step[0], b - size * step[1]) > here:
            size /= 2
        a, b = a - size * step[0], b - size * step[1]
        here = _loss(design, labels, a, b)
    return a, b


def _loss(design: Sequence[tuple[float, float]], labels: Sequence[bool], a: float, b: float) -> float:
    total = 0.0
    for (u, v), y in zip(design, labels, strict=True):
        margin = (a * u + b * v) * (1.0 if y else -1.0)
        total += math.log1p(math.exp(-margin)) if margin > -LIMIT else -margin
    return total


FITS: dict[str, Callable[[Sequence[float], Sequence[bool]], Map | None]] = {
    "isotonic": fit_isotonic,
    "platt": fit_platt,
    "temperature": fit_temperature,
}


def grouped_log_loss(
    kind: str, z: Sequence[float], labels: Sequence[bool], documents: Sequence[str], delta: float
) -> float | None:
    """Mean over five folds of documents (sorted, dealt in turn) of the log loss on those left out."""
    number = {doc: place % FOLDS for place, doc in enumerate(sorted(set(documents)))}
    losses = []
    for held in range(min(FOLDS, len(number))):
        known = [i for i, doc in enumerate(documents) if number[doc] != held]
        left = [i for i, doc in enumerate(documents) if number[doc] == held]
        plain = FITS[kind]([z[i] for i in known], [labels[i] for i in known])
        if plain is None:
            return None
        edge = 1.0 / (len(known) + 2)
        final = blended(plain, delta)
        parts = []
        for i in left:
            p = min(max(final(z[i]), edge), 1.0 - edge)
            parts.append(-math.log(p if labels[i] else 1.0 - p))
        losses.append(math.fsum(parts) / len(parts))
    return math.fsum(losses) / len(losses)
