"""Evaluate a per_query file and let the second implementation check every record.

python scripts/verification/metric_crosscheck.py per_query.csv
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

from probative.cli.app import run


def main(path: Path) -> int:
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "crosscheck"
        code = run(["evaluate", str(path), "--out", str(folder)])
        if code:
            return code
        shutil.copy(path, folder / f"per_query{path.suffix}")
        return run(["verify", str(folder)])


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(Path(sys.argv[1])))
