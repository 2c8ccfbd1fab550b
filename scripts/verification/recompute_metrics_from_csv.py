"""Recompute every metric of a run from its per_query.csv: the same as `probative verify RUN`."""

from __future__ import annotations

import sys

from probative.cli.app import run

if __name__ == "__main__":
    sys.exit(run(["verify", *sys.argv[1:]]))
