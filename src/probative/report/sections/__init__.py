"""The report's sections: one noun a module, each a function from the run folder to a plain dictionary."""
