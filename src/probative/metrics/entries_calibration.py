"""Contract §4."""

from __future__ import annotations

from functools import partial

from probative.metrics.entry import Target
from probative.metrics.entry_of import entry

_calibration = partial(entry, section="4 Calibration", inputs=("prob", "gold_uids"), better="lower")
_BINS = "p .2 .2 .9, evidence 0 1 1"
ENTRIES = (
    _calibration(
        "brier",
        "mean of (p − y)²",
        "004",
        "The mean squared error of the probabilities: 0 is perfect.",
        "p .9 .2, evidence 1 0: (.01 + .04) / 2 = .025.",
        default=True,
        target=Target(below=0.10),
    ),
    _calibration(
        "brier_skill",
        "1 − brier / brier(prior)",
        "–",
        "How much of the error of always saying the criterion's rate is gone: 0 is no better than the rate.",
        "brier .05 against .10 of the prior: .5.",
        inputs=("prob", "prior", "gold_uids"),
        low=None,
        better="higher",
    ),
    _calibration(
        "ece",
        "Σ_m n_m / N · |mean p − frequency|, ten bins [low, high), the last one closed at 1",
        "004",
        "By how much the probabilities are off on average, bin by bin.",
        f"{_BINS}: 2/3 · |.2 − .5| + 1/3 · |.9 − 1| = .233.",
        conventions="Edges are the doubles of numpy.linspace(0, 1, 11). Its interval is biased upward.",
        default=True,
        target=Target(below=0.05),
    ),
    _calibration(
        "ece_dropone",
        "ece with p = 1 in no bin, weights over N",
        "000",
        "000's code taken literally: certain predictions are never held to account.",
        "p 1 .2, evidence 0 0: ½ · .2 = .1, where ece is .6.",
        conventions="Its interval is biased upward.",
    ),
    _calibration(
        "mce",
        "max_m |mean p − frequency|, ten bins as in ece",
        "–",
        "The worst bin; small bins make it jump.",
        f"{_BINS}: max(.3, .1) = .3.",
        conventions="Empty bins do not count. Its interval is biased upward.",
    ),
    _calibration(
        "ece_equalmass",
        "ece over bins between the deciles of p",
        "–",
        "The same with bins that hold equally many queries.",
        "p .1 .2 … 1.0, one query a bin: the mean of |p − y|.",
        conventions="NumPy's linear deciles, equal ones merged; resamples keep the bins. Its interval is biased "
        "upward.",
    ),
    _calibration(
        "calibration_slope",
        "b of logit P(y) = a + b · logit p, by maximum likelihood",
        "–",
        "1 is right; below 1 the probabilities are too extreme, above 1 too timid.",
        "Log-odds twice as large as they should be: .5.",
        low=None,
        high=None,
        better="none",
        conventions="p is kept 1e-12 away from 0 and 1. Null when no finite line exists.",
    ),
    _calibration(
        "calibration_intercept",
        "a of logit P(y) = a + b · logit p, by maximum likelihood",
        "–",
        "0 is right, read with a slope of 1; above 0 the probabilities are too low.",
        "Probabilities right throughout: 0.",
        low=None,
        high=None,
        better="none",
        conventions="Fitted together with the slope.",
    ),
)
