"""Fold processes side by side: start them, listen to them, and stop them all when one fails."""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from probative import errors
from probative.errors import ProbativeError

THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "MKL_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "POLARS_MAX_THREADS",
    "RAYON_NUM_THREADS",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """What a worker said: which job, what kind, and the facts."""

    job: int
    kind: str
    facts: dict[str, Any]


def environment(threads: int) -> dict[str, str]:
    """The environment of a worker: threads fixed before any library is loaded."""
    fixed = dict.fromkeys(THREAD_VARIABLES, str(threads))
    return {
        **os.environ,
        **fixed,
        "OMP_WAIT_POLICY": "PASSIVE",
        "TOKENIZERS_PARALLELISM": "false",
        "PYTHONHASHSEED": "0",
    }


def run_jobs(jobs: Sequence[Path], *, at_once: int, threads: int, listen: Callable[[Event], None]) -> None:
    """Run every job file in a worker, at most `at_once` together; raises what the first failing worker said."""
    events: queue.Queue[Event] = queue.Queue()
    waiting = list(enumerate(jobs))
    running: dict[int, subprocess.Popen[str]] = {}
    try:
        while waiting or running:
            while waiting and len(running) < at_once:
                number, path = waiting.pop(0)
                running[number] = _start(path, threads)
                threading.Thread(target=_hear, args=(number, running[number], events), daemon=True).start()
            event = events.get()
            if event.kind in ("error", "crash"):
                raise _raised(event)
            if event.kind == "left":
                process = running.pop(event.job)
                code = process.wait()
                _close(process)
                if code:
                    raise ProbativeError(
                        f"The worker of job {event.job} was stopped (code {code}), perhaps for want of memory. "
                        "What was finished is kept: go on with --resume."
                    )
            listen(event)
    finally:
        for process in running.values():
            process.kill()
        for process in running.values():
            process.wait()
            _close(process)


def _start(path: Path, threads: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "probative.experiment.worker", str(path)]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, env=environment(threads))


def _close(process: subprocess.Popen[str]) -> None:
    """Its standard output is closed by the thread that listens to it."""
    if process.stdin is not None:
        process.stdin.close()


def _hear(number: int, process: subprocess.Popen[str], events: queue.Queue[Event]) -> None:
    if process.stdout is not None:
        with process.stdout as lines:
            for line in lines:
                facts = json.loads(line)
                events.put(Event(job=number, kind=facts.pop("kind"), facts=facts))
    events.put(Event(job=number, kind="left", facts={}))


def _raised(event: Event) -> Exception:
    if event.kind == "crash":
        return RuntimeError(f"{event.facts['message']}\n\nIn the worker:\n{event.facts['traceback']}")
    kind: type[ProbativeError] = getattr(errors, event.facts["type"], ProbativeError)
    error: ProbativeError = kind.__new__(kind)
    Exception.__init__(error, event.facts["message"])
    return error
