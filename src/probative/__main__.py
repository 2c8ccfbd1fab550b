"""`python -m probative`."""

from probative.cli.app import main

main()
