"""The second opinion: recompute, check, and refuse what does not hold."""
