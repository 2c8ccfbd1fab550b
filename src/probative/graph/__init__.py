"""The sentence-graph model: reranker (P3), node probability (P2), gate (P4)."""
