"""One door for data: corpora, importers, validation, sentences, fingerprints, folds and views."""

from probative.data.corpus import Corpus
from probative.data.meta import CorpusMeta
from probative.data.problems import Problem

__all__ = ["Corpus", "CorpusMeta", "Problem"]
