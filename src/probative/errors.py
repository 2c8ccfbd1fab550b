"""Everything probative raises on purpose.

ProbativeError
├── DataError        a corpus, score file or run folder is wrong
├── ConfigError      a setting is unknown or has an impossible value
├── ModelError       a model file is missing, altered or of another version
├── NotInstalled     an optional part is needed and absent
├── Unreachable      a model server did not answer
└── CheckFailed      an audit or gate found something; exit code 1
"""

from __future__ import annotations


class ProbativeError(Exception):
    """Base of all deliberate errors; the command line prints it without a traceback."""

    exit_code = 2


class DataError(ProbativeError):
    """The user's data is wrong. The message says what, where, and how to fix it."""


class ConfigError(ProbativeError):
    """A setting is unknown or impossible."""


class ModelError(ProbativeError):
    """A model file cannot be trusted or read."""


class NotInstalled(ProbativeError):
    """An optional part is needed; the message carries the install command."""

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(
            f"{what} needs packages that are not installed. Install them with: pip install 'probative[{extra}]'"
        )


class Unreachable(ProbativeError):
    """A model server did not answer in time."""


class CheckFailed(ProbativeError):
    """An audit, gate or leakage check failed."""

    exit_code = 1
