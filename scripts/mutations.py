"""Break a finished run on purpose, sign it anew, and see that the audit says what is wrong.

    python scripts/mutations.py RUN [RUN ...] [--write docs/mutations.md]

Every mutation names the checks that must catch it; the ways to spoil a run are in `scripts/spoilt`. A run that holds
nothing to spoil in some way leaves it to the next one. Runs that nothing is wrong with must pass.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from spoilt import MUTATIONS, Mutation, Run

from probative import files
from probative.audit.check import Check
from probative.audit.source import opened
from probative.audit.verify import Case, checks


def spoil(clean: Path, mutation: Mutation, place: Path, *, evaluate: bool = True) -> Path:
    """A spoilt and signed copy of a run."""
    run = Run(Path(shutil.copytree(clean, place)))
    mutation.change(run)
    if mutation.evaluated and evaluate:
        run.evaluate()
    if mutation.signed:
        run.sign()
    return run.folder


def verdict(folder: Path, only: Sequence[str] | None = None, like: Case | None = None) -> list[Check]:
    """The audit of a folder; `like` lends what was worked out from the same tables."""
    with opened(folder) as source:
        case = Case(source)
        if like is not None:
            vars(case).update({"frames": like.frames, "answers": like.answers, "table": like.table})
        return checks(case, only)


def attempt(clean: Path, case: Case, one: Mutation, *, thorough: bool) -> tuple[list[str], str] | None:
    """(the checks that failed, the first finding of the expected one); None where there is nothing to spoil."""
    with tempfile.TemporaryDirectory() as place:
        try:
            folder = spoil(clean, one, Path(place) / "run")
        except StopIteration:
            return None
        like = case if one.of_numbers else None
        found = verdict(folder, None if thorough else one.caught_by, like)
    failed = [check for check in found if check.failed]
    why = next((check.why for check in failed if check.code in one.caught_by), "")
    return [check.code for check in failed], why


def table(rows: Sequence[tuple[Mutation, list[str], str]]) -> str:
    lines = ["| # | what was done | numbers made anew | caught by | what the audit says |", "|---|---|---|---|---|"]
    for number, (one, failed, why) in enumerate(rows, start=1):
        said = why.replace("|", "\\|")
        caught = ", ".join(code for code in failed if code in one.caught_by) or "**not caught**"
        lines.append(f"| {number} | {one.what} | {'yes' if one.evaluated else ''} | {caught} | {said[:160]} |")
    return "\n".join(lines) + "\n"


HEADING = """# Mutations

Made by `scripts/mutations.py`: every row is a finished run that was spoilt on purpose, with its manifest and checksums
signed anew (except where the row says otherwise), and what `probative verify` then says. "Numbers made anew" means that
metrics_master.json and its tables were also computed again from the spoilt tables, so that nothing but a contradiction
between files gives the edit away. Rows about how a number is computed are made by the evaluation's own code with one
line of it broken. A run that holds nothing to spoil in some way, such as an ablation, leaves it to the next one.

"""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "runs",
        nargs="+",
        type=Path,
        help="finished runs; all must pass",
    )
    parser.add_argument("--write", type=Path, help="the page to write")
    parser.add_argument("--thorough", action="store_true", help="all checks on every mutation, not the expected ones")
    given = parser.parse_args()
    alarms = {run.name: [c.code for c in verdict(run) if c.failed] for run in given.runs}
    for name, codes in alarms.items():
        print(f"clean run {name}: {', '.join(codes) or 'no alarm'}", flush=True)
    with ExitStack() as open_:
        cases = [(run, Case(open_.enter_context(opened(run)))) for run in given.runs]
        rows = []
        for one in MUTATIONS:
            tried = (attempt(run, case, one, thorough=given.thorough) for run, case in cases)
            failed, why = next((found for found in tried if found is not None), ([], "no run holds what it spoils"))
            rows.append((one, failed, why))
            caught = set(failed) & set(one.caught_by)
            print(f"{'caught' if caught else 'MISSED':7} {one.name}: {', '.join(failed) or 'no alarm'}", flush=True)
    missed = [one.name for one, failed, _ in rows if not set(failed) & set(one.caught_by)]
    quiet = sum(not codes for codes in alarms.values())
    tail = f"\n{len(rows) - len(missed)} of {len(rows)} mutations caught; "
    tail += f"{quiet} of {len(alarms)} clean runs without an alarm.\n"
    print(tail)
    if given.write:
        files.write_text(given.write, HEADING + table(rows) + tail)
    return 1 if missed or quiet < len(alarms) else 0


if __name__ == "__main__":
    sys.exit(main())
