"""Text to vectors: model back ends behind one protocol, cached."""
