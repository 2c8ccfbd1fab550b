"""How many documents a second does screening decide, where does the time go, and does memory stay flat?

python -m benchmarks.screening [--documents 1000 100000] [--model FOLDER] [--encoder embedded …] [--out FILE]

Without --model a model is fitted on the demo corpus first. Every size runs in a process of its own, so that its peak
memory is its own. `--documents 200 1000` is the reduced form for a quick look.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks.timing import machine
from probative.files import write_text

RESULTS = Path(__file__).parent / "SCREENING.md"
SIZES = (1_000, 100_000)
LABELLED = 300
HEAD = ("encoder", "documents", "sentences", "documents/s", "encode", "stages", "write", "read", "peak memory")
NOTE = """Demo documents (synthetic, about 19 sentences and 10 questions each) from one JSONL file, through
`probative.pipeline.screen`, nothing cached. *encode*, *stages*, *write* and *read* are shares of the wall time:
vectors; retrieval, rerankers, graph and decision; decisions as JSON with fsync a batch; reading and the rest. Peak
memory is that of the process, models and libraries included; it is flat when it does not grow with the documents."""


def fitted(folder: Path, encoder: str) -> Path:
    """A model of the demo corpus."""
    from probative import api
    from probative.data.demo import demo_corpus

    settings = api.settle(flags={"encode.model": encoder}).settings
    return api.fit(demo_corpus(documents=LABELLED), settings, folder).folder


def write_documents(path: Path, number: int, piece: int = 5_000) -> Path:
    """That many demo documents as JSONL, made piece by piece."""
    from probative.data.demo import demo_corpus

    with path.open("w", encoding="utf-8") as stream:
        for start in range(0, number, piece):
            corpus = demo_corpus(documents=min(piece, number - start), seed=1_000 + start)
            texts = corpus.sentences.group_by("doc_id", maintain_order=True).agg("text")
            for doc_id, sentences in texts.iter_rows():
                line = {"doc_id": f"{start}-{doc_id}", "text": " ".join(sentences)}
                stream.write(json.dumps(line, ensure_ascii=False) + "\n")
    return path


def measure(model: Path, source: Path) -> dict[str, Any]:
    """One screening in this process, with the time of its parts."""
    from probative.pipeline import Pipeline
    from probative.pipeline.journal import Journal
    from probative.pipeline.screen import screen

    spent = dict.fromkeys(("encode", "answer", "write"), 0.0)

    def clock(owner: Any, name: str, part: str) -> None:
        real = getattr(owner, name)

        def timed(*given: Any, **named: Any) -> Any:
            start = time.perf_counter()
            try:
                return real(*given, **named)
            finally:
                spent[part] += time.perf_counter() - start

        setattr(owner, name, timed)

    for name, part in (("_encoded", "encode"), ("answer", "answer")):
        clock(Pipeline, name, part)
    clock(Journal, "append", "write")
    pipeline = Pipeline.load(model, trust=True)
    pipeline.predict({"warm": "Load the model before the clock starts."})
    spent.update(dict.fromkeys(spent, 0.0))
    with tempfile.TemporaryDirectory() as folder:
        start = time.perf_counter()
        done = screen(pipeline, source, Path(folder) / "out").done
        wall = time.perf_counter() - start

    return {
        "documents": done.documents,
        "sentences": _sentences(source),
        "rate": done.documents / wall,
        "encode": spent["encode"] / wall,
        "stages": (spent["answer"] - spent["encode"]) / wall,
        "write": spent["write"] / wall,
        "read": (wall - spent["answer"] - spent["write"]) / wall,
        "memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


def _sentences(source: Path) -> int:
    from probative.data.sentences import split

    with source.open(encoding="utf-8") as stream:
        return sum(len(split(json.loads(line)["text"])) for line in stream)


def apart(model: Path, source: Path) -> dict[str, Any]:
    """The same in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.screening", "--one", str(model), str(source)]
    return dict(json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout))


def rows(sizes: Sequence[int], encoders: Sequence[str], model: Path | None, scratch: Path) -> Iterator[Iterable[str]]:
    """A row of the table for every encoder and size."""
    sources = {size: write_documents(scratch / f"{size}.jsonl", size) for size in sizes}
    for number, encoder in enumerate(encoders):
        chosen = model or fitted(scratch / f"model-{number}", encoder)
        for size, source in sources.items():
            found = apart(chosen, source)
            shares = (f"{found[part]:.0%}" for part in ("encode", "stages", "write", "read"))
            memory = f"{found['memory']:,.0f} MB"
            yield encoder, f"{size:,}", f"{found['sentences']:,}", f"{found['rate']:,.1f}", *shares, memory


def main(arguments: Sequence[str]) -> int:
    """Measure and write the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.screening", description=__doc__)
    parser.add_argument("--documents", type=int, nargs="+", default=SIZES)
    parser.add_argument("--model", type=Path, help="a model folder; its encoder is measured")
    parser.add_argument("--encoder", nargs="+", default=["embedded"], help="back ends, each with a model of its own")
    parser.add_argument("--out", type=Path, default=RESULTS)
    parser.add_argument("--note", default="", help="what a reader should know of this measurement")
    parser.add_argument("--one", type=Path, nargs=2, metavar=("MODEL", "SOURCE"), help=argparse.SUPPRESS)
    chosen = parser.parse_args(arguments)
    if chosen.one:
        print(json.dumps(measure(*chosen.one)))
        return 0
    facts = [f"- {name}: {value}" for name, value in machine()[:4]]
    lines = ["# Screening", "", *NOTE.splitlines(), "", *([chosen.note, ""] if chosen.note else []), *facts, ""]
    lines += [_line(HEAD), _line(["---", *["---:"] * (len(HEAD) - 1)])]
    with tempfile.TemporaryDirectory() as scratch:
        for row in rows(chosen.documents, chosen.encoder, chosen.model, Path(scratch)):
            lines.append(_line(row))
            print(lines[-1], flush=True)
    write_text(chosen.out, "\n".join(lines) + "\n")
    return 0


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
