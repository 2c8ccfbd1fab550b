"""Everything that predictions come in, read into Predictions; every problem is named by row."""

from probative.evaluation.readers.choice import read_chosen
from probative.evaluation.readers.objects import read_any
from probative.evaluation.readers.source import Source, read_flat_files, read_path, read_run, read_trec_files

__all__ = ["Source", "read_any", "read_chosen", "read_flat_files", "read_path", "read_run", "read_trec_files"]
