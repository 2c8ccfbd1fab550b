"""Learned and cross-encoder rerankers."""
