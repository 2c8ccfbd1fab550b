"""stub"""

from pathlib import Path


def write_review(out: Path, *, documents: object) -> Path:
    return out
