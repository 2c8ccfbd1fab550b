"""Score files to metrics_master.json: populations, scopes, intervals and comparisons."""
