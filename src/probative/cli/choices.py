"""Choices that several commands offer."""

from enum import StrEnum


class Resample(StrEnum):
    documents = "documents"
    queries = "queries"


class Ties(StrEnum):
    listed = "listed"
    expected = "expected"
    trec = "trec"


class Criteria(StrEnum):
    all = "all"
    trained = "trained"
