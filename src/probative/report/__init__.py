"""Results as a page: summarise a folder to a dictionary, then render it."""

from probative.report.methods import write_methods
from probative.report.review import write_review
from probative.report.summary import summarise
from probative.report.write import write_report

__all__ = ["summarise", "write_methods", "write_report", "write_review"]
