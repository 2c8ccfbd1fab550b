"""How every command speaks: results on standard output, everything else on standard error, errors in one voice."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

INTERRUPTED = 130


def out() -> Console:
    """The console for results. Honours NO_COLOR and a missing terminal."""
    from rich.console import Console

    return Console(highlight=False, soft_wrap=not sys.stdout.isatty())


def err() -> Console:
    """The console for progress, warnings and errors."""
    from rich.console import Console

    return Console(stderr=True, highlight=False, soft_wrap=not sys.stderr.isatty())


def say(text: str) -> None:
    """One plain line on standard error."""
    print(text, file=sys.stderr, flush=True)


def print_json(value: Any) -> None:
    """JSON alone on standard output."""
    json.dump(value, sys.stdout, indent=1, ensure_ascii=False, allow_nan=False)
    sys.stdout.write("\n")


@contextmanager
def progress(label: str, total: float | None = None) -> Iterator[Callable[[float, str], None]]:
    """A bar on standard error that vanishes when done, and is silent without a terminal.

    Yields `update(done, label)`.
    """
    if not sys.stderr.isatty():
        yield lambda done, text: None
        return
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    known = [] if total is None else [TextColumn("{task.percentage:>3.0f} %"), TimeRemainingColumn()]
    columns = (TextColumn("{task.description}"), BarColumn(), *known)
    with Progress(*columns, console=err(), transient=True) as bar:
        task = bar.add_task(label, total=total)
        yield lambda done, text: bar.update(task, completed=done, description=text)


def guarded(call: Callable[[], int | None], debug: bool) -> int:
    """Run a command; turn what it raises into one clear message and an exit code."""
    from probative.errors import ProbativeError

    try:
        code = call() or 0
        sys.stdout.flush()
        return code
    except ProbativeError as error:
        _trace(debug)
        say(f"error: {error}")
        return error.exit_code
    except KeyboardInterrupt:
        _trace(debug)
        say("interrupted: nothing half-written was left behind.")
        return INTERRUPTED
    except BrokenPipeError:
        sys.stderr.close()
        return 0
    except OSError as error:
        _trace(debug)
        place = f"{error.filename}: " if error.filename else ""
        say(f"error: {place}{error.strerror or error}. Check that there is room, and who may read and write there.")
        return 2


def _trace(debug: bool) -> None:
    if debug:
        import traceback

        traceback.print_exc()


def take_flag(arguments: Sequence[str], flag: str) -> tuple[list[str], bool]:
    """The arguments without a flag that may stand anywhere before `--`, and whether it was there."""
    head = list(arguments[: arguments.index("--")] if "--" in arguments else arguments)
    tail = list(arguments[len(head) :])
    return [a for a in head if a != flag] + tail, flag in head
