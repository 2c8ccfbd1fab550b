"""One thing that is checked, and what came of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

Status = Literal["passed", "failed", "not applicable"]
SHOWN = 100
MEASURE = "Measure the run again and compare: probative evaluate RUN --out FOLDER."
"""What to do where records are wrong; a finished run itself is never rewritten."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """A coded check: `why` says what was found, `fix` what to do about it."""

    code: str
    title: str
    status: Status
    why: str
    fix: str = ""
    findings: tuple[str, ...] = ()

    @property
    def failed(self) -> bool:
        return self.status == "failed"

    def as_dict(self) -> dict[str, Any]:
        return {
            "code": self.code,
            "title": self.title,
            "status": self.status,
            "why": self.why,
            "fix": self.fix,
            "findings": list(self.findings[:SHOWN]),
            "n_findings": len(self.findings),
        }


def passed(code: str, title: str, why: str) -> Check:
    return Check(code=code, title=title, status="passed", why=why)


def absent(code: str, title: str, why: str) -> Check:
    """The check has nothing to work on here."""
    return Check(code=code, title=title, status="not applicable", why=why)


def judged(code: str, title: str, findings: Iterable[str], *, good: str, fix: str) -> Check:
    """Passed when nothing was found; otherwise failed, with the first findings as the reason."""
    found = tuple(findings)
    if not found:
        return passed(code, title, good)
    more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
    return Check(code=code, title=title, status="failed", why=f"{found[0]}{more}", fix=fix, findings=found)


def guarded(code: str, title: str, make: Callable[[], Check]) -> Check:
    """Run a check; a file too broken to be looked at is a failure of the check, not of the audit."""
    try:
        return make()
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, OSError, ArithmeticError) as error:
        why = f"could not be checked: {type(error).__name__}: {error}"
        return Check(
            code=code,
            title=title,
            status="failed",
            why=why,
            fix="A file has an unexpected form. Make the run again.",
            findings=(why,),
        )


def worst(checks: Sequence[Check]) -> Status:
    return "failed" if any(c.failed for c in checks) else "passed"
