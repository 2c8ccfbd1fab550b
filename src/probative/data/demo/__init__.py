"""The demo corpus: generated forum posts in the shape of the reference configuration, never downloaded."""

from probative.data.demo.corpus import demo_corpus, write_demo

__all__ = ["demo_corpus", "write_demo"]
