"""The composed system: cross-fitting, fit and predict, the model folder, screening."""

from probative.pipeline.decision import Decision, Evidence, as_table, write_spreadsheet
from probative.pipeline.documents import NewDocument
from probative.pipeline.pipeline import Pipeline
from probative.pipeline.settings import PipelineSettings

__all__ = ["Decision", "Evidence", "NewDocument", "Pipeline", "PipelineSettings", "as_table", "write_spreadsheet"]
