"""One door for data: corpora, importers, validation, sentences, fingerprints, folds and views."""
