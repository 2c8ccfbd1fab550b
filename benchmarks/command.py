"""What a user feels: wall time and memory of whole processes, and how they grow."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

from benchmarks.data import Shape, per_query, simulate
from benchmarks.ranking import KS, Row
from benchmarks.timing import seconds, timed
from probative.metrics import evaluate_ranking

RESAMPLES = 10_000


def process(arguments: Sequence[str]) -> tuple[float, float]:
    """Wall seconds and peak megabytes of a fresh Python process.

    A process in between starts it: a child's peak is never below what its parent held, and this one may hold a lot.
    """
    between = [sys.executable, "-m", "benchmarks.command", *arguments]
    wall, peak = subprocess.run(between, stdout=subprocess.PIPE, text=True, check=True).stdout.split()
    return float(wall), float(peak)


def main(arguments: Sequence[str]) -> int:
    """Run python with these arguments, and print wall seconds and peak megabytes."""
    start = time.perf_counter()
    child = subprocess.Popen([sys.executable, *arguments], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    if status:
        raise SystemExit(f"python {' '.join(arguments)} ended with status {status}")
    print(time.perf_counter() - start, usage.ru_maxrss / (1 << 20 if sys.platform == "darwin" else 1 << 10))
    return 0


def compare(shape: Shape, loops: int, repeat: int = 1) -> Iterable[Row]:
    """The command beside the script that computes what it can."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "per_query.parquet"
        per_query(simulate(shape)).write_parquet(path)
        command = ["-m", "probative", "evaluate", str(path), "--out", f"{folder}/out", "--bootstrap", str(RESAMPLES)]
        mine, memory = min(process(command) for _ in range(repeat))
        yield "probative evaluate: everything, all scopes, files written", seconds(mine), f"{memory:.0f} MB", "1"
        plain, memory = process([*command[:-1], "0"])
        yield "probative evaluate --bootstrap 0", seconds(plain), f"{memory:.0f} MB", f"{plain / mine:.2f}"
        script = ["-m", "benchmarks.peer_script", str(path)]
        start, _ = process([*script, "0"])
        looped, memory = process([*script, str(loops)])
        theirs = start + (looped - start) * RESAMPLES / loops
        note = "" if loops == RESAMPLES else f", from {loops:,} resamples"
        name = f"pytrec_eval and scikit-learn: nine statistics pooled{note}"
        yield name, seconds(theirs), f"{memory:.0f} MB", f"{theirs / mine:.1f}"


def growth(sizes: Sequence[int], resamples: int) -> Iterable[Row]:
    """Ranking metrics on columns and the whole command, by number of queries."""
    for queries in sizes:
        data = simulate(Shape(queries=queries, candidates=20, positive=0.093))
        columns = (data.scores.ravel(), data.gold.ravel(), data.offsets, KS)
        core, _ = timed(lambda columns=columns: evaluate_ranking(*columns), repeat=3)  # type: ignore[misc]
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "per_query.parquet"
            per_query(data).write_parquet(path)
            call = ["-m", "probative", "evaluate", str(path), "--bootstrap"]
            plain, memory = process([*call, "0"])
            drawn = process([*call, str(resamples)])[0] if resamples else None
        each = f"{plain / queries * 1e6:.0f} µs"
        yield (
            f"{queries:,}",
            seconds(core),
            f"{seconds(plain)} ({each} a query, {memory:.0f} MB)",
            ("–" if drawn is None else seconds(drawn)),
        )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
