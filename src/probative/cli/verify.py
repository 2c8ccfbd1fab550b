"""`probative verify`: numbers that a stranger can check."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer

from probative.cli import manners

EPILOG = (
    "Examples: `probative verify runs/demo`, `probative verify per_query.csv --json`, "
    "`probative verify --leakage config.yaml`, `probative verify --publish runs/demo --out checklist`."
)


def verify(
    path: Path | None = typer.Argument(None, help="A run folder, a zip of one, or a per_query file."),
    corpus: Path | None = typer.Option(None, "--corpus", help="The corpus folder that the run came from."),
    leakage: Path | None = typer.Option(
        None, "--leakage", metavar="CONFIG", help="Look for leaks in this configuration."
    ),
    publish: Path | None = typer.Option(None, "--publish", metavar="RUN", help="May this run be published?"),
    out: Path | None = typer.Option(None, "--out", help="With --publish: where the checklist and data statement go."),
    quick: bool = typer.Option(False, "--quick", help="With --leakage: leave out the runs on poisoned corpora."),
    as_json: bool = typer.Option(False, "--json", help="Print JSON alone on standard output."),
    everything: bool = typer.Option(False, "--all", help="Show every finding, not the first few."),
) -> None:
    """Recompute every number by a second implementation; exit 1 when a check fails. Writes nothing into PATH."""
    from probative.errors import CheckFailed, ConfigError

    chosen = [given for given in (path, leakage, publish) if given is not None]
    if len(chosen) != 1:
        raise ConfigError(
            "verify needs exactly one of PATH, --leakage CONFIG and --publish RUN. See probative verify --help."
        )
    result = _result(path, corpus, leakage, publish, out, quick=quick)
    if as_json:
        manners.print_json(result)
    else:
        _show(result, everything=everything)
    if result["status"] == "failed":
        raise CheckFailed(
            f"{len(result['failed'])} of {len(result['checks'])} checks failed: {', '.join(result['failed'])}"
        )


def _result(
    path: Path | None, corpus: Path | None, leakage: Path | None, publish: Path | None, out: Path | None, *, quick: bool
) -> dict[str, Any]:
    from probative import audit

    if leakage is not None:
        return audit.leakage(leakage, corpus, quick=quick)
    if publish is not None:
        return audit.publication(publish, out)
    assert path is not None  # noqa: S101 - verify() has counted
    return audit.audit(path, corpus)


MARKS = {"passed": "ok  ", "failed": "FAIL", "not applicable": "–   "}


def _show(result: dict[str, Any], *, everything: bool) -> None:
    console = manners.out()
    for check in result["checks"]:
        console.print(f"{MARKS[check['status']]} {check['code']}  {check['title']}: {check['why']}", markup=False)
        more = check["findings"] if everything or check["code"] == "PV070" else check["findings"][1:4]
        if check["status"] == "failed" or check["code"] == "PV070":
            for finding in more:
                console.print(f"            {finding}", markup=False)
        if check["fix"]:
            console.print(f"            → {check['fix']}", markup=False)
    console.print(result["summary"], markup=False)
