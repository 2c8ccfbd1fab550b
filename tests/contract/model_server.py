"""A model server for the tests: prints its port, answers embeddings and reranking, and misbehaves by path.

/flaky fails twice, /slow sleeps, /short leaves one row out, /shuffled answers out of order, /text answers no JSON,
/refuse says 413, /locked wants the key `open`, /calls tells how many requests came.
"""

from __future__ import annotations

import hashlib
import json
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

calls: list[str] = []
batches: list[int] = []


def vector(text: str) -> list[float]:
    digest = hashlib.sha256(text.encode()).digest()
    return [byte - 127.5 for byte in digest[:16]]


def overlap(query: str, text: str) -> float:
    return float(len(set(query.lower().split()) & set(text.lower().split())))


class Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.answer(200, {"calls": len(calls), "batches": batches})

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        prefix, _, path = self.path.partition("/v1/")
        fault = prefix.strip("/")
        calls.append(fault)
        if fault.startswith("flaky") and calls.count(fault) <= 2:
            return self.answer(500 if calls.count(fault) == 1 else 429, {"error": str(request)})
        if fault == "slow":
            time.sleep(3)
        if fault == "refuse":
            return self.answer(413, {"error": str(request)})
        if fault == "locked" and self.headers.get("Authorization") != "Bearer open":
            return self.answer(401, {})
        if fault == "text":
            return self.answer(200, None)
        rows = self.embeddings(request) if path == "embeddings" else self.relevance(request)
        if fault == "short":
            rows = rows[1:]
        if fault == "shuffled":
            rows = rows[::-1]
        return self.answer(200, {"data": rows} if path == "embeddings" else {"results": rows})

    def embeddings(self, request: dict) -> list[dict]:
        batches.append(len(request["input"]))
        return [{"index": i, "embedding": vector(text)} for i, text in enumerate(request["input"])]

    def relevance(self, request: dict) -> list[dict]:
        batches.append(len(request["documents"]))
        scores = [overlap(request["query"], text) for text in request["documents"]]
        rows = [{"index": i, "relevance_score": score} for i, score in enumerate(scores)]
        return sorted(rows, key=lambda row: -row["relevance_score"])

    def answer(self, status: int, value: object) -> None:
        body = b"no json" if value is None else json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    print(server.server_port, flush=True)
    server.serve_forever()
