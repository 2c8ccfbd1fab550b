"""One fold in a process of its own, with a fixed number of threads; speaks to its parent in JSON lines.

`python -m probative.experiment.worker JOB.json`
"""

from __future__ import annotations

import json
import os
import sys
import threading
import traceback
from pathlib import Path
from typing import Any


def tell(kind: str, **facts: Any) -> None:
    """One event to the parent."""
    sys.stdout.write(json.dumps({"kind": kind, **facts}) + "\n")
    sys.stdout.flush()


def _leave_with_parent() -> None:
    """Standard input closes when the parent dies, by kill -9 too; so does this process then."""

    def watch() -> None:
        while os.read(0, 1):
            pass
        os._exit(130)

    threading.Thread(target=watch, daemon=True).start()


def main(job_path: str) -> int:
    """Run one job; 0, or an error event and the error's exit code."""
    _leave_with_parent()
    from probative.errors import ProbativeError

    try:
        from probative.experiment.fold_job import FoldJob, compute

        compute(FoldJob.read(Path(job_path)), lambda stage: tell("stage", stage=stage))
    except ProbativeError as error:
        tell("error", message=str(error), type=type(error).__name__)
        return error.exit_code
    except KeyboardInterrupt:
        return 130
    except Exception as error:
        tell("crash", message=f"{type(error).__name__}: {error}", traceback=traceback.format_exc())
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
