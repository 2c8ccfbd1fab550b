"""A fixed number of threads, because their number can change the last bits of a sum."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def at_most(threads: int) -> Iterator[None]:
    """Let the numeric libraries of this process use as many threads as a fold of a run does."""
    from threadpoolctl import threadpool_limits

    with threadpool_limits(limits=threads):
        yield
