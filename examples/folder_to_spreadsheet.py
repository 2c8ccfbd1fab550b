"""From a folder of text files to a spreadsheet of findings, with a model made by `probative fit`."""

from pathlib import Path

from probative import Pipeline
from probative.pipeline import write_spreadsheet

pipeline = Pipeline.load("model")
texts = {path.stem: path.read_text(encoding="utf-8") for path in sorted(Path("letters").glob("*.txt"))}
decisions = sorted(pipeline.predict(texts), key=lambda decision: -decision.probability)
write_spreadsheet([decision for decision in decisions if decision.state != "NEG"], "findings.csv")
