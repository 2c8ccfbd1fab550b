"""Ways to spoil a finished run, one noun a module; importing the package fills MUTATIONS."""

from spoilt import code, decisions, numbers, pages, rows, splits
from spoilt.run import MUTATIONS, Mutation, Run

__all__ = ["MUTATIONS", "Mutation", "Run", "code", "decisions", "numbers", "pages", "rows", "splits"]
