"""Which document answers which criterion: exact counts in every block, fair shares in every beginning of one."""

from __future__ import annotations

import math
from functools import lru_cache
from random import Random

BLOCK = 1477
POSITIVES = (328, 124, 44, 102, 35, 124, 312, 59, 165, 86)
"""Documents of a block with evidence, A.1 … A.10."""
AUTHORS = 900
COMORBIDITY = 0.8


@lru_cache(maxsize=4)
def criteria_of(seed: int, block: int) -> tuple[tuple[int, ...], ...]:
    """For every document of a block the criteria that it has evidence for.

    A criterion's documents are drawn one from each of equally long stretches, so that a smaller corpus, which is
    the beginning of a larger one, keeps the proportions. Heavily burdened writers are drawn more often.
    """
    rng = Random(f"probative demo {seed} block {block}")  # noqa: S311 - no secret
    burden = [math.exp(COMORBIDITY * rng.gauss(0, 1)) for _ in range(BLOCK)]
    answered: list[list[int]] = [[] for _ in range(BLOCK)]
    for criterion, count in enumerate(POSITIVES):
        for stretch in range(count):
            first, last = stretch * BLOCK // count, (stretch + 1) * BLOCK // count
            answered[max(range(first, last), key=lambda i: math.log(rng.random()) / burden[i])].append(criterion)
    return tuple(tuple(criteria) for criteria in answered)


def author_of(block: int, rng: Random) -> str:
    """Who wrote the document; some write more than one."""
    return f"u{block * AUTHORS + int(rng.random() * AUTHORS):06d}"
