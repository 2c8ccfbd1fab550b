"""Summarise a run to a dictionary, then render it."""
