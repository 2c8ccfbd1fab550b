"""Lexical and dense retrieval inside a document, and their fusion."""
